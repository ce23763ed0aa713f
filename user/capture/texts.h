/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings in the payloads of records, whose arrays elsewhere are of fixed sizes. */
#ifndef OPPROBE_CAPTURE_TEXTS_H
#define OPPROBE_CAPTURE_TEXTS_H

#include <stddef.h>

#include "../base/cursor.h"

/* The bytes of the next string of @c, without a NUL among them; @c fails if there is none. */
struct cursor texts_bytes(struct cursor *c);
/* Copy as many of @bytes as fit; a NUL behind them if there is room. */
void texts_copy_slice(const struct cursor *bytes, char *to, size_t size);
/* The same of the next string of @c. */
void texts_copy_bytes(struct cursor *c, char *to, size_t size);
/* The same, and it always ends in a NUL. */
void texts_copy(struct cursor *c, char *to, size_t size);

#endif
