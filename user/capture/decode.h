/* SPDX-License-Identifier: GPL-2.0-only */
/* From the payload of a record to the record: the reader's other half. */
#ifndef OPPROBE_CAPTURE_DECODE_H
#define OPPROBE_CAPTURE_DECODE_H

#include "capture.h"
#include "format.h"
#include "ids.h"
#include "strings.h"

struct decoder {
	struct format_state state; /* zeroed by the reader at each chunk */
	struct ids operators, threads, sessions, shapes, processes, failures, files, functions;
	struct strings strings;
	uint32_t n_events;
	bool begun;
	/* Of the shapes that were decoded last: inputs and outputs. */
	struct capture_value values[2][CAPTURE_VALUES_MAX];
	uint64_t dims[2][CAPTURE_VALUES_MAX * CAPTURE_RANK_MAX];
	struct attribute attributes[ATTRIBUTES_MAX];  /* that were decoded last, */
	struct capture_part parts[CAPTURE_PARTS_MAX]; /* as these, */
	uint32_t buckets[CAPTURE_BUCKETS];	      /* and these */
};

/*
 * Decode @payload, of a record of @type, into @record. Returns 1, 0 if the
 * type is not known (a later version's: to be skipped), -ENOMEM, or -EBADMSG
 * with @wrong saying what is wrong.
 */
int decode_record(struct decoder *decoder, uint8_t type, struct cursor payload,
		  struct capture_record *record, const char **wrong);
/* Decode an info record. Returns 0 or -EBADMSG. */
int decode_info(struct cursor payload, struct capture_info *info);
void decoder_free(struct decoder *decoder);

#endif
