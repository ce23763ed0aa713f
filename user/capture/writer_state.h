/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a writer, for its two files: writer.c is its life, encode.c its records. */
#ifndef OPPROBE_CAPTURE_WRITER_STATE_H
#define OPPROBE_CAPTURE_WRITER_STATE_H

#include "capture.h"
#include "format.h"
#include "ids.h"

/* The largest record: an operator of four strings, or an info record. */
#define RECORD_MAX  (4 * FORMAT_STRING_MAX + (32u << 10))
#define BUFFER_SIZE (FORMAT_CHUNK_HEADER + FORMAT_CHUNK_TARGET + RECORD_MAX)
_Static_assert(BUFFER_SIZE <= FORMAT_CHUNK_MAX, "the reader refuses larger chunks");
_Static_assert(sizeof(struct capture_info) <= RECORD_MAX, "an info record fits");
_Static_assert(2 * (CAPTURE_VALUES_MAX * (4 + CAPTURE_RANK_MAX) + 2) * FORMAT_VARINT_MAX <=
		       RECORD_MAX,
	       "a shapes record fits");
_Static_assert((5 * CAPTURE_COUNTERS + 32) * FORMAT_VARINT_MAX +
			       CAPTURE_PARTS_MAX * FORMAT_PART_MAX <=
		       RECORD_MAX,
	       "an execution fits");

struct capture_writer {
	struct record_sink sink; /* first: take() is handed its address */
	struct output_file file; /* unless @put gets what would be written */
	int (*put)(void *context, const void *piece, size_t size);
	void *context;
	int error; /* the first one that the file gave, a negative errno */
	bool has_info, has_exec;
	uint32_t n_records; /* in the buffer */
	uint8_t *next;	    /* where the next record goes */
	struct format_state state;
	struct ids operators, threads, sessions, shapes, processes, failures, files, functions;
	uint32_t n_events;
	uint8_t buffer[BUFFER_SIZE];
};

/* take() of the writer's sink: encode @record, and write a chunk when it is large enough. */
int writer_take(struct record_sink *sink, const struct capture_record *record);

#endif
