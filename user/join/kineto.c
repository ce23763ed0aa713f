// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces of PyTorch's profiler (Kineto), in Chrome's format: "ts" and "dur" are microseconds, with
 * what is below in decimals, from "baseTimeNanoseconds" on, or, where a trace has none, as of 1.13,
 * which is a bare list, from the epoch on.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "../capture/records.h"
#include "profile.h"

#define FILE_MAX (UINT64_C(1) << 30) /* bytes: in memory it takes several times as much */

static int read_file(const char *path, char **text, struct error *err)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	size_t n;

	if (!file || fstat(fileno(file), &status)) {
		error_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
		if (file)
			fclose(file);
		return -EIO;
	}
	if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > FILE_MAX) {
		fclose(file);
		return error_set(err, -EFBIG,
				 "%s is no file of at most 1 GiB: record a shorter time with the "
				 "profiler, or unpack it",
				 path);
	}
	*text = malloc(status.st_size + 1);
	n = *text ? fread(*text, 1, status.st_size, file) : 0;
	fclose(file);
	if (!*text)
		return -ENOMEM;
	(*text)[n] = '\0';
	return 0;
}

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* A whole number of at most 2^53; @other where it is none. */
static uint64_t whole(const cJSON *object, const char *key, uint64_t other)
{
	double value = number(object, key);

	return value >= 0 && value <= 0x1p53 ? (uint64_t)value : other;
}

/* False if it is no time. */
static bool time_of(const cJSON *event, uint64_t base, uint64_t *start, uint64_t *end)
{
	double ts = number(event, "ts"), dur = number(event, "dur");

	if (!(ts >= 0 && ts < 0x1p61 / 1000) || !(dur >= 0 && dur < 0x1p60 / 1000))
		return false;
	*start = base + (uint64_t)llround(ts * 1000);
	*end = *start + (uint64_t)llround(dur * 1000);
	return true;
}

static void three(const cJSON *args, const char *key, uint32_t values[3])
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(args, key);

	for (int i = 0; i < 3; i++) {
		const cJSON *item = cJSON_GetArrayItem(list, i);

		values[i] = cJSON_IsNumber(item) && item->valuedouble >= 0 &&
					    item->valuedouble <= UINT32_MAX
				    ? (uint32_t)item->valuedouble
				    : 0;
	}
}

static int add_call(struct profile *profile, const cJSON *event, const cJSON *args,
		    const char *name, uint64_t base)
{
	struct profile_call call = {.kind = profile_kind_of(name)}, *added;
	double thread = number(event, "tid");

	call.correlation = whole(args, "correlation", UINT64_MAX);
	if (!call.kind || call.correlation == UINT64_MAX || !(fabs(thread) < 0x1p53) ||
	    !time_of(event, base, &call.start, &call.end))
		return 0;
	/* Threads that the profiler did not start have no number of the kernel. */
	call.thread = (uint64_t)(int64_t)thread;
	added = array_push(&profile->calls);
	if (!added)
		return -ENOMEM;
	*added = call;
	return 0;
}

static int add_activity(struct profile *profile, const cJSON *event, const cJSON *args,
			const char *name, uint32_t kind, uint64_t base)
{
	struct profile_activity activity = {.kind = kind}, *added;

	activity.correlation = whole(args, "correlation", UINT64_MAX);
	if (!time_of(event, base, &activity.start, &activity.end))
		return 0;
	activity.device = whole(args, "device", 0);
	activity.stream = whole(args, "stream", 0);
	activity.bytes = kind == CAPTURE_LAUNCH_COPY ? whole(args, "bytes", 0) : 0;
	activity.registers = whole(args, "registers per thread", 0);
	three(args, "grid", activity.grid);
	three(args, "block", activity.block);
	activity.name = strings_intern(&profile->strings, name, strlen(name));
	added = activity.name ? array_push(&profile->activities) : NULL;
	if (!added)
		return -ENOMEM;
	*added = activity;
	return 0;
}

static int add_event(struct profile *profile, const cJSON *event, uint64_t base)
{
	const char *category = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "cat"));
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "name"));
	const char *phase = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "ph"));
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args");

	if (!category || !name || !phase || strcmp(phase, "X") || !args)
		return 0;
	if (!strcmp(category, "cuda_runtime") || !strcmp(category, "cuda_driver"))
		return add_call(profile, event, args, name, base);
	if (!strcmp(category, "kernel"))
		return add_activity(profile, event, args, name, CAPTURE_LAUNCH_KERNEL, base);
	if (!strcmp(category, "gpu_memcpy"))
		return add_activity(profile, event, args, name, CAPTURE_LAUNCH_COPY, base);
	return 0;
}

static int add_events(struct profile *profile, const cJSON *root)
{
	const cJSON *events =
		cJSON_IsArray(root) ? root : cJSON_GetObjectItemCaseSensitive(root, "traceEvents");
	double base = number(root, "baseTimeNanoseconds");
	const cJSON *event;
	int error = 0;

	cJSON_ArrayForEach(event, events)
	{
		error = add_event(profile, event, base > 0 && base < 0x1p62 ? (uint64_t)base : 0);
		if (error)
			break;
	}
	return error;
}

int kineto_read(const char *path, struct profile *profile, struct error *err)
{
	char *text = NULL;
	int error = read_file(path, &text, err);
	cJSON *root;

	if (error)
		return error;
	root = cJSON_Parse(text);
	free(text);
	if (!root)
		return error_set(err, -EBADMSG,
				 "%s is neither a database of Nsight Systems (nsys export --type "
				 "sqlite) or of rocprofv3 (--output-format rocpd), nor a whole "
				 "trace of PyTorch's profiler",
				 path);
	profile->tool = "PyTorch profiler";
	error = add_events(profile, root);
	cJSON_Delete(root);
	if (!error && !profile->activities.n)
		error = error_set(err, -ENODATA,
				  "%s tells nothing that a GPU did: have the profiler record "
				  "ProfilerActivity.CUDA",
				  path);
	return error;
}
