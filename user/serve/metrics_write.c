// SPDX-License-Identifier: GPL-2.0-only
#include "metrics_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order of struct capture_loss. */
static const char *const losses[LOSSES] = {
	"ring_full", "too_deep",  "unnamed",	"missed",     "threads_full",
	"work_lost", "runs_full", "unfinished", "parts_lost",
};

static void write_operators(const struct metrics *m, const struct series_metric *metrics, size_t n,
			    const struct exposition *to)
{
	/* One name stands in one place: the nodes', and behind them all that is not told by node.
	 */
	const struct series_set *const sets[] = {m->nodes, m->others};

	series_write(sets, 2, metrics, n, to);
}

static bool is_time(const struct capture_event *event)
{
	return !strcmp(event->unit, "ns");
}

/* Those that are times, or those that are none, as @all of them are described. */
static void write_events(const struct metrics *m, bool times, struct series_metric all,
			 const struct exposition *to)
{
	struct series_metric metrics[CAPTURE_COUNTERS];
	char *labels[CAPTURE_COUNTERS];
	size_t n = 0;

	for (uint32_t i = 0; i < m->n_events; i++) {
		const struct series_label label[] = {{"event", m->events[i].name}, {}};

		if (is_time(&m->events[i]) != times)
			continue;
		labels[n] = series_write_labels(label);
		if (!labels[n])
			continue;
		metrics[n] = all;
		metrics[n].extra = labels[n];
		metrics[n++].value = VALUE_EVENTS + i;
	}
	if (n)
		write_operators(m, metrics, n, to);
	while (n)
		free(labels[--n]);
}

static void write_runs(const struct metrics *m, const struct exposition *to)
{
	static const struct series_metric durations = {
		.name = "opprobe_run_duration_seconds",
		.unit = "seconds",
		.help = "Runs of models that did not throw.",
		.value = RUN_BUCKETS,
		.is_time = true,
	};
	static const struct series_metric failed = {
		.name = "opprobe_runs_failed",
		.help = "Runs that returned an error or were left by an exception.",
		.value = RUN_FAILED,
	};
	const struct series_set *const runs = m->runs;
	uint64_t bounds[N_BOUNDS];

	/* Durations are whole: up to a power of two exclusively is up to one less. */
	for (int i = 0; i < N_BOUNDS - 1; i++)
		bounds[i] = (UINT64_C(1) << (BUCKETS_MIN + i)) - 1;
	bounds[N_BOUNDS - 1] = UINT64_MAX;
	series_write_histogram(runs, &durations, bounds, N_BOUNDS, to);
	series_write(&runs, 1, &failed, 1, to);
}

static bool is_there(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return !access(path, F_OK);
}

/* Who is recorded. */
static void write_targets(const struct metrics *m, const struct exposition *to)
{
	static const struct series_metric info = {
		.name = "opprobe_process",
		.help = "The processes that are recorded.",
	};
	bool begun = false;

	for (size_t i = 0; m->analysis && i < m->analysis->processes.n; i++) {
		const struct analyze_process *process = m->analysis->processes.items[i];
		const struct metrics_whose *it = metrics_whose_of(m, process->process);
		char number[16], pid[16];
		const struct series_label labels[] = {
			{"process", number},
			{"pid", pid},
			{"namespace", it->namespace},
			{"pod", it->pod},
			{"container", it->container},
			{"comm", it->comm},
			{"runtime", process->runtime},
			{"version", process->version},
			{},
		};

		/* One pid may have been of several. */
		snprintf(number, sizeof(number), "%u", process->process);
		snprintf(pid, sizeof(pid), "%u", process->pid);
		if (!is_there(process->pid))
			continue;
		if (!begun)
			exposition_head(to, &info, "info");
		begun = true;
		fputs("opprobe_process_info", to->out);
		exposition_labels(to, labels);
		fputs(" 1\n", to->out);
	}
}

static void write_lost(const struct metrics *m, const struct exposition *to)
{
	static const struct series_metric lost = {
		.name = "opprobe_lost",
		.help = "Operators and runs that could not be recorded in whole, by why not.",
	};
	const uint64_t *all = (const uint64_t *)&m->lost;

	exposition_head(to, &lost, "counter");
	for (size_t i = 0; i < LOSSES; i++)
		fprintf(to->out, "opprobe_lost_total{reason=\"%s\"} %llu\n", losses[i],
			(unsigned long long)all[i]);
}

static void write_pool(const struct metrics *m, const struct exposition *to)
{
	static const struct series_metric
		work =
			{
				.name = "opprobe_pool_work_seconds",
				.unit = "seconds",
				.help = "What pool threads worked for operators of others.",
			},
		cpu = {
			.name = "opprobe_pool_cpu_seconds",
			.unit = "seconds",
			.help = "CPU time of pool threads: beyond their work they wait for some, spinning.",
		};

	if (!m->has_pool)
		return;
	exposition_head(to, &work, "counter");
	fprintf(to->out, "%s_total", work.name);
	exposition_seconds(to, m->pool[0]);
	if (!m->pool[1])
		return;
	exposition_head(to, &cpu, "counter");
	fprintf(to->out, "%s_total", cpu.name);
	exposition_seconds(to, m->pool[1]);
}

static void write_all_operators(const struct metrics *m, const struct exposition *to)
{
	static const struct series_metric
		executions =
			{
				.name = "opprobe_operator_executions",
				.help = "Executions of operators.",
				.value = VALUE_EXECUTIONS,
			},
		seconds =
			{
				.name = "opprobe_operator_seconds",
				.unit = "seconds",
				.help = "Time of operators on their own threads, without operators inside.",
				.value = VALUE_SELF_NS,
				.is_time = true,
			},
		pool =
			{
				.name = "opprobe_operator_pool_seconds",
				.unit = "seconds",
				.help = "What pool threads worked for operators.",
				.value = VALUE_POOL_NS,
				.is_time = true,
			},
		sampled = {
			.name = "opprobe_operator_sampled_cpu_seconds",
			.unit = "seconds",
			.help = "CPU time of operators, pool threads included, as samples estimate it.",
			.value = VALUE_SAMPLED,
			.is_time = true,
		};

	write_operators(m, &executions, 1, to);
	write_operators(m, &seconds, 1, to);
	write_operators(m, &pool, 1, to);
	write_operators(m, &sampled, 1, to);
	write_events(m, true,
		     (struct series_metric){
			     .name = "opprobe_operator_event_seconds",
			     .unit = "seconds",
			     .help = "Of operators, without operators inside, on all threads that "
				     "worked for them: what events say that are times.",
			     .is_time = true,
		     },
		     to);
	write_events(m, false,
		     (struct series_metric){
			     .name = "opprobe_operator_events",
			     .help = "Of operators, without operators inside, on all threads that "
				     "worked for them: events, scaled up to executions for which "
				     "they were not counted.",
		     },
		     to);
}

int metrics_write(struct metrics *m, const struct exposition *to)
{
	int error;

	pthread_mutex_lock(&m->lock);
	error = metrics_look(m);
	write_targets(m, to);
	write_runs(m, to);
	write_all_operators(m, to);
	write_pool(m, to);
	write_lost(m, to);
	pthread_mutex_unlock(&m->lock);
	return error;
}
