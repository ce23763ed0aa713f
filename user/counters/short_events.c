// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf's short names: a table of our own, because some of these events need
 * no perf event at all.
 */
#include "event.h"

#include <strings.h>

#define HARDWARE(_name, _alias, _config, _description)                                             \
	{                                                                                          \
		.name = (_name), .alias = (_alias), .type = PERF_TYPE_HARDWARE,                    \
		.config = PERF_COUNT_HW_##_config, .source = COUNTER_PERF, .unit = "",             \
		.description = (_description)                                                      \
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
		.source = COUNTER_FAULTS,
		.unit = "",
		.description = "Page faults, minor and major",
	},
	{
		.name = "minor-faults",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.source = COUNTER_MINOR_FAULTS,
		.unit = "",
		.description = "Page faults served from memory",
	},
	{
		.name = "major-faults",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		.source = COUNTER_MAJOR_FAULTS,
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
		.source = COUNTER_MIGRATIONS,
		.unit = "",
		.description = "Times the thread changed its CPU",
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
		if (short_events[i].type == type && short_events[i].config == config)
			return &short_events[i];
	return NULL;
}
