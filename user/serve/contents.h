/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be looked at of a capture: views of it by their names, each written to a file of its
 * own when it is asked for first. The files are in a folder that nobody else can look into, and
 * gone as soon as they are open.
 */
#ifndef OPPROBE_SERVE_CONTENTS_H
#define OPPROBE_SERVE_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"

struct content {
	const char *name;	     /* "" for the page */
	const char *type;	     /* as HTTP calls it */
	const char *report, *export; /* its format, of one of them */
	bool for_perfetto;	     /* ui.perfetto.dev may read it */
};

/* Up to one without a name. */
extern const struct content contents_kinds[];
#define CONTENTS_MAX 8

struct contents;

/* NULL with @err set; what is wrong with the capture shows when it is read. */
struct contents *contents_open(const char *capture, struct error *err);
/*
 * A descriptor of the view @kind, of contents_kinds, to be closed, and its size. Of a damaged
 * capture it has what precedes the damage. Returns a negative errno with @err set.
 */
int contents_get(struct contents *contents, const struct content *kind, uint64_t *size,
		 struct error *err);
/* Leave nothing behind, also while a view is being written, by a thread that then must end. */
void contents_remove(struct contents *contents);
void contents_free(struct contents *contents);

#endif
