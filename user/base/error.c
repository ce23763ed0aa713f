// SPDX-License-Identifier: GPL-2.0-only
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

const char *error_reason(int error)
{
	if (error == -EMFILE)
		return "too many open files; raise the limit (ulimit -n)";
	if (error == -ENFILE)
		return "too many open files on this machine; raise fs.file-max";
	return strerror(-error);
}

#undef error_set
int error_set(struct error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	utf8_clean(err->text);
	return code;
}
