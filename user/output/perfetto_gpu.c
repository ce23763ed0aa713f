// SPDX-License-Identifier: GPL-2.0-only
/* What GPUs were told, points on threads, how long these waited, and what GPUs did, slices on
 * tracks of their streams. */
#include "perfetto_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "begins.h"

static void annotate_three(struct message *event, uint32_t name, const uint32_t values[3])
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu32 ",%" PRIu32 ",%" PRIu32, values[0], values[1],
		 values[2]);
	annotate_text(event, name, text);
}

/* Within a call of the program: what is around it has begun before, and ends behind it. */
static int put_wait(struct export_state *e, const struct capture_launch *launch, const char *name)
{
	const uint64_t track = perfetto_uuid(e, KIND_THREAD, launch->thread);
	struct perfetto *p = e->private;
	struct message *event = &p->event;

	message_add_number(event, EVENT_TYPE, TYPE_BEGIN);
	message_add_number(event, EVENT_TRACK, track);
	message_add_number(event, EVENT_CATEGORY, CATEGORY_GPU);
	message_add_text(event, EVENT_NAME, name);
	if (launch->run != CAPTURE_UNKNOWN)
		annotate(event, A_RUN, launch->run);
	perfetto_put(p, &p->end, launch->time);
	message_add_number(event, EVENT_TYPE, TYPE_END);
	message_add_number(event, EVENT_TRACK, track);
	perfetto_put(p, &p->end, launch->time + launch->took);
	return begins_write(&p->end, e->out);
}

int perfetto_launch(struct export_state *e, const struct capture_launch *launch, const char *name,
		    uint32_t n)
{
	struct perfetto *p = e->private;
	struct message *event = &p->event;

	if (launch->kind == CAPTURE_LAUNCH_WAIT)
		return put_wait(e, launch, name);
	message_add_number(event, EVENT_TYPE, TYPE_INSTANT);
	message_add_number(event, EVENT_TRACK, perfetto_uuid(e, KIND_THREAD, launch->thread));
	message_add_number(event, EVENT_CATEGORY, CATEGORY_GPU);
	message_add_text(event, EVENT_NAME, name);
	annotate(event, A_BYTES, launch->bytes);
	if (launch->kind == CAPTURE_LAUNCH_KERNEL) {
		annotate_three(event, A_GRID, launch->grid);
		annotate_three(event, A_BLOCK, launch->block);
	}
	if (launch->run != CAPTURE_UNKNOWN)
		annotate(event, A_RUN, launch->run);
	/* The activities that follow end them. */
	for (uint32_t i = 0; i < n; i++)
		message_add_fixed(event, EVENT_FLOW, perfetto_uuid(e, KIND_FLOW, e->flows + i));
	perfetto_put(p, &p->end, launch->time);
	return begins_write(&p->end, e->out);
}

int perfetto_lane(struct export_state *e, const struct export_lane *lane)
{
	struct message device = {}, track = {};
	char name[64], beside[32] = "";
	int error;

	snprintf(name, sizeof(name), "GPU %" PRIu32, lane->device);
	message_add_number(&device, TRACK_UUID, perfetto_uuid(e, KIND_DEVICE, lane->device));
	message_add_text(&device, TRACK_NAME, name);
	error = perfetto_write(e, PACKET_TRACK, &device);
	if (error)
		return error;
	if (lane->beside)
		snprintf(beside, sizeof(beside), " (%" PRIu32 ")", lane->beside + 1);
	snprintf(name, sizeof(name), "stream %" PRIu64 "%s", lane->stream, beside);
	message_add_number(&track, TRACK_UUID, perfetto_uuid(e, KIND_LANE, lane->number));
	message_add_text(&track, TRACK_NAME, name);
	message_add_number(&track, TRACK_PARENT, perfetto_uuid(e, KIND_DEVICE, lane->device));
	return perfetto_write(e, PACKET_TRACK, &track);
}

int perfetto_activity(struct export_state *e, const struct capture_launch *launch,
		      const struct export_activity *activity)
{
	const uint64_t track = perfetto_uuid(e, KIND_LANE, activity->lane->number);
	struct perfetto *p = e->private;
	struct message *event = &p->event;

	message_add_number(event, EVENT_TYPE, TYPE_BEGIN);
	message_add_number(event, EVENT_TRACK, track);
	message_add_number(event, EVENT_CATEGORY, CATEGORY_GPU);
	message_add_text(event, EVENT_NAME, activity->name);
	if (activity->did->registers)
		annotate(event, A_REGISTERS, activity->did->registers);
	if (launch->op != CAPTURE_UNKNOWN)
		annotate_text(event, A_OPERATOR, e->ops.items[launch->op]->label);
	message_add_fixed(event, EVENT_FLOW_ENDS, perfetto_uuid(e, KIND_FLOW, e->flows++));
	perfetto_put(p, &p->end, activity->start);
	message_add_number(event, EVENT_TYPE, TYPE_END);
	message_add_number(event, EVENT_TRACK, track);
	perfetto_put(p, &p->end, activity->end);
	return begins_write(&p->end, e->out);
}
