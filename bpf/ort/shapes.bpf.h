/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shapes and element types of an operator's inputs and outputs, read when its
 * kernel has returned: the frame that holds them dies with the run. The way:
 *
 *	OpKernelContext, in the stack frame of the function that is probed
 *	  ├─ ints: where the numbers of its inputs and outputs begin in...
 *	  └─ ExecutionFrame
 *	       ├─ NodeIndexInfo ─ ...the list of numbers of values
 *	       └─ values[number] = {Tensor, -, type of value} ─ shape, element type
 *
 * The numbers, and which inputs are constants of the session, are the same in
 * every execution: they are kept, and constants are not read again. A graph
 * assigns each of its values once: what an operator directly in a run has left
 * in one needs not be read again where others get it in that run. What is
 * read is hashed; user space gets it at first sight, executions then carry a
 * number. Two different shapes of one
 * operator are taken for one if 64 bits of hash agree: with a million shapes
 * once in 30 million recordings.
 *
 * What never varied in any build stands here as constants, the rest in
 * shape_layout; both are proven by what they lead to, see shapes.c. The
 * context is known by its vtable and its kernel, the kernel by its address, a
 * tensor by its type, all in each execution.
 */
#ifndef OPPROBE_ORT_SHAPES_BPF_H
#define OPPROBE_ORT_SHAPES_BPF_H

#include "values.bpf.h"

#define FRAME_VALUES 0x10 /* in ExecutionFrame */
#define VALUE_TYPE   2	  /* of OrtValue, as words; the object is the first */

#define INLINE_DIMS 5
#define SHAPES_MAX  65536 /* power of two */

struct shapes_key {
	__u64 hash;
	__u32 id;
	__u32 epoch;
};

/*
 * The number under which user space knows them. An entry of any map here may be
 * given to another key while it is looked at. So it holds its own key, which
 * is looked at last.
 */
struct shapes_number {
	__u64 hash;
	__u32 id;
	__u32 number;
};

/* By the low bits of their numbers: most executions have the shapes that the last one had. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SHAPES_MAX);
	__type(key, __u32);
	__type(value, struct shapes_number);
} shapes_last SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SHAPES_MAX);
	__type(key, struct shapes_key);
	__type(value, struct shapes_number);
} shapes SEC(".maps");

/* Store the dimensions of the tensor at @address, whose object has been read. */
static __always_inline bool read_dims(struct shapes_scratch *scratch,
				      const struct ort_shape_layout *layout,
				      struct shape_value *value, __u64 address)
{
	__u32 at = layout->dims / 8;
	__u64 first = scratch->tensor[at & 15], second = scratch->tensor[(at + 1) & 15], from, rank;

	/* {count, dims} or {dims, count} or {dims, their end}. */
	if (first <= SHAPE_RANK) {
		rank = first;
		from = second;
	} else {
		rank = second <= SHAPE_RANK ? second : (second - first) / 8;
		from = first;
	}
	if (rank > SHAPE_RANK)
		return false;
	value->rank = rank;
	if (rank <= INLINE_DIMS && from == address + layout->dims + 16) {
#pragma unroll
		for (__u32 i = 0; i < INLINE_DIMS; i++)
			value->dims[i] = i < rank ? scratch->tensor[(at + 2 + i) & 15] : 0;
		return true;
	}
	return !bpf_probe_read_user(value->dims, rank * 8, (void *)from);
}

static __always_inline bool read_value(struct shapes_scratch *scratch,
				       const struct ort_shape_layout *layout,
				       struct ort_shapes_found *found, struct shape_value *value,
				       __u64 address)
{
	__u64 words[3];

	__builtin_memset(value, 0, sizeof(*value));
	if (bpf_probe_read_user(words, sizeof(words), (void *)address))
		return false;
	if (!words[0] || !words[VALUE_TYPE])
		return true; /* not allocated: prepacked, or not needed */
	value->type = words[VALUE_TYPE];
	if (value->type != found->tensor_type) {
		if (found->tensor_type || read_pointer(value->type) != layout->tensor_class)
			return true; /* a sequence, a map, a sparse tensor */
		found->tensor_type = value->type;
	}
	if (bpf_probe_read_user(scratch->tensor, sizeof(scratch->tensor), (void *)words[0]))
		return false;
	scratch->record.tensor_at = words[0];
	value->element = scratch->tensor[(layout->element / 8) & 15];
	return read_dims(scratch, layout, value, words[0]);
}

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	return (hash + word) * 0x9e3779b97f4a7c15ULL;
}

/* A polynomial of all words: those behind the rank are 0. */
static __always_inline __u64 hash_value(const struct shape_value *value)
{
	__u64 hash = mix(mix(mix(0, value->type), value->element), value->rank);

#pragma unroll
	for (int i = 0; i < SHAPE_RANK; i++)
		hash = mix(hash, value->dims[i]);
	return hash ^ hash >> 32;
}

/* Where the values of the frame in the context begin; 0 if it cannot be read. */
static __always_inline __u64 frame_values(const struct shapes_scratch *scratch)
{
	__u64 at = scratch->context[CONTEXT_FRAME] + FRAME_VALUES, words[2];

	if (bpf_probe_read_user(words, sizeof(words), (void *)at))
		return 0;
	return elements_of(at, words[0], words[1]);
}

static __always_inline __u64 value_address(const struct ort_shape_layout *layout, __u64 base,
					   __s32 number)
{
	return base + (__u64)(__u32)number * layout->stride;
}

/*
 * Where the values of the frame in the context begin; 0 if it cannot be read. In @since the number
 * of the frame in its run, 0 if it is not the run's own one, which lives as long as the run: an
 * operator inside of another has a frame that others may follow at the same address.
 */
static __always_inline __u64 values_in_run(const struct thread_state *thread,
					   const struct frame *frame,
					   const struct ort_shape_layout *layout,
					   struct shapes_scratch *scratch, __u64 *since)
{
	struct seen_frame *own = &scratch->frame;
	__u64 address = scratch->context[CONTEXT_FRAME];

	*since = 0;
	if (thread->depth || thread->run == NO_ID || frame->run != thread->run || !layout->proven)
		return frame_values(scratch);
	if (own->frame != address || own->run != thread->run || own->epoch != layout->epoch) {
		own->frame = address;
		own->run = thread->run;
		own->epoch = layout->epoch;
		own->values = frame_values(scratch);
		own->since++;
	}
	*since = own->since;
	return own->values;
}

/* First sight of the shapes in the record: number them and send them. NO_ID if not. */
__noinline __u32 send_shapes(__u32 instance, __u64 hash)
{
	struct ort_shape_layout *layout = shape_layout_of(instance);
	struct ort_shapes_found *found = found_of(instance);
	struct operator_values *values;
	struct shapes_record *record;
	struct shapes_number fresh;
	struct thread_state *thread;
	struct shapes_key key = {};
	struct frame *frame;
	__u64 size, base;
	__u32 number;

	if (!with_shapes)
		return NO_ID;
	thread = seen_thread();
	if (!thread)
		return NO_ID;
	frame = popped(thread);
	record = &scratch_of(thread)->record;
	key.hash = hash;
	key.id = frame->id;
	values = values_of(key.id);
	number = take_number(NUMBER_SHAPES);
	if (!values || values->id != key.id || number == NO_ID)
		return NO_ID;
	key.epoch = values->epoch;
	record->type = RECORD_SHAPES;
	record->instance = instance;
	record->n_inputs = values->n_inputs;
	record->n_values = values->n_values;
	record->verified = values->verified;
	record->number = number;
	record->id = key.id;
	record->epoch = key.epoch;
	record->constants = values->constants;
	record->definitions = values->definitions;
	record->key = frame->key;
	record->kernel = values->kernel;
	record->node = values->node;
	base = frame_values(scratch_of(thread));
	for (__u32 i = 0; i < SHAPE_VALUES; i++) {
		if (i >= values->n_values)
			break;
		if (scratch_of(thread)->unread >> i & 1 &&
		    !read_value(scratch_of(thread), layout, found, &record->values[i],
				value_address(layout, base, values->numbers[i])))
			return NO_ID;
		if (record->values[i].element)
			record->values[i].class = read_pointer(record->values[i].element);
	}
	if (layout->proven ||
	    bpf_probe_read_user(record->tensor, sizeof(record->tensor), (void *)record->tensor_at))
		record->tensor_at = 0;
	size = sizeof(*record) - sizeof(record->values) +
	       (values->n_values & (2 * SHAPE_VALUES - 1)) * sizeof(struct shape_value);
	if (size > sizeof(*record))
		return NO_ID;
	if (!values_are(values, key.id, scratch_of(thread)))
		return NO_ID;
	if (bpf_ringbuf_output(&ring, record, size,
			       layout->proven ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP)) {
		__sync_fetch_and_add(&losses.ring_full, 1);
		return NO_ID;
	}
	fresh.hash = hash;
	fresh.id = key.id;
	fresh.number = number;
	bpf_map_update_elem(&shapes, &key, &fresh, BPF_ANY);
	number &= SHAPES_MAX - 1;
	bpf_map_update_elem(&shapes_last, &number, &fresh, BPF_ANY);
	values->last = fresh.number;
	return fresh.number;
}

/* The number in @known, if it is of what @key says; else NO_SHAPES. */
static __always_inline __u32 number_of(const struct shapes_number *known,
				       const struct shapes_key *key)
{
	__u32 number = *(volatile __u32 *)&known->number;

	return *(volatile __u64 *)&known->hash == key->hash && known->id == key->id ? number
										    : NO_SHAPES;
}

/* The number of the shapes that are @key, of the operator of @values; sent, if it is a new one. */
static __always_inline __u32 number_shapes(struct operator_values *values, struct shapes_key *key,
					   __u32 instance)
{
	__u32 last = *(volatile __u32 *)&values->last, place = last & (SHAPES_MAX - 1), number;
	struct shapes_number *known = bpf_map_lookup_elem(&shapes_last, &place);

	if (known && number_of(known, key) == last && last != NO_SHAPES)
		return last;
	known = bpf_map_lookup_elem(&shapes, key);
	number = known ? number_of(known, key) : NO_SHAPES;
	if (number == NO_SHAPES) {
		number = send_shapes(instance, key->hash);
		return number == NO_ID ? NO_SHAPES : number;
	}
	values->last = number;
	return number;
}

/* The number of the shapes of the operator in @frame, which ends at @sp; or NO_SHAPES. */
static __noinline __u32 find_shapes(struct thread_state *thread, struct frame *frame, __u64 sp,
				    __u32 function)
{
	struct ort_shape_layout *layout;
	struct ort_shapes_found *found;
	struct shapes_scratch *scratch;
	struct operator_values *values;
	struct shapes_key key = {};
	__u64 base, since, one;
	__u32 instance;

	if (!thread || !frame || function >= ORT_FUNCTIONS_MAX)
		return NO_SHAPES;
	scratch = scratch_of(thread);
	key.id = frame->id;
	instance = frame->key.instance;
	layout = shape_layout_of(instance);
	found = found_of(instance);
	key.epoch = layout->epoch;
	if (!key.epoch || !read_context(thread, instance, sp, function))
		return NO_SHAPES;
	values = values_of(key.id);
	if (!values)
		return NO_SHAPES;
	if ((!values_are(values, key.id, scratch) || values->epoch != key.epoch ||
	     (!values->verified && layout_of(instance)->proven)) &&
	    !find_values(instance, function))
		return NO_SHAPES;
	if (values->unreadable)
		return NO_SHAPES;
	base = values_in_run(thread, frame, layout, scratch, &since);
	if (!base)
		return NO_SHAPES;
	scratch->record.tensor_at = 0;
	scratch->unread = values->constants;
	key.hash = values->kernel;
	for (__u32 i = 0; i < SHAPE_VALUES; i++) {
		struct shape_value *value = &scratch->record.values[i];
		struct seen_value *seen;
		__s32 number;

		if (i >= values->n_values)
			break;
		if (values->constants >> i & 1)
			continue;
		number = values->numbers[i];
		seen = &scratch->frame.seen[number & (SEEN_VALUES - 1)];
		if (number >= 0 && since && seen->since == since && seen->number == number) {
			scratch->unread |= 1U << i;
			key.hash = mix(key.hash, seen->hash);
			continue;
		}
		if (number < 0) /* an input that is left out */
			__builtin_memset(value, 0, sizeof(*value));
		else if (!read_value(scratch, layout, found, value,
				     value_address(layout, base, number)))
			return NO_SHAPES;
		one = hash_value(value);
		key.hash = mix(key.hash, one);
		seen->since = since;
		seen->number = number;
		seen->hash = one;
	}
	if (!values_are(values, key.id, scratch))
		return NO_SHAPES;
	return number_shapes(values, &key, instance);
}

/*
 * Shapes are read behind the operator's end, and what that takes differs by
 * operator: it is measured, for whatever the operator ran inside of. A thread
 * that lost the CPU meanwhile would have lost it elsewhere: that is no time of
 * the probe's.
 */
static __always_inline void take_shapes(struct thread_state *thread, struct frame *frame, __u64 sp,
					__u32 function, struct shapes_word *word)
{
	__u64 switches = task_switches(current_task()), start = bpf_ktime_get_ns(), ns;

	word->number = find_shapes(thread, frame, sp, function);
	ns = bpf_ktime_get_ns() - start;
	if (switches == task_switches(current_task()) && ns < 1 << 30)
		word->ns = ns;
}

#endif
