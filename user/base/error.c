// SPDX-License-Identifier: GPL-2.0-only
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#undef error_set
int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	for (char *c = err->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return code;
}
