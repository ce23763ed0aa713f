// SPDX-License-Identifier: GPL-2.0-only
#include "verdict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "header.h"
#include "text.h"

#define OPS_TOLD      3
#define SHARE_ENOUGH  0.1  /* of the time, for a second operator type to be told */
#define SHARE_VISIBLE 0.01 /* of what is less, there is nothing to be said */

/* -- what is wrong ------------------------------------------------------------------ */

static bool is_whole(const struct analysis *a)
{
	return a->complete && !a->damaged && !a->cut[0];
}

static void print_wrong(const struct analysis *a, FILE *out)
{
	char share[32], count[32], all[32];
	uint64_t failed = a->runs_failed + a->runs_threw;

	if (!is_whole(a))
		fputs("The end of the recording is missing. ", out);
	if (a->lost_operators)
		fprintf(out, "%s of what ran was lost. ",
			text_share(share, sizeof(share), a->lost_share));
	else if (a->lost)
		fputs("Something was lost, which is told below. ", out);
	if (failed && !a->options.failed)
		fprintf(out, "%s of %s run%s failed. ", text_count(count, sizeof(count), failed),
			text_count(all, sizeof(all), a->runs_seen), a->runs_seen == 1 ? "" : "s");
}

/* -- what ran ----------------------------------------------------------------------- */

/* What all @n_sessions that are shown are called: by their one model, if there are several. */
static const char *common_title(const struct analysis *a, size_t *n_sessions)
{
	const struct analyze_session *first = NULL;
	bool same = true;

	*n_sessions = 0;
	for (size_t i = 0; i < a->sessions.n; i++) {
		const struct analyze_session *session = a->sessions.items[i];

		if (!session->shown)
			continue;
		first = first ?: session;
		same = same && session->is_named && session->model == first->model &&
		       (session->model || session == first);
		(*n_sessions)++;
	}
	if (!first || !same)
		return NULL;
	return *n_sessions == 1 ? first->title : first->base->text;
}

/* The program's name alone: what it was started with may be long, and is in the header. */
static void put_program(const struct analyze_process *process, FILE *out)
{
	char name[64];
	const char *begin = process->command, *p = begin;

	for (; *p && *p != ' '; p++)
		if (*p == '/')
			begin = p + 1;
	snprintf(name, sizeof(name), "%.*s", (int)(p - begin), begin);
	text_put(out, name[0] ? name : "process");
}

static void print_where(const struct analysis *a, FILE *out)
{
	if (a->processes.n_shown > 1) {
		fprintf(out, " in %u processes", a->processes.n_shown);
		return;
	}
	for (size_t i = 0; i < a->processes.n; i++) {
		const struct analyze_process *process = a->processes.items[i];

		if (!process->shown)
			continue;
		fputs(" in ", out);
		put_program(process, out);
		fprintf(out, " (pid %u)", process->pid);
		return;
	}
}

/* How many samples, and how many CPUs' time they stand for, if they are of a clock. */
static void print_samples(const struct analysis *a, FILE *out)
{
	uint64_t n = analyze_samples(&a->all_seen->seen);
	char count[32];

	fprintf(out, "%s ", text_count(count, sizeof(count), n));
	if (a->sampling.kind == CAPTURE_SAMPLING_EACH)
		text_put(out, a->sampling.event);
	else if (a->sampling.kind == CAPTURE_SAMPLING_OFF_CPU)
		fprintf(out, "wait%s", n == 1 ? "" : "s");
	else
		fprintf(out, "sample%s", n == 1 ? "" : "s");
}

static void print_busy(const struct analysis *a, FILE *out)
{
	char amount[64];

	if (a->sampling.kind == CAPTURE_SAMPLING_TIME) {
		fprintf(out, ", which stand for %s on CPUs",
			text_time(amount, sizeof(amount), a->all_seen->seen.amount));
	} else if (a->sampling.kind == CAPTURE_SAMPLING_OFF_CPU) {
		fprintf(out, ", %s off the CPUs",
			text_time(amount, sizeof(amount), a->all_seen->seen.amount));
	} else if (a->sampling.kind == CAPTURE_SAMPLING_EVENT) {
		fprintf(out, ", which stand for %s ",
			text_count(amount, sizeof(amount), a->all_seen->seen.amount));
		text_put(out, a->sampling.event);
	}
	fputs(". ", out);
}

static void print_subject(const struct analysis *a, FILE *out)
{
	const struct analyze_row *what = a->runs->ended ? a->runs : a->sum;
	size_t n_sessions;
	const char *title = common_title(a, &n_sessions);
	char count[32], time[64];

	if (a->has_samples)
		print_samples(a, out);
	else
		fprintf(out, "%s %s%s%s", text_count(count, sizeof(count), what->count),
			a->options.failed ? "failed " : "", what == a->runs ? "run" : "execution",
			what->count == 1 ? "" : "s");
	if (title) {
		fputs(" of ", out);
		text_put(out, title);
	}
	if (n_sessions > 1)
		fprintf(out, "%s %zu sessions", title ? "," : " of", n_sessions);
	print_where(a, out);
	if (a->has_samples)
		print_busy(a, out);
	else if (what == a->runs)
		fprintf(out, ", %s each on average. ",
			text_time(time, sizeof(time), (double)what->total / what->ended));
	else
		fprintf(out, ", %s in all. ", text_time(time, sizeof(time), what->total));
}

/* -- what takes the time ------------------------------------------------------------ */

struct op_time {
	const char *op_type;
	double ns; /* without what ran inside; or samples */
};

static int by_type(const void *a, const void *b)
{
	return strcmp(((const struct op_time *)a)->op_type, ((const struct op_time *)b)->op_type);
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct op_time *)a)->ns, y = ((const struct op_time *)b)->ns;

	return x < y ? 1 : x > y ? -1 : by_type(a, b);
}

/* The time of each operator type, the most first; none if it is not known of some row. */
static int times_of(const struct analysis *a, struct op_time **times, size_t *n)
{
	*times = calloc(a->n_rows ?: 1, sizeof(**times));
	*n = 0;
	if (!*times)
		return -ENOMEM;
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct analyze_row *row = a->rows[i];
		struct analyze_estimate self = analyze_self_time(row);

		if (a->has_samples)
			self = (struct analyze_estimate){
				.known = true, .value = (double)analyze_weight(a, &row->seen)};
		else if (!row->ended)
			continue;
		if (!row->op_type || !self.known) {
			*n = 0;
			return 0;
		}
		(*times)[(*n)++] = (struct op_time){row->op_type, self.value};
	}
	qsort(*times, *n, sizeof(**times), by_type);
	for (size_t i = 1, kept = 0, all = *n; i < all; i++) {
		if (!by_type(*times + kept, *times + i)) {
			(*times)[kept].ns += (*times)[i].ns;
			(*n)--;
		} else {
			(*times)[++kept] = (*times)[i];
		}
	}
	qsort(*times, *n, sizeof(**times), by_time);
	return 0;
}

/* What samples saw beside operators. */
static void print_beside(const struct analysis *a, FILE *out)
{
	static const struct {
		enum capture_seen seen;
		const char *what;
	} kinds[] = {
		{CAPTURE_SEEN_RUNTIME, "the runtime itself"},
		{CAPTURE_SEEN_ELSEWHERE, "the rest of the process"},
	};
	double all = (double)analyze_weight(a, &a->all_seen->seen);
	char share[32];

	for (size_t i = 0; a->has_samples && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		double part = (double)analyze_weight(a, &a->seen[kinds[i].seen]->seen) / all;

		if (part >= SHARE_VISIBLE)
			fprintf(out, ", %s %s", kinds[i].what,
				text_share(share, sizeof(share), part));
	}
}

static int print_time(const struct analysis *a, FILE *out)
{
	struct op_time *times;
	size_t n;
	int error = times_of(a, &times, &n);
	double base = a->has_samples ? (double)analyze_weight(a, &a->all_seen->seen) : a->base_ns;
	double gap = a->gap && a->base_ns ? (double)a->gap->total / a->base_ns : 0;
	char share[32];

	for (size_t i = 0; !error && base > 0 && i < n && i < OPS_TOLD; i++) {
		double part = times[i].ns / base;

		if (i && part < SHARE_ENOUGH)
			break;
		fputs(i ? ", " : "", out);
		text_put(out, times[i].op_type[0] ? times[i].op_type : "an unnamed operator");
		fprintf(out, "%s %s%s", i ? "" : " takes", text_share(share, sizeof(share), part),
			i		 ? ""
			: a->has_samples ? " of that"
					 : " of the time");
	}
	if (!error && base > 0 && n) {
		if (gap >= SHARE_VISIBLE)
			fprintf(out, ", %s lies between operators",
				text_share(share, sizeof(share), gap));
		print_beside(a, out);
		fputs(". ", out);
	}
	free(times);
	return error;
}

/* -- whether it computes or waits ---------------------------------------------------- */

/* What event @name counted on operators' own threads; NaN if that is not known. */
static double own_part(const struct analysis *a, const char *name)
{
	for (uint32_t i = 0; i < a->info.n_events; i++) {
		struct analyze_estimate total;

		if (strcmp(a->info.events[i].event, name))
			continue;
		total = analyze_total(a->sum, i);
		if (total.known && !total.at_least)
			return total.value - analyze_parts(a->sum, i).work;
	}
	return NAN;
}

bool verdict_waits(const struct analysis *a, double shares[3])
{
	double parts[] = {own_part(a, "on-cpu"), own_part(a, "ready"), own_part(a, "blocked")};
	double all = parts[0] + parts[1] + parts[2];

	/* Not so if one of them is not known. */
	if (!(all > 0) || parts[0] < 0 || parts[1] < 0 || parts[2] < 0)
		return false;
	for (int i = 0; i < 3; i++)
		shares[i] = parts[i] / all;
	return true;
}

static void print_waits(const struct analysis *a, FILE *out)
{
	static const char *const kinds[] = {"on a CPU", "waiting for one", "blocked"};
	double parts[3];
	unsigned int n = 0;
	char share[32];

	if (!verdict_waits(a, parts))
		return;
	for (int i = 0; i < 3; i++) {
		if (parts[i] < SHARE_VISIBLE)
			continue;
		fprintf(out, "%s%s %s", n ? ", " : "Of operators' time ",
			text_share(share, sizeof(share), parts[i]), n ? "" : "is ");
		fputs(kinds[i], out);
		n++;
	}
	fputs(". ", out);
}

bool verdict_spins(const struct analysis *a, double *share)
{
	double spun = (double)a->pool_cpu_ns - a->pool_work_ns;

	*share = a->pool_cpu_ns && spun > 0 ? spun / a->pool_cpu_ns : 0;
	return a->pool_threads && a->pool_cpu_ns;
}

static void print_pool(const struct analysis *a, FILE *out)
{
	double spun;
	char share[32];

	if (!verdict_spins(a, &spun) || spun <= SHARE_VISIBLE)
		return;
	fprintf(out, "%u pool thread%s %s of %s CPU time. ", a->pool_threads,
		a->pool_threads == 1 ? " spins" : "s spin", text_share(share, sizeof(share), spun),
		a->pool_threads == 1 ? "its" : "their");
}

/* -- what it cost -------------------------------------------------------------------- */

static void print_cost(const struct analysis *a, FILE *out)
{
	char text[128], charged[32];

	if (a->has_budget) {
		header_budget_runs(a, text, sizeof(text));
		fprintf(out, "Within the budget of %g %%, %s were recorded, for %s%s. ",
			a->budget.share_ppm / 1e4, text,
			header_charged_text(&a->budget, charged, sizeof(charged)),
			a->budget.all_seen ? "" : " (how many others there were is not known)");
	} else if (a->cost.known) {
		fprintf(out, "Recording makes runs %s. ",
			header_cost(&a->cost, text, sizeof(text)));
	}
}

int verdict_print(const struct analysis *a, FILE *out)
{
	int error;

	if (!a->n_rows)
		return 0;
	print_wrong(a, out);
	print_subject(a, out);
	error = print_time(a, out);
	print_waits(a, out);
	print_pool(a, out);
	print_cost(a, out);
	if (!a->lost && is_whole(a))
		fputs("Nothing was lost.", out);
	fputc('\n', out);
	return error;
}
