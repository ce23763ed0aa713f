/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why the kernel refuses a perf event, in a sentence with a remedy. The errno
 * alone does not tell: the same EACCES comes from a setting, a missing
 * capability and a container's filter. Internal to counters/.
 */
#ifndef OPPROBE_REFUSAL_H
#define OPPROBE_REFUSAL_H

#include "counters.h"

#define PARANOID_UNKNOWN (-100)

/* What the machine and this process allow, as read from /proc. */
struct permissions {
	int paranoid;		 /* kernel.perf_event_paranoid, or PARANOID_UNKNOWN */
	bool sys_admin, perfmon; /* effective capabilities */
	bool user_namespace;	 /* not the initial one: capabilities do not count */
	bool seccomp;		 /* a filter is installed */
	bool nmi_watchdog;	 /* holds a hardware counter */
	int cycles;		 /* what opening "cycles" gives: 0 or a negative errno */
};

void permissions_read(struct permissions *permissions);

/* Do the capabilities lift kernel.perf_event_paranoid? */
bool permissions_lift_paranoid(const struct permissions *permissions);

/* Is there no hardware PMU, as far as the kernel knows? */
bool permissions_no_pmu(const struct permissions *permissions);

/*
 * Store why opening @counter on thread @tid (0: opprobe's own) failed with
 * @error, a negative errno, and return @error.
 */
int refusal(struct error *err, int error, const struct counter *counter, pid_t tid,
	    const struct permissions *permissions);

/* The same in a few words, for a table. */
const char *refusal_brief(int error, const struct counter *counter,
			  const struct permissions *permissions);

/*
 * Try to open @counter on this thread, and close it again. Returns 0, also
 * for a counter that needs no perf event, or a negative errno and a sentence
 * in @err, which may be NULL.
 */
int counter_open(const struct counter *counter, struct error *err);

#endif
