// SPDX-License-Identifier: GPL-2.0-only
#include "run_parts.h"

#include <errno.h>

#include "fold.h"

#define WORDS_MAX (1u << 22) /* 32 MiB: half a million parts with four events */

/* An execution in a run that has not ended, followed by its counters. */
struct waiting {
	struct analyze_row *row;
	uint64_t ns;
	uint64_t counted;
	uint64_t counters[];
};

static size_t waiting_words(const struct fold *f)
{
	return sizeof(struct waiting) / sizeof(uint64_t) + f->a.info.n_events;
}

int run_parts_add(const struct fold *f, struct open_run *run, struct analyze_row *row,
		  const struct capture_exec *exec, const struct nested_exec *nested)
{
	size_t n = run->parts.n;
	struct waiting *waiting;

	if (run->parts_unclear)
		return 0;
	if (exec->flags & EXEC_THREW || !nested->self_known || n > WORDS_MAX) {
		run->parts_unclear = true;
		run->parts.n = 0;
		return 0;
	}
	if (array_extend(&run->parts, n + waiting_words(f)))
		return -ENOMEM;
	waiting = (struct waiting *)&run->parts.items[n];
	waiting->row = row;
	waiting->ns = nested->self_ns;
	waiting->counted = nested->self_counted;
	memcpy(waiting->counters, nested->self, f->a.info.n_events * sizeof(uint64_t));
	return 0;
}

/* -- keeping -------------------------------------------------------------------- */

static size_t run_words(const struct fold *f)
{
	return sizeof(struct whole_run) / sizeof(uint64_t) + f->a.info.n_events;
}

/* The part of @row in the run at place @run; NULL if out of memory. */
static struct run_part *part_of(struct fold *f, struct analyze_row *row, uint32_t run)
{
	size_t n = row->run_parts.n, words = run_part_words(f->a.info.n_events);
	struct run_part *last;

	if (n) {
		last = (struct run_part *)&row->run_parts.items[n - words];
		if (last->run == run)
			return last;
	}
	if (array_extend(&row->run_parts, n + words))
		return NULL;
	f->a.whole_runs.n_words += words;
	last = (struct run_part *)&row->run_parts.items[n];
	last->run = run;
	last->counted = UINT32_MAX;
	return last;
}

static int keep_parts(struct fold *f, const struct open_run *ops, uint32_t run)
{
	for (size_t i = 0; i < ops->parts.n; i += waiting_words(f)) {
		const struct waiting *waiting = (const struct waiting *)&ops->parts.items[i];
		struct run_part *part = part_of(f, waiting->row, run);

		if (!part)
			return -ENOMEM;
		part->count++;
		part->ns += waiting->ns;
		part->counted &= waiting->counted;
		for (uint32_t k = 0; k < f->a.info.n_events; k++)
			part->counters[k] += waiting->counters[k];
	}
	return 0;
}

static int keep_run(struct fold *f, const struct capture_run *run, const struct open_run *ops,
		    bool gap_known)
{
	struct whole_runs *runs = &f->a.whole_runs;
	uint32_t n_events = f->a.info.n_events, counted = run->counted;
	size_t n = runs->counters.n;
	struct whole_run *kept;

	if (array_extend(&runs->counters, n + n_events))
		return -ENOMEM;
	kept = array_push(runs);
	if (!kept)
		return -ENOMEM;
	/* What other threads did is known by the operators that they did it for. */
	if (ops && ops->work_ns)
		counted &= ops->counted;
	*kept = (struct whole_run){.run = run->run,
				   .session = run->session,
				   .counted = counted,
				   .gap_known = gap_known,
				   .start = run->start,
				   .ns = run->end - run->start,
				   .gap = run->end - run->start - (ops ? ops->ns : 0)};
	runs->n_words += run_words(f);
	for (uint32_t i = 0; i < n_events; i++)
		runs->counters.items[n + i] = run->counters[i] + (ops ? ops->work[i] : 0);
	return 0;
}

/* -- thinning ------------------------------------------------------------------- */

/* What may be kept of runs that have ended. */
static size_t words_max(const struct fold *f)
{
	size_t bytes = f->a.options.runs_apart_bytes;

	return bytes ? bytes / sizeof(uint64_t) : WORDS_MAX;
}

static void drop_every_other_part(struct analyze_row *row, size_t words)
{
	size_t kept = 0;

	for (size_t i = 0; i < row->run_parts.n; i += words) {
		struct run_part *part = (struct run_part *)&row->run_parts.items[i];

		if (part->run % 2)
			continue;
		part->run /= 2;
		memmove(&row->run_parts.items[kept], part, words * sizeof(uint64_t));
		kept += words;
	}
	row->run_parts.n = kept;
}

static void drop_every_other_run(struct fold *f)
{
	struct whole_runs *runs = &f->a.whole_runs;
	size_t n_events = f->a.info.n_events;

	runs->n_words = 0;
	for (size_t i = 0; i < f->rows.n; i++) {
		drop_every_other_part(f->rows.items[i], run_part_words(n_events));
		runs->n_words += f->rows.items[i]->run_parts.n;
	}
	for (size_t i = 0; i < runs->n; i += 2) {
		runs->items[i / 2] = runs->items[i];
		for (size_t k = 0; k < n_events; k++)
			runs->counters.items[i / 2 * n_events + k] =
				runs->counters.items[i * n_events + k];
	}
	runs->n = (runs->n + 1) / 2;
	runs->counters.n = runs->n * n_events;
	runs->n_words += runs->n * run_words(f);
	runs->step *= 2;
}

int run_parts_end(struct fold *f, const struct capture_run *run, const struct open_run *ops,
		  bool gap_known)
{
	struct whole_runs *runs = &f->a.whole_runs;
	int error;

	if (ops && ops->parts_unclear) {
		runs->left_out++;
		return 0;
	}
	runs->step = runs->step ?: 1;
	if (runs->seen++ % runs->step)
		return 0;
	error = ops ? keep_parts(f, ops, runs->n) : 0;
	if (!error)
		error = keep_run(f, run, ops, gap_known);
	if (!error && runs->n_words > words_max(f))
		drop_every_other_run(f);
	return error;
}
