// SPDX-License-Identifier: GPL-2.0-only
/*
 * What recording costs this process: runs with the operators' probes in place
 * beside runs without. The machine changes while it is looked at (load, clock
 * rates, requests), so that only what is side by side is compared: turns of
 * both kinds, again and again, in the order 0 1 | 1 0 | 0 1 | ..., which no
 * steady change favours, and which needs one change per pair.
 *
 * It follows the recording, so that this lacks nothing: runs without probes
 * are none that somebody waits to see.
 */
#include "state.h"

#include <string.h>

#include "../base/clock.h"

#define POLL_MS	      5
#define PAIRS	      8
#define TURN_RUNS_MAX 64
#define SETTLE_NS     UINT64_C(1000000) /* after a change: the code is not in the caches yet */

void cost_take(struct collector *collector, const struct run_record *run)
{
	struct cost_turn *turn = &collector->turn;
	struct capture_record record = {.type = CAPTURE_COST};

	if (!turn->since || run->start < turn->since || !run_is_good(run) ||
	    turn->runs == TURN_RUNS_MAX)
		return;
	turn->runs++;
	record.cost = (struct capture_cost){
		.session = identity_session(collector->identities, run->instance, run->session,
					    run->owner),
		.pair = turn->pair,
		.probed = turn->probed,
		.ns = run->end - run->start,
	};
	collector_send(collector, &record);
}

struct cost_limits {
	uint64_t turn;	   /* ns that one lasts, longer if no run fits */
	uint64_t deadline; /* clock_ns() */
	sig_atomic_t stop; /* the signals that had come before */
};

/* May it go on? What has come in has been taken. */
static bool look(struct collector *collector, const struct cost_limits *limits, uint64_t *now)
{
	collector_drain(collector, POLL_MS);
	*now = clock_ns();
	collector_look_for_threads(collector, *now);
	return *now < limits->deadline && !collector->failed &&
	       *collector->options.stop == limits->stop && collector_look_for_living(collector);
}

/* Does anything run at all? */
static bool wait_for_run(struct collector *collector, const struct cost_limits *limits)
{
	uint32_t started = collector_runs_started(collector);
	uint64_t begun = clock_ns(), now;

	while (look(collector, limits, &now)) {
		if (collector_runs_started(collector) != started)
			return true;
		if (now - begun >= 2 * limits->turn)
			return false;
	}
	return false;
}

/* False if it is over: no other turn is to follow. */
static bool take_turn(struct collector *collector, const struct cost_limits *limits, uint32_t pair,
		      bool probed)
{
	struct cost_turn *turn = &collector->turn;
	uint64_t begun, now;
	bool on;

	if (probed && !collector->operators_attached && collector_attach_operators(collector, NULL))
		return false;
	if (!probed && collector->operators_attached)
		collector_detach_operators(collector);
	collector_take_all(collector);
	begun = clock_ns();
	*turn = (struct cost_turn){.probed = probed, .pair = pair, .since = begun + SETTLE_NS};
	do
		on = look(collector, limits, &now);
	while (on && (now - begun < limits->turn || !turn->runs));
	turn->since = 0;
	return on;
}

void collector_measure_cost(struct collector *collector, uint64_t limit)
{
	struct cost_limits limits = {
		.turn = limit / (3 * PAIRS),
		.deadline = clock_ns() + limit,
		.stop = *collector->options.stop,
	};

	collector_select(collector, 0, 0, UINT32_MAX);
	if (!wait_for_run(collector, &limits))
		return;
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		bool first = pair % 2;

		if (!take_turn(collector, &limits, pair, first) ||
		    !take_turn(collector, &limits, pair, !first))
			break;
	}
}
