/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an operator's values lie: found when it is met for the first time, and kept; shapes.bpf.h
 * tells the way, and reads them in each execution.
 */
#ifndef OPPROBE_ORT_VALUES_BPF_H
#define OPPROBE_ORT_VALUES_BPF_H

#include "context.h"
#include "names.bpf.h"

#define FRAME_NUMBERS 0x08 /* in ExecutionFrame: NodeIndexInfo*, the list at its start */

#define NODE_WORDS	60 /* of Node, searched from NODE_FIRST on */
#define NODE_FIRST	0x20
#define OPERATORS_MAX	8192 /* power of two */
#define SEEN_VALUES	64   /* power of two */
#define CHAINS_MAX	64   /* entries of the map of constants, over all inputs */
#define INLINE_SIZE_MAX 4096 /* no pointer is below, no size of a vector in place above */

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

#endif
