// SPDX-License-Identifier: GPL-2.0-only
#include "launch.h"

enum launch_flags {
	LAUNCH_HAS_RUN = 1 << 0,
	LAUNCH_HAS_FUNCTION = 1 << 1,
	LAUNCH_OF_DRIVER = 1 << 2,
};

bool launch_is_sound(const struct capture_launch *launch)
{
	return launch->kind >= CAPTURE_LAUNCH_KERNEL && launch->kind < CAPTURE_LAUNCH_KINDS &&
	       launch->place < CAPTURE_LAUNCH_PLACES && launch->waits_for < CAPTURE_WAITS &&
	       (launch->op != CAPTURE_UNKNOWN) == (launch->place == CAPTURE_LAUNCH_INSIDE);
}

uint8_t *launch_put(uint8_t *p, const struct capture_launch *launch, struct format_state *state)
{
	const bool run = launch->run != CAPTURE_UNKNOWN;
	const bool function = launch->function != CAPTURE_UNKNOWN;

	p = format_put_varint(p, launch->kind);
	p = format_put_varint(p, launch->place);
	p = format_put_varint(p, (run ? LAUNCH_HAS_RUN : 0) | (function ? LAUNCH_HAS_FUNCTION : 0) |
					 (launch->driver ? LAUNCH_OF_DRIVER : 0));
	p = format_put_varint(p, launch->thread);
	if (launch->place == CAPTURE_LAUNCH_INSIDE)
		p = format_put_varint(p, launch->op);
	if (run)
		p = format_put_varint(p, launch->run);
	p = format_put_varint(p, format_zigzag((int64_t)(launch->time - state->launch)));
	state->launch = launch->time;
	if (function)
		p = format_put_varint(p, launch->function);
	p = format_put_varint(p, launch->kernel);
	p = format_put_varint(p, launch->stream);
	p = format_put_varint(p, launch->bytes);
	for (int i = 0; launch->kind == CAPTURE_LAUNCH_KERNEL && i < 3; i++) {
		p = format_put_varint(p, launch->grid[i]);
		p = format_put_varint(p, launch->block[i]);
	}
	if (launch->kind == CAPTURE_LAUNCH_WAIT) {
		p = format_put_varint(p, launch->waits_for);
		p = format_put_varint(p, launch->took);
	}
	return p;
}

void launch_get(struct cursor *c, struct capture_launch *launch, struct format_state *state)
{
	uint32_t flags;

	*launch = (struct capture_launch){
		.op = CAPTURE_UNKNOWN, .run = CAPTURE_UNKNOWN, .function = CAPTURE_UNKNOWN};
	launch->kind = format_get_below(c, CAPTURE_LAUNCH_KINDS);
	launch->place = format_get_below(c, CAPTURE_LAUNCH_PLACES);
	flags = format_get_u32(c);
	launch->driver = flags & LAUNCH_OF_DRIVER;
	launch->thread = format_get_u32(c);
	if (launch->place == CAPTURE_LAUNCH_INSIDE)
		launch->op = format_get_u32(c);
	if (flags & LAUNCH_HAS_RUN)
		launch->run = format_get_u32(c);
	launch->time = state->launch += (uint64_t)format_unzigzag(cursor_uleb(c));
	if (flags & LAUNCH_HAS_FUNCTION)
		launch->function = format_get_u32(c);
	launch->kernel = cursor_uleb(c);
	launch->stream = cursor_uleb(c);
	launch->bytes = cursor_uleb(c);
	for (int i = 0; launch->kind == CAPTURE_LAUNCH_KERNEL && i < 3; i++) {
		launch->grid[i] = format_get_u32(c);
		launch->block[i] = format_get_u32(c);
	}
	if (launch->kind == CAPTURE_LAUNCH_WAIT) {
		launch->waits_for = format_get_below(c, CAPTURE_WAITS);
		launch->took = cursor_uleb(c);
	}
	if (!c->failed && !launch_is_sound(launch))
		cursor_fail(c);
}
