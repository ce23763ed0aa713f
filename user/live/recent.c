// SPDX-License-Identifier: GPL-2.0-only
#include "recent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a mark becomes, shared by the pieces of its second. */
struct shared_mark {
	unsigned int users;
	struct recent_mark mark;
};

/* A chunk of a capture: of definitions alone, or of what ran. */
struct piece {
	struct piece *next;
	bool defines;
	uint64_t last;		  /* of what ran: when the last of it ended */
	struct shared_mark *mark; /* of what ran: as it was when it began */
	size_t size;
	uint8_t bytes[];
};

enum making {
	MAKING_HEADER, /* it, and the info: made anew for each reading */
	MAKING_DEFINITIONS,
	MAKING_EVENTS,
};

struct recent {
	struct record_sink sink; /* first */
	pthread_mutex_t *lock;
	size_t limit, size, events_size;
	struct capture_writer *writer;
	struct capture_info info;
	enum making making; /* what is in the writer's buffer */
	uint64_t last;	    /* see struct piece */
	struct shared_mark *began;
	struct piece *first, **end;
	struct shared_mark *now, *then;
	uint64_t since;
	unsigned int readings;
};

struct recent_reading {
	struct recent *recent;
	struct capture_reader *reader;
	bool locked;
	ARRAY_OF(uint8_t) head; /* header and info */
	size_t head_read;
	struct piece *piece; /* that is being read; NULL: the first is next */
	size_t read;	     /* of it */
};

/* -- marks ------------------------------------------------------------------- */

static struct shared_mark *use(struct shared_mark *shared)
{
	if (shared)
		shared->users++;
	return shared;
}

int recent_mark_copy(struct recent_mark *to, const struct recent_mark *from)
{
	if (array_reserve(&to->pool, from->pool.n) || array_reserve(&to->rest, from->rest.n))
		return -ENOMEM;
	to->loss = from->loss;
	to->budget = from->budget;
	to->pool.n = from->pool.n;
	if (from->pool.n)
		memcpy(to->pool.items, from->pool.items, from->pool.n * sizeof(*from->pool.items));
	to->rest.n = from->rest.n;
	if (from->rest.n)
		memcpy(to->rest.items, from->rest.items, from->rest.n * sizeof(*from->rest.items));
	return 0;
}

void recent_mark_free(struct recent_mark *mark)
{
	array_free(&mark->pool);
	array_free(&mark->rest);
}

static void drop(struct shared_mark *shared)
{
	if (!shared || --shared->users)
		return;
	recent_mark_free(&shared->mark);
	free(shared);
}

static const struct recent_mark no_mark;

void recent_mark(struct recent *recent, const struct recent_mark *mark)
{
	struct shared_mark *shared = calloc(1, sizeof(*shared));

	/* Then the one before is as good. */
	if (!shared || recent_mark_copy(&shared->mark, mark)) {
		if (shared)
			recent_mark_free(&shared->mark);
		free(shared);
		return;
	}
	shared->users = 1;
	drop(recent->now);
	recent->now = shared;
}

const struct recent_mark *recent_mark_now(const struct recent *recent)
{
	return recent->now ? &recent->now->mark : &no_mark;
}

const struct recent_mark *recent_mark_then(const struct recent *recent)
{
	return recent->then ? &recent->then->mark : &no_mark;
}

/* -- pieces ------------------------------------------------------------------ */

static void free_piece(struct piece *piece)
{
	drop(piece->mark);
	free(piece);
}

/* The oldest of what ran. */
static struct piece **oldest(struct recent *recent)
{
	struct piece **at = &recent->first;

	while (*at && (*at)->defines)
		at = &(*at)->next;
	return at;
}

/* Take what ran at @at out of the list: it is not kept any more. */
static void take_out(struct recent *recent, struct piece **at)
{
	struct piece *piece = *at;

	*at = piece->next;
	if (!piece->next)
		recent->end = at;
	recent->since = piece->last > recent->since ? piece->last : recent->since;
	recent->size -= piece->size;
	recent->events_size -= piece->size;
	free_piece(piece);
}

static void keep_limit(struct recent *recent)
{
	struct piece **at = oldest(recent), **next;

	if (recent->events_size <= recent->limit || recent->readings)
		return;
	while (*at && recent->events_size > recent->limit) {
		take_out(recent, at);
		at = oldest(recent);
	}
	next = oldest(recent);
	drop(recent->then);
	recent->then = use(*next ? (*next)->mark : recent->began);
}

/* The writer has a whole piece of a capture. */
static int put(void *context, const void *bytes, size_t size)
{
	struct recent *recent = context;
	struct piece *piece;

	if (recent->making == MAKING_HEADER)
		return 0;
	piece = malloc(sizeof(*piece) + size);
	if (!piece)
		return -ENOMEM;
	*piece = (struct piece){.defines = recent->making == MAKING_DEFINITIONS, .size = size};
	memcpy(piece->bytes, bytes, size);
	*recent->end = piece;
	recent->end = &piece->next;
	recent->size += size;
	if (piece->defines)
		return 0;
	recent->events_size += size;
	piece->last = recent->last;
	piece->mark = recent->began;
	recent->began = use(recent->now);
	keep_limit(recent);
	return 0;
}

/* -- taking ------------------------------------------------------------------ */

static enum making making_of(enum capture_type type)
{
	switch (type) {
	case CAPTURE_INFO:
		return MAKING_HEADER;
	case CAPTURE_EXEC:
	case CAPTURE_RUN:
	case CAPTURE_SUM:
	case CAPTURE_TAG:
	case CAPTURE_SAMPLE:
	case CAPTURE_LAUNCH:
		return MAKING_EVENTS;
	default:
		return MAKING_DEFINITIONS;
	}
}

/* Chunks hold what is of one kind. */
static int turn_to(struct recent *recent, enum making making)
{
	int error = recent->making == making ? 0 : capture_writer_flush(recent->writer);

	if (error || recent->making == making)
		return error;
	recent->making = making;
	if (making == MAKING_EVENTS && !recent->began)
		recent->began = use(recent->now);
	return 0;
}

static void know_last(struct recent *recent, const struct capture_record *record)
{
	uint64_t end = record->type == CAPTURE_EXEC	? record->exec.end
		       : record->type == CAPTURE_RUN	? record->run.end
		       : record->type == CAPTURE_SUM	? record->sum.end
		       : record->type == CAPTURE_SAMPLE ? record->sample.time
		       : record->type == CAPTURE_LAUNCH ? record->launch.time
							: 0;

	recent->last = end > recent->last ? end : recent->last;
}

static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct recent *recent = (struct recent *)sink;
	int error = turn_to(recent, making_of(record->type));

	if (error)
		return error;
	if (record->type == CAPTURE_INFO) {
		recent->info = *record->info;
		recent->since = record->info->start;
	}
	/* Told by the info of each reading. */
	if (record->type == CAPTURE_BEGIN) {
		recent->since = record->begin.begin;
		return 0;
	}
	know_last(recent, record);
	return sink_take(capture_writer_sink(recent->writer), record);
}

struct record_sink *recent_sink(struct recent *recent)
{
	return &recent->sink;
}

struct recent *recent_new(size_t limit, pthread_mutex_t *lock, struct error *err)
{
	struct recent *recent = calloc(1, sizeof(*recent));

	if (!recent) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	recent->sink.take = take;
	recent->limit = limit;
	recent->lock = lock;
	recent->end = &recent->first;
	recent->writer = capture_writer_new(put, recent, err);
	if (!recent->writer) {
		free(recent);
		return NULL;
	}
	return recent;
}

int recent_forget(struct recent *recent, uint64_t now)
{
	struct piece **at;
	int error = capture_writer_flush(recent->writer);

	if (error)
		return error;
	while (at = oldest(recent), *at)
		take_out(recent, at);
	recent->since = now;
	drop(recent->then);
	recent->then = use(recent->now);
	drop(recent->began);
	recent->began = use(recent->now);
	return 0;
}

uint64_t recent_since(const struct recent *recent)
{
	return recent->since;
}

size_t recent_size(const struct recent *recent)
{
	return recent->size;
}

void recent_free(struct recent *recent)
{
	if (!recent)
		return;
	while (recent->first) {
		struct piece *piece = recent->first;

		recent->first = piece->next;
		free_piece(piece);
	}
	drop(recent->now);
	drop(recent->then);
	drop(recent->began);
	capture_writer_drop(recent->writer, NULL);
	free(recent);
}

/* -- reading ----------------------------------------------------------------- */

static int put_head(void *context, const void *bytes, size_t size)
{
	struct recent_reading *reading = context;
	size_t at = reading->head.n;

	if (array_extend(&reading->head, at + size))
		return -ENOMEM;
	memcpy(reading->head.items + at, bytes, size);
	return 0;
}

/* The header and the info, as of a recording that began when what is kept did. */
static int make_head(struct recent_reading *reading, struct error *err)
{
	struct capture_info info = reading->recent->info;
	struct capture_writer *writer = capture_writer_new(put_head, reading, err);
	int error;

	if (!writer)
		return -ENOMEM;
	info.start = reading->recent->since;
	error = sink_take(capture_writer_sink(writer),
			  &(struct capture_record){CAPTURE_INFO, .info = &info})
			?: capture_writer_flush(writer);
	capture_writer_drop(writer, NULL);
	return error ? error_set(err, error, "cannot read what is kept: %s", error_reason(error))
		     : 0;
}

static void lock(struct recent_reading *reading)
{
	if (!reading->locked)
		pthread_mutex_lock(reading->recent->lock);
	reading->locked = true;
}

static void unlock(struct recent_reading *reading)
{
	pthread_mutex_unlock(reading->recent->lock);
	reading->locked = false;
}

/*
 * Go to the next piece; false if there is none. From the moment on at which there was none that
 * was whole, the lock is held, and what is in the making is the last one.
 */
static bool next_piece(struct recent_reading *reading)
{
	struct recent *recent = reading->recent;
	struct piece **next = reading->piece ? &reading->piece->next : &recent->first;
	bool held = reading->locked;

	lock(reading);
	if (!*next && capture_writer_flush(recent->writer))
		return false;
	if (!*next)
		return false;
	if (!held && (*next)->next)
		unlock(reading);
	reading->piece = *next;
	reading->read = 0;
	return true;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static ssize_t read_kept(void *context, void *buffer, size_t size)
{
	struct recent_reading *reading = context;
	size_t n;

	if (reading->head_read < reading->head.n) {
		n = least(size, reading->head.n - reading->head_read);
		memcpy(buffer, reading->head.items + reading->head_read, n);
		reading->head_read += n;
		return n;
	}
	if ((!reading->piece || reading->read == reading->piece->size) && !next_piece(reading))
		return 0;
	n = least(size, reading->piece->size - reading->read);
	memcpy(buffer, reading->piece->bytes + reading->read, n);
	reading->read += n;
	return n;
}

struct recent_reading *recent_read(struct recent *recent, struct error *err)
{
	struct recent_reading *reading = calloc(1, sizeof(*reading));

	if (!reading) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	reading->recent = recent;
	recent->readings++;
	if (!make_head(reading, err))
		reading->reader = capture_reader_new(read_kept, reading, "in memory", err);
	if (reading->reader)
		return reading;
	recent_read_end(reading);
	return NULL;
}

int recent_replay(struct recent_reading *reading, struct record_sink *sink, struct error *err)
{
	int error = capture_replay(reading->reader, sink, err);

	lock(reading);
	return error;
}

void recent_read_end(struct recent_reading *reading)
{
	struct recent *recent = reading->recent;

	recent->readings--;
	keep_limit(recent);
	capture_reader_close(reading->reader);
	array_free(&reading->head);
	free(reading);
}
