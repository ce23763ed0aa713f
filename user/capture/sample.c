// SPDX-License-Identifier: GPL-2.0-only
#include "sample.h"

#include "texts.h"

enum sample_flags {
	SAMPLE_HAS_PARENT = 1 << 0,
	SAMPLE_WAS_IN_KERNEL = 1 << 1,
	SAMPLE_WAS_READY = 1 << 2,
	SAMPLE_HAS_FUNCTION = 1 << 3,
};

enum function_flags {
	FUNCTION_BOUNDED = 1 << 0,
};

bool sampling_is_sound(const struct capture_sampling *sampling)
{
	return sampling->event[0] && sampling->kind < CAPTURE_SAMPLING_KINDS &&
	       !sampling->rate != !sampling->period;
}

uint8_t *sampling_put(uint8_t *p, const struct capture_sampling *sampling)
{
	p = format_put_bytes(p, sampling->event, strnlen(sampling->event, sizeof(sampling->event)));
	p = format_put_bytes(p, sampling->unit, strnlen(sampling->unit, sizeof(sampling->unit)));
	p = format_put_varint(p, sampling->kind);
	p = format_put_varint(p, sampling->rate);
	return format_put_varint(p, sampling->period);
}

void sampling_get(struct cursor *c, struct capture_sampling *sampling)
{
	texts_copy(c, sampling->event, sizeof(sampling->event));
	texts_copy(c, sampling->unit, sizeof(sampling->unit));
	sampling->kind = format_get_u32(c);
	sampling->rate = cursor_uleb(c);
	sampling->period = cursor_uleb(c);
	if (!c->failed && !sampling_is_sound(sampling))
		cursor_fail(c);
}

bool sample_is_sound(const struct capture_sample *sample)
{
	return sample->seen >= CAPTURE_SEEN_OWN && sample->seen < CAPTURE_SEEN_KINDS &&
	       sample->depth < CAPTURE_DEPTH_MAX && sample->ready <= sample->amount;
}

uint8_t *sample_put(uint8_t *p, const struct capture_sample *sample, struct format_state *state)
{
	bool in = seen_in_operator(sample->seen), parent = sample->parent != CAPTURE_UNKNOWN;
	bool function = sample->function != CAPTURE_UNKNOWN;

	p = format_put_varint(p, sample->seen);
	p = format_put_varint(p, (in && parent ? SAMPLE_HAS_PARENT : 0) |
					 (sample->in_kernel ? SAMPLE_WAS_IN_KERNEL : 0) |
					 (sample->ready ? SAMPLE_WAS_READY : 0) |
					 (function ? SAMPLE_HAS_FUNCTION : 0));
	p = format_put_varint(p, sample->thread);
	if (in) {
		p = format_put_varint(p, sample->op);
		p = format_put_varint(p, sample->depth);
	}
	if (in && parent)
		p = format_put_varint(p, sample->parent);
	p = format_put_varint(p, format_zigzag((int64_t)(sample->time - state->sample)));
	state->sample = sample->time;
	p = format_put_varint(p, sample->amount);
	if (sample->ready)
		p = format_put_varint(p, sample->ready);
	if (!function)
		return p;
	p = format_put_varint(p, sample->function);
	return format_put_varint(p, sample->at);
}

void sample_get(struct cursor *c, struct capture_sample *sample, struct format_state *state)
{
	uint32_t flags;
	bool in;

	*sample = (struct capture_sample){
		.op = CAPTURE_UNKNOWN, .parent = CAPTURE_UNKNOWN, .function = CAPTURE_UNKNOWN};
	sample->seen = format_get_below(c, CAPTURE_SEEN_KINDS);
	in = seen_in_operator(sample->seen);
	flags = format_get_u32(c);
	sample->in_kernel = flags & SAMPLE_WAS_IN_KERNEL;
	sample->thread = format_get_u32(c);
	if (in) {
		sample->op = format_get_u32(c);
		sample->depth = format_get_below(c, CAPTURE_DEPTH_MAX);
	}
	if (in && flags & SAMPLE_HAS_PARENT)
		sample->parent = format_get_u32(c);
	sample->time = state->sample += (uint64_t)format_unzigzag(cursor_uleb(c));
	sample->amount = cursor_uleb(c);
	if (flags & SAMPLE_WAS_READY)
		sample->ready = cursor_uleb(c);
	if (flags & SAMPLE_HAS_FUNCTION) {
		sample->function = format_get_u32(c);
		sample->at = format_get_u32(c);
	}
	if (!c->failed && !sample_is_sound(sample))
		cursor_fail(c);
}

bool function_is_sound(const struct capture_function *function)
{
	if (function->file == CAPTURE_UNKNOWN &&
	    (function->bounded || function->offset || function->address || function->size))
		return false;
	return function->size <= CAPTURE_FUNCTION_MAX &&
	       function->offset <= UINT64_MAX - function->size &&
	       function->address <= UINT64_MAX - function->size;
}

uint8_t *function_put(uint8_t *p, const struct capture_function *function)
{
	p = format_put_varint(p, function->function);
	p = format_put_varint(p, function->bounded ? FUNCTION_BOUNDED : 0);
	p = format_put_varint(p, function->file);
	p = format_put_varint(p, function->offset);
	p = format_put_varint(p, function->address);
	return format_put_varint(p, function->size);
}

void function_get(struct cursor *c, struct capture_function *function)
{
	function->function = format_get_u32(c);
	function->bounded = format_get_u32(c) & FUNCTION_BOUNDED;
	function->file = format_get_u32(c);
	function->offset = cursor_uleb(c);
	function->address = cursor_uleb(c);
	function->size = cursor_uleb(c);
	if (!c->failed && !function_is_sound(function))
		cursor_fail(c);
}
