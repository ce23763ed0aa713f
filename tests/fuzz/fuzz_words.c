// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users write on the command line beside events (fuzz_config.c), and what
 * the kernel tells of a process's memory and mounts: the first byte chooses.
 * What is taken is in its range; what is not has a sentence.
 */
#include <math.h>

#include "analyze/metric.h"
#include "analyze/processes.h"
#include "base/units.h"
#include "collect/schedule.h"
#include "require.h"
#include "target/pod.h"
#include "target/process.h"

static const char titles[][160] = {"cycles", "instructions:u", "cache-misses", "page-faults"};

static void try_metric(const char *text)
{
	double values[METRIC_VARIABLES];
	struct error err = {};
	struct metric *metric;

	if (metric_parse(text, titles, 4, &metric, &err)) {
		require_sentence(&err);
		return;
	}
	for (size_t i = 0; i < METRIC_VARIABLES; i++)
		values[i] = i & 1 ? NAN : (double)i;
	metric_value(metric, values);
	require(*metric_name(metric));
	metric_free(metric);
}

static void try_schedule(const char *text)
{
	struct schedule schedule;
	struct error err = {};

	if (schedule_parse(&schedule, text, &err))
		require_sentence(&err);
	else
		require(schedule.active);
}

static void try_process(const char *text)
{
	struct error err = {};
	uint32_t pid;

	if (process_parse(text, &pid, &err))
		require_sentence(&err);
}

static void try_units(const char *text)
{
	uint64_t value;

	require(parse_duration(text, &value) || value);
	require(parse_size(text, &value) || value);
}

static void try_map(char *text)
{
	struct mapped_file file;

	if (!process_parse_mapping(text, &file))
		return;
	require(file.inode && *file.path == '/' && !*file.open_path);
	require(memchr(file.path, '\0', sizeof(file.path)));
	require(strlen(file.path) < sizeof(file.path));
}

static void try_mounts(const uint8_t *text, size_t size)
{
	FILE *mountinfo = size ? fmemopen((void *)text, size, "r") : NULL;
	char name[POD_CONTAINER + 1];

	if (mountinfo && pod_container(mountinfo, "0123456789abcdef0123456789abcdef", name))
		require(pod_may_call(name, strlen(name)));
	if (mountinfo)
		fclose(mountinfo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size || size > 4096)
		return 0;
	text = calloc(size, 1);
	require(text);
	memcpy(text, data + 1, size - 1);
	switch (data[0] % 6) {
	case 0:
		try_metric(text);
		break;
	case 1:
		try_schedule(text);
		break;
	case 2:
		try_process(text);
		break;
	case 3:
		try_units(text);
		break;
	case 4:
		try_map(text);
		break;
	default:
		try_mounts(data + 1, size - 1);
	}
	free(text);
	return 0;
}
