// SPDX-License-Identifier: GPL-2.0-only
#include "encode_info.h"

#include <string.h>

#include "format.h"

static uint8_t *put_string(uint8_t *p, enum format_info field, const char *string, size_t size)
{
	size_t length = strnlen(string, size);

	return length ? format_put_bytes(format_put_varint(p, field), string, length) : p;
}

static uint8_t *put_number(uint8_t *p, enum format_info field, uint64_t value)
{
	uint8_t number[FORMAT_VARINT_MAX];
	size_t size = format_put_varint(number, value) - number;

	return format_put_bytes(format_put_varint(p, field), (const char *)number, size);
}

static uint8_t *put_event(uint8_t *p, const struct capture_event *event)
{
	uint8_t payload[sizeof(*event) + 64], *end = payload;

	end = format_put_bytes(end, event->name, strnlen(event->name, sizeof(event->name)));
	end = format_put_bytes(end, event->event, strnlen(event->event, sizeof(event->event)));
	end = format_put_bytes(end, event->unit, strnlen(event->unit, sizeof(event->unit)));
	end = format_put_varint(end, event->group);
	*end++ = event->multiplexed;
	return format_put_bytes(format_put_varint(p, INFO_EVENT), (const char *)payload,
				end - payload);
}

static uint8_t *put_roof(uint8_t *p, const struct capture_roof *roof)
{
	p = format_put_varint(p, roof->flops);
	for (int level = 0; level < ROOF_LEVELS; level++)
		p = format_put_varint(p, roof->bytes[level]);
	return p;
}

static uint8_t *put_roofs(uint8_t *p, const struct capture_roofs *roofs)
{
	uint8_t payload[sizeof(*roofs) + (2 * ROOF_LEVELS + 5) * FORMAT_VARINT_MAX], *end = payload;

	if (!roofs->measured)
		return p;
	end = format_put_varint(end, roofs->measured);
	end = format_put_varint(end, roofs->cpus);
	end = format_put_bytes(end, roofs->instructions,
			       strnlen(roofs->instructions, sizeof(roofs->instructions)));
	end = put_roof(put_roof(end, &roofs->one), &roofs->all);
	return format_put_bytes(format_put_varint(p, INFO_ROOFS), (const char *)payload,
				end - payload);
}

uint8_t *encode_info(uint8_t *p, const struct capture_info *info)
{
	p = put_number(p, INFO_PID, info->pid);
	p = put_string(p, INFO_COMMAND, info->command, sizeof(info->command));
	p = put_string(p, INFO_LIBRARY, info->library, sizeof(info->library));
	p = put_string(p, INFO_RUNTIME, info->runtime, sizeof(info->runtime));
	p = put_string(p, INFO_VERSION, info->version, sizeof(info->version));
	p = put_string(p, INFO_BUILD_ID, info->build_id, sizeof(info->build_id));
	p = put_string(p, INFO_KERNEL, info->kernel, sizeof(info->kernel));
	p = put_string(p, INFO_MACHINE, info->machine, sizeof(info->machine));
	p = put_string(p, INFO_CPU, info->cpu, sizeof(info->cpu));
	p = put_string(p, INFO_HOST, info->host, sizeof(info->host));
	p = put_number(p, INFO_CPUS, info->n_cpus);
	p = put_number(p, INFO_REALTIME_OFFSET, format_zigzag(info->realtime_offset));
	if (info->has_boottime)
		p = put_number(p, INFO_BOOTTIME_OFFSET, format_zigzag(info->boottime_offset));
	p = put_number(p, INFO_START, info->start);
	p = put_string(p, INFO_OPPROBE_VERSION, info->opprobe_version,
		       sizeof(info->opprobe_version));
	for (uint32_t i = 0; i < info->n_events; i++)
		p = put_event(p, &info->events[i]);
	for (uint32_t i = 0; i < info->n_notes; i++)
		p = put_string(p, INFO_NOTE, info->notes[i], sizeof(info->notes[i]));
	return put_roofs(p, &info->roofs);
}
