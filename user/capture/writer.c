// SPDX-License-Identifier: GPL-2.0-only
/* The life of a capture's file; what is put into it is encoded in encode.c. */
#include "writer_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define READER_PATIENCE 5000 /* ms */

static int write_piece(struct capture_writer *writer, const void *piece, size_t size)
{
	return writer->put ? writer->put(writer->context, piece, size)
			   : output_file_write(&writer->file, piece, size);
}

static int write_header(struct capture_writer *writer)
{
	uint8_t header[FORMAT_HEADER_SIZE];

	memcpy(header, FORMAT_MAGIC, FORMAT_MAGIC_SIZE);
	format_put_le32(header + 8, FORMAT_VERSION | FORMAT_HEADER_SIZE << 16);
	format_put_le32(header + 12, FORMAT_BYTE_ORDER);
	return write_piece(writer, header, sizeof(header));
}

static void start_chunk(struct capture_writer *writer)
{
	writer->next = writer->buffer + FORMAT_CHUNK_HEADER;
	writer->n_records = 0;
	writer->state = (struct format_state){};
}

static void free_writer(struct capture_writer *writer)
{
	ids_free(&writer->operators);
	ids_free(&writer->threads);
	ids_free(&writer->sessions);
	ids_free(&writer->shapes);
	ids_free(&writer->processes);
	ids_free(&writer->failures);
	ids_free(&writer->files);
	ids_free(&writer->functions);
	free(writer);
}

struct capture_writer *capture_writer_open(const char *path, enum output_naming naming,
					   struct error *err)
{
	struct capture_writer *writer = calloc(1, sizeof(*writer));
	int error;

	if (!writer) {
		error_set(err, -ENOMEM, "cannot record to %s: out of memory", path);
		return NULL;
	}
	if (!strcmp(path, "-") && isatty(STDOUT_FILENO)) {
		error_set(err, -EINVAL,
			  "a capture is not written to a terminal: name a file with -o, or "
			  "redirect the output");
		free(writer);
		return NULL;
	}
	if (output_file_open(&writer->file, path, naming, err)) {
		free(writer);
		return NULL;
	}
	error = write_header(writer);
	if (error) {
		error_set(err, error,
			  "cannot write the capture to %s: %s; choose another place with -o",
			  writer->file.path, error_reason(error));
		capture_writer_drop(writer, NULL);
		return NULL;
	}
	writer->sink.take = writer_take;
	start_chunk(writer);
	return writer;
}

struct capture_writer *capture_writer_new(int (*put)(void *context, const void *piece, size_t size),
					  void *context, struct error *err)
{
	struct capture_writer *writer = calloc(1, sizeof(*writer));
	int error = writer ? 0 : -ENOMEM;

	if (writer) {
		writer->put = put;
		writer->context = context;
		writer->sink.take = writer_take;
		start_chunk(writer);
		error = write_header(writer);
	}
	if (!error)
		return writer;
	error_set(err, error, "cannot hold what is recorded: %s", error_reason(error));
	if (writer)
		free_writer(writer);
	return NULL;
}

void capture_writer_be_impatient(struct capture_writer *writer, const volatile sig_atomic_t *stop)
{
	writer->file.patience = READER_PATIENCE;
	writer->file.stop = stop;
}

struct record_sink *capture_writer_sink(struct capture_writer *writer)
{
	return &writer->sink;
}

int capture_writer_flush(struct capture_writer *writer)
{
	uint8_t *payload = writer->buffer + FORMAT_CHUNK_HEADER;
	size_t length = writer->next - payload;

	/* Of one that has failed, nothing is left to write: see writer_take(). */
	if (!length)
		return writer->error;
	format_put_le32(writer->buffer, length);
	format_put_le32(writer->buffer + 4, writer->n_records);
	format_put_le32(writer->buffer + 8, crc32_z(0, payload, length));
	format_put_le32(writer->buffer + 12, crc32_z(0, writer->buffer, 12));
	writer->error = write_piece(writer, writer->buffer, FORMAT_CHUNK_HEADER + length);
	start_chunk(writer);
	return writer->error;
}

static const char *reason(int error)
{
	return error == -ETIMEDOUT ? "nobody reads it any more" : error_reason(error);
}

int capture_writer_close(struct capture_writer *writer, char **where, struct error *err)
{
	int error = capture_writer_flush(writer), closed;
	char *path = strdup(writer->file.path), *is_at = NULL;

	closed = output_file_close(&writer->file, !error, &is_at);
	if (!error)
		error = closed;
	if (error)
		error_set(err, error,
			  "writing the capture to %s failed: %s; %s holds what was recorded until "
			  "then",
			  path ? path : "its file", reason(error), is_at ? is_at : "it");
	if (where)
		*where = is_at;
	else
		free(is_at);
	free(path);
	free_writer(writer);
	return error;
}

void capture_writer_drop(struct capture_writer *writer, struct error *err)
{
	if (writer->put) {
		free_writer(writer);
		return;
	}
	if (writer->error)
		error_set(err, writer->error, "writing the capture to %s failed: %s",
			  writer->file.path, reason(writer->error));
	output_file_drop(&writer->file);
	free_writer(writer);
}
