/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes: the BPF programs on the sites of a location, for one process. Where
 * the kernel has uprobe_multi links with a filter by process (6.6, the filter
 * right since 6.10 and in stable trees), all sites of a program are one link;
 * elsewhere each site is a perf event of its own.
 */
#ifndef OPPROBE_PROBES_H
#define OPPROBE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../base/error.h"
#include "../runtime/runtime.h"
#include "../target/process.h"

struct opprobe_bpf;

/*
 * Does this kernel attach uprobe_multi links and filter them by process? Asks
 * the kernel, once, with a link on opprobe itself, hit from a second thread.
 * @bpf is loaded and has been prepared with multi.
 */
bool probes_multi_works(struct opprobe_bpf *bpf);

struct probes;

/* Which sites. Those of sessions, how they are made and destroyed, are hit once for each. */
enum probes_part {
	PROBES_OF_SESSIONS,
	PROBES_OF_RUNS,	     /* they bracket runs */
	PROBES_OF_OPERATORS, /* and their work */
	PROBES_PARTS
};

/*
 * Set @bpf's programs up before its load: none is loaded but those that are
 * asked for, by a location's sites up to part @last (with those of memory if @memory) or all; for
 * uprobe_multi links if @multi.
 */
void probes_prepare_none(struct opprobe_bpf *bpf);
void probes_prepare(struct opprobe_bpf *bpf, const struct location *location, enum probes_part last,
		    bool memory, bool multi);
void probes_prepare_all(struct opprobe_bpf *bpf, bool multi);
/* Behind all of these: whether those of layers are loaded. */
void probes_prepare_layers(struct opprobe_bpf *bpf, bool wanted, bool multi);

struct probes_target {
	const struct location *location;
	const struct mapped_file *file; /* that @location is in */
	pid_t pid;
	unsigned int instance;	 /* in the cookies of its sites */
	uint32_t first_operator; /* number of the first of the location's names */
	bool multi, cookies;	 /* what this kernel offers */
	bool memory;		 /* sites of memory, too */
};

/*
 * Attach @bpf's programs to the sites of @part in @target, for its process
 * only. NULL with @err set if one of them cannot be attached; the others are
 * then gone again.
 */
struct probes *probes_attach(struct opprobe_bpf *bpf, const struct probes_target *target,
			     enum probes_part part, struct error *err);
/*
 * Take the breakpoints of all sites in @target's file out of every process for
 * which no probe asks, such as a child that inherited them. Where the kernel
 * has no links of many probes, it does so by itself at the first hit.
 */
void probes_shed(struct opprobe_bpf *bpf, const struct probes_target *target);
/*
 * Take the @n probes (each may be NULL) away, side by side, since the kernel
 * waits at each; the pointers are NULL then.
 */
void probes_detach(struct probes **probes, size_t n);

#endif
