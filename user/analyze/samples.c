// SPDX-License-Identifier: GPL-2.0-only
/* What samples saw, added up: to the rows of operators, and by what it was. */
#include "fold.h"

#include <errno.h>
#include <math.h>

#define Z95 1.959963984540054 /* of a normal distribution, 95 % lie within so many deviations */

static int refuse(struct fold *f)
{
	return error_set(
		&f->err, -EOPNOTSUPP,
		"this recording was made with --sample, which sees what runs now and then: "
		"it knows of no single executions, runs, tags and shapes; see opprobe report "
		"without what asks for these, or record without --sample");
}

int samples_missing(struct fold *f)
{
	return error_set(
		&f->err, -EOPNOTSUPP,
		"this recording was made with probes, which do not know where in an operator the "
		"time goes: --hot is of a recording with --sample");
}

bool analyze_takes_samples(const struct analyze_options *options)
{
	return options->group != GROUP_RUN && options->group != GROUP_TAG &&
	       options->group != GROUP_SHAPE && !options->runs_apart && !options->tag &&
	       !options->n_runs && !options->failed;
}

static void add_seen(struct analyze_seen *to, const struct capture_sample *sample)
{
	if (sample->seen == CAPTURE_SEEN_POOL)
		to->pool++;
	else
		to->own++;
	to->in_kernel += sample->in_kernel;
	to->amount += sample->amount;
	to->ready += sample->ready;
	to->squares += (double)sample->amount * (double)sample->amount;
}

static int add_to_row(struct fold *f, const struct thread_state *thread,
		      const struct capture_sample *sample)
{
	const struct capture_exec exec = {
		.op = sample->op,
		.thread = sample->thread,
		.run = CAPTURE_UNKNOWN,
		.parent = sample->parent,
		.shapes = CAPTURE_UNKNOWN,
		.depth = sample->depth,
	};
	struct op_state *state = table_get(&f->ops, sample->op);
	enum analyze_hot hot = f->a.options.hot;
	const struct analyze_place *place = NULL;
	struct analyze_row *row;
	int error = 0;

	if (!state)
		return -EINVAL;
	if (!fold_selects(f, thread->process, CAPTURE_UNKNOWN, state->op.session) ||
	    !fold_has_model(f, state->session))
		return 0;
	session_show(state->session);
	/* Which operators a session spends its time in tells what it is. */
	fold_add_to_session(state, sample->amount);
	if (!state->shown)
		return 0;
	if (hot && sample->function != CAPTURE_UNKNOWN)
		place = places_get(&f->a.places, sample, hot == HOT_ADDRESSES, &error);
	if (error)
		return error;
	row = row_of(f, state, thread, &exec, place);
	if (!row)
		return -ENOMEM;
	add_seen(&row->seen, sample);
	add_seen(&f->a.sum->seen, sample);
	return 0;
}

/* Why an operator is not known makes no difference to who looks. */
static enum capture_seen kind_of(const struct capture_sample *sample)
{
	return sample->seen == CAPTURE_SEEN_UNNAMED ? CAPTURE_SEEN_UNKNOWN
						    : (enum capture_seen)sample->seen;
}

int samples_begin(struct analysis *a)
{
	static const char *const labels[CAPTURE_SEEN_KINDS] = {
		[CAPTURE_SEEN_RUNTIME] = "in the runtime, in no operator",
		[CAPTURE_SEEN_ELSEWHERE] = "elsewhere in the process",
		[CAPTURE_SEEN_UNKNOWN] = "not told by the stack",
	};

	a->all_seen = row_new(0);
	if (!a->all_seen)
		return -ENOMEM;
	a->all_seen->label = "All samples";
	for (int kind = CAPTURE_SEEN_OWN; kind < CAPTURE_SEEN_KINDS; kind++) {
		a->seen[kind] = row_new(0);
		if (!a->seen[kind])
			return -ENOMEM;
		a->seen[kind]->label = labels[kind] ?: "";
	}
	return 0;
}

void samples_end(struct analysis *a)
{
	row_free(a->all_seen);
	for (int kind = 0; kind < CAPTURE_SEEN_KINDS; kind++)
		row_free(a->seen[kind]);
}

int fold_sample(struct fold *f, const struct capture_sample *sample)
{
	struct thread_state *thread = table_get(&f->threads, sample->thread);
	struct analysis *a = &f->a;

	if (!thread || sample->seen < CAPTURE_SEEN_OWN || sample->seen >= CAPTURE_SEEN_KINDS ||
	    sample->depth >= CAPTURE_DEPTH_MAX)
		return -EINVAL;
	if (!analyze_takes_samples(&a->options))
		return refuse(f);
	f->last = sample->time > f->last ? sample->time : f->last;
	if (!thread->process->shown)
		return 0;
	a->n_threads += !thread->seen;
	thread->seen = true;
	add_seen(&a->seen[kind_of(sample)]->seen, sample);
	add_seen(&a->all_seen->seen, sample);
	return seen_in_operator(sample->seen) ? add_to_row(f, thread, sample) : 0;
}

uint64_t analyze_weight(const struct analysis *a, const struct analyze_seen *seen)
{
	return a->sampling.kind == CAPTURE_SAMPLING_TIME ? analyze_samples(seen) : seen->amount;
}

/* As many samples of one amount each tell as much as those that there are. */
static double effective_samples(const struct analysis *a)
{
	const struct analyze_seen *all = &a->all_seen->seen;

	if (a->sampling.kind == CAPTURE_SAMPLING_TIME)
		return (double)analyze_samples(all);
	return (double)all->amount * (double)all->amount / all->squares;
}

bool analyze_share(const struct analysis *a, const struct analyze_seen *seen,
		   struct analyze_share *share)
{
	double all = (double)analyze_weight(a, &a->all_seen->seen), n, p, middle, half;

	if (all <= 0)
		return false;
	p = (double)analyze_weight(a, seen) / all;
	*share = (struct analyze_share){p, NAN, NAN};
	if (!sampling_is_estimate(&a->sampling))
		return true;
	n = effective_samples(a);
	middle = (p + Z95 * Z95 / (2 * n)) / (1 + Z95 * Z95 / n);
	half = Z95 / (1 + Z95 * Z95 / n) * sqrt(p * (1 - p) / n + Z95 * Z95 / (4 * n * n));
	share->low = fmax(middle - half, 0);
	share->high = fmin(middle + half, 1);
	return true;
}
