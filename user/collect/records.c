// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"

#include <errno.h>
#include <string.h>

#define PENDING_MAX	   (64 << 20) /* bytes kept while names are not readable */
#define PENDING_SHAPES_MAX (4 << 20)  /* likewise while shapes are not proven */
#define SIGHTINGS_MAX	   5000	      /* that prove nothing before opprobe gives up */

/* -- records, once names can be read --------------------------------------- */

int collector_keep_failure(struct collector *collector, int error)
{
	if (error && !collector->failed)
		collector->failed = error;
	return error;
}

void collector_send(struct collector *collector, const struct capture_record *record)
{
	collector_keep_failure(collector, sink_take(collector->options.sink, record));
}

/* Define the thread of @record; returns its number, CAPTURE_UNKNOWN if out of memory. */
static uint32_t add_thread(struct collector *collector, const struct thread_record *record)
{
	uint32_t number = thread_numbers_add(&collector->numbers, record->tid);
	struct capture_record definition = {
		.type = CAPTURE_THREAD,
		.thread = {.thread = number, .tid = record->tid},
	};
	struct capture_thread *thread = &definition.thread;

	if (number == CAPTURE_UNKNOWN) {
		collector_keep_failure(collector, -ENOMEM);
		return number;
	}
	memcpy(thread->comm, record->comm, sizeof(thread->comm));
	thread->comm[sizeof(thread->comm) - 1] = '\0';
	collector_send(collector, &definition);
	return number;
}

/* The number of @tid, whose first record may have been lost. */
uint32_t collector_thread(struct collector *collector, uint32_t tid)
{
	struct thread_record record = {.tid = tid};
	uint32_t number = thread_numbers_get(&collector->numbers, tid);

	if (number != CAPTURE_UNKNOWN)
		return number;
	process_thread_name(collector->options.process, tid, record.comm);
	return add_thread(collector, &record);
}

/* The last word of a record of @size bytes. */
static uint32_t shapes_of(struct collector *collector, const struct operator_record *record,
			  size_t size)
{
	uint64_t number;

	if (!collector->shapes || size < sizeof(*record) + sizeof(number))
		return CAPTURE_UNKNOWN;
	memcpy(&number, (const char *)record + size - sizeof(number), sizeof(number));
	return shape_table_number(collector->shapes, number, collector->options.sink);
}

/* Define the operator of one of the location's own names; 0 or a negative errno. */
static int define_static(struct collector *collector, uint32_t id)
{
	const struct static_name *name = &collector->options.location->names.items[id];
	struct strings_record strings = {
		.verified = 1,
		.identity = {.id = id, .key.index = id},
		.node_index = CAPTURE_UNKNOWN,
		.name_length = strlen(name->name),
		.op_type_length = strlen(name->op_type),
	};

	memcpy(strings.name, name->name, strnlen(name->name, NAME_BYTES));
	memcpy(strings.op_type, name->op_type, strnlen(name->op_type, WORD_BYTES));
	return identity_add(collector->identities, &strings);
}

/* The recording's number of the kernel's operator @id, or CAPTURE_UNKNOWN. */
static uint32_t operator_number(struct collector *collector, uint32_t id)
{
	uint32_t number = identity_operator(collector->identities, id);

	if (number == CAPTURE_UNKNOWN && id < collector->options.location->names.n &&
	    !define_static(collector, id))
		number = identity_operator(collector->identities, id);
	return number;
}

static void add_operator(struct collector *collector, const struct operator_record *record,
			 size_t size)
{
	uint32_t n = collector->options.counters->n;
	struct capture_record execution = {
		.type = CAPTURE_EXEC,
		.exec =
			{
				.op = operator_number(collector, record->id),
				.thread = collector_thread(collector, record->tid),
				.run = record->run,
				.parent = CAPTURE_UNKNOWN,
				.shapes = shapes_of(collector, record, size),
				.depth = record->depth,
				.cpu = record->cpu,
				.start = record->start,
				.end = record->end,
				.counted = record->counted,
			},
	};
	struct capture_exec *exec = &execution.exec;

	if (exec->op == CAPTURE_UNKNOWN) {
		collector->unnamed++;
		return;
	}
	if (record->parent != NO_ID)
		exec->parent = operator_number(collector, record->parent);
	exec->flags = (record->flags & FLAG_THREW ? EXEC_THREW : 0) |
		      (record->flags & FLAG_MIGRATED ? EXEC_MIGRATED : 0) |
		      (record->flags & FLAG_NESTED ? EXEC_NESTED : 0);
	memcpy(exec->counters, record->values, n * sizeof(record->values[0]));
	if (record->flags & FLAG_WORK) {
		exec->flags |= EXEC_WORK;
		exec->work_ns = record->values[n];
		memcpy(exec->work_counters, record->values + n + 1, n * sizeof(record->values[0]));
	}
	collector_send(collector, &execution);
	collector->operators++;
}

static void add_run(struct collector *collector, const struct run_record *record)
{
	struct capture_record ended = {
		.type = CAPTURE_RUN,
		.run =
			{
				.run = record->run,
				.session = identity_session(collector->identities, record->session,
							    record->owner),
				.thread = collector_thread(collector, record->tid),
				.start = record->start,
				.end = record->end,
				.failed = record->flags & FLAG_THREW,
				.counted = record->counted,
			},
	};
	struct capture_run *run = &ended.run;

	run->step = identity_step(collector->identities, run->session);
	memcpy(run->counters, record->values,
	       collector->options.counters->n * sizeof(record->values[0]));
	collector_send(collector, &ended);
	collector->runs++;
}

/* Hold an operator back until its run is over? Those of unknown runs are dropped. */
static bool hold(struct collector *collector, const struct operator_record *record, size_t size)
{
	if (!collector->options.min_duration || collector->releasing)
		return false;
	if (record->run != NO_ID && held_add(collector->held, record->run, record, size))
		collector->unheld++;
	return true;
}

static void take_record(struct collector *collector, const void *data, size_t size);

static void release(void *context, const void *data, size_t size)
{
	take_record(context, data, size);
}

/* Is the run long enough to keep? Then its operators go before it. */
static bool keep_run(struct collector *collector, const struct run_record *record)
{
	bool keep = record->end - record->start >= collector->options.min_duration;

	if (!collector->options.min_duration)
		return true;
	collector->releasing = true;
	held_end(collector->held, record->run, keep ? release : NULL, collector);
	collector->releasing = false;
	return keep;
}

static void take_record(struct collector *collector, const void *data, size_t size)
{
	size_t values = collector->options.counters->n * sizeof(uint64_t);
	const struct session_end_record *end = data;

	switch (*(const uint8_t *)data) {
	case RECORD_OPERATOR:
		if (hold(collector, data, size))
			break;
		if (((const struct operator_record *)data)->flags & FLAG_WORK)
			values = 2 * values + sizeof(uint64_t);
		if (size >= sizeof(struct operator_record) + values)
			add_operator(collector, data, size);
		break;
	case RECORD_RUN:
		if (size >= sizeof(struct run_record) + values && keep_run(collector, data))
			add_run(collector, data);
		break;
	case RECORD_STRINGS:
		identity_add(collector->identities, data);
		break;
	case RECORD_THREAD:
		add_thread(collector, data);
		break;
	case RECORD_SESSION_END:
		identity_session_end(collector->identities, end->owner);
		break;
	case RECORD_SHAPES:
		if (collector->shapes)
			shape_table_add(collector->shapes, data, size);
		break;
	default:
		break;
	}
}

/* -- records, before names can be read -------------------------------------- */

static uint32_t generation(const struct collector *collector, uint32_t instance)
{
	return __atomic_load_n(&collector->bpf->bss->instances[instance % INSTANCES_MAX].generation,
			       __ATOMIC_ACQUIRE);
}

/*
 * Read an operator's names from outside. Right only if no session was
 * destroyed between the sighting and the end of the reading: the kernel
 * counts those.
 */
static void describe_sighting(struct collector *collector, const struct sighting_record *sighting)
{
	struct naming *naming = collector->naming;
	struct strings_record strings;

	if (!naming || generation(collector, sighting->instance) != sighting->identity.generation ||
	    naming->ops->describe(naming, &sighting->identity, &strings) ||
	    generation(collector, sighting->instance) != sighting->identity.generation)
		return;
	identity_add(collector->identities, &strings);
}

static int keep_pending(struct collector *collector, const void *data, uint32_t size)
{
	size_t at = collector->pending.n, needed = at + sizeof(size) + size;

	if (needed > PENDING_MAX) {
		collector->unnamed++;
		return 0;
	}
	if (array_reserve(&collector->pending, needed))
		return -ENOMEM;
	memcpy(collector->pending.items + at, &size, sizeof(size));
	memcpy(collector->pending.items + at + sizeof(size), data, size);
	collector->pending.n = needed;
	return 0;
}

/* Names are readable from now on: take all that waited, in order. */
void collector_take_pending(struct collector *collector)
{
	uint32_t size;

	for (size_t at = 0; at < collector->pending.n; at += sizeof(size) + size) {
		const unsigned char *data = collector->pending.items + at + sizeof(size);

		memcpy(&size, collector->pending.items + at, sizeof(size));
		if (*data == RECORD_SIGHTING)
			describe_sighting(collector, (const void *)data);
		else
			take_record(collector, data, size);
	}
	array_free(&collector->pending);
}

/* The first records with shapes came before names could be read. */
static void prove_pending(struct collector *collector)
{
	uint32_t size;

	for (size_t at = 0; at < collector->pending.n; at += sizeof(size) + size) {
		const unsigned char *data = collector->pending.items + at + sizeof(size);

		memcpy(&size, collector->pending.items + at, sizeof(size));
		if (*data == RECORD_SHAPES)
			shape_table_prove(collector->shapes, (const void *)data, size);
	}
}

static void try_calibration(struct collector *collector, const struct sighting_record *sighting)
{
	const struct collector_options *options = &collector->options;

	if (collector->naming->ops->sight(collector->naming, sighting)) {
		if (++collector->sightings < SIGHTINGS_MAX)
			return;
		collector_keep_failure(collector, -ENOTRECOVERABLE);
		error_set(&collector->failure, -ENOTRECOVERABLE,
			  "the names of the operators could not be proven in process %d after %d "
			  "operators: this build of %s lays its objects out in a way that opprobe "
			  "does not know, please report its build-id %s",
			  options->process->pid, SIGHTINGS_MAX, options->location->runtime->title,
			  options->location->build_id);
		return;
	}
	if (collector->shapes)
		prove_pending(collector);
}

bool collector_calibrated(const struct collector *collector)
{
	return !collector->naming || collector->naming->ops->settled(collector->naming);
}

/* Is all known that records are waiting for? */
static bool settled(const struct collector *collector)
{
	return collector_calibrated(collector) &&
	       (!collector->shapes || shape_table_settled(collector->shapes));
}

int collector_take(void *context, void *data, size_t size)
{
	struct collector *collector = context;
	uint8_t type = *(const uint8_t *)data;

	if (collector->failed)
		return 0;
	if (type == RECORD_THREADS_CHANGED) {
		collector->threads_changed = true;
		return 0;
	}
	if (settled(collector)) {
		if (type == RECORD_SIGHTING)
			describe_sighting(collector, data);
		else
			take_record(collector, data, size);
		return 0;
	}
	collector_keep_failure(collector, keep_pending(collector, data, size));
	if (type == RECORD_SIGHTING && !collector_calibrated(collector))
		try_calibration(collector, data);
	else if (type == RECORD_SHAPES && collector->shapes && collector_calibrated(collector))
		shape_table_prove(collector->shapes, data, size);
	if (collector->shapes && collector_calibrated(collector) &&
	    collector->pending.n > PENDING_SHAPES_MAX)
		shape_table_refuse(collector->shapes);
	if (settled(collector))
		collector_take_pending(collector);
	return 0;
}
