// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>

#include "event.h"

/*
 * With CONFIG_SCHED_INFO there is a file of it. Kernels that could do with
 * accounting switched off leave it empty: a thread that runs has run before.
 */
static bool scheduler_accounts(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	uint64_t on_cpu, waited, times = 0;
	bool known = file && fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &on_cpu, &waited,
				    &times) == 3;

	if (file)
		fclose(file);
	return known && times;
}

bool sched_times_readable(void)
{
	static int known = -1;

	if (known < 0)
		known = scheduler_accounts() &&
			libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_current_task_btf,
						NULL) == 1;
	return known;
}
