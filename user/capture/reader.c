// SPDX-License-Identifier: GPL-2.0-only
/*
 * A capture may come from anywhere: every length, number and reference in it
 * is checked before it is used, and memory grows only with distinct strings
 * and numbers. One chunk at a time is held, so pipes can be read.
 */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "../base/array.h"
#include "decode.h"
#include "format.h"

struct capture_reader {
	int fd; /* unless @read gives what would be read */
	ssize_t (*read)(void *context, void *buffer, size_t size);
	void *context;
	char *path;
	struct capture_info info;
	struct decoder decoder;
	ARRAY_OF(uint8_t) chunk; /* the payload that is being read */
	struct cursor cursor;	 /* over it; its addresses are positions in the file */
	uint64_t position;	 /* behind the last byte that was read */
	uint32_t records_left;
	bool partial;  /* the chunk stops before its length */
	bool ended;    /* the end record was read */
	bool finished; /* no record follows */
	char cut[256];
};

static ssize_t read_some(struct capture_reader *reader, void *buffer, size_t size)
{
	ssize_t n;

	if (reader->read)
		return reader->read(reader->context, buffer, size);
	do
		n = read(reader->fd, buffer, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Read up to @size bytes; fewer only at the end of the file. */
static ssize_t read_fully(struct capture_reader *reader, void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read_some(reader, (uint8_t *)buffer + done, size - done);

		if (n < 0)
			return n;
		if (!n)
			break;
		done += n;
	}
	reader->position += done;
	return done;
}

static int read_failed(const struct capture_reader *reader, int error, struct error *err)
{
	return error_set(err, error, "cannot read the capture %s: %s", reader->path,
			 error_reason(error));
}

static int damaged(const struct capture_reader *reader, uint64_t position, const char *what,
		   struct error *err)
{
	return error_set(err, -EBADMSG,
			 "the capture %s is damaged at byte %" PRIu64
			 " (%s); what precedes it can be trusted",
			 reader->path, position, what);
}

static void set_cut(struct capture_reader *reader)
{
	reader->finished = true;
	snprintf(reader->cut, sizeof(reader->cut),
		 "The capture was cut short at byte %" PRIu64 ": its end is missing.",
		 reader->position);
}

static int next_chunk_header(struct capture_reader *reader, uint8_t *header, struct error *err)
{
	uint64_t position = reader->position;
	ssize_t n = read_fully(reader, header, FORMAT_CHUNK_HEADER);

	if (n < 0)
		return read_failed(reader, n, err);
	if (n < FORMAT_CHUNK_HEADER) {
		set_cut(reader);
		return 0;
	}
	if (format_get_le32(header + 12) != crc32_z(0, header, 12))
		return damaged(reader, position, "the head of a chunk has a wrong checksum", err);
	if (!format_get_le32(header) || format_get_le32(header) > FORMAT_CHUNK_MAX)
		return damaged(reader, position, "a chunk of an impossible length", err);
	return 1;
}

/* Returns 1 with a chunk to read records from, 0 at the end of the file. */
static int next_chunk(struct capture_reader *reader, struct error *err)
{
	uint8_t header[FORMAT_CHUNK_HEADER];
	int more = next_chunk_header(reader, header, err);
	uint64_t position = reader->position;
	uint32_t length;
	ssize_t n;

	if (more <= 0)
		return more;
	length = format_get_le32(header);
	if (array_reserve(&reader->chunk, length))
		return read_failed(reader, -ENOMEM, err);
	n = read_fully(reader, reader->chunk.items, length);
	if (n < 0)
		return read_failed(reader, n, err);
	reader->partial = n < (ssize_t)length;
	if (!reader->partial &&
	    crc32_z(0, reader->chunk.items, length) != format_get_le32(header + 8))
		return damaged(reader, position, "a chunk has a wrong checksum", err);
	reader->records_left = format_get_le32(header + 4);
	cursor_init(&reader->cursor, reader->chunk.items, n, position);
	reader->decoder.state = (struct format_state){};
	return 1;
}

/*
 * Take the next {type, length, payload} off the chunk. Returns 1, 0 if the
 * chunk holds no further whole record, negative if it contradicts itself.
 */
static int next_frame(struct capture_reader *reader, uint8_t *type, struct cursor *payload,
		      struct error *err)
{
	struct cursor *c = &reader->cursor;
	uint64_t start = cursor_address(c);

	if (!reader->records_left && cursor_end(c) && !reader->partial)
		return 0;
	if (reader->partial && (!reader->records_left || cursor_end(c))) {
		set_cut(reader);
		return 0;
	}
	if (!reader->records_left || cursor_end(c))
		return damaged(reader, start, "a chunk with another number of records than it says",
			       err);
	*type = cursor_u8(c);
	*payload = cursor_slice(c, cursor_uleb(c));
	if (c->failed) {
		if (!reader->partial)
			return damaged(reader, start, "a record that is longer than its chunk",
				       err);
		reader->position = start;
		set_cut(reader);
		return 0;
	}
	reader->records_left--;
	return 1;
}

/* The next record of whatever type. Returns 1, 0 at the end, or negative. */
static int next_record(struct capture_reader *reader, uint8_t *type, struct cursor *payload,
		       struct error *err)
{
	for (;;) {
		int got = reader->finished ? 0 : next_frame(reader, type, payload, err);

		if (got || reader->finished)
			return got;
		got = next_chunk(reader, err);
		if (got <= 0)
			return got;
	}
}

/* Nothing may follow the end record. */
static int check_end(struct capture_reader *reader, struct error *err)
{
	uint64_t position = cursor_address(&reader->cursor);
	uint8_t byte;
	ssize_t n = 0;

	reader->finished = true;
	if (cursor_end(&reader->cursor)) {
		position = reader->position;
		n = read_fully(reader, &byte, 1);
		if (n < 0)
			return read_failed(reader, n, err);
		if (!n)
			return 0;
	}
	return damaged(reader, position, "something follows the end of the recording", err);
}

int capture_reader_next(struct capture_reader *reader, struct capture_record *record,
			struct error *err)
{
	struct cursor payload;
	uint8_t type;

	if (reader->ended && !reader->finished)
		return check_end(reader, err);
	for (;;) {
		const char *wrong;
		int got = next_record(reader, &type, &payload, err);

		if (got < 0)
			reader->finished = true;
		if (got <= 0)
			return got;
		got = decode_record(&reader->decoder, type, payload, record, &wrong);
		if (got == -ENOMEM)
			return read_failed(reader, got, err);
		if (got < 0) {
			reader->finished = true;
			return damaged(reader, cursor_address(&payload), wrong, err);
		}
		if (got) {
			reader->ended = type == CAPTURE_END;
			return 1;
		}
	}
}

static int sink_failed(const struct capture_reader *reader, int error, struct error *err)
{
	return error_set(err, error, "cannot go on with the capture %s: %s", reader->path,
			 error_reason(error));
}

int capture_replay(struct capture_reader *reader, struct record_sink *sink, struct error *err)
{
	struct capture_record record = {.type = CAPTURE_INFO, .info = &reader->info};
	int more;

	do {
		int error = sink_take(sink, &record);

		if (error)
			return sink_failed(reader, error, err);
		more = capture_reader_next(reader, &record, err);
	} while (more > 0);
	return more;
}

const struct capture_info *capture_reader_info(const struct capture_reader *reader)
{
	return &reader->info;
}

const char *capture_reader_cut(const struct capture_reader *reader)
{
	return reader->cut[0] ? reader->cut : NULL;
}

/* -- opening --------------------------------------------------------------- */

static int read_header(struct capture_reader *reader, struct error *err)
{
	uint8_t header[FORMAT_HEADER_SIZE];
	ssize_t n = read_fully(reader, header, sizeof(header));
	uint32_t version;

	if (n < 0)
		return read_failed(reader, n, err);
	if (!n)
		return error_set(err, -EBADMSG, "the capture %s is empty: nothing was recorded",
				 reader->path);
	if (memcmp(header, FORMAT_MAGIC, n < FORMAT_MAGIC_SIZE ? n : FORMAT_MAGIC_SIZE))
		return error_set(err, -EBADMSG,
				 "%s is not a capture: name a file that opprobe record wrote",
				 reader->path);
	if (n < FORMAT_HEADER_SIZE)
		return error_set(err, -EBADMSG,
				 "the capture %s was cut short before anything was recorded",
				 reader->path);
	version = format_get_le32(header + 8) & 0xffff;
	if (format_get_le32(header + 12) != FORMAT_BYTE_ORDER)
		return damaged(reader, 12, "a byte order that opprobe does not write", err);
	if (version != FORMAT_VERSION)
		return error_set(err, -EBADMSG,
				 "the capture %s has format %u, and this opprobe reads format %u: "
				 "use the opprobe that recorded it",
				 reader->path, version, FORMAT_VERSION);
	if (format_get_le32(header + 8) >> 16 != FORMAT_HEADER_SIZE)
		return damaged(reader, 10, "a header of an impossible length", err);
	return 0;
}

/* The info record comes first. */
static int read_info(struct capture_reader *reader, struct error *err)
{
	struct cursor payload;
	uint8_t type;
	int got = next_record(reader, &type, &payload, err);

	if (got < 0)
		return got;
	if (!got)
		return error_set(err, -EBADMSG,
				 "the capture %s was cut short before anything was recorded",
				 reader->path);
	if (type != CAPTURE_INFO || decode_info(payload, &reader->info))
		return damaged(reader, FORMAT_HEADER_SIZE,
			       "it does not begin with facts about the recording", err);
	reader->decoder.n_events = reader->info.n_events;
	return 0;
}

static int open_input(struct capture_reader *reader, const char *path, struct error *err)
{
	struct stat st;

	reader->path = strdup(strcmp(path, "-") ? path : "on standard input");
	if (!reader->path)
		return error_set(err, -ENOMEM, "cannot read the capture %s: out of memory", path);
	reader->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC)
				       : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (reader->fd < 0)
		return read_failed(reader, -errno, err);
	if (!fstat(reader->fd, &st) && S_ISDIR(st.st_mode))
		return read_failed(reader, -EISDIR, err);
	return 0;
}

struct capture_reader *capture_reader_open(const char *path, struct error *err)
{
	struct capture_reader *reader = calloc(1, sizeof(*reader));

	if (!reader) {
		error_set(err, -ENOMEM, "cannot read the capture %s: out of memory", path);
		return NULL;
	}
	reader->fd = -1;
	if (open_input(reader, path, err) || read_header(reader, err) || read_info(reader, err)) {
		capture_reader_close(reader);
		return NULL;
	}
	return reader;
}

struct capture_reader *capture_reader_new(ssize_t (*read)(void *context, void *buffer, size_t size),
					  void *context, const char *name, struct error *err)
{
	struct capture_reader *reader = calloc(1, sizeof(*reader));
	char *path = strdup(name);

	if (!reader || !path) {
		error_set(err, -ENOMEM, "cannot read the capture %s: out of memory", name);
		free(reader);
		free(path);
		return NULL;
	}
	*reader = (struct capture_reader){.fd = -1, .read = read, .context = context, .path = path};
	if (read_header(reader, err) || read_info(reader, err)) {
		capture_reader_close(reader);
		return NULL;
	}
	return reader;
}

int capture_reader_rewind(struct capture_reader *reader, struct error *err)
{
	struct capture_reader begun = {.fd = reader->fd, .path = reader->path};

	if (reader->read || lseek(reader->fd, 0, SEEK_SET))
		return -ESPIPE;
	decoder_free(&reader->decoder);
	array_free(&reader->chunk);
	*reader = begun;
	return read_header(reader, err) ?: read_info(reader, err);
}

void capture_reader_close(struct capture_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	decoder_free(&reader->decoder);
	array_free(&reader->chunk);
	free(reader->path);
	free(reader);
}
