/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events that have a name on this machine, whether they can be opened or
 * not: for `opprobe list` and for suggestions (nearest.h).
 */
#ifndef OPPROBE_CATALOG_H
#define OPPROBE_CATALOG_H

#include "../base/array.h"
#include "../base/error.h"

struct catalog_event {
	const char *pmu;   /* heading: owned by the catalog */
	char *name;	   /* as -e takes it */
	char *description; /* "" if nobody gives one */
};

struct catalog {
	ARRAY_OF(struct catalog_event);
	ARRAY_OF(char *) pmus; /* headings */
};

enum catalog_part {
	CATALOG_EVENTS = 1 << 0,      /* perf's names, libpfm4's, the kernel's PMUs */
	CATALOG_TRACEPOINTS = 1 << 1, /* some thousands */
};

/*
 * Fill @catalog with the events of @parts (enum catalog_part, or-ed), those
 * of one PMU next to each other. Sources that cannot be read add nothing.
 * Returns 0 or -ENOMEM with a sentence; to be freed in either case.
 */
int catalog_load(struct catalog *catalog, unsigned int parts, struct error *err);
void catalog_free(struct catalog *catalog);

#endif
