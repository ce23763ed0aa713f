/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of one thing of one row: a text or a number, or nothing; and
 * of a number, how sure it is. All views get it from the same function (see
 * columns.h), so that they agree; this is how each of them prints it.
 */
#ifndef OPPROBE_OUTPUT_VALUE_H
#define OPPROBE_OUTPUT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_type {
	VALUE_ABSENT,
	VALUE_TEXT,
	VALUE_WHOLE, /* a number without a fraction, or whose fraction is no knowledge */
	VALUE_REAL,
};

enum certainty {
	CERTAINTY_EXACT,
	CERTAINTY_ESTIMATE, /* "~": of the part that was counted, scaled to all */
	CERTAINTY_AT_LEAST, /* "≥": a sum of which something is missing */
	CERTAINTY_AT_MOST,  /* "≤": the least of what was seen, not of all that there was */
};

struct value {
	enum value_type type;
	enum certainty certainty;
	double coverage;  /* of an estimate: the share that was counted, 0 to 1 */
	const char *text; /* any bytes; lives as long as the analysis */
	uint64_t whole;
	double real; /* of both kinds of numbers: what sorting compares */
};

/* How a number is printed, and in which order rows are sorted by it. */
struct unit {
	const char *suffix; /* of its key for programs */
	bool is_name;	    /* the number names something: the smallest comes first */
	/* Fill @cell with what a person reads; NULL: texts, which need no unit. */
	void (*print)(const struct value *value, char *cell, size_t size);
};

extern const struct unit unit_text, unit_number, unit_pid, unit_count, unit_ns, unit_percent,
	unit_interval, unit_bytes, unit_rate, unit_metric;

/* Absent if @text is NULL or, unless @empty_is_known, "". */
struct value value_text(const char *text, bool empty_is_known);
struct value value_whole(uint64_t number);
/* Absent unless @number is finite. */
struct value value_real(double number);

/* Fill @text, of @size bytes, with a number as programs read it; "" if @value is none. */
char *value_plain(const struct value *value, char *text, size_t size);
/* Fill @cell with a number as a person reads it, with "~", "≥" or "≤" in
 * front where it is due; "-" if @value is none. */
void value_cell(const struct value *value, const struct unit *unit, char *cell, size_t size);

#endif
