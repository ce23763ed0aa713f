// SPDX-License-Identifier: GPL-2.0-only
/* Who is recorded: those that are there, and those that come. */
#include "serving_state.h"

#include "base/clock.h"

#define SCAN_EVERY    (300 * SERVING_SECOND) /* all processes: for what no mapping tells */
#define SCAN_AT_LEAST (10 * SERVING_SECOND)  /* apart, where mappings were missed */
#define TURNS	      8 /* of so many arrivals, one after the other: others are looked at next time */
#define ARRIVALS_MAX  1024
#define LATER_TRIES   4		     /* so often, */
#define LATER_NS      SERVING_SECOND /* after so long, for twice as long as before, first */
#define PATIENCE_NS   (2 * SERVING_SECOND)

/* Add those of @running that are wanted and not among the @n @pids yet; returns how many there are.
 */
static size_t add_fitting(const struct serving *s, const struct running *running, pid_t *pids,
			  size_t n, size_t max)
{
	for (size_t i = 0; i < running->list.n && n < max; i++) {
		const struct running_process *it = &running->list.items[i];
		bool there = false;

		for (size_t k = 0; k < n && !there; k++)
			there = pids[k] == it->pid;
		if (!there && running_fits(it, &s->options->choice->by))
			pids[n++] = it->pid;
	}
	return n;
}

/* Why a runtime that is there is not recorded; once, as it is the same each time. */
static void say_refusal(struct serving *s, const struct running *running)
{
	if (*running->refusal.text && !s->refused)
		serving_say("not recorded: %s", running->refusal.text);
	s->refused |= *running->refusal.text;
}

static void look_later(struct serving *s, pid_t pid, unsigned int tries)
{
	if (tries < LATER_TRIES && s->n_later < LATER_MAX)
		s->later[s->n_later++] = (struct later){
			.pid = pid,
			.tries = tries + 1,
			.next = clock_ns() + (LATER_NS << tries),
		};
}

size_t serving_scan(struct serving *s, pid_t *pids, size_t n, size_t max)
{
	const struct running_options look = {.files = s->files, .stop = s->options->leave};
	struct running running;
	struct error err;

	s->scanned = clock_ns();
	s->missed = false;
	if (!running_find(&running, &look, &err)) {
		n = add_fitting(s, &running, pids, n, max);
		say_refusal(s, &running);
		for (size_t i = 0; i < running.hidden && i < HIDDEN_TOLD; i++)
			look_later(s, running.hidden_pids[i], 0);
	} else if (!*s->options->quit) {
		serving_say("%s", err.text);
	}
	running_free(&running);
	return n;
}

/*
 * Process @pid has mapped something that may be a runtime. Where the machine is so busy that it
 * cannot be looked into in time, or the process withholds what it maps, it is tried again.
 */
static size_t look_at(struct serving *s, pid_t pid, unsigned int tries, pid_t *pids, size_t n,
		      size_t max)
{
	const struct running_options look = {
		.files = s->files,
		.patience = PATIENCE_NS << tries,
		.stop = s->options->leave,
	};
	struct running running;

	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return n;
	if (!running_find_one(&running, &look, pid, NULL)) {
		n = add_fitting(s, &running, pids, n, max);
		say_refusal(s, &running);
		if (running.hidden)
			look_later(s, pid, tries);
	}
	running_free(&running);
	return n;
}

static size_t look_again(struct serving *s, pid_t *pids, size_t n, size_t max)
{
	uint64_t now = clock_ns();

	for (size_t i = s->n_later; i-- > 0;) {
		struct later it = s->later[i];

		if (it.next > now)
			continue;
		s->later[i] = s->later[--s->n_later];
		n = look_at(s, it.pid, it.tries, pids, n, max);
	}
	return n;
}

/* Those who map what may be a runtime; all that such a one maps is looked at. */
static size_t look_at_arrivals(struct serving *s, const struct arrival *list, size_t some,
			       pid_t *pids, size_t n, size_t max)
{
	pid_t last = 0;

	for (size_t i = 0; i < some; i++) {
		if (list[i].pid == last ||
		    running_is_without(s->files, list[i].device, list[i].inode))
			continue;
		last = list[i].pid;
		n = look_at(s, last, 0, pids, n, max);
	}
	return n;
}

size_t serving_take_arrivals(struct serving *s, pid_t *pids, size_t max)
{
	static struct arrival list[ARRIVALS_MAX];
	size_t n = 0, some;
	int turns = TURNS;
	uint64_t since;
	bool missed;

	do {
		some = arrivals_take(s->arrivals, list, ARRIVALS_MAX, &missed);
		n = look_at_arrivals(s, list, some, pids, n, max);
		s->missed |= missed;
	} while (some == ARRIVALS_MAX && --turns && !*s->options->leave);
	n = look_again(s, pids, n, max);
	s->missed |= n == max;
	since = clock_ns() - s->scanned;
	if (since > SCAN_EVERY || (s->missed && since > SCAN_AT_LEAST))
		n = serving_scan(s, pids, n, max);
	return n;
}
