// SPDX-License-Identifier: GPL-2.0-only
#include "on_time.h"

void on_time_add(struct on_time *to, const struct on_time *from, uint32_t seen)
{
	to->known &= from->known;
	if (!to->known)
		return;
	to->enabled += from->enabled;
	for (; seen; seen &= seen - 1)
		to->running[__builtin_ctz(seen)] += from->running[__builtin_ctz(seen)];
}

static uint64_t rest(uint64_t whole, uint64_t part)
{
	return part < whole ? whole - part : 0;
}

void on_time_subtract(struct on_time *from, const struct on_time *part, uint32_t seen)
{
	from->known &= part->known;
	if (!from->known)
		return;
	from->enabled = rest(from->enabled, part->enabled);
	for (; seen; seen &= seen - 1) {
		int i = __builtin_ctz(seen);

		from->running[i] = rest(from->running[i], part->running[i]);
	}
}

double on_time_share(const struct on_time *on, int i)
{
	return on->known && on->enabled ? (double)on->running[i] / on->enabled : 1;
}

void on_time_set(struct on_time *on, uint64_t enabled, const uint64_t *running, uint32_t counted,
		 uint32_t sampled)
{
	on->enabled = enabled;
	for (; counted; counted &= counted - 1)
		on->running[__builtin_ctz(counted)] = enabled;
	for (; sampled; sampled &= sampled - 1)
		on->running[__builtin_ctz(sampled)] = running[__builtin_ctz(sampled)];
}
