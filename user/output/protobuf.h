/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages in the wire format of protocol buffers (protobuf.dev, "Encoding"): fields are
 * appended to a message, and one that is whole to the one around it. Filled with zeroes, a
 * message is empty. A failure is kept, and found at the end.
 */
#ifndef OPPROBE_OUTPUT_PROTOBUF_H
#define OPPROBE_OUTPUT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/array.h"

struct message {
	ARRAY_OF(uint8_t);
	bool failed; /* out of memory: what is there is not whole */
};

/* Append @field: a number (int64, uint64, bool; a negative one as in two's complement), */
void message_add_number(struct message *message, uint32_t field, uint64_t value);
/* eight bytes of any kind, */
void message_add_fixed(struct message *message, uint32_t field, uint64_t value);
void message_add_double(struct message *message, uint32_t field, double value);
/* @size bytes or characters, */
void message_add_bytes(struct message *message, uint32_t field, const void *bytes, size_t size);
/* or a message, which is emptied. */
void message_add(struct message *message, uint32_t field, struct message *inner);
/* The same of @text with a '?' for what is no character: a string must be UTF-8. */
void message_add_text(struct message *message, uint32_t field, const char *text);
/* Append fields that are put together: what another message has, as it stays. */
void message_append(struct message *message, const void *bytes, size_t size);
void message_free(struct message *message);

#endif
