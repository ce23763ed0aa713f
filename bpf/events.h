/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records that cross the ring buffer and the settings that cross before
 * the load: the only header that both sides share. Fixed widths, little
 * surprises: sizes are asserted.
 */
#ifndef OPPROBE_EVENTS_H
#define OPPROBE_EVENTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define COUNTERS_MAX 16	  /* events per capture */
#define DEPTH_MAX    16	  /* operators open at once on a thread */
#define NAME_MAX_LEN 1024 /* bytes of a node's name, whole up to this */
#define WORD_MAX_LEN 128  /* bytes of an op type, a domain, a provider */

/* How a counter is read in the kernel. */
enum counter_source {
	COUNTER_NONE,
	COUNTER_PERF,		/* perf event that may be multiplexed: value, enabled, running */
	COUNTER_PERF_SOFTWARE,	/* perf event that always runs: value only */
	COUNTER_FAULTS,		/* task_struct min_flt + maj_flt */
	COUNTER_MINOR_FAULTS,	/* task_struct min_flt */
	COUNTER_MAJOR_FAULTS,	/* task_struct maj_flt */
	COUNTER_SWITCHES,	/* task_struct nvcsw + nivcsw */
	COUNTER_MIGRATIONS,	/* task_struct se.nr_migrations */
};

#endif
