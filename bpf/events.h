/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records that cross the ring buffer, and the settings that cross the
 * other way: the only header that both sides share. Fixed widths, sizes
 * asserted. All times are nanoseconds of CLOCK_MONOTONIC, all pointers are
 * the target's.
 */
#ifndef OPPROBE_EVENTS_H
#define OPPROBE_EVENTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define COUNTERS_MAX 16	  /* events per capture */
#define DEPTH_MAX    16	  /* operators open at once on a thread */
#define NAME_BYTES   1024 /* of a node's name: whole up to this length */
#define WORD_BYTES   128  /* of an op type, a domain, a provider */
#define KEYS_MAX     8	  /* distinct parallel sections of one operator execution */
#define WINDOWS_MAX  16	  /* ranges of runs to record */
#define SIGHT_BYTES  256  /* of the first argument's object, for calibration */
#define SHAPE_VALUES 32	  /* inputs and outputs of an operator; with more, no shapes */
#define SHAPE_RANK   8	  /* dimensions of a tensor; with more, no shapes */
#define TENSOR_WORDS 24	  /* of a tensor's object, for the search of its layout */
#define NO_ID	     0xffffffffU
#define NO_SLOT	     0xffffffffU
#define NO_SHAPES    0xffffffffffffffffULL

/* How a counter is read in the kernel. */
enum counter_source {
	COUNTER_NONE,
	COUNTER_PERF,	       /* perf event that may be multiplexed: value, enabled, running */
	COUNTER_PERF_SOFTWARE, /* perf event that always runs: value only */
	COUNTER_FAULTS,	       /* task_struct min_flt + maj_flt */
	COUNTER_MINOR_FAULTS,  /* task_struct min_flt */
	COUNTER_MAJOR_FAULTS,  /* task_struct maj_flt */
	COUNTER_SWITCHES,      /* task_struct nvcsw + nivcsw */
	COUNTER_MIGRATIONS,    /* task_struct se.nr_migrations */
};

/* How the runtime's C++ library lays out a std::string. */
enum string_abi {
	STRING_CXX11,  /* libstdc++: {pointer, length, 16 bytes in place or capacity} */
	STRING_COW,    /* libstdc++ before 5: {pointer}, length 24 bytes before the data */
	STRING_LIBCXX, /* libc++: bit 0 of the first byte tells long from short */
};

/*
 * Where an operator's names lie, as offsets in bytes; found and proven on the
 * live process by the runtime's calibrate(). Written by user space once,
 * `proven` last; until then the BPF side sends sightings.
 */
struct layout {
	__u32 proven;
	__u32 string_abi; /* enum string_abi */
	__u32 session;	  /* in the context: SessionState* */
	__u32 kernels;	  /* in SessionState: vector of OpKernel* */
	__u32 info;	  /* in OpKernel: OpKernelInfo* */
	__u32 node;	  /* in OpKernelInfo: Node* */
	__u32 definition; /* in OpKernelInfo: KernelDef* */
	__u32 index;	  /* in Node: its index, 8 bytes */
	__u32 name;	  /* in Node: the three strings */
	__u32 op_type;
	__u32 domain;
	__u32 provider; /* in KernelDef: string */
};

/*
 * Where the shapes of an operator's values lie: classes by the address of
 * their vtable in the process, offsets in bytes. Written by user space, which
 * begins with a guess and proves it, or another, by what the BPF side finds
 * with it; `epoch` is stored last and changes with each guess.
 */
struct shape_layout {
	__u32 epoch; /* 0: shapes are not read */
	__u32 proven;
	__u64 context_class;	/* OpKernelContextInternal */
	__u64 tensor_class;	/* of the type of values that are tensors */
	__u64 definition_class; /* ValueInfoProto, in NodeArg */
	__u32 info;		/* in OpKernel: OpKernelInfo* */
	__u32 node;		/* in OpKernelInfo: Node* */
	__u32 constants;	/* in OpKernelInfo: map of the session's constants */
	__u32 stride;		/* from value to value of a frame */
	__u32 dims;		/* in Tensor: its shape */
	__u32 element;		/* in Tensor: its element type */
};

/*
 * From the stack pointer at a probe point up to the one at the first
 * instruction of its function, per function of the role (ONNX Runtime up to
 * 1.13 has two). Known: an exit must find exactly the frame of its entry.
 */
struct stack_depths {
	__s32 enter;
	__s32 exit;
	__u8 known;
};

enum record_type {
	RECORD_OPERATOR = 1,	/* an operator ended */
	RECORD_SIGHTING,	/* first sight of an operator, strings not readable yet */
	RECORD_STRINGS,		/* first sight of an operator, with its strings */
	RECORD_RUN,		/* a top-level run ended */
	RECORD_SESSION_END,	/* a session is about to be destroyed */
	RECORD_THREAD,		/* first sight of a thread */
	RECORD_THREADS_CHANGED, /* the process has a new thread */
	RECORD_SHAPES,		/* first sight of the shapes of an operator's values */
};

enum record_flags {
	FLAG_THREW = 1 << 0,	/* left by an exception: no end, no counters */
	FLAG_MIGRATED = 1 << 1, /* ended on another CPU than it began */
	FLAG_NESTED = 1 << 2,	/* other operators ran inside it */
	FLAG_WORK = 1 << 3,	/* values[] is followed by the work of other threads */
};

/*
 * An operator ended. values[] holds n counters' deltas and then, with
 * FLAG_WORK, the nanoseconds that other threads worked for it and n sums of
 * their deltas. Where shapes are read, the last word of the record is the
 * number of a shapes_record, or NO_SHAPES.
 */
struct operator_record {
	__u8 type;
	__u8 flags;
	__u8 depth; /* 0: directly in a run */
	__u8 pad;
	__u16 cpu;     /* at its end */
	__u16 counted; /* bit i: values[i] was counted for all of it */
	__u32 tid;
	__u32 id;
	__u32 run;    /* NO_ID if its run was not seen to start */
	__u32 parent; /* id of the operator around it, or NO_ID */
	__u64 start;
	__u64 end;
	__u64 values[];
};

_Static_assert(sizeof(struct operator_record) == 40, "operator_record");

/* A top-level run ended; values[] as in struct operator_record. */
struct run_record {
	__u8 type;
	__u8 flags;
	__u16 counted;
	__u32 tid;
	__u32 run;
	__u32 pad;
	__u64 owner;   /* InferenceSession* */
	__u64 session; /* SessionState* of its first operator, or 0 */
	__u64 start;
	__u64 end;
	__u64 values[];
};

_Static_assert(sizeof(struct run_record) == 48, "run_record");

/* What an operator is, beside its strings. */
struct identity {
	__u32 id;
	__u32 tid;
	__u64 session;	  /* SessionState*, or 0 where kernels are known by address */
	__u64 index;	  /* node index, or OpKernel* where session is 0 */
	__u64 root;	  /* session of the outermost operator open on the thread */
	__u64 owner;	  /* InferenceSession* of the open run, or 0 */
	__u32 generation; /* sessions destroyed before */
	__u32 pad;
};

struct sighting_record {
	__u8 type;
	__u8 pad[7];
	struct identity identity;
	__u64 context; /* the probe's first argument: what memory[] was read from */
	__u8 memory[SIGHT_BYTES];
};

/* Lengths are those in the target; a longer string was cut to its array. */
struct strings_record {
	__u8 type;
	__u8 verified; /* the node found has the index that was asked for */
	__u8 pad[6];
	struct identity identity;
	__u64 node_index;
	__u32 name_length, op_type_length, domain_length, provider_length;
	char op_type[WORD_BYTES];
	char domain[WORD_BYTES];
	char provider[WORD_BYTES];
	char name[NAME_BYTES];
};

_Static_assert(sizeof(struct identity) == 48, "identity");
_Static_assert(sizeof(struct sighting_record) == 64 + SIGHT_BYTES, "sighting_record");
_Static_assert(sizeof(struct strings_record) == 80 + 3 * WORD_BYTES + NAME_BYTES, "strings_record");

/* One input or output of an operator. */
struct shape_value {
	__u64 type;    /* object of the type of value, 0: there is no value */
	__u64 element; /* object of the type of a tensor's elements, 0: no tensor */
	__u64 class;   /* of @element */
	__u64 rank;
	__u64 dims[SHAPE_RANK];
};

/* Sent up to its last value. */
struct shapes_record {
	__u8 type;
	__u8 n_inputs;
	__u8 n_values;
	__u8 verified; /* the kernel found is the operator's */
	__u32 number;
	__u32 id;	   /* of the operator */
	__u32 epoch;	   /* of the layout that it was read with */
	__u32 constants;   /* bit i: input i is a constant of the session */
	__u32 definitions; /* in Node: the vectors of its inputs' and outputs' NodeArg* */
	__u64 session;	   /* as in struct identity */
	__u64 index;
	__u64 kernel;
	__u64 node;
	__u64 tensor_at; /* where the last tensor was; 0: none, or the layout is proven */
	__u64 tensor[TENSOR_WORDS];		 /* its object */
	struct shape_value values[SHAPE_VALUES]; /* inputs, then outputs: n_values */
};

_Static_assert(sizeof(struct shape_value) == 96, "shape_value");
_Static_assert(sizeof(struct shapes_record) == 64 + 8 * TENSOR_WORDS + 96 * SHAPE_VALUES,
	       "shapes_record");

struct session_end_record {
	__u8 type;
	__u8 pad[3];
	__u32 tid;
	__u64 owner; /* InferenceSession* */
};

struct thread_record {
	__u8 type;
	__u8 pad[3];
	__u32 tid;
	char comm[16];
};

enum number_kind {
	NUMBER_OPERATOR,
	NUMBER_RUN,
	NUMBER_RUN_PLACE,
	NUMBER_SHAPES,
	NUMBER_KINDS,
};

/* The runs from number @first on, @count of them. */
struct window {
	__u32 first;
	__u32 count;
};

/* Losses, counted in the kernel. */
struct losses {
	__u64 ring_full;
	__u64 too_deep;
	__u64 threads_full;
	__u64 operators_full;
	__u64 work_lost;
};

#endif
