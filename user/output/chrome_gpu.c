// SPDX-License-Identifier: GPL-2.0-only
/* What GPUs were told, points on threads, how long these waited, and what GPUs did, slices on
 * tracks of their streams. */
#include "chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* No process has such a number: 2^22 is the most (PID_MAX_LIMIT). */
#define GPU_PID 5000000u

static char *put_three(char *p, const uint32_t values[3])
{
	*p++ = '[';
	for (int i = 0; i < 3; i++) {
		p = put_u64(p, values[i]);
		*p++ = i < 2 ? ',' : ']';
	}
	return p;
}

/* @name is JSON. */
static char *put_launch(const struct export_state *e, char *p, const struct capture_launch *launch,
			const char *name)
{
	p = PUT_LITERAL(p, ",\n{\"name\":");
	p = put_text(p, name, strlen(name));
	p = PUT_LITERAL(p, ",\"cat\":\"launch\",\"pid\":");
	p = put_prepared(p, &e->threads.items[launch->thread]->detail);
	if (launch->kind == CAPTURE_LAUNCH_WAIT)
		p = put_us(PUT_LITERAL(p, ",\"ph\":\"X\",\"dur\":"), launch->took);
	else
		p = PUT_LITERAL(p, ",\"ph\":\"i\",\"s\":\"t\"");
	p = put_since_start(e, PUT_LITERAL(p, ",\"ts\":"), launch->time);
	p = PUT_LITERAL(p, ",\"args\":{\"bytes\":");
	p = put_u64(p, launch->bytes);
	if (launch->kind == CAPTURE_LAUNCH_KERNEL) {
		p = put_three(PUT_LITERAL(p, ",\"grid\":"), launch->grid);
		p = put_three(PUT_LITERAL(p, ",\"block\":"), launch->block);
	}
	if (launch->run != CAPTURE_UNKNOWN)
		p = put_u64(PUT_LITERAL(p, ",\"run\":"), launch->run);
	return PUT_LITERAL(p, "}}");
}

int chrome_launch(struct export_state *e, const struct capture_launch *launch, const char *name,
		  uint32_t n)
{
	char *json = text_json(name);
	char *p = json ? stream_reserve(e->out, strlen(json) + 512) : NULL;

	if (p)
		stream_advance(e->out, put_launch(e, p, launch, json));
	free(json);
	return p ? 0 : -ENOMEM;
}

int chrome_lane(struct export_state *e, const struct export_lane *lane)
{
	struct prepared line = {};
	char beside[32] = "";
	int error;

	if (lane->beside)
		snprintf(beside, sizeof(beside), " (%u)", lane->beside + 1);
	error = prepare(&line,
			",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,"
			"\"args\":{\"name\":\"GPU %u\"}}"
			",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,"
			"\"args\":{\"name\":\"stream %" PRIu64 "%s\"}}",
			GPU_PID + lane->device, lane->device, GPU_PID + lane->device, lane->number,
			lane->stream, beside);
	if (!error)
		stream_put(e->out, line.text);
	free(line.text);
	return error;
}

/* An end of the arrow from what was launched to what was done. */
static char *put_launch_flow(const struct export_state *e, char *p, const char *end)
{
	p = PUT_LITERAL(p, ",\n{\"name\":\"launch\",\"cat\":\"gpu\",\"ph\":");
	p = put_text(p, end, strlen(end));
	p = PUT_LITERAL(p, ",\"id\":");
	p = put_u64(p, e->flows);
	return PUT_LITERAL(p, ",\"pid\":");
}

static char *put_lane(char *p, const struct export_lane *lane)
{
	p = put_u64(p, GPU_PID + (uint64_t)lane->device);
	p = PUT_LITERAL(p, ",\"tid\":");
	return put_u64(p, lane->number);
}

/* @name and @label are JSON; this one is of the operator, NULL if it is of none. */
static char *put_activity(const struct export_state *e, char *p,
			  const struct capture_launch *launch,
			  const struct export_activity *activity, const char *name,
			  const char *label)
{
	p = PUT_LITERAL(p, ",\n{\"name\":");
	p = put_text(p, name, strlen(name));
	p = put_lane(PUT_LITERAL(p, ",\"cat\":\"gpu\",\"pid\":"), activity->lane);
	p = put_since_start(e, PUT_LITERAL(p, ",\"ph\":\"X\",\"ts\":"), activity->start);
	p = put_us(PUT_LITERAL(p, ",\"dur\":"), activity->end - activity->start);
	p = put_u64(PUT_LITERAL(p, ",\"args\":{\"registers\":"), activity->did->registers);
	if (label) {
		p = PUT_LITERAL(p, ",\"operator\":");
		p = put_text(p, label, strlen(label));
	}
	p = PUT_LITERAL(p, "}}");
	p = put_prepared(put_launch_flow(e, p, "\"s\""), &e->threads.items[launch->thread]->detail);
	p = put_since_start(e, PUT_LITERAL(p, ",\"ts\":"), launch->time);
	p = put_lane(put_launch_flow(e, PUT_LITERAL(p, "}"), "\"f\",\"bp\":\"e\""), activity->lane);
	p = put_since_start(e, PUT_LITERAL(p, ",\"ts\":"), activity->start);
	return PUT_LITERAL(p, "}");
}

int chrome_activity(struct export_state *e, const struct capture_launch *launch,
		    const struct export_activity *activity)
{
	const bool inside = launch->op != CAPTURE_UNKNOWN;
	char *label = inside ? text_json(e->ops.items[launch->op]->label) : NULL;
	char *name = text_json(activity->name);
	char *p = name && (label || !inside)
			  ? stream_reserve(e->out, strlen(name) + (label ? strlen(label) : 0) + 768)
			  : NULL;

	if (p) {
		e->flows++;
		stream_advance(e->out, put_activity(e, p, launch, activity, name, label));
	}
	free(label);
	free(name);
	return p ? 0 : -ENOMEM;
}
