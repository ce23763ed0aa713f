// SPDX-License-Identifier: GPL-2.0-only
#include "utf8.h"

#include <string.h>

int32_t utf8_next(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	int length = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;
	static const int32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	int32_t code;

	*p += 1;
	if (length <= 1)
		return length ? s[0] : -1;
	code = s[0] & (0x7f >> length);
	for (int i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return -1;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return -1;
	*p += length - 1;
	return code;
}

/* C0, DEL, C1, line separators and what overrides the writing direction. */
bool utf8_harms_terminal(int32_t code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029 ||
	       code == 0x200e || code == 0x200f;
}

void utf8_clean(char *text)
{
	const char *at = text;

	while (*at) {
		char *start = text + (at - text);

		if (utf8_harms_terminal(utf8_next(&at)))
			memset(start, '?', (size_t)(at - start));
	}
}
