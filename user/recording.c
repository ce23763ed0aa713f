// SPDX-License-Identifier: GPL-2.0-only
#include "recording_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "collect/info.h"
#include "inspect/rights.h"
#include "roofs/roofs.h"

/* For the comparison of runs with and without probes, behind the recording. */
#define COST_TIME_MIN UINT64_C(1000000000)
#define COST_TIME_MAX UINT64_C(10000000000)

#define TELL_INTERVAL UINT64_C(900000000) /* ns: what is called each 0.2 s does it each second */

void recording_say(const struct recording_options *options, const char *format, ...)
{
	char text[4096];
	va_list args;

	if (options->quiet)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Names in it may be the target's. */
	utf8_clean(text);
	if (options->say)
		options->say(options, text);
	else
		fprintf(stderr, "opprobe: %s\n", text);
}

static void show_progress(struct recording *recording, const struct collector_progress *progress)
{
	bool runs = location_has(&recording->first->located->location, SITE_RUN_ENTER);

	if (progress->waiting && !recording->told_to_wait && !recording->sampling.counter &&
	    !recording->options->arrived)
		recording_say(recording->options, "waiting for the first %s",
			      runs ? "run" : "operator");
	recording->told_to_wait |= progress->waiting;
	if (progress->waiting || recording->options->quiet || recording->options->sink ||
	    !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[Kopprobe: %" PRIu64 " %s", progress->operators,
		recording_samples(recording->options) ? "samples in operators" : "operators");
	if (runs && !recording_samples(recording->options))
		fprintf(stderr, " in %" PRIu64 " runs", progress->runs);
	if (progress->lost)
		fprintf(stderr, ", %" PRIu64 " lost", progress->lost);
	fflush(stderr);
}

/* For who looks: about once a second. */
static void tell_so_far(struct recording *recording)
{
	uint64_t now = clock_ns();

	if (now - recording->told < TELL_INTERVAL)
		return;
	recording->told = now;
	if (recording->spending)
		recording_tell_budget(recording);
	collector_tell_so_far(recording->collector);
}

/* What is in the capture by now survives whatever happens to opprobe. */
static int on_progress(void *context, const struct collector_progress *progress)
{
	struct recording *recording = context;

	bool more = following_look(recording->following, recording->collector, progress->news,
				   progress->n_news);

	show_progress(recording, progress);
	if (!recording->writer) {
		tell_so_far(recording);
		return more;
	}
	return capture_writer_flush(recording->writer) ?: more;
}

/* Somebody waits for what is done then. */
static bool is_urgent(void *context)
{
	const struct recording *recording = context;

	return following_asked(recording->following);
}

static void say_line(void *context, const char *text)
{
	recording_say(context, "%s", text);
}

static size_t ask_arrived(void *context, const struct collector *collector, pid_t *pids, size_t max)
{
	const struct recording_options *options = context;

	return options->arrived(options, collector_tasks_hit(collector), pids, max);
}

static double elapsed_ms(uint64_t since)
{
	return (clock_ns() - since) / 1e6;
}

static int choose_counters(const struct recording_options *options, struct counter_set *set,
			   struct error *err)
{
	int error;

	if (recording_samples(options) || (options->events && !strcmp(options->events, "none")))
		error = 0;
	else if (options->events)
		error = counters_parse(set, options->events, err);
	else if (options->config)
		error = counters_read_config(set, options->config, err);
	else
		error = counters_default(set, err);
	if (!error && options->memory)
		error = counters_add_memory(set, err);
	if (!error && options->gpu)
		error = counters_add_gpu(set, err);
	if (!error && options->max_overhead > 0 &&
	    (counters_of_memory(set) || counters_of_gpu(set)))
		error = error_set(
			err, -EINVAL,
			"what the probes of memory and of GPUs' libraries cost is not "
			"reckoned with: count without these, or leave --max-overhead out");
	return error || !set->n ? error : counters_check(set, err);
}

/* Time is sampled as none of perf's clocks does it, see collect/sampler.h. */
static int choose_sampled(struct recording *recording, struct error *err)
{
	const struct recording_options *options = recording->options;
	struct sampler_options *sampling = &recording->sampling;
	int error;

	*sampling = (struct sampler_options){
		.rate = options->sample_rate,
		.period = options->sample_period,
		.off_cpu = options->sample_off_cpu,
	};
	if (!options->sample_event)
		return 0;
	error = counters_parse_sampled(&recording->sampled, options->sample_event, err);
	if (error)
		return error;
	if (!counter_is_clock(&recording->sampled))
		sampling->counter = &recording->sampled;
	else if (options->sample_period)
		return error_set(err, -EINVAL,
				 "'%s' is time, which is sampled by --sample RATE, without "
				 "--sample-period",
				 options->sample_event);
	return 0;
}

#define RUNS_AT_ONCE 1024 /* that a process has open at most */

/* -- the schedule ---------------------------------------------------------------- */

/* One cycle, from detached to detached; enum collector_end or a negative errno. */
static int record_cycle(struct recording *recording, uint64_t wait, uint64_t recorded,
			struct error *err)
{
	const struct schedule *schedule = &recording->options->schedule;
	struct collector *collector = recording->collector;
	struct collector_limits limits = {
		.runs_started = collector_runs_started(collector) + wait,
	};
	uint32_t first;
	int end, error;

	if (wait) {
		end = collector_run(collector, &limits, err);
		if (end != COLLECTOR_RUNS)
			return end;
	}
	error = collector_attach_operators(collector, err);
	if (error)
		return error;
	/* A run that starts at this very moment may not know of the window yet. */
	first = collector_runs_started(collector) + schedule->warmup + 1;
	collector_select(collector, 0, first, schedule->active);
	limits = (struct collector_limits){
		.runs_recorded = recorded + schedule->active,
		/* Should the record of a run be lost, this is not waited for in vain. */
		.runs_started = (uint64_t)first + schedule->active + RUNS_AT_ONCE,
	};
	end = collector_run(collector, &limits, err);
	collector_detach_operators(collector);
	return end;
}

static int record_schedule(struct recording *recording, struct error *err)
{
	const struct schedule *schedule = &recording->options->schedule;
	uint64_t wait = (uint64_t)schedule->skip_first + schedule->wait;
	int end = COLLECTOR_RUNS, error;

	for (unsigned int cycle = 1; !schedule->repeat || cycle <= schedule->repeat; cycle++) {
		if (cycle > 1 && recording->options->per_cycle) {
			error = recording_change_capture(recording, cycle, err);
			if (error)
				return error;
		}
		end = record_cycle(recording, wait, (uint64_t)(cycle - 1) * schedule->active, err);
		if (end != COLLECTOR_RUNS)
			break;
		recording_say(recording->options, "cycle %u: %u runs recorded", cycle,
			      schedule->active);
		wait = schedule->wait;
	}
	return end;
}

static int by_first(const void *a, const void *b)
{
	const struct analyze_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* With --runs: when all of them have been recorded, unless one of its ranges has no end. */
static void limit_runs(const struct analyze_options *options, struct collector_limits *limits)
{
	struct analyze_range runs[ANALYZE_RANGES_MAX];
	uint64_t next = 0, wanted = 0;

	memcpy(runs, options->runs, sizeof(runs));
	qsort(runs, options->n_runs, sizeof(runs[0]), by_first);
	for (size_t i = 0; i < options->n_runs; i++) {
		uint64_t first = runs[i].first > next ? runs[i].first : next;

		if (runs[i].last == UINT32_MAX)
			return;
		if (runs[i].last < first)
			continue; /* another range has them */
		wanted += runs[i].last + UINT64_C(1) - first;
		next = runs[i].last + UINT64_C(1);
	}
	limits->runs_recorded = wanted;
	limits->runs_started = wanted ? next + RUNS_AT_ONCE : 0;
}

static int record_all(struct recording *recording, struct error *err)
{
	struct collector_limits limits = {.duration = recording->options->duration};

	limit_runs(&recording->options->runs, &limits);
	return collector_run(recording->collector, &limits, err);
}

/* -- life --------------------------------------------------------------------------- */

static int select_runs(struct recording *recording, struct error *err)
{
	const struct analyze_options *runs = &recording->options->runs;

	for (size_t i = 0; i < runs->n_runs; i++)
		collector_select(recording->collector, i, runs->runs[i].first,
				 runs->runs[i].last - runs->runs[i].first + 1 ?: UINT32_MAX);
	return collector_attach(recording->collector, err);
}

/* Whatever chooses runs needs them in every process. */
static int check_runs(const struct recording *recording, struct error *err)
{
	const struct recording_options *options = recording->options;
	size_t n;
	const struct collector_target *targets = following_targets(recording->following, &n);

	if (!options->schedule.active && !options->runs.n_runs && !options->min_duration &&
	    options->max_overhead <= 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct located *located = targets[i].located;

		if (!location_has(&located->location, SITE_RUN_ENTER))
			return error_set(err, -ENOTSUP,
					 "no place where runs of %s begin and end is known in %s: "
					 "record all of it, without --schedule, --runs, "
					 "--min-duration and --max-overhead",
					 located->location.runtime->title, located->file.path);
	}
	return 0;
}

/* Those of the counters have been said. */
static void say_notes(const struct recording *recording)
{
	struct capture_info info = {};

	recording_add_notes(recording, &info);
	for (size_t i = 0; i < info.n_notes; i++)
		recording_say(recording->options, "%s", info.notes[i]);
}

static void say_late_notes(const struct recording *recording)
{
	char note[CAPTURE_NOTE_SIZE];
	size_t next = 0;

	while (collector_note(recording->collector, true, &next, note))
		recording_say(recording->options, "%s", note);
}

static int attach(struct recording *recording, struct error *err)
{
	const struct recording_options *options = recording->options;
	struct collector_options collect = {
		.any_runtime = recording->follow.follow || options->n_pids > 1,
		.counters = &recording->counters,
		.sink = recording_sink(recording),
		.buffer_size = options->buffer_size,
		.min_duration = options->min_duration,
		.selective = options->schedule.active || options->runs.n_runs,
		.windows = options->max_overhead > 0,
		.count_tasks = options->max_overhead > 0 || options->arrived,
		.sampling = recording_samples(options) ? &recording->sampling : NULL,
		.sampling_runs = options->sample_runs,
		.sums = options->sums,
		.shapes = options->shapes,
		.parts = options->parts,
		.layers = recording->follow.layers,
		.stop = options->stop,
		.progress = on_progress,
		.hurry = options->command ? is_urgent : NULL,
		.context = recording,
	};
	int error;

	if (!recording_samples(options))
		recording->overhead =
			overhead_start((struct self_kind){true, true}, &recording->counters);
	error = following_find(recording->following, err);
	if (error)
		return error;
	if (options->command)
		recording->started = clock_ns();
	collect.targets = recording->first =
		following_targets(recording->following, &collect.n_targets);
	error = check_runs(recording, err);
	if (error)
		return error;
	recording->collector = collector_new(&collect, err);
	if (!recording->collector)
		return -EINVAL;
	say_notes(recording);
	if (!recording_samples(options))
		recording_know_overhead(recording);
	error = recording_write_info(recording, err) ?: recording_write_overhead(recording, err);
	if (error)
		return error;
	/* What holds up the target while it is done, too, is soon over. */
	recording_hurry(recording);
	following_hurry(recording->following);
	if (recording_samples(options))
		error = collector_attach_samples(recording->collector, err);
	else if (options->schedule.active || options->max_overhead > 0)
		error = collector_attach_runs(recording->collector, NULL, err);
	else
		error = select_runs(recording, err);
	return error;
}

static void say_attached(const struct recording *recording)
{
	const struct recording_options *options = recording->options;
	char processes[512];
	size_t n, used = 0;
	const struct collector_target *targets = following_targets(recording->following, &n);

	for (size_t i = 0; i < n && used < sizeof(processes); i++) {
		char title[RUNTIME_TITLE];

		location_title(&targets[i].located->location, title);
		used += snprintf(processes + used, sizeof(processes) - used, "%s%d (%s)",
				 i ? ", " : "", targets[i].process->pid, title);
	}
	recording_say(options, "attached to process%s %s in %.0f ms%s", n > 1 ? "es" : "",
		      processes, elapsed_ms(recording->started),
		      options->arrived ? ""
		      : options->duration || options->schedule.repeat
			      ? "; recording"
			      : "; Ctrl-C ends the recording");
}

/*
 * A tenth of the time that was recorded, so that long runs fit as well, but a
 * second at least, and ten at most.
 */
static void measure_cost(struct recording *recording, int end)
{
	const struct recording_options *options = recording->options;
	uint64_t limit = (clock_ns() - recording->attached) / 10;
	bool tell = !options->quiet && isatty(STDERR_FILENO);

	if (options->no_cost || recording->cost_known || recording_samples(options) ||
	    end == COLLECTOR_EXITED ||
	    !location_has(&recording->first->located->location, SITE_RUN_ENTER))
		return;
	collector_end(recording->collector);
	if (recording->writer)
		capture_writer_flush(recording->writer);
	limit = limit < COST_TIME_MIN ? COST_TIME_MIN : limit;
	limit = limit > COST_TIME_MAX ? COST_TIME_MAX : limit;
	if (tell)
		fprintf(stderr,
			"opprobe: recorded; measuring what that costs, for %.0f s at most (Ctrl-C "
			"skips it)",
			limit / 1e9);
	collector_measure_cost(recording->collector, limit);
	if (tell)
		fputs("\r\033[K", stderr);
}

/* Record into the open writer. Returns 0, or a negative errno with @err set. */
static int record(struct recording *recording, struct error *err)
{
	const struct recording_options *options = recording->options;
	uint64_t ended;
	int end, error;

	error = attach(recording, err);
	if (error)
		return error;
	/* The user's command is to have the user's rights. */
	if (!options->on_capture)
		rights_reduce();
	say_attached(recording);
	recording->attached = clock_ns();
	error = options->attached ? options->attached(options, err) : 0;
	if (error)
		return error;
	/* As late as can be: names are read while their sessions live. */
	following_let(recording->following);
	if (options->max_overhead > 0)
		end = recording_keep_budget(recording, err);
	else
		end = options->schedule.active ? record_schedule(recording, err)
					       : record_all(recording, err);
	if (!options->quiet && !options->sink && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (end < 0) {
		collector_stop(recording->collector, COLLECTOR_STOPPED, NULL);
		return end;
	}
	if (end == COLLECTOR_EXITED && options->command)
		recording_say(options, "'%s' has ended", command_name(options->command));
	else if (end == COLLECTOR_EXITED && options->n_pids == 1 && !options->follow)
		recording_say(options, "process %d exited; what was recorded until then is kept",
			      recording->first->process->pid);
	else if (end == COLLECTOR_EXITED && !options->arrived)
		recording_say(options,
			      "all processes have exited; what was recorded until then is kept");
	measure_cost(recording, end);
	ended = clock_ns();
	error = collector_stop(recording->collector, end, err);
	if (collector_operators(recording->collector))
		say_late_notes(recording);
	recording_say(options, "detached in %.0f ms", elapsed_ms(ended));
	return error;
}

static int open_all(struct recording *recording, struct error *err)
{
	const struct recording_options *options = recording->options;
	int error;

	error = choose_counters(options, &recording->counters, err)
			?: choose_sampled(recording, err);
	if (!error && options->check)
		error = options->check(options, &recording->counters, err);
	if (error)
		return error;
	recording->follow = (struct following_options){
		.pids = options->pids,
		.n_pids = options->n_pids,
		.wait = options->wait,
		.some = options->some,
		.command = options->command,
		.follow = options->follow || options->command,
		.layers = counters_of_gpu(&recording->counters),
		.stop = options->stop,
		.arrived = options->arrived ? ask_arrived : NULL,
		.say = say_line,
		.context = (void *)options,
	};
	recording->following = following_open(&recording->follow, err);
	if (!recording->following)
		return -EINVAL;
	for (size_t i = 0; i < recording->counters.n_notes; i++)
		recording_say(options, "%s", recording->counters.notes[i]);
	error = options->sink ? 0 : recording_open_capture(recording, 1, err);
	if (error)
		return error;
	return options->ready ? options->ready(options, err) : 0;
}

/* The last capture gets its place, unless nothing is in it as nothing could be recorded. */
static int close_capture(struct recording *recording, int error, struct recording_result *result,
			 struct error *err)
{
	if (!recording->writer)
		return 0;
	if (error && !result->operators) {
		capture_writer_drop(recording->writer, err);
		return 0;
	}
	/* A recording that failed as its file did is told with the file's name. */
	return capture_writer_close(recording->writer, &result->capture, err);
}

/* Before the target is looked at, while nothing waits for a file. */
static void read_roofs(struct recording *recording)
{
	struct capture_info machine = {};

	info_describe_machine(&machine);
	roofs_read(&machine);
	recording->roofs = machine.roofs;
}

int recording_run(const struct recording_options *options, struct recording_result *result,
		  struct error *err)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	int error, closed;

	*result = (struct recording_result){};
	if (!recording)
		return error_set(err, -ENOMEM, "out of memory");
	recording->options = options;
	recording->started = clock_ns();
	read_roofs(recording);
	recording_be_patient(recording);
	error = open_all(recording, err);
	if (!error)
		error = record(recording, err);
	if (recording->collector)
		result->operators = collector_operators(recording->collector);
	collector_free(recording->collector);
	overhead_free(recording->overhead);
	array_free(&recording->overhead_notes);
	closed = close_capture(recording, error, result, err);
	following_free(recording->following);
	if (!error && !closed && result->capture)
		recording_call_back(recording, result->capture);
	recording_slow_down(recording);
	recording_reap(recording, true);
	array_free(&recording->commands);
	free(recording);
	return error ? error : closed;
}
