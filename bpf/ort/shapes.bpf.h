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

#include "names.bpf.h"
#include "context.h"

#define FRAME_NUMBERS 0x08 /* in ExecutionFrame: NodeIndexInfo*, the list at its start */
#define FRAME_VALUES  0x10
#define VALUE_TYPE    2 /* of OrtValue, as words; the object is the first */

#define NODE_WORDS	60 /* of Node, searched from NODE_FIRST on */
#define NODE_FIRST	0x20
#define INLINE_DIMS	5
#define OPERATORS_MAX	8192  /* power of two */
#define SHAPES_MAX	65536 /* power of two */
#define SEEN_VALUES	64    /* power of two */
#define CHAINS_MAX	64    /* entries of the map of constants, over all inputs */
#define INLINE_SIZE_MAX 4096  /* no pointer is below, no size of a vector in place above */

/*
 * An operator's values, as numbers of values of its session. Kept by the low
 * bits of its id, so that another may get its place while it is looked at:
 * who it is of is looked at last.
 */
struct operator_values {
	__u64 kernel;
	__u64 node;
	__u32 id;
	__u32 last; /* the number of its last shapes */
	__u32 epoch;
	__u32 constants;   /* bit i: input i is a constant of the session */
	__u32 definitions; /* 0: not known, the outputs may be more than are */
	__u8 n_inputs;
	__u8 n_values;
	__u8 verified;
	__u8 unreadable; /* too many, or not found */
	__s32 numbers[2 * SHAPE_VALUES];
};

/* A value of the frame of the open run, hashed. */
struct seen_value {
	__u64 since; /* see below; 0: none */
	__u64 hash;
	__s32 number;
	__u32 pad;
};

/* What is known of the frame of the open run, by its thread. */
struct seen_frame {
	__u64 frame;
	__u64 values; /* where they begin */
	__u64 since;  /* another number for each frame, in each run */
	__u32 run;
	__u32 epoch;
	struct seen_value seen[SEEN_VALUES]; /* by the low bits of their numbers */
};

/* What a thread's scratch is used as. */
struct shapes_scratch {
	struct seen_frame frame;
	__u64 context[8]; /* OpKernelContext */
	__u64 tensor[16];
	struct operator_values fresh;
	__u64 entry;  /* of the map of constants */
	__u32 input;  /* that it is searched for */
	__u32 unread; /* bit i: value i is not in the record */
	struct shapes_record record;
};

_Static_assert(sizeof(struct shapes_scratch) <= SCRATCH_BYTES, "shapes_scratch");

_Static_assert(STACK_WORDS * 8 <= sizeof(((struct shapes_record *)0)->values), "STACK_WORDS");
_Static_assert(NODE_WORDS <= STACK_WORDS, "NODE_WORDS");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OPERATORS_MAX);
	__type(key, __u32);
	__type(value, struct operator_values);
} operator_values SEC(".maps");

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

struct ort_shape_layout ort_shape_layouts[INSTANCES_MAX]; /* written by user space */
struct ort_shapes_found ort_shapes_found[INSTANCES_MAX];

static __always_inline struct ort_shape_layout *shape_layout_of(__u32 instance)
{
	return &ort_shape_layouts[instance & (INSTANCES_MAX - 1)];
}

static __always_inline struct ort_shapes_found *found_of(__u32 instance)
{
	return &ort_shapes_found[instance & (INSTANCES_MAX - 1)];
}

static __always_inline struct shapes_scratch *scratch_of(struct thread_state *thread)
{
	return (struct shapes_scratch *)thread->scratch;
}

/*
 * Where the elements of a vector at @address are: absl::InlinedVector's
 * {size << 1 | on the heap, pointer or elements}, or std::vector's {begin, end}.
 */
static __always_inline __u64 elements_of(__u64 address, __u64 first, __u64 second)
{
	if (first & 1)
		return second;
	return first < INLINE_SIZE_MAX ? address + 8 : first;
}

static __always_inline struct operator_values *values_of(__u32 id)
{
	__u32 place = id & (OPERATORS_MAX - 1);

	return bpf_map_lookup_elem(&operator_values, &place);
}

/* Are @values those of operator @id, whose context has been read? */
static __always_inline bool values_are(const struct operator_values *values, __u32 id,
				       const struct shapes_scratch *scratch)
{
	return *(volatile __u32 *)&values->id == id &&
	       *(volatile __u64 *)&values->kernel == scratch->context[CONTEXT_KERNEL];
}

/*
 * What follows runs at first sight of something. Three functions are global,
 * so that the verifier looks at each of their loops once and not from all
 * sides; such functions cannot be given pointers before 5.13.
 */

/* The word at @address, 0 if it cannot be read. Branches double the verifier's work. */
static __always_inline __u64 peek(__u64 address)
{
	__u64 word;

	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

/* 1, or 0 for 0. */
static __always_inline __u64 is_nonzero(__u64 word)
{
	return (word | -word) >> 63;
}

/* The kernel of the operator in @frame; 0 if it is not known yet. */
static __always_inline __u64 kernel_of(const struct frame *frame)
{
	__u64 kernels;

	if (!frame->key.session)
		return frame->key.index;
	if (!layout_of(frame->key.instance)->proven)
		return 0;
	kernels = read_pointer(frame->key.session + layout_of(frame->key.instance)->kernels);
	return read_pointer(kernels + frame->key.index * 8);
}

/*
 * Find the context in the stack from @sp up; 0 if it is not there. The place
 * is kept even where the kernel is not known: every search may meet with what
 * contexts before left in the stack. A kernel that is another gives it up.
 */
__noinline int find_context(__u32 instance, __u64 sp, __u32 function)
{
	struct thread_state *thread;
	__u64 *stack, kernel;
	__u32 at;

	if (!with_shapes)
		return 0;
	thread = seen_thread();
	if (!thread)
		return 0;
	kernel = kernel_of(popped(thread));
	stack = (__u64 *)scratch_of(thread)->record.values;
	if (bpf_probe_read_user(stack, STACK_WORDS * 8, (void *)sp))
		return 0;
	at = search_context(stack, shape_layout_of(instance)->context_class, kernel);
	if (!at)
		return 0;
	found_of(instance)->contexts[function & (ORT_FUNCTIONS_MAX - 1)] = at;
	return 1;
}

static __always_inline bool read_context_at(struct thread_state *thread, __u32 instance, __u64 at)
{
	__u64 *context = scratch_of(thread)->context;

	return !bpf_probe_read_user(context, sizeof(scratch_of(thread)->context), (void *)at) &&
	       context[0] == shape_layout_of(instance)->context_class;
}

/* Read the context of the operator that ends. */
static __always_inline bool read_context(struct thread_state *thread, __u32 instance, __u64 sp,
					 __u32 function)
{
	__u32 *at;

	/* Old verifiers (6.1) forget what is known of a word that compilers put aside. */
	barrier_var(function);
	at = &found_of(instance)->contexts[function & (ORT_FUNCTIONS_MAX - 1)];
	if (*at && read_context_at(thread, instance, sp + *at - 1))
		return true;
	return find_context(instance, sp, function) &&
	       read_context_at(thread, instance, sp + *at - 1);
}

/*
 * Find, in @node, the vectors of NodeArg* of the inputs, of the outputs and of
 * the implicit inputs: two, and one of int behind the first.
 */
static __noinline void find_definitions(struct thread_state *thread, __u32 instance, __u64 node,
					__u64 n_inputs, __u64 n_implicit)
{
	__u64 *words, argument;

	if (!thread)
		return;
	words = (__u64 *)scratch_of(thread)->record.values;
	if (!n_inputs || bpf_probe_read_user(words, NODE_WORDS * 8, (void *)(node + NODE_FIRST)))
		return;
	for (__u32 i = 0; i < NODE_WORDS - 11; i++) {
		if (words[i + 1] - words[i] != n_inputs * 8 ||
		    words[i + 7] - words[i + 6] > SHAPE_VALUES * 8 ||
		    words[i + 10] - words[i + 9] != n_implicit * 8)
			continue;
		argument = peek(words[i]);
		if (peek(argument + 8) == shape_layout_of(instance)->definition_class) {
			found_of(instance)->definitions = NODE_FIRST + i * 8;
			return;
		}
	}
}

/*
 * Which inputs are constants of the session: keys of its std::unordered_map
 * from numbers of values, {buckets, n, ...}. A bucket points to the entry
 * before its first, an entry is {next, key, ...}. One loop for all inputs, an
 * entry at a time: nested ones are too much for the verifier.
 */
static __noinline void find_constants(struct thread_state *thread, __u64 map)
{
	__u64 table[2], entry[2], at, more, other;
	struct shapes_scratch *scratch;
	struct operator_values *fresh;
	__u32 number, i;

	if (!thread)
		return;
	scratch = scratch_of(thread);
	fresh = &scratch->fresh;
	scratch->input = 0;
	scratch->entry = 0;
	if (bpf_probe_read_user(table, sizeof(table), (void *)map) || !table[1])
		goto unreadable;
	for (__u32 step = 0; step < CHAINS_MAX; step++) {
		i = scratch->input & (SHAPE_VALUES - 1);
		if (scratch->input >= fresh->n_inputs)
			return;
		number = fresh->numbers[i];
		at = scratch->entry;
		if (!at)
			at = peek(peek(table[0] + number % table[1] * 8));
		/* All zero where there is no entry. */
		bpf_probe_read_user(entry, sizeof(entry), (void *)at);
		other = is_nonzero((__u32)entry[1] ^ number) | (is_nonzero(at) ^ 1);
		fresh->constants |= (other ^ 1) << i;
		more = other & is_nonzero(entry[0]) &
		       (is_nonzero((__u32)entry[1] % table[1] ^ number % table[1]) ^ 1);
		scratch->entry = entry[0] * more;
		scratch->input = scratch->input + 1 - more;
	}
unreadable:
	fresh->unreadable = 1;
}

/* Read the numbers of the values into fresh; 0 if it is not possible. */
static __noinline int read_numbers(struct thread_state *thread, __u64 outputs)
{
	__u64 starts, list, index, n_inputs, n_outputs, words[2];
	struct operator_values *fresh;

	if (!thread)
		return 0;
	fresh = &scratch_of(thread)->fresh;
	starts = scratch_of(thread)->context[CONTEXT_STARTS];
	n_inputs = (starts >> 32) - (__u32)starts;
	if (bpf_probe_read_user(words, sizeof(words), (void *)outputs))
		return 0;
	n_outputs = (words[1] - words[0]) / 8;
	if (n_inputs > SHAPE_VALUES || n_outputs > SHAPE_VALUES ||
	    n_inputs + n_outputs > SHAPE_VALUES)
		return 0;
	fresh->n_inputs = n_inputs;
	fresh->n_values = n_inputs + n_outputs;

	index = read_pointer(scratch_of(thread)->context[CONTEXT_FRAME] + FRAME_NUMBERS);
	if (bpf_probe_read_user(words, sizeof(words), (void *)index))
		return 0;
	list = elements_of(index, words[0], words[1]);
	if (bpf_probe_read_user(fresh->numbers, n_inputs * 4, (void *)(list + 4 * (__u32)starts)))
		return 0;
	starts = (__u32)scratch_of(thread)->context[CONTEXT_STARTS + 1];
	return !bpf_probe_read_user(&fresh->numbers[n_inputs], n_outputs * 4,
				    (void *)(list + 4 * starts));
}

/* The operator's first execution: what are its values? Kept, if that can be told. */
__noinline int find_values(__u32 instance, __u32 function)
{
	struct ort_shape_layout *layout = shape_layout_of(instance);
	struct ort_shapes_found *found = found_of(instance);
	struct operator_values *fresh;
	struct thread_state *thread;
	__u64 kernel, its, info, starts;
	struct frame *frame;
	__u32 place;

	if (!with_shapes)
		return 0;
	thread = seen_thread();
	if (!thread)
		return 0;
	frame = popped(thread);
	fresh = &scratch_of(thread)->fresh;
	kernel = scratch_of(thread)->context[CONTEXT_KERNEL];
	starts = scratch_of(thread)->context[CONTEXT_STARTS];
	its = kernel_of(frame);
	if (its && its != kernel) {
		found->contexts[function & (ORT_FUNCTIONS_MAX - 1)] = 0;
		return 0;
	}
	info = read_pointer(kernel + layout->info);
	fresh->kernel = kernel;
	fresh->node = read_pointer(info + layout->node);
	fresh->id = frame->id;
	fresh->last = NO_SHAPES;
	fresh->epoch = layout->epoch;
	fresh->constants = 0;
	fresh->unreadable = 0;
	fresh->verified = its != 0;
	if (!found->definitions)
		find_definitions(thread, instance, fresh->node, (starts >> 32) - (__u32)starts,
				 (__u32)scratch_of(thread)->context[CONTEXT_STARTS + 1] -
					 (starts >> 32));
	fresh->definitions = found->definitions;
	if (!fresh->definitions)
		return 0;
	if (!read_numbers(thread, fresh->node + fresh->definitions + 48))
		fresh->unreadable = 1;
	else
		find_constants(thread, read_pointer(info + layout->constants));
	place = fresh->id & (OPERATORS_MAX - 1);
	bpf_map_update_elem(&operator_values, &place, fresh, BPF_ANY);
	return !fresh->unreadable;
}

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
