// SPDX-License-Identifier: GPL-2.0-only
#include "frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* @text is clean; cut where the frame ends. It is freed. */
static void add(struct frame *frame, enum frame_style style, char *text)
{
	struct frame_line *line = text ? array_push(frame) : NULL;

	if (!line) {
		frame->error = -ENOMEM;
		free(text);
		return;
	}
	if (frame->width && text_width(text) > frame->width) {
		char *cut = text_cut(text, frame->width - 1, frame->width);

		frame->error = cut ? frame->error : -ENOMEM;
		free(text);
		text = cut ?: strdup("");
	}
	*line = (struct frame_line){text, style};
}

void frame_add(struct frame *frame, enum frame_style style, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	add(frame, style, n < 0 ? NULL : text_terminal(text));
	if (n >= 0)
		free(text);
}

void frame_add_text(struct frame *frame, enum frame_style style, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		add(frame, style, strndup(text, length));
		text += length + (text[length] == '\n');
	}
}

FILE *frame_open_text(struct frame_text *text)
{
	*text = (struct frame_text){};
	text->out = open_memstream(&text->text, &text->size);
	return text->out;
}

int frame_close_text(struct frame *frame, struct frame_text *text, enum frame_style before,
		     size_t from, enum frame_style style)
{
	size_t first = frame->n;
	bool failed = !text->out || ferror(text->out);

	if (text->out)
		failed |= fclose(text->out) != 0;
	/* glibc may have had no memory for it, and say nothing. */
	if (failed || !text->text)
		frame->error = -ENOMEM;
	else
		frame_add_text(frame, before, text->text);
	for (size_t i = first; i < frame->n; i++)
		if (i - first >= from)
			frame->items[i].style = style;
	free(text->text);
	return frame->error;
}

void frame_fill(struct frame *frame, size_t height)
{
	while (frame->n < height && !frame->error)
		frame_add(frame, FRAME_PLAIN, "%s", "");
}

void frame_print(const struct frame *frame, FILE *out)
{
	for (size_t i = 0; i < frame->n; i++) {
		size_t length = strlen(frame->items[i].text);

		while (length && frame->items[i].text[length - 1] == ' ')
			length--;
		fprintf(out, "%.*s\n", (int)length, frame->items[i].text);
	}
}

void frame_free(struct frame *frame)
{
	for (size_t i = 0; i < frame->n; i++)
		free(frame->items[i].text);
	array_free(frame);
}
