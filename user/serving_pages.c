// SPDX-License-Identifier: GPL-2.0-only
/* What is answered: metrics, and what was recorded last. */
#include "serving_state.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/kept.h"
#include "serve/series.h"

/* A number that is alone. */
static void put_number(const struct exposition *to, const char *type,
		       const struct series_metric *metric, double value)
{
	exposition_head(to, metric, type);
	fprintf(to->out, "%s%s %.15g\n", metric->name, strcmp(type, "counter") ? "" : "_total",
		value);
}

/* The same, of what is 0 only where it is not known. */
static void put_known(const struct exposition *to, const struct series_metric *metric, double value)
{
	if (value > 0)
		put_number(to, "gauge", metric, value);
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static double own_cpu(void)
{
	struct rusage own = {}, children = {};

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return seconds_of(&own.ru_utime) + seconds_of(&own.ru_stime) +
	       seconds_of(&children.ru_utime) + seconds_of(&children.ru_stime);
}

static double own_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double own_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	double n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n > 3 ? n - 3 : 0; /* ".", "..", and its own */
}

static void write_costs(struct serving *s, const struct exposition *to)
{
	static const struct series_metric
		cpu = {.name = "opprobe_targets_cpu_seconds",
		       .unit = "seconds",
		       .help = "CPU time of the processes while they were recorded."},
		charged = {.name = "opprobe_overhead_charged_seconds",
			   .unit = "seconds",
			   .help = "Of that, what probes are charged with."},
		budget = {.name = "opprobe_overhead_budget_ratio",
			  .unit = "ratio",
			  .help = "The share of the processes' CPU time that probes may take."},
		recordings = {.name = "opprobe_recordings",
			      .help = "Recordings that began: each forgets who has gone."},
		recording = {.name = "opprobe_recording", .help = "How operators are seen now."};
	struct told told;

	pthread_mutex_lock(&s->lock);
	told = s->told;
	pthread_mutex_unlock(&s->lock);
	put_number(to, "counter", &cpu, told.cpu_ns / 1e9);
	put_number(to, "counter", &charged, told.charged_ns / 1e9);
	if (!recording_samples(&s->options->recording))
		put_number(to, "gauge", &budget, s->options->recording.max_overhead);
	put_number(to, "counter", &recordings, (double)told.recordings);
	exposition_head(to, &recording, "stateset");
	fprintf(to->out,
		"opprobe_recording{opprobe_recording=\"probes\"} %d\n"
		"opprobe_recording{opprobe_recording=\"samples\"} %d\n",
		!told.samples, told.samples);
}

static void write_self(const struct exposition *to)
{
	static const struct series_metric
		cpu = {.name = "process_cpu_seconds",
		       .unit = "seconds",
		       .help = "CPU time of opprobe itself, helpers that have ended included."},
		memory = {.name = "process_resident_memory_bytes",
			  .unit = "bytes",
			  .help = "Memory of opprobe itself."},
		descriptors = {.name = "process_open_fds",
			       .help = "Descriptors of opprobe itself."};

	put_number(to, "counter", &cpu, own_cpu());
	put_known(to, &memory, own_memory());
	put_known(to, &descriptors, own_descriptors());
}

static int write_metrics(void *context, const struct exporter_request *request, FILE *out,
			 struct error *err)
{
	static const struct series_metric target = {.name = "target",
						    .help = "What tells all this."};
	static const struct series_label labels[] = {
		{"service_name", "opprobe"}, {"service_version", OPPROBE_VERSION}, {}};
	const struct exposition to = {out, request->better};
	struct serving *s = context;
	int error;

	exposition_head(&to, &target, "info");
	fputs("target_info", out);
	exposition_labels(&to, labels);
	fputs(" 1\n", out);
	error = metrics_write(s->metrics, &to);
	write_costs(s, &to);
	write_self(&to);
	if (request->better)
		fputs("# EOF\n", out);
	return error ? error_set(err, error, "out of memory") : 0;
}

/* What was recorded of late, as @kind of it. */
static int open_kept(struct serving *s, const char *kind, const struct exporter_request *request,
		     uint64_t *size, struct error *err)
{
	uint64_t now = clock_ns(), span = request->seconds * SERVING_SECOND;
	const struct part_of part = {
		.since = span && span < now ? now - span : 0,
		.pid = request->pid,
	};
	int fd;

	pthread_mutex_lock(&s->looking);
	if (s->live)
		fd = kept_open(s->live, kind, &part, size, err);
	else
		fd = error_set(err, -ENOENT,
			       "nothing is recorded now: no process that is wanted "
			       "has a runtime");
	pthread_mutex_unlock(&s->looking);
	return fd;
}

static int open_capture(void *context, const struct exporter_request *request, uint64_t *size,
			struct error *err)
{
	return open_kept(context, KEPT_CAPTURE, request, size, err);
}

static int open_profile(void *context, const struct exporter_request *request, uint64_t *size,
			struct error *err)
{
	return open_kept(context, "profile.pb", request, size, err);
}

static int open_page(void *context, const struct exporter_request *request, uint64_t *size,
		     struct error *err)
{
	return open_kept(context, "", request, size, err);
}

const struct exporter_page serving_pages[] = {
	{.path = "/metrics",
	 .type = "text/plain; version=0.0.4; charset=utf-8",
	 .better = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	 .write = write_metrics},
	{.path = "/capture",
	 .type = "application/octet-stream",
	 .file = "opprobe.opp",
	 .open = open_capture},
	{.path = "/profile",
	 .type = "application/octet-stream",
	 .file = "profile.pb",
	 .open = open_profile},
	{.path = "/", .type = "text/html; charset=utf-8", .open = open_page},
	{},
};
