// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names in a table of our own. perf's name means perf's event: task_struct
 * stands in for it only where both are counted in one place, as switches are
 * (__schedule()). Where the task's own number is another one, it has a name of
 * its own, "task-...".
 *
 * - perf's page-faults counts exceptions, those that end in a signal included,
 *   when they come; minor-faults and major-faults those that were served. The
 *   task counts what was served, but also pages that the kernel took for it
 *   without an exception: mlock(), MAP_POPULATE, direct I/O (mm_account_fault()).
 * - perf's cpu-migrations is one each time that a thread goes on after it was
 *   moved (perf_event_task_sched_in()); the task counts each of the moves
 *   (set_task_cpu()), of which there may be several while it waits for a CPU.
 */
#include "event.h"

#include <strings.h>

#define HARDWARE(_name, _alias, _config, _description)                                             \
	{                                                                                          \
		.name = (_name), .alias = (_alias), .type = PERF_TYPE_HARDWARE,                    \
		.config = PERF_COUNT_HW_##_config, .source = COUNTER_PERF, .unit = "",             \
		.description = (_description)                                                      \
	}

#define TASK(_name, _source, _unit, _description)                                                  \
	{                                                                                          \
		.name = (_name), .type = PERF_TYPE_SOFTWARE, .source = (_source), .unit = (_unit), \
		.description = (_description), .task_only = true                                   \
	}

const struct short_event short_events[] = {
	HARDWARE("cycles", "cpu-cycles", CPU_CYCLES, "CPU cycles"),
	HARDWARE("instructions", NULL, INSTRUCTIONS, "Instructions retired"),
	HARDWARE("cache-references", NULL, CACHE_REFERENCES, "Accesses to the last cache level"),
	HARDWARE("cache-misses", NULL, CACHE_MISSES, "Misses of the last cache level"),
	HARDWARE("branches", "branch-instructions", BRANCH_INSTRUCTIONS, "Branches retired"),
	HARDWARE("branch-misses", NULL, BRANCH_MISSES, "Branches predicted wrongly"),
	HARDWARE("bus-cycles", NULL, BUS_CYCLES, "Cycles of the bus"),
	HARDWARE("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
		 "Cycles without an instruction to issue"),
	HARDWARE("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND,
		 "Cycles in which nothing could retire"),
	HARDWARE("ref-cycles", NULL, REF_CPU_CYCLES, "Cycles of a clock that is not scaled"),
	{
		.name = "task-clock",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "ns",
		.description = "Time on a CPU",
		.clock = true,
	},
	{
		.name = "cpu-clock",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "ns",
		.description = "Time on a CPU, by that CPU's clock",
		.clock = true,
	},
	{
		.name = "page-faults",
		.alias = "faults",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "",
		.description = "Page faults, minor, major and failed",
	},
	{
		.name = "minor-faults",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "",
		.description = "Page faults served from memory",
	},
	{
		.name = "major-faults",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "",
		.description = "Page faults that waited for a disk",
	},
	{
		.name = "context-switches",
		.alias = "cs",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.source = COUNTER_SWITCHES,
		.unit = "",
		.description = "Times the thread left its CPU",
		.kernel_only = true,
	},
	{
		.name = "cpu-migrations",
		.alias = "migrations",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_MIGRATIONS,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "",
		.description = "Times the thread went on after moves to other CPUs",
		.kernel_only = true,
	},
	{
		.name = "cgroup-switches",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CGROUP_SWITCHES,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "",
		.description = "Switches to a task of another cgroup",
		.kernel_only = true,
	},
	{
		.name = "alignment-faults",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_ALIGNMENT_FAULTS,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "",
		.description = "Unaligned accesses that the kernel completed",
	},
	{
		.name = "emulation-faults",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_EMULATION_FAULTS,
		.source = COUNTER_PERF_SOFTWARE,
		.unit = "",
		.description = "Instructions that the kernel emulated",
	},
	TASK("on-cpu", COUNTER_ON_CPU, "ns", "Time on a CPU, by the scheduler's account"),
	TASK("ready", COUNTER_READY, "ns",
	     "Time runnable, but waiting for a CPU, or for its quota"),
	TASK("blocked", COUNTER_BLOCKED, "ns", "Time asleep: for locks, disks, other threads"),
	TASK("task-faults", COUNTER_FAULTS, "",
	     "Pages the thread got, minor and major: as getrusage() tells"),
	TASK("task-minor-faults", COUNTER_MINOR_FAULTS, "",
	     "Pages the thread got from memory: ru_minflt of getrusage()"),
	TASK("task-major-faults", COUNTER_MAJOR_FAULTS, "",
	     "Pages the thread waited for a disk for: ru_majflt of getrusage()"),
	TASK("task-migrations", COUNTER_MIGRATIONS, "",
	     "Times the scheduler moved the thread to another CPU's queue: nr_migrations of "
	     "/proc/PID/sched"),
	TASK("allocs", COUNTER_ALLOCS, "", "Times the runtime's allocator was asked for memory"),
	TASK("alloc-bytes", COUNTER_ALLOC_BYTES, "bytes", "Memory it was asked for"),
	TASK("freed-bytes", COUNTER_FREED_BYTES, "bytes", "Memory that was given back to it"),
	TASK("temp-bytes", COUNTER_TEMP_BYTES, "bytes",
	     "Of this, what the same operator had asked for"),
	TASK("gpu-launches", COUNTER_GPU_LAUNCHES, "",
	     "Kernels and graphs that a GPU was told to run"),
	TASK("gpu-copies", COUNTER_GPU_COPIES, "", "Copies that a GPU was told to make"),
	TASK("gpu-copy-bytes", COUNTER_GPU_COPY_BYTES, "bytes", "What these were to copy"),
	TASK("gpu-wait", COUNTER_GPU_WAIT, "ns", "Time that the thread waited for a GPU"),
};
const size_t n_short_events = sizeof(short_events) / sizeof(short_events[0]);

const struct short_event *short_by_name(const char *name)
{
	for (size_t i = 0; i < n_short_events; i++)
		if (!strcasecmp(name, short_events[i].name) ||
		    (short_events[i].alias && !strcasecmp(name, short_events[i].alias)))
			return &short_events[i];
	return NULL;
}

const struct short_event *short_by_code(uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < n_short_events; i++)
		if (short_events[i].type == type && short_events[i].config == config &&
		    !short_events[i].task_only)
			return &short_events[i];
	return NULL;
}
