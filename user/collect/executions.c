// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"

#include <string.h>

/* -- whose it is ---------------------------------------------------------------- */

/* Define operator @id, which is one of the instance's own names; a negative errno if it cannot be.
 */
static int define_static(struct collector *collector, struct instance_state *instance, uint32_t id)
{
	const struct static_name *name =
		&instance->location->names.items[id - instance->first_operator];
	struct strings_record strings = {
		.verified = 1,
		.identity = {.id = id, .key = {.index = id, .instance = instance->number}},
		.node_index = CAPTURE_UNKNOWN,
		.name_length = strlen(name->name),
		.op_type_length = strlen(name->op_type),
	};

	memcpy(strings.name, name->name, strnlen(name->name, NAME_BYTES));
	memcpy(strings.op_type, name->op_type, strnlen(name->op_type, WORD_BYTES));
	return identity_add(collector->identities, &strings);
}

/* The instance that has @id among its own names; NULL if none has. */
static struct instance_state *named_before(struct collector *collector, uint32_t id)
{
	if (id == NO_ID || !(id & STATIC_IDS))
		return NULL;
	for (size_t i = 0; i < collector->instances.n; i++) {
		struct instance_state *instance = collector->instances.items[i];

		if (id - instance->first_operator < instance->location->names.n)
			return instance;
	}
	return NULL;
}

uint32_t collector_operator(struct collector *collector, uint32_t id)
{
	uint32_t number = identity_operator(collector->identities, id);
	struct instance_state *named =
		number == CAPTURE_UNKNOWN ? named_before(collector, id) : NULL;

	if (named && define_static(collector, named, id) >= 0)
		number = identity_operator(collector->identities, id);
	return number;
}

/* -- what stands behind a record ---------------------------------------------- */

/* The words behind a record with @flags of @n counters: those of times and counts. */
static size_t words_of(uint32_t flags, size_t n)
{
	size_t words = flags & FLAG_WORK ? 2 * n + 1 : n;

	if (flags & FLAG_TURNS)
		words += flags & FLAG_WORK ? 2 * n + 3 : n + 2;
	return words;
}

/* Does the record of an operator tell its keys, behind those? */
static bool tells_keys(const struct collector *collector, const struct operator_record *record)
{
	return collector->parts && record->flags & FLAG_WORK;
}

/* The words behind @record of an operator, but for its peak and the number of shapes. */
static size_t words_of_operator(const struct collector *collector,
				const struct operator_record *record)
{
	return words_of(record->flags, collector->options.counters->n) +
	       (tells_keys(collector, record) ? sizeof(struct part_keys) / 8 : 0);
}

bool collector_operator_is_whole(const struct collector *collector,
				 const struct operator_record *record, size_t size)
{
	return size >= sizeof(*record) &&
	       size >= sizeof(*record) + 8 * words_of_operator(collector, record);
}

bool collector_run_is_whole(const struct collector *collector, const struct run_record *record,
			    size_t size)
{
	return size >= sizeof(*record) &&
	       size >= sizeof(*record) + 8 * words_of(record->flags & FLAG_TURNS,
						      collector->options.counters->n);
}

const struct part_keys *collector_part_keys(const struct collector *collector,
					    const struct operator_record *record)
{
	if (!tells_keys(collector, record))
		return NULL;
	return (const void *)(record->values +
			      words_of(record->flags, collector->options.counters->n));
}

/* -- what it tells ---------------------------------------------------------------- */

/* The last word of a record of @size bytes, where shapes are read. */
static void add_shapes(struct collector *collector, struct instance_state *instance,
		       const struct operator_record *record, size_t size, struct capture_exec *exec)
{
	struct shapes_word word;

	if (!instance->shapes || size < sizeof(*record) + sizeof(word))
		return;
	memcpy(&word, (const char *)record + size - sizeof(word), sizeof(word));
	exec->shapes = shape_table_number(instance->shapes, word.number, collector->options.sink);
	exec->shapes_ns = word.ns;
}

/*
 * For how long @n events were on. Each is read after the clock that tells for
 * how long all could count, so that it may be on for a little longer.
 */
static void get_running(uint64_t *to, const uint64_t *from, uint32_t n, uint64_t enabled)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = from[i] < enabled ? from[i] : enabled;
}

/* How events took turns, of @n of them. */
static void get_turns(const struct turns *from, uint32_t n, struct capture_turns *turns)
{
	turns->enabled = from->enabled;
	turns->sampled = from->sampled;
	get_running(turns->running, (const uint64_t *)from->running, n, from->enabled);
}

/* The same of other threads, from n + 1 @words. */
static void get_work_turns(const uint64_t *words, uint32_t n, struct capture_turns *turns)
{
	turns->work_enabled = words[0];
	get_running(turns->work_running, words + 1, n, words[0]);
}

/* What stands in @record behind the counters of the calling thread, of which there are @n. */
static void get_rest(const struct operator_record *record, uint32_t n, struct capture_exec *exec)
{
	const uint64_t *next = (const uint64_t *)record->values + n;
	bool has_work = record->flags & FLAG_WORK;

	if (has_work && next[0]) {
		exec->flags |= EXEC_WORK;
		exec->work_ns = next[0];
		memcpy(exec->work_counters, next + 1, n * sizeof(next[0]));
	}
	if (has_work)
		next += n + 1;
	if (!(record->flags & FLAG_TURNS))
		return;
	exec->flags |= EXEC_TURNS;
	get_turns((const struct turns *)next, n, &exec->turns);
	if (has_work)
		get_work_turns(next + n + 2, n, &exec->turns);
}

/*
 * The most that an arena had given out: the @word behind those of any record, of one of
 * @size bytes at @data, where counters are of memory. False if it is not known.
 */
static bool get_peak(const struct collector *collector, const __u64 *word, const void *data,
		     size_t size, uint64_t *peak)
{
	bool known = collector->with_memory &&
		     (const char *)(word + 1) <= (const char *)data + size && *word != PEAK_UNKNOWN;

	*peak = known ? *word : 0;
	return known;
}

/*
 * May one that ran inside be missing? What was dropped here came before what it
 * ran inside of, which may be any later one.
 */
static bool lacks(const struct collector *collector, const struct operator_record *record)
{
	return record->flags & FLAG_LACKS ||
	       (record->flags & FLAG_NESTED && (collector->unnamed || collector->unheld));
}

/* Are the @n @parts no more than the @keys tell, and than the work of @exec? */
static bool parts_agree(const struct capture_exec *exec, const struct part_keys *keys,
			const struct part *parts, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += parts[i].end - parts[i].start;
	return n <= keys->n && sum <= exec->work_ns;
}

/*
 * Tell the @n @parts of @exec, of which it has as many as its @keys say. Where its work is not
 * known, its parts are not, and that is counted.
 */
static void add_parts(struct collector *collector, const struct instance_state *instance,
		      const struct part_keys *keys, const struct part *parts, uint32_t n,
		      struct capture_exec *exec)
{
	if (!(exec->flags & EXEC_WORK))
		return;
	if (!parts_agree(exec, keys, parts, n))
		n = 0;
	if (n > CAPTURE_PARTS_MAX)
		n = CAPTURE_PARTS_MAX;
	collector->parts_told.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct capture_part *part = array_push(&collector->parts_told);

		if (!part)
			break;
		*part = (struct capture_part){
			.thread = collector_thread(collector, parts[i].tid, instance->member),
			.cpu = parts[i].cpu,
			.migrated = parts[i].migrated,
			.start = parts[i].start,
			.end = parts[i].end,
		};
	}
	exec->flags |= EXEC_PARTS;
	exec->parts = collector->parts_told.items;
	exec->n_parts = collector->parts_told.n;
	collector->parts_lost += keys->n - exec->n_parts;
}

void collector_add_operator(struct collector *collector, struct instance_state *instance,
			    const struct operator_record *record, size_t size)
{
	uint32_t n = collector->options.counters->n;
	struct capture_record execution = {
		.type = CAPTURE_EXEC,
		.exec =
			{
				.op = collector_operator(collector, record->id),
				.thread =
					collector_thread(collector, record->tid, instance->member),
				.run = record->run,
				.parent = CAPTURE_UNKNOWN,
				.shapes = CAPTURE_UNKNOWN,
				.depth = record->depth,
				.cpu = record->cpu,
				.start = record->start,
				.end = record->end,
				.counted = record->counted &
					   ~collector_hidden(collector, instance, record->start),
			},
	};
	const struct part_keys *keys = collector_part_keys(collector, record);
	struct capture_exec *exec = &execution.exec;
	const struct part *parts = NULL;
	uint32_t n_parts = 0;

	if (exec->op == CAPTURE_UNKNOWN) {
		collector->unnamed++;
		return;
	}
	if (keys && collector->options.parts)
		parts = parts_behind(record, &size, &n_parts);
	add_shapes(collector, instance, record, size, exec);
	if (record->parent != NO_ID)
		exec->parent = collector_operator(collector, record->parent);
	exec->flags = (record->flags & FLAG_THREW ? EXEC_THREW : 0) |
		      (record->flags & FLAG_MIGRATED ? EXEC_MIGRATED : 0) |
		      (record->flags & FLAG_NESTED ? EXEC_NESTED : 0) |
		      (lacks(collector, record) ? EXEC_LACKS : 0);
	memcpy(exec->counters, record->values, n * sizeof(record->values[0]));
	get_rest(record, n, exec);
	if (parts)
		add_parts(collector, instance, keys, parts, n_parts, exec);
	if (!(record->flags & FLAG_THREW))
		get_peak(collector, record->values + words_of_operator(collector, record), record,
			 size, &exec->peak);
	collector_send(collector, &execution);
	collector->operators++;
}

void collector_add_run(struct collector *collector, struct instance_state *instance,
		       const struct run_record *record, size_t size)
{
	struct capture_record ended = {
		.type = CAPTURE_RUN,
		.run =
			{
				.run = record->run,
				.session = identity_session(collector->identities, instance->number,
							    record->session, record->owner),
				.thread =
					collector_thread(collector, record->tid, instance->member),
				.start = record->start,
				.end = record->end,
				.threw = record->flags & FLAG_THREW,
				.has_operators = true,
				.operators = record->operators,
				.counted = record->counted &
					   ~collector_hidden(collector, instance, record->start),
			},
	};
	const uint32_t n = collector->options.counters->n;
	struct capture_run *run = &ended.run;

	collector_tell_model(collector, instance, run->session);
	collector_add_status(collector, instance, record, run);
	run->step = identity_step(collector->identities, run->session);
	memcpy(run->counters, record->values, n * sizeof(record->values[0]));
	run->has_turns = record->flags & FLAG_TURNS;
	if (run->has_turns)
		get_turns((const struct turns *)(record->values + n), n, &run->turns);
	if (!run->threw && instance->arenas_since && run->start >= instance->arenas_since)
		run->has_peak = get_peak(collector,
					 record->values + words_of(record->flags & FLAG_TURNS, n),
					 record, size, &run->peak);
	collector_send(collector, &ended);
	collector->runs++;
}
