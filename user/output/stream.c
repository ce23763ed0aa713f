// SPDX-License-Identifier: GPL-2.0-only
#include "stream.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "../base/array.h"

#define BUFFER_SIZE (256u << 10)

struct stream {
	struct output_file file;
	bool compressed, terminal;
	z_stream z;
	unsigned char *packed; /* the compressor's output */
	ARRAY_OF(char) buffer; /* what is still to be written */
	int error;
};

static bool ends_in(const char *path, const char *end)
{
	size_t length = strlen(path), size = strlen(end);

	return length > size && !strcmp(path + length - size, end);
}

static int start_compressing(struct stream *s)
{
	/* 31: the largest window, in gzip's format (zlib.h). */
	if (deflateInit2(&s->z, Z_BEST_SPEED, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	s->compressed = true;
	s->packed = malloc(BUFFER_SIZE);
	return s->packed ? 0 : -ENOMEM;
}

static void free_stream(struct stream *s)
{
	if (s->compressed)
		deflateEnd(&s->z);
	free(s->packed);
	array_free(&s->buffer);
	free(s);
}

struct stream *stream_open(const char *path, enum output_naming naming, struct error *err)
{
	struct stream *s = calloc(1, sizeof(*s));
	int error = s && !array_reserve(&s->buffer, BUFFER_SIZE) ? 0 : -ENOMEM;

	if (!error && ends_in(path, ".gz"))
		error = start_compressing(s);
	if (error)
		error_set(err, error, "cannot write to %s: out of memory", path);
	else
		error = output_file_open(&s->file, path, naming, err);
	if (!error) {
		s->terminal = !s->compressed && isatty(s->file.fd);
		return s;
	}
	if (s)
		free_stream(s);
	return NULL;
}

bool stream_is_terminal(const struct stream *s)
{
	return s->terminal;
}

static void write_all(struct stream *s, const void *data, size_t size)
{
	if (!s->error)
		s->error = output_file_write(&s->file, data, size);
}

static void compress_all(struct stream *s, int flush)
{
	s->z.next_in = (unsigned char *)s->buffer.items;
	s->z.avail_in = s->buffer.n;
	do {
		s->z.next_out = s->packed;
		s->z.avail_out = BUFFER_SIZE;
		deflate(&s->z, flush);
		write_all(s, s->packed, BUFFER_SIZE - s->z.avail_out);
	} while (!s->z.avail_out && !s->error);
}

static void flush(struct stream *s, bool last)
{
	if (s->compressed)
		compress_all(s, last ? Z_FINISH : Z_NO_FLUSH);
	else
		write_all(s, s->buffer.items, s->buffer.n);
	s->buffer.n = 0;
}

char *stream_reserve(struct stream *s, size_t size)
{
	if (s->buffer.room - s->buffer.n < size)
		flush(s, false);
	if (array_reserve(&s->buffer, size)) {
		s->error = s->error ? s->error : -ENOMEM;
		return NULL;
	}
	return s->buffer.items + s->buffer.n;
}

void stream_advance(struct stream *s, const char *end)
{
	s->buffer.n = end - s->buffer.items;
}

void stream_put(struct stream *s, const char *text)
{
	size_t size = strlen(text);
	char *p = stream_reserve(s, size);

	if (p)
		stream_advance(s, put_text(p, text, size));
}

int stream_error(const struct stream *s)
{
	return s->error;
}

int stream_close(struct stream *s, bool whole, char **where, struct error *err)
{
	char path[PATH_MAX];
	int error;

	if (where)
		*where = NULL;
	snprintf(path, sizeof(path), "%s", s->file.path);
	flush(s, true);
	error = s->error;
	if (error || !whole)
		output_file_drop(&s->file);
	else
		error = output_file_close(&s->file, true, where);
	if (error)
		error_set(err, error, "writing to %s failed: %s", path, error_reason(error));
	free_stream(s);
	return error;
}
