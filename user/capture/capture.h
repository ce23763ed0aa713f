/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The capture: the records of one recording in a file. A writer is a sink
 * that puts them there, a reader hands them out again. The layout of the file
 * is told in user/capture/FORMAT.md.
 */
#ifndef OPPROBE_CAPTURE_H
#define OPPROBE_CAPTURE_H

#include <sys/types.h>

#include "../base/error.h"
#include "../base/output_file.h"
#include "records.h"

/* -- writing ------------------------------------------------------------ */

struct capture_writer;

/*
 * Make the file @path, "-" for stdout, and write its header; what is there
 * stays until it is whole, see output_file.h. Returns NULL with @err set when
 * that is not possible.
 */
struct capture_writer *capture_writer_open(const char *path, enum output_naming naming,
					   struct error *err);
/*
 * The same without a file: @put gets each piece of the capture instead, in their order, and may
 * fail as a file does. The first is the header, the second a chunk that begins with the info. What
 * a chunk says is complete in itself, but for what was defined in those before.
 */
struct capture_writer *capture_writer_new(int (*put)(void *context, const void *piece, size_t size),
					  void *context, struct error *err);
/* A reader, of a pipe, that does not read for 5 s, or 1 s when *@stop is set, is a failure. */
void capture_writer_be_impatient(struct capture_writer *writer, const volatile sig_atomic_t *stop);
/*
 * The sink that puts records into the file. It refuses (-EINVAL, -ERANGE,
 * -E2BIG) what contradicts itself, refers to what was not defined, or does
 * not fit; an overhead after the first execution too, as views subtract it
 * from each as they read it. A failure of the file (-ENOSPC, -EPIPE, ...)
 * sticks: the file stays valid up to the last whole record. Writing to a
 * closed pipe fails with -EPIPE only where SIGPIPE is ignored.
 */
struct record_sink *capture_writer_sink(struct capture_writer *writer);
/*
 * Hand what is buffered to the kernel, as one whole chunk; the sink does it by
 * itself when the buffer is full. Returns 0 or the writer's first failure.
 */
int capture_writer_flush(struct capture_writer *writer);
/*
 * Flush, close and free; returns the first failure of the writer's life. What
 * was written is at *@where then (allocated; NULL without memory, and for
 * stdout), which may be NULL: after a failure, that is not over what was there
 * before.
 */
int capture_writer_close(struct capture_writer *writer, char **where, struct error *err);
/* Close and free, with nothing written that is worth a file; @err is set if the file failed. What
 * has no file ends so, too. */
void capture_writer_drop(struct capture_writer *writer, struct error *err);

/* -- reading ------------------------------------------------------------ */

struct capture_reader;

/*
 * Open the capture @path, "-" for stdin, and read its header and info.
 * Returns NULL with @err set for a file that is missing, foreign, of another
 * format, or damaged so early that nothing can be said.
 */
struct capture_reader *capture_reader_open(const char *path, struct error *err);
/*
 * The same of a capture in no file: @read fills a buffer as read() does, and returns a negative
 * errno where it fails. @name is for sentences. It cannot be read twice.
 */
struct capture_reader *capture_reader_new(ssize_t (*read)(void *context, void *buffer, size_t size),
					  void *context, const char *name, struct error *err);
const struct capture_info *capture_reader_info(const struct capture_reader *reader);
/*
 * Fill @record with the next record behind the info, in file order. Returns 1; 0 at the end
 * (also at the last whole record of a capture that was cut short, see
 * capture_reader_cut); a negative errno with @err set for a damaged one.
 * References inside a record have been checked: they were defined before. Its
 * strings live as long as the reader, the values of shapes until the next call.
 */
int capture_reader_next(struct capture_reader *reader, struct capture_record *record,
			struct error *err);
/*
 * Hand all records to @sink, the info first. Returns 0 at the end of the
 * capture, also of one that was cut short; or the first failure, with @err
 * set: the reader's (what precedes the damage was taken), or the sink's, for
 * whose sentence it is to ask whoever made it.
 */
int capture_replay(struct capture_reader *reader, struct record_sink *sink, struct error *err);
/*
 * Begin anew, with the info that was read: then strings of before are gone.
 * -ESPIPE for what cannot be read twice, such as a pipe, which goes on as it
 * was; another negative errno with @err set.
 */
int capture_reader_rewind(struct capture_reader *reader, struct error *err);
/* A sentence if the capture has no end record ("..., cut short at byte N"), else NULL. */
const char *capture_reader_cut(const struct capture_reader *reader);
void capture_reader_close(struct capture_reader *reader);

#endif
