// SPDX-License-Identifier: GPL-2.0-only
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* -- escapes --------------------------------------------------------------- */

static char *put_hex(char *to, const char *from, const char *end)
{
	for (; from < end; from++)
		to += sprintf(to, "\\x%02x", (unsigned char)*from);
	return to;
}

char *text_terminal(const char *bytes)
{
	char *text = malloc(strlen(bytes) * 4 + 1), *to = text;

	if (!text)
		return NULL;
	while (*bytes) {
		const char *start = bytes;
		int32_t code = utf8_next(&bytes);

		if (utf8_harms_terminal(code)) {
			to = put_hex(to, start, bytes);
		} else {
			memcpy(to, start, bytes - start);
			to += bytes - start;
		}
	}
	*to = '\0';
	return text;
}

void text_put(FILE *out, const char *bytes)
{
	char hex[32] = "";

	while (*bytes) {
		const char *start = bytes;

		if (utf8_harms_terminal(utf8_next(&bytes)))
			fwrite(hex, 1, put_hex(hex, start, bytes) - hex, out);
		else
			fwrite(start, 1, bytes - start, out);
	}
}

static char *put_json(char *to, const char *start, const char *end, int32_t code)
{
	static const char named[] = "\b\f\n\r\t", names[] = "bfnrt";
	const char *found = code > 0 && code < ' ' ? strchr(named, code) : NULL;

	if (code < 0)
		return stpcpy(to, REPLACEMENT);
	if (found || code == '"' || code == '\\') {
		*to++ = '\\';
		*to++ = found ? names[found - named] : code;
		return to;
	}
	/* Legal, but not in JavaScript, nor good for a terminal. */
	if (code <= 0xffff && utf8_harms_terminal(code))
		return to + sprintf(to, "\\u%04" PRIx32, code);
	memcpy(to, start, end - start);
	return to + (end - start);
}

char *text_json(const char *bytes)
{
	char *text = malloc(strlen(bytes) * 6 + 3), *to = text;

	if (!text)
		return NULL;
	*to++ = '"';
	while (*bytes) {
		const char *start = bytes;
		int32_t code = utf8_next(&bytes);

		to = put_json(to, start, bytes, code);
	}
	*to++ = '"';
	*to = '\0';
	return text;
}

/* @bytes as JSON gives them once read: each byte that is not UTF-8 is U+FFFD. */
static char *text_utf8(const char *bytes)
{
	char *text = malloc(strlen(bytes) * 3 + 1), *to = text;

	if (!text)
		return NULL;
	while (*bytes) {
		const char *start = bytes;

		if (utf8_next(&bytes) < 0)
			to = stpcpy(to, REPLACEMENT);
		else
			to = mempcpy(to, start, bytes - start);
	}
	*to = '\0';
	return text;
}

/* RFC 4180; some readers break lines at any control character, or strip spaces. */
static bool needs_quotes(const char *text)
{
	size_t n = strlen(text);

	for (const char *p = text; *p; p++)
		if (*p == '"' || *p == ',' || (unsigned char)*p < ' ')
			return true;
	return n && (text[0] == ' ' || text[n - 1] == ' ');
}

char *text_csv(const char *bytes, bool to_terminal)
{
	char *clean = to_terminal ? text_terminal(bytes) : text_utf8(bytes), *text, *to;

	if (!clean || !needs_quotes(clean))
		return clean;
	text = malloc(strlen(clean) * 2 + 3);
	if (text) {
		to = text;
		*to++ = '"';
		for (const char *p = clean; *p; p++) {
			if (*p == '"')
				*to++ = '"';
			*to++ = *p;
		}
		*to++ = '"';
		*to = '\0';
	}
	free(clean);
	return text;
}

/* -- widths ------------------------------------------------------------------ */

struct interval {
	int32_t first, last;
};

static bool is_in(int32_t code, const struct interval *intervals, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (code >= intervals[i].first && code <= intervals[i].last)
			return true;
	return false;
}

/* From the East Asian Width and General Category properties of Unicode,
 * in coarse blocks: wcwidth() would depend on the locale. */
static int width_of(int32_t code)
{
	static const struct interval zero[] = {
		{0x300, 0x36f},	  {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
		{0x64b, 0x65f},	  {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d},
		{0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
	static const struct interval wide[] = {
		{0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0xa4cf},	  {0xa960, 0xa97f},
		{0xac00, 0xd7a3}, {0xf900, 0xfaff},   {0xfe30, 0xfe6f},	  {0xff00, 0xff60},
		{0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

	if (code < 0x300)
		return 1;
	if (is_in(code, zero, sizeof(zero) / sizeof(zero[0])))
		return 0;
	return is_in(code, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

size_t text_width(const char *text)
{
	size_t width = 0;

	while (*text)
		width += width_of(utf8_next(&text));
	return width;
}

/* Is the space at @at, in @text, between a number and its unit? These stay together. */
static bool is_before_unit(const char *text, const char *at)
{
	static const char *const units[] = {"%", "ns", "\xc2\xb5s", "ms", "s"};
	size_t length = strcspn(at + 1, " \n.,;:)");

	if (at == text || at[-1] < '0' || at[-1] > '9')
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (length == strlen(units[i]) && !strncmp(at + 1, units[i], length))
			return true;
	return false;
}

/*
 * Where the line of @length bytes at @text is to be broken, behind its first @from columns:
 * what of it stays, in bytes.
 */
static size_t break_at(const char *text, size_t length, size_t room, size_t from)
{
	size_t width = 0, at = length;

	for (const char *p = text; p < text + length;) {
		if (*p == ' ' && p > text && p[-1] != ' ' && width >= from &&
		    (width <= room || at == length) && !is_before_unit(text, p))
			at = p - text;
		width += width_of(utf8_next(&p));
	}
	return width <= room ? length : at;
}

/* One line of it, of @length bytes. */
static void wrap_line(FILE *out, const char *text, size_t length, size_t room, size_t indent)
{
	size_t from = indent;

	while (length) {
		size_t part = room ? break_at(text, length, room, from) : length, next = part;

		while (next < length && text[next] == ' ')
			next++;
		while (part && text[part - 1] == ' ')
			part--;
		fprintf(out, "%.*s", (int)part, text);
		text += next;
		length -= next;
		if (length)
			fprintf(out, "\n%*s", (int)indent, "");
		if (from && room)
			room = room > from ? room - from : 1;
		from = 0;
	}
	fputc('\n', out);
}

void text_wrap(FILE *out, const char *text, size_t room, size_t indent)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		wrap_line(out, text, length, room, indent);
		text += length + (text[length] == '\n');
	}
}

char *text_shorten(const char *text, size_t width)
{
	if (width < 3)
		width = 3;
	/* More of the end than of the beginning: names differ there. */
	return text_cut(text, (width - 1) / 3, width);
}

char *text_cut(const char *text, size_t head, size_t width)
{
	size_t total = text_width(text), gone = 0, kept = 0;
	const char *p = text, *tail;
	char *shorter;

	if (total <= width)
		return strdup(text);
	for (const char *next = p;; p = next) {
		kept += width_of(utf8_next(&next));
		if (kept > head || kept > width - 1)
			break;
	}
	for (tail = p; total - gone > width - 1;)
		gone += width_of(utf8_next(&tail));
	shorter = malloc(p - text + 3 + strlen(tail) + 1);
	if (shorter) {
		memcpy(shorter, text, p - text);
		memcpy(shorter + (p - text), "\xe2\x80\xa6", 3); /* an ellipsis */
		strcpy(shorter + (p - text) + 3, tail);
	}
	return shorter;
}

char *text_bar(char *to, unsigned int eighths)
{
	char *p = to;

	/* U+2588 is a whole cell, U+258F an eighth of one. */
	for (; eighths; eighths -= eighths < 8 ? eighths : 8) {
		*p++ = '\xe2';
		*p++ = '\x96';
		*p++ = (char)(0x90 - (eighths < 8 ? eighths : 8));
	}
	*p = '\0';
	return to;
}

/* -- numbers ----------------------------------------------------------------- */

char *text_count(char *to, size_t size, uint64_t value)
{
	char digits[24], text[32];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value), length = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text[length++] = ',';
		text[length++] = digits[i];
	}
	text[length] = '\0';
	snprintf(to, size, "%s", text);
	return to;
}

/* @value of four digits, at least 0 and below 10,000. */
static void four_digits(char *to, size_t size, double value)
{
	int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;

	snprintf(to, size, "%.*f", decimals, value);
}

char *text_time(char *to, size_t size, double ns)
{
	static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
	char number[32];
	size_t unit = 0;

	while (unit < 3 && ns >= 999.95) {
		ns /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(number, sizeof(number), "%.0f", ns);
	else if (ns >= 999.95)
		text_count(number, sizeof(number), ns + 0.5);
	else
		four_digits(number, sizeof(number), ns);
	snprintf(to, size, "%s %s", number, units[unit]);
	return to;
}

char *text_bytes(char *to, size_t size, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = bytes;
	size_t unit = 0;

	while (unit < 4 && value >= 1023.5) {
		value /= 1024;
		unit++;
	}
	snprintf(to, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return to;
}

char *text_share(char *to, size_t size, double share)
{
	if (share > 0 && share < 0.005)
		snprintf(to, size, "<1 %%");
	else
		snprintf(to, size, "%.0f %%", 100 * share);
	return to;
}

size_t text_room(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	char *end;
	long n = columns ? strtol(columns, &end, 10) : 0;

	if (n > 0 && n < UINT16_MAX && !*end)
		return n;
	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

int text_put_member(FILE *out, const char *key, const char *bytes)
{
	char *text = bytes ? text_json(bytes) : strdup("null");

	if (!text)
		return -ENOMEM;
	fprintf(out, ",\"%s\":%s", key, text);
	free(text);
	return 0;
}
