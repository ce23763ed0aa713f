/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings: filled by user space between open and load, so that the verifier
 * removes what is switched off; and the few words that both sides share while
 * the programs run.
 */
#ifndef OPPROBE_SETTINGS_BPF_H
#define OPPROBE_SETTINGS_BPF_H

#include "events.h"

const volatile __u32 target_tgid = 0;
/* The pid namespace in which target_tgid and all tids count; 0 for the initial one. */
const volatile __u64 pidns_dev = 0;
const volatile __u64 pidns_ino = 0;
/* Kernels from 5.11 on keep state with the task itself; older ones in a hash. */
const volatile bool use_task_storage = false;
/* No end of a session can be seen: what is known of operators holds for one run. */
const volatile bool forget_each_run = false;
/* Only operators of the runs in windows[] are recorded. */
const volatile bool selective = false;
/* Runs are seen: the run sites are probed. */
const volatile bool with_runs = false;
/* Work of other threads is attributed: the task sites are probed. */
const volatile bool with_work = false;
/* The shapes of operators' values are read. */
const volatile bool with_shapes = false;
const volatile __u32 n_counters = 0;
const volatile __u8 counter_source[COUNTERS_MAX] = {};

const volatile struct stack_depths op_stack[2] = {};

__u32 counting_runs;		    /* entries of runs count; written by user space */
__u32 recording;		    /* entries of operators count; likewise */
struct layout layout;		    /* written by user space when proven */
struct shape_layout shape_layout;   /* with `with_shapes`; written by user space */
struct window windows[WINDOWS_MAX]; /* with `selective`; written by user space */
__u32 generation;		    /* sessions destroyed so far */
struct losses losses;
__u32 self_test_hits;

/*
 * Numbers that are given once, of each kind: a number is whose insertion of it
 * succeeds. (An atomic that returns the old value would do, from 5.12 on.)
 */

struct number {
	__u32 kind;
	__u32 value;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct number);
	__type(value, __u8);
} numbers SEC(".maps");

__u32 next_number[NUMBER_KINDS];

static __noinline __u32 take_number(__u32 kind)
{
	struct number number = {.kind = kind};
	__u8 taken = 1;

	if (kind >= NUMBER_KINDS)
		return NO_ID;
	number.value = next_number[kind];
	for (int i = 0; i < 16; i++) {
		if (!bpf_map_update_elem(&numbers, &number, &taken, BPF_NOEXIST)) {
			next_number[kind] = number.value + 1;
			return number.value;
		}
		number.value++;
	}
	return NO_ID;
}

#endif
