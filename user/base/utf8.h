/* SPDX-License-Identifier: GPL-2.0-only */
/* Text that others made: it may hold any bytes, and is never what it says it is. */
#ifndef OPPROBE_UTF8_H
#define OPPROBE_UTF8_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The next code point of the NUL-terminated *@p, which moves behind it; -1
 * for a byte that is not part of valid UTF-8, which it moves behind. Not to
 * be called at the end.
 */
int32_t utf8_next(const char **p);
/* Would @code, of utf8_next(), do more to a terminal than to show a character? */
bool utf8_harms_terminal(int32_t code);
/*
 * Make @text fit for a terminal and for JSON, in its place: what would harm,
 * and what is not UTF-8, becomes a '?' for each byte.
 */
void utf8_clean(char *text);

#endif
