// SPDX-License-Identifier: GPL-2.0-only
#include "seconds.h"

#include <errno.h>
#include <string.h>

#define SECOND UINT64_C(1000000000) /* ns */

static void begin(struct second *second, uint64_t number)
{
	histogram_free(second->durations);
	*second = (struct second){.number = number};
}

/* The second that ends with @ns in it; NULL if its place is another's by now. */
static struct second *second_of(struct seconds *seconds, uint64_t ns)
{
	uint64_t number = ns / SECOND;
	struct second *second = &seconds->items[number % SECONDS];

	if (second->number > number)
		return NULL;
	if (second->number < number)
		begin(second, number);
	return second;
}

int seconds_add_run(struct seconds *seconds, const struct capture_run *run)
{
	struct second *second = second_of(seconds, run->threw ? run->start : run->end);

	if (!second)
		return 0;
	second->runs++;
	if (run->threw || run->end < run->start)
		return 0;
	if (run->has_operators) {
		second->operators += run->operators;
		second->ns += run->end - run->start;
	}
	return histogram_add(&second->durations, run->end - run->start);
}

void seconds_add_exec(struct seconds *seconds, const struct capture_exec *exec)
{
	struct second *second = second_of(seconds, exec->end);

	if (second)
		second->executions++;
}

int seconds_add_sum(struct seconds *seconds, const struct capture_sum *sum)
{
	struct second *second = second_of(seconds, sum->end);
	int error = 0;

	if (!second)
		return 0;
	if (!sum->of_runs) {
		second->executions += capture_sum_count(sum);
		return 0;
	}
	second->runs += capture_sum_count(sum);
	second->operators += sum->inside;
	second->ns += sum->ns;
	for (uint32_t i = 0; i < CAPTURE_BUCKETS && !error; i++)
		error = histogram_add_many(&second->durations, capture_bucket_middle(i),
					   sum->buckets[i]);
	return error;
}

/* The constants are of what the probes add at any time: it may be more. */
static void look_at_cost(uint64_t ns, uint64_t operators, const struct capture_overhead *overhead,
			 struct seconds_look *look)
{
	double added = overhead ? (double)operators * overhead->nested_ns : 0;

	look->cost_known = overhead && operators && added < ns;
	look->cost = look->cost_known ? added / (ns - added) : 0;
}

int seconds_look(struct seconds *seconds, uint64_t since, uint64_t now,
		 const struct capture_overhead *overhead, struct seconds_look *look)
{
	uint64_t last = now / SECOND, ns = 0, operators = 0;
	struct histogram *all = NULL;
	int error = 0;

	*look = (struct seconds_look){};
	for (int i = 0; i < SECONDS && !error; i++) {
		uint64_t number = last + i + 1 - SECONDS;
		struct second *second = &seconds->items[number % SECONDS];

		if (second->number != number || last + i + 1 < SECONDS)
			continue;
		look->runs += second->runs;
		look->executions += second->executions;
		ns += second->ns;
		operators += second->operators;
		look->each[i].runs = second->runs;
		look->each[i].p50 = histogram_percentile(second->durations, 50);
		look->each[i].p99 = histogram_percentile(second->durations, 99);
		error = histogram_add_all(&all, second->durations);
	}
	look->timed = histogram_count(all);
	look->p50 = histogram_percentile(all, 50);
	look->p99 = histogram_percentile(all, 99);
	histogram_free(all);
	/* All but one of the seconds are over, or began with what is looked at. */
	look->span = (double)(now - (last - SECONDS + 1) * SECOND) / SECOND;
	if (now > since && (double)(now - since) / SECOND < look->span)
		look->span = (double)(now - since) / SECOND;
	if (look->span > 0) {
		look->runs_per_second = look->runs / look->span;
		look->executions_per_second = look->executions / look->span;
	}
	look_at_cost(ns, operators, overhead, look);
	return error;
}

void seconds_clear(struct seconds *seconds)
{
	for (int i = 0; i < SECONDS; i++)
		begin(&seconds->items[i], 0);
}
