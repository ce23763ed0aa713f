// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"
#include "sums.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

int collector_keep_failure(struct collector *collector, int error, const char *what)
{
	if (!error || collector->failed)
		return error;
	collector->failed = error;
	return error_set(&collector->failure, error, "%s: %s; what was recorded before is kept",
			 what, error_reason(error));
}

void collector_send(struct collector *collector, const struct capture_record *record)
{
	collector_keep_failure(collector, sink_take(collector->options.sink, record),
			       COLLECTOR_CANNOT_WRITE);
}

/* -- who it is of ---------------------------------------------------------------- */

/* The instance of record @data; NULL if there is none, of a damaged record. */
static struct instance_state *instance_of(struct collector *collector, const void *data)
{
	/* The second byte of every record that is of one. */
	uint8_t number = ((const struct operator_record *)data)->instance;

	return number < collector->instances.n ? collector->instances.items[number] : NULL;
}

/* -- records, once names can be read --------------------------------------- */

/* Define a thread of @member; returns its number, CAPTURE_UNKNOWN if out of memory. */
static uint32_t add_thread(struct collector *collector, const struct thread_record *record,
			   const struct member *member)
{
	uint32_t number = thread_numbers_add(&collector->numbers, record->tid);
	struct capture_record definition = {
		.type = CAPTURE_THREAD,
		.thread = {.thread = number, .tid = record->tid, .process = member->number},
	};
	struct capture_thread *thread = &definition.thread;

	if (number == CAPTURE_UNKNOWN) {
		collector_keep_failure(collector, -ENOMEM, COLLECTOR_CANNOT_HOLD);
		return number;
	}
	memcpy(thread->comm, record->comm, sizeof(thread->comm));
	thread->comm[sizeof(thread->comm) - 1] = '\0';
	collector_send(collector, &definition);
	return number;
}

/* The number of @tid, whose first record may have been lost. */
uint32_t collector_thread(struct collector *collector, uint32_t tid, const struct member *member)
{
	struct thread_record record = {.tid = tid};
	uint32_t number = thread_numbers_get(&collector->numbers, tid);

	if (number != CAPTURE_UNKNOWN)
		return number;
	process_thread_name(member->process, tid, record.comm);
	return add_thread(collector, &record, member);
}

/* First sight of an operator, perhaps also of its session. */
static void add_strings(struct collector *collector, const struct instance_state *instance,
			const struct strings_record *strings)
{
	const struct identity *identity = &strings->identity;
	int new = identity_add(collector->identities, strings);
	uint32_t session;

	if (new < 0)
		return;
	session = identity_session(collector->identities, instance->number, identity->root,
				   identity->owner);
	collector_tell_model(collector, instance, session);
	if (new)
		collector_tell_attributes(collector, instance, identity, session);
}

/* The same, from a program; what a sample came across is put in its session. */
static void take_strings(struct collector *collector, const struct instance_state *instance,
			 const struct strings_record *strings)
{
	struct strings_record placed;

	if (!collector->sampled) {
		add_strings(collector, instance, strings);
		return;
	}
	placed = *strings;
	sampled_place(collector->sampled, &placed);
	add_strings(collector, instance, &placed);
	sampled_defined(collector->sampled, &placed.identity);
}

/* Hold what is of @run back until that is over? What is of unknown runs is dropped. */
static bool hold(struct collector *collector, const struct instance_state *instance, uint32_t run,
		 const void *data, size_t size)
{
	const struct collector_options *options = &collector->options;

	if ((!options->min_duration && !options->windows) || collector->releasing)
		return false;
	if (run == NO_ID ||
	    (options->windows && !windows_want(&collector->windows, instance->number, run)))
		return true;
	if (options->windows)
		windows_note(&collector->windows, instance->number, run);
	if (held_add(collector->held, run, data, size))
		collector->unheld++;
	return true;
}

static void take_record(struct collector *collector, const void *data, size_t size);

static void release(void *context, const void *data, uint32_t size)
{
	take_record(context, data, size);
}

/* Is it in a window? Those that are not are counted. */
static bool is_in_window(struct collector *collector, const struct instance_state *instance,
			 const struct run_record *record)
{
	uint32_t session = identity_session(collector->identities, instance->number,
					    record->session, record->owner);
	int in = windows_take(&collector->windows, record, session);

	collector_keep_failure(collector, in < 0 ? in : 0, COLLECTOR_CANNOT_HOLD);
	return in > 0;
}

/*
 * Is the run long enough to keep, or has it failed? Is it in a window? Then its operators go
 * before it.
 */
static bool keep_run(struct collector *collector, const struct instance_state *instance,
		     const struct run_record *record)
{
	const struct collector_options *options = &collector->options;
	bool keep;

	if (options->windows)
		keep = is_in_window(collector, instance, record);
	else if (options->min_duration)
		keep = record->end - record->start >= options->min_duration || !run_is_good(record);
	else
		return true;
	collector->releasing = true;
	held_end(collector->held, record->run, keep ? release : NULL, collector);
	collector->releasing = false;
	return keep;
}

static void take_record(struct collector *collector, const void *data, size_t size)
{
	struct instance_state *instance = instance_of(collector, data);
	const struct operator_record *op = data;
	const struct run_record *run = data;
	const struct session_end_record *end = data;
	const struct tag_record *tag = data;
	const struct launch_record *launch = data;

	if (!instance)
		return;
	switch (*(const uint8_t *)data) {
	case RECORD_OPERATOR:
		if (!hold(collector, instance, op->run, data, size))
			collector_add_operator(collector, instance, data, size);
		break;
	case RECORD_RUN:
		if (collector_run_is_whole(collector, run, size)) {
			collector->runs_ended++;
			if (keep_run(collector, instance, data))
				collector_add_run(collector, instance, data, size);
		}
		break;
	case RECORD_STRINGS:
		take_strings(collector, instance, data);
		break;
	case RECORD_STACK:
		if (collector->sampled && size >= sizeof(struct stack_record))
			sampled_take_stack(collector->sampled, instance, data);
		break;
	case RECORD_SESSION_END:
		if (collector->sums)
			sums_session_ends(collector->sums, instance->number, end->owner);
		instance->ends++;
		identity_session_end(collector->identities, instance->number, end->owner);
		break;
	case RECORD_LAUNCH:
		if (size >= sizeof(*launch) && !hold(collector, instance, launch->run, data, size))
			collector_add_launch(collector, instance, launch);
		break;
	case RECORD_TAG:
		if (size >= sizeof(*tag) && !hold(collector, instance, tag->run, data, size))
			collector_add_tag(collector, data);
		break;
	case RECORD_FAILURE:
		if (size >= sizeof(struct failure_record))
			collector_take_failure(collector, instance, data);
		break;
	case RECORD_SETUP:
		if (size >= sizeof(struct setup_record))
			collector_add_setup(collector, instance, data);
		break;
	case RECORD_SHAPES:
		if (instance->shapes)
			shape_table_add(instance->shapes, data, size);
		break;
	default:
		break;
	}
}

/* -- records, as they come -------------------------------------------------- */

/*
 * Read an operator's names from outside. Right only if no session was
 * destroyed between the sighting and the end of the reading: the kernel
 * counts those.
 */
static void describe_sighting(struct collector *collector, const struct sighting_record *sighting)
{
	struct instance_state *instance = instance_of(collector, sighting);
	struct naming *naming = instance ? instance->naming : NULL;
	struct strings_record strings;

	if (!naming || sighting->sampled ||
	    collector_generation(collector, sighting->instance) != sighting->identity.generation ||
	    naming->ops->describe(naming, &sighting->identity, &strings) ||
	    collector_generation(collector, sighting->instance) != sighting->identity.generation)
		return;
	add_strings(collector, instance, &strings);
}

void collector_take_settled(struct collector *collector, const void *data, size_t size)
{
	if (*(const uint8_t *)data == RECORD_SIGHTING)
		describe_sighting(collector, data);
	else
		take_record(collector, data, size);
}

/* A thread's first sight, or what has happened to a process. */
static void take_news(struct collector *collector, const struct thread_record *record)
{
	const struct member *member = collector_member_with(collector, record->pid);
	struct collector_news *news;

	if (record->type == RECORD_THREAD) {
		if (member)
			add_thread(collector, record, member);
		return;
	}
	if (record->type == RECORD_THREADS_CHANGED) {
		collector->threads_changed = true;
		return;
	}
	news = array_push(&collector->news);
	if (news)
		*news = (struct collector_news){
			.kind = record->type == RECORD_FORKED ? COLLECTOR_FORKED
							      : COLLECTOR_EXECUTED,
			.pid = record->pid,
			.tid = record->tid,
		};
}

/*
 * The recording is over. What is of later is taken here, or dropped: then true. So is what was
 * open when it ended, as what runs inside of it is not told any more.
 */
static bool take_late(struct collector *collector, const void *data, size_t size)
{
	const struct operator_record *op = data;
	const struct run_record *run = data;

	if (op->type == RECORD_OPERATOR)
		return collector->closed || op->end > collector->ended;
	if (op->type == RECORD_LAUNCH)
		return collector->closed ||
		       ((const struct launch_record *)data)->time > collector->ended;
	if (op->type == RECORD_SETUP)
		return collector->closed ||
		       ((const struct setup_record *)data)->end > collector->ended;
	if (op->type == RECORD_TAG)
		return ((const struct tag_record *)data)->run >= collector->runs_at_end;
	if (run->type != RECORD_RUN || (!collector->closed && run->end <= collector->ended))
		return false;
	if (size < sizeof(*run))
		return true;
	held_end(collector->held, run->run, NULL, NULL);
	cost_take(collector, run);
	return true;
}

/* A record that goes on from here: to where it waits, if it has to. */
static void pass_on(struct collector *collector, struct instance_state *instance,
		    const void *record, size_t size)
{
	if (instance->refused || !instance_settled(instance))
		collector_take_unsettled(collector, instance, record, size);
	else
		collector_take_settled(collector, record, size);
}

/* A pool thread's launch, whose operator is known now, or will never be. */
static void pass_launch(void *context, const struct launch_record *launch)
{
	struct collector *collector = context;

	/* Of which run it was is not known then, either. */
	if (collector->options.selective && !launch->in_operator)
		return;
	pass_on(collector, instance_of(collector, launch), launch, sizeof(*launch));
}

void collector_leave_launches(struct collector *collector, const struct member *member)
{
	if (collector->parts)
		parts_leave_launches(collector->parts, member ? member->process->pid : 0,
				     UINT64_MAX, pass_launch, collector);
}

static bool waits_for_operator(const struct collector *collector,
			       const struct launch_record *launch, size_t size)
{
	return collector->parts && size >= sizeof(*launch) && launch->key;
}

/* A launch by a pool thread waits for the operator that it is of. */
static void keep_launch(struct collector *collector, const struct instance_state *instance,
			const struct launch_record *launch)
{
	uint64_t left = parts_full_of_launches(collector->parts);

	/* Those of operators that go on are among the last. */
	if (left)
		parts_leave_launches(collector->parts, 0, left, pass_launch, collector);
	if (parts_full_of_launches(collector->parts))
		collector_leave_launches(collector, NULL);
	collector_keep_failure(
		collector,
		parts_add_launch(collector->parts, launch, instance->member->process->pid),
		COLLECTOR_CANNOT_HOLD);
}

/* The record of an operator as it goes on from here: with its parts behind it. NULL: it does not.
 */
static const void *operator_with_parts(struct collector *collector,
				       const struct instance_state *instance,
				       const struct operator_record *record, size_t *size)
{
	const uint32_t pid = instance->member->process->pid;
	const struct part_keys *keys;
	const void *joined;

	if (!collector_operator_is_whole(collector, record, *size))
		return NULL;
	keys = collector_part_keys(collector, record);
	if (!keys)
		return record;
	parts_take_launches(collector->parts, record, keys, pid, pass_launch, collector);
	if (!collector->options.parts)
		return record;
	joined = parts_join(collector->parts, record, size, keys, pid);
	collector_keep_failure(collector, joined ? 0 : -ENOMEM, COLLECTOR_CANNOT_HOLD);
	return joined;
}

static void take(struct collector *collector, const void *data, size_t size)
{
	uint8_t type = *(const uint8_t *)data;
	struct instance_state *instance;
	const void *record = data;

	if (collector->failed)
		return;
	if (type == RECORD_THREAD || type == RECORD_THREADS_CHANGED || type == RECORD_FORKED ||
	    type == RECORD_EXECUTED) {
		if (size >= sizeof(struct thread_record))
			take_news(collector, data);
		return;
	}
	if (type == RECORD_PART) {
		if (collector->options.parts && size >= sizeof(struct part_record))
			parts_add(collector->parts, data);
		return;
	}
	if (type == RECORD_SAMPLE) {
		if (collector->sampled && size >= sizeof(struct sample_record))
			sampled_take(collector->sampled, data);
		return;
	}
	collector->windows.operators += type == RECORD_OPERATOR;
	instance = instance_of(collector, data);
	if (!instance || (collector->ended && take_late(collector, data, size)))
		return;
	if (type == RECORD_OPERATOR)
		record = operator_with_parts(collector, instance, data, &size);
	if (type == RECORD_LAUNCH && waits_for_operator(collector, data, size))
		keep_launch(collector, instance, data);
	else if (record)
		pass_on(collector, instance, record, size);
}

static void take_batch(struct collector *collector, const struct batch_record *batch, size_t size)
{
	const size_t head = offsetof(struct batch_record, records);
	size_t bytes, each;

	if (size < head)
		return;
	each = batch->each;
	bytes = batch->bytes < size - head ? batch->bytes : size - head;
	for (size_t at = 0; each >= sizeof(struct operator_record) && at + each <= bytes;
	     at += each)
		take(collector, batch->records + at, each);
}

void collector_take(struct collector *collector, const void *data, size_t size)
{
	if (*(const uint8_t *)data == RECORD_BATCH)
		take_batch(collector, data, size);
	else
		take(collector, data, size);
}
