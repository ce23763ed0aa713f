// SPDX-License-Identifier: GPL-2.0-only
#include "models.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define MODELS_SHOWN 8
#define SPINS_ENOUGH 2 /* of so many parts of the pool's CPU time more than one */

/* -- what a model is --------------------------------------------------------------- */

/* The parts of a line: a colon in front of the first, commas between them. */
struct line {
	FILE *out;
	unsigned int parts;
};

static void next_part(struct line *line)
{
	fputs(line->parts++ ? ", " : ": ", line->out);
}

/* @what, and @text from anywhere unless it is not known or empty. */
static void put_text(struct line *line, const char *what, const char *text)
{
	if (!text || !text[0])
		return;
	next_part(line);
	fputs(what, line->out);
	text_put(line->out, text);
}

static void put_if(struct line *line, bool is_so, const char *text)
{
	if (!is_so)
		return;
	next_part(line);
	fputs(text, line->out);
}

static void put_threads(struct line *line, const char *pool, uint32_t n, uint8_t spins)
{
	if (!n)
		return;
	next_part(line);
	fprintf(line->out, "%" PRIu32 " %s thread%s", n, pool, n == 1 ? "" : "s");
	/* One alone is the caller's, and waits for nobody. */
	if (n > 1 && spins != NOT_KNOWN)
		fputs(spins == KNOWN_YES ? " that spin" : " that sleep", line->out);
}

static void put_providers(struct line *line, const char *providers)
{
	while (providers && *providers) {
		size_t length = strcspn(providers, ",");
		char name[CAPTURE_WORDS_MAX + 1];

		snprintf(name, sizeof(name), "%.*s", (int)length, providers);
		put_text(line, "", name);
		providers += length + (providers[length] == ',');
	}
}

static void put_memory(struct line *line, const struct capture_model *about)
{
	char in_use[32], most[32], total[32];

	if (!about->has_memory)
		return;
	next_part(line);
	fprintf(line->out, "arena of %s with %s in use, at most %s",
		text_bytes(total, sizeof(total), about->memory_total),
		text_bytes(in_use, sizeof(in_use), about->memory_in_use),
		text_bytes(most, sizeof(most), about->memory_most));
}

/* Where the title does not tell files apart, the path does. */
static const char *telling_path(const struct analyze_session *session)
{
	return session->is_named && session->title != session->base->text &&
			       strcmp(session->about.path ?: "", "")
		       ? session->about.path
		       : NULL;
}

static void put_setup(struct line *line, const struct session_setup *setup, const char *what)
{
	char time[64];

	if (!setup->n)
		return;
	next_part(line);
	fprintf(line->out, "%s in %s", what, text_time(time, sizeof(time), setup->ns));
}

static bool has_setup(const struct analyze_session *session)
{
	return session->setups[CAPTURE_SETUP_LOADING].n ||
	       session->setups[CAPTURE_SETUP_INITIALIZATION].n;
}

static bool tells_anything(const struct analyze_session *session)
{
	const struct capture_model *about = &session->about;

	return session->is_named || about->intra_threads || about->inter_threads ||
	       (about->producer && about->producer[0]) ||
	       (about->providers && about->providers[0]) || about->parallel != NOT_KNOWN ||
	       about->memory_pattern == KNOWN_NO || about->arena == KNOWN_NO || about->has_memory;
}

/* The line of a model, but for its end. */
static struct line begin_line(const char *title, const char *path,
			      const struct capture_model *about, FILE *out)
{
	struct line line = {out, 0};

	text_put(out, title);
	put_text(&line, "", path);
	/* Where there is no path, the title has it. */
	if (about->path && about->path[0])
		put_text(&line, "graph ", about->graph);
	put_text(&line, "by ", about->producer);
	put_if(&line, about->parallel == KNOWN_NO, "sequential");
	put_if(&line, about->parallel == KNOWN_YES, "parallel");
	put_threads(&line, "intra-op", about->intra_threads, about->intra_spins);
	put_threads(&line, "inter-op", about->inter_threads, about->inter_spins);
	put_providers(&line, about->providers);
	put_if(&line, about->memory_pattern == KNOWN_NO, "memory pattern off");
	put_if(&line, about->arena == KNOWN_NO, "arena off");
	put_memory(&line, about);
	return line;
}

void model_print(const char *title, const char *path, const struct capture_model *about, FILE *out)
{
	begin_line(title, path, about, out);
}

static void print_session(const struct analyze_session *session, FILE *out)
{
	struct line line;

	fprintf(out, "%-10s ", "model");
	line = begin_line(session->title, telling_path(session), &session->about, out);
	put_setup(&line, &session->setups[CAPTURE_SETUP_LOADING], "loaded");
	put_setup(&line, &session->setups[CAPTURE_SETUP_INITIALIZATION], "initialized");
	fputc('\n', out);
}

/* "12 models were loaded in 147 ms (12.3 ms on average, 20 ms at most)" */
static void put_setups(const struct session_setup *setups, const char *what, FILE *out)
{
	char total[64], average[64], most[64], count[32];

	fprintf(out, "%s %s in %s (%s on average, %s at most)",
		text_count(count, sizeof(count), setups->n), what,
		text_time(total, sizeof(total), setups->ns),
		text_time(average, sizeof(average), (double)setups->ns / setups->n),
		text_time(most, sizeof(most), setups->max));
}

/* Of more than one: that is in the line of its session. */
static void print_setups(const struct analysis *a, FILE *out)
{
	const struct session_setup *loads = &a->setups[CAPTURE_SETUP_LOADING];
	const struct session_setup *inits = &a->setups[CAPTURE_SETUP_INITIALIZATION];

	if (loads->n < 2 && inits->n < 2)
		return;
	fprintf(out, "%-10s ", "setup");
	if (loads->n > 1)
		put_setups(loads, "models were loaded", out);
	if (loads->n > 1 && inits->n > 1)
		fputs(", ", out);
	if (inits->n > 1)
		put_setups(inits, "sessions initialized", out);
	fputc('\n', out);
}

void models_print(const struct analysis *a, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; i < a->sessions.n; i++) {
		const struct analyze_session *session = a->sessions.items[i];

		if (session->shown &&
		    ((session->is_told && tells_anything(session)) || has_setup(session)) &&
		    n++ < MODELS_SHOWN)
			print_session(session, out);
	}
	if (n > MODELS_SHOWN)
		fprintf(out, "%-10s and %zu more session%s: --group-by session\n", "",
			n - MODELS_SHOWN, n == MODELS_SHOWN + 1 ? "" : "s");
	print_setups(a, out);
}

static bool is_unrecorded(const struct analysis *a, const struct analyze_session *session)
{
	return session->rest.runs && !session->runs && session->process->shown &&
	       (!a->options.model || session->matches) &&
	       (!a->options.one_session || session->session == a->options.session);
}

void models_print_unrecorded(const struct analysis *a, FILE *out)
{
	char count[32], each[64];
	size_t n = 0;

	for (size_t i = 0; i < a->sessions.n; i++) {
		const struct analyze_session *session = a->sessions.items[i];
		const struct capture_rest *rest = &session->rest;

		if (!is_unrecorded(a, session) || n++ >= MODELS_SHOWN)
			continue;
		text_put(out, session->title);
		if (a->processes.n_shown > 1)
			fprintf(out, " (pid %" PRIu32 ")", session->process->pid);
		fprintf(out,
			" has no rows: none of its runs (%s, %s on average) was in a window. "
			"Record longer, or allow more with --max-overhead.\n",
			text_count(count, sizeof(count), rest->runs),
			text_time(each, sizeof(each), (double)rest->ns / (double)rest->runs));
	}
	if (n > MODELS_SHOWN)
		fprintf(out, "%zu more session%s likewise.\n", n - MODELS_SHOWN,
			n == MODELS_SHOWN + 1 ? "" : "s");
}

/* -- hints --------------------------------------------------------------------------- */

static bool spins(const struct analysis *a, const struct analyze_session *session)
{
	return session->about.intra_spins == KNOWN_YES && session->about.intra_threads != 1;
}

/* Unless as many threads as there are CPUs execute operators anyway. */
static bool is_alone(const struct analysis *a, const struct analyze_session *session)
{
	return session->about.intra_threads == 1 && a->n_threads < a->info.n_cpus &&
	       session->top_ns > a->base_ns / 2;
}

static bool has_no_arena(const struct analysis *a, const struct analyze_session *session)
{
	return session->about.arena == KNOWN_NO;
}

/* Operators of a run at once have none in any case. */
static bool has_no_pattern(const struct analysis *a, const struct analyze_session *session)
{
	return session->about.memory_pattern == KNOWN_NO && session->about.parallel == KNOWN_NO;
}

/*
 * The session with the most time of those of which @is holds, and in @others how many
 * these are beside it; NULL if there is none.
 */
static const struct analyze_session *
busiest(const struct analysis *a,
	bool (*is)(const struct analysis *a, const struct analyze_session *session), size_t *others)
{
	const struct analyze_session *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < a->sessions.n; i++) {
		const struct analyze_session *session = a->sessions.items[i];

		if (!session->is_told || !session->shown || !is(a, session))
			continue;
		n++;
		if (!found || session->top_ns > found->top_ns)
			found = session;
	}
	*others = found ? n - 1 : 0;
	return found;
}

static int add_hint(struct hints *hints, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int add_hint(struct hints *hints, const char *format, ...)
{
	va_list args;
	int size;

	va_start(args, format);
	size = vasprintf(&hints->texts[hints->n], format, args);
	va_end(args);
	if (size < 0) {
		hints->texts[hints->n] = NULL;
		return -ENOMEM;
	}
	hints->n++;
	return 0;
}

/* " and 2 more sessions", or nothing. */
static const char *and_others(char *text, size_t size, size_t others)
{
	text[0] = '\0';
	if (others)
		snprintf(text, size, " and %zu more session%s", others, others == 1 ? "" : "s");
	return text;
}

static int hint_spinning(const struct analysis *a, struct hints *hints)
{
	uint64_t idle = a->pool_cpu_ns > a->pool_work_ns ? a->pool_cpu_ns - a->pool_work_ns : 0;
	char waited[64], cpu[64], more[64];
	const struct analyze_session *session;
	size_t others;

	session = busiest(a, spins, &others);
	if (!session || idle <= a->pool_cpu_ns / SPINS_ENOUGH)
		return 0;
	return add_hint(hints,
			"%s of the %s of CPU time of pool threads were outside of operators' work, "
			"and those of %s%s spin before they sleep: the session option "
			"session.intra_op.allow_spinning=0 lets them sleep at once",
			text_time(waited, sizeof(waited), idle),
			text_time(cpu, sizeof(cpu), a->pool_cpu_ns), session->title,
			and_others(more, sizeof(more), others));
}

#define CPUS_MANY 4

static int hint_threads(const struct analysis *a, struct hints *hints)
{
	size_t others;
	const struct analyze_session *session = busiest(a, is_alone, &others);

	if (!session || a->info.n_cpus < CPUS_MANY)
		return 0;
	return add_hint(hints,
			"%s executes with 1 intra-op thread on a machine of %" PRIu32
			" CPUs, and has %.0f %% of the time: the session option "
			"intra_op_num_threads lets operators use more",
			session->title, a->info.n_cpus, 100.0 * session->top_ns / a->base_ns);
}

static int hint_memory(const struct analysis *a, struct hints *hints)
{
	char more[64];
	size_t others;
	const struct analyze_session *session = busiest(a, has_no_arena, &others);
	int error = 0;

	if (session)
		error = add_hint(
			hints,
			"executed without a memory arena of the CPU: %s%s; the session option "
			"enable_cpu_mem_arena keeps freed memory for later use",
			session->title, and_others(more, sizeof(more), others));
	session = busiest(a, has_no_pattern, &others);
	if (session && !error)
		error = add_hint(hints,
				 "executed without memory patterns: %s%s; the session option "
				 "enable_mem_pattern allocates in one piece what runs with inputs "
				 "of the same shapes need",
				 session->title, and_others(more, sizeof(more), others));
	return error;
}

/* Not of those that have switched it off: then something else gets memory there. */
static bool has_blocks(const struct analysis *a, const struct analyze_session *session)
{
	return session->runs_with_block && session->about.memory_pattern == KNOWN_YES;
}

/* Where operators' own allocations are seldom seen. */
static int hint_blocks(const struct analysis *a, struct hints *hints)
{
	const struct analyze_session *session;
	char where[128] = "shows in the first run with inputs of other shapes";
	size_t others;

	session = busiest(a, has_blocks, &others);
	if (!session)
		return 0;
	if (session->runs_without_block)
		snprintf(where, sizeof(where),
			 "shows in run %" PRIu32 " (report --runs %" PRIu32 ")",
			 session->first_without_block, session->first_without_block);
	return add_hint(
		hints,
		"memory patterns: %" PRIu64 " runs of %s got one block for their operators "
		"before these began; what each of them needs %s, or with the session option "
		"enable_mem_pattern=0",
		session->runs_with_block, session->title, where);
}

int hints_make(const struct analysis *a, struct hints *hints)
{
	*hints = (struct hints){};
	return hint_spinning(a, hints) ?: hint_threads(a, hints) ?: hint_memory(a, hints) ?: hint_blocks(a, hints);
}

void hints_free(struct hints *hints)
{
	while (hints->n)
		free(hints->texts[--hints->n]);
}
