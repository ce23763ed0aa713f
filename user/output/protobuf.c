// SPDX-License-Identifier: GPL-2.0-only
#include "protobuf.h"

#include <stdlib.h>

#include "../base/utf8.h"

/* How a field goes on behind its number. */
enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED = 1,
	WIRE_BYTES = 2,
};

/* Seven bits each, the lowest first; all but the last with the eighth set. */
static void put_varint(struct message *message, uint64_t value)
{
	uint8_t *byte;

	do {
		byte = array_push(message);
		if (!byte) {
			message->failed = true;
			return;
		}
		*byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (value);
}

static void put_field(struct message *message, uint32_t field, enum wire wire)
{
	put_varint(message, (uint64_t)field << 3 | wire);
}

void message_add_number(struct message *message, uint32_t field, uint64_t value)
{
	put_field(message, field, WIRE_VARINT);
	put_varint(message, value);
}

/* The lowest byte first, on whatever machine. */
void message_add_fixed(struct message *message, uint32_t field, uint64_t value)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = value >> 8 * i;
	put_field(message, field, WIRE_FIXED);
	message_append(message, bytes, sizeof(bytes));
}

void message_add_double(struct message *message, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	message_add_fixed(message, field, bits);
}

void message_append(struct message *message, const void *bytes, size_t size)
{
	size_t n = message->n;

	if (message->failed || array_extend(message, n + size)) {
		message->failed = true;
		return;
	}
	if (size)
		memcpy(message->items + n, bytes, size);
}

void message_add_bytes(struct message *message, uint32_t field, const void *bytes, size_t size)
{
	put_field(message, field, WIRE_BYTES);
	put_varint(message, size);
	message_append(message, bytes, size);
}

void message_add_text(struct message *message, uint32_t field, const char *text)
{
	char *clean = strdup(text);

	if (clean) {
		utf8_clean(clean);
		message_add_bytes(message, field, clean, strlen(clean));
	}
	message->failed |= !clean;
	free(clean);
}

void message_add(struct message *message, uint32_t field, struct message *inner)
{
	message_add_bytes(message, field, inner->items, inner->n);
	message->failed |= inner->failed;
	inner->failed = false;
	inner->n = 0;
}

void message_free(struct message *message)
{
	array_free(message);
}
