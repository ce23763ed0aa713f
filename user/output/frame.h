/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A picture made of lines of text, for a terminal, for a pipe, or for a test: whoever shows it
 * knows the styles, and nothing else of it. No line is wider than the frame, and none holds what
 * a terminal would act on.
 */
#ifndef OPPROBE_OUTPUT_FRAME_H
#define OPPROBE_OUTPUT_FRAME_H

#include <stdio.h>

#include "../base/array.h"

enum frame_style {
	FRAME_PLAIN,
	FRAME_TITLE,	/* what it is a picture of */
	FRAME_HEADINGS, /* of columns */
	FRAME_SELECTED, /* the row that keys are about */
	FRAME_DIM,	/* what is less than rows */
	FRAME_WARNING,
	FRAME_KEYS,
};

struct frame_line {
	char *text; /* UTF-8, clean */
	enum frame_style style;
};

/* Zeroed but for its width, there is nothing in it. */
struct frame {
	ARRAY_OF(struct frame_line);
	size_t width; /* columns of a line; 0: any number */
	int error;    /* the first one: -ENOMEM */
};

/* Add a line; @format and what it gets may hold any bytes. */
void frame_add(struct frame *frame, enum frame_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Add each line of @text, which is clean. */
void frame_add_text(struct frame *frame, enum frame_style style, const char *text);
/*
 * Write into a stream of which each line is added: open gives it, NULL without memory; close adds
 * them, and returns whether all was well.
 */
struct frame_text {
	FILE *out;
	char *text;
	size_t size;
};
FILE *frame_open_text(struct frame_text *text);
/* Of the lines, those from number @from on are of @style, those before of @before. */
int frame_close_text(struct frame *frame, struct frame_text *text, enum frame_style before,
		     size_t from, enum frame_style style);
/* Empty lines until there are @height, or none. */
void frame_fill(struct frame *frame, size_t height);
/* Print it. */
void frame_print(const struct frame *frame, FILE *out);
void frame_free(struct frame *frame);

#endif
