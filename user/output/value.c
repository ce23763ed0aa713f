// SPDX-License-Identifier: GPL-2.0-only
#include "value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

struct value value_text(const char *text, bool empty_is_known)
{
	if (!text || (!text[0] && !empty_is_known))
		return (struct value){};
	return (struct value){.type = VALUE_TEXT, .text = text};
}

struct value value_whole(uint64_t number)
{
	return (struct value){.type = VALUE_WHOLE, .whole = number, .real = number};
}

struct value value_real(double number)
{
	if (!isfinite(number))
		return (struct value){};
	return (struct value){
		.type = VALUE_REAL,
		.whole = fabs(number) < 1e19 ? (uint64_t)(fabs(number) + 0.5) : UINT64_MAX,
		.real = number,
	};
}

/* -- for programs ------------------------------------------------------------ */

char *value_plain(const struct value *value, char *text, size_t size)
{
	if (value->type == VALUE_WHOLE)
		snprintf(text, size, "%" PRIu64, value->whole);
	else if (value->type == VALUE_REAL)
		snprintf(text, size, "%.9g", value->real);
	else
		text[0] = '\0';
	return text;
}

/* -- for people -------------------------------------------------------------- */

static void print_count(const struct value *value, char *cell, size_t size)
{
	text_count(cell, size, value->whole);
}

/* As other programs print it. */
static void print_pid(const struct value *value, char *cell, size_t size)
{
	snprintf(cell, size, "%" PRIu64, value->whole);
}

static void print_time(const struct value *value, char *cell, size_t size)
{
	text_time(cell, size, value->real);
}

static void print_bytes(const struct value *value, char *cell, size_t size)
{
	text_bytes(cell, size, value->whole);
}

static void print_percent(const struct value *value, char *cell, size_t size)
{
	snprintf(cell, size, "%.2f%%", value->real);
}

static void print_interval(const struct value *value, char *cell, size_t size)
{
	/* What is not exact has no interval of 0. */
	snprintf(cell, size,
		 value->real > 0 && value->real < 0.05 ? "\xc2\xb1<0.1%%" : "\xc2\xb1%.1f%%",
		 value->real);
}

static void print_metric(const struct value *value, char *cell, size_t size)
{
	double magnitude = fabs(value->real);

	if (magnitude >= 1e15)
		snprintf(cell, size, "%.3g", value->real);
	else if (magnitude >= 9999.5)
		text_count(cell, size, value->whole);
	else
		snprintf(cell, size, "%.*f",
			 magnitude < 99.995   ? 2
			 : magnitude < 999.95 ? 1
					      : 0,
			 magnitude);
	if (value->real < 0 && magnitude < 1e15) {
		memmove(cell + 1, cell, strnlen(cell, size - 2) + 1);
		cell[0] = '-';
	}
}

static void print_rate(const struct value *value, char *cell, size_t size)
{
	/* What moves data computes nothing: that is not a little. */
	if (value->real < 0.005)
		snprintf(cell, size, "%s", value->real > 0 ? "<0.01" : "0");
	else
		print_metric(value, cell, size);
}

const struct unit unit_text = {.suffix = ""};
const struct unit unit_number = {.suffix = "", .is_name = true, .print = print_count};
const struct unit unit_pid = {.suffix = "", .is_name = true, .print = print_pid};
const struct unit unit_count = {.suffix = "", .print = print_count};
const struct unit unit_ns = {.suffix = "_ns", .print = print_time};
const struct unit unit_percent = {.suffix = "", .print = print_percent};
const struct unit unit_interval = {.suffix = "", .print = print_interval};
const struct unit unit_bytes = {.suffix = "", .print = print_bytes};
const struct unit unit_rate = {.suffix = "", .print = print_rate};
const struct unit unit_metric = {.suffix = "", .print = print_metric};

static double shown_coverage(double coverage)
{
	return coverage < 0.01 ? 1 : coverage > 0.99 ? 99 : 100 * coverage;
}

void value_cell(const struct value *value, const struct unit *unit, char *cell, size_t size)
{
	char number[64];

	if (value->type != VALUE_WHOLE && value->type != VALUE_REAL) {
		snprintf(cell, size, "-");
		return;
	}
	unit->print(value, number, sizeof(number));
	if (value->certainty == CERTAINTY_AT_LEAST)
		snprintf(cell, size, "\xe2\x89\xa5%s", number);
	else if (value->certainty == CERTAINTY_AT_MOST)
		snprintf(cell, size, "\xe2\x89\xa4%s", number);
	else if (value->certainty == CERTAINTY_ESTIMATE)
		snprintf(cell, size, "~%s %.0f%%", number, shown_coverage(value->coverage));
	else /* "s" is one column narrower than the other units of time. */
		snprintf(cell, size, "%s%s", number,
			 unit == &unit_ns && strstr(number, " s") ? " " : "");
}
