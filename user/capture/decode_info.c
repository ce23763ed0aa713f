// SPDX-License-Identifier: GPL-2.0-only
/* The first record of a capture: what was recorded, and where. */
#include "decode.h"

#include <errno.h>

#include "texts.h"

static void decode_event(struct cursor *c, struct capture_info *info)
{
	struct capture_event *event = &info->events[info->n_events];

	if (info->n_events == CAPTURE_COUNTERS) {
		cursor_fail(c);
		return;
	}
	texts_copy(c, event->name, sizeof(event->name));
	texts_copy(c, event->event, sizeof(event->event));
	texts_copy(c, event->unit, sizeof(event->unit));
	event->group = format_get_u32(c);
	event->multiplexed = cursor_uleb(c);
	info->n_events++;
}

static void decode_roof(struct cursor *c, struct capture_roof *roof)
{
	roof->flops = cursor_uleb(c);
	if (roof->flops > CAPTURE_ROOF_MAX)
		cursor_fail(c);
	for (int level = 0; level < ROOF_LEVELS; level++) {
		roof->bytes[level] = cursor_uleb(c);
		if (roof->bytes[level] > CAPTURE_ROOF_MAX)
			cursor_fail(c);
	}
}

static void decode_roofs(struct cursor *c, struct capture_roofs *roofs)
{
	*roofs = (struct capture_roofs){.measured = cursor_uleb(c)};
	roofs->cpus = format_get_u32(c);
	texts_copy(c, roofs->instructions, sizeof(roofs->instructions));
	decode_roof(c, &roofs->one);
	decode_roof(c, &roofs->all);
	if (!roofs->measured || roofs->measured > CAPTURE_ROOF_MAX)
		cursor_fail(c);
}

/* A field that is nothing but a string. */
static void info_string(const struct cursor *c, char *to, size_t size)
{
	texts_copy_slice(c, to, size - 1);
	to[size - 1] = '\0';
}

static void decode_info_field(uint64_t field, struct cursor *c, struct capture_info *info)
{
	switch (field) {
	case INFO_PID:
		info->pid = format_get_u32(c);
		break;
	case INFO_COMMAND:
		info_string(c, info->command, sizeof(info->command));
		break;
	case INFO_LIBRARY:
		info_string(c, info->library, sizeof(info->library));
		break;
	case INFO_RUNTIME:
		info_string(c, info->runtime, sizeof(info->runtime));
		break;
	case INFO_VERSION:
		info_string(c, info->version, sizeof(info->version));
		break;
	case INFO_BUILD_ID:
		info_string(c, info->build_id, sizeof(info->build_id));
		break;
	case INFO_KERNEL:
		info_string(c, info->kernel, sizeof(info->kernel));
		break;
	case INFO_MACHINE:
		info_string(c, info->machine, sizeof(info->machine));
		break;
	case INFO_CPU:
		info_string(c, info->cpu, sizeof(info->cpu));
		break;
	case INFO_HOST:
		info_string(c, info->host, sizeof(info->host));
		break;
	case INFO_CPUS:
		info->n_cpus = format_get_u32(c);
		break;
	case INFO_REALTIME_OFFSET:
		info->realtime_offset = format_unzigzag(cursor_uleb(c));
		break;
	case INFO_BOOTTIME_OFFSET:
		info->boottime_offset = format_unzigzag(cursor_uleb(c));
		info->has_boottime = true;
		break;
	case INFO_START:
		info->start = cursor_uleb(c);
		break;
	case INFO_OPPROBE_VERSION:
		info_string(c, info->opprobe_version, sizeof(info->opprobe_version));
		break;
	case INFO_EVENT:
		decode_event(c, info);
		break;
	case INFO_NOTE:
		if (info->n_notes < CAPTURE_NOTES)
			info_string(c, info->notes[info->n_notes++], sizeof(info->notes[0]));
		break;
	case INFO_ROOFS:
		decode_roofs(c, &info->roofs);
		break;
	}
}

int decode_info(struct cursor c, struct capture_info *info)
{
	while (!cursor_end(&c)) {
		uint64_t field = cursor_uleb(&c);
		struct cursor payload = cursor_slice(&c, cursor_uleb(&c));

		if (!c.failed)
			decode_info_field(field, &payload, info);
		if (c.failed || payload.failed)
			return -EBADMSG;
	}
	return 0;
}
