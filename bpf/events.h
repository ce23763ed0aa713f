/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records that cross the ring buffer, and the settings that cross the
 * other way: with ort/layout.h the only headers that both sides share. Fixed
 * widths, sizes asserted. All times are nanoseconds of CLOCK_MONOTONIC, all pointers are
 * the target's.
 */
#ifndef OPPROBE_EVENTS_H
#define OPPROBE_EVENTS_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define COUNTERS_MAX  16   /* events per capture */
#define DEPTH_MAX     16   /* operators open at once on a thread */
#define SETUPS_MAX    4	   /* likewise, of what sessions do before their runs */
#define NAME_BYTES    1024 /* of a node's name: whole up to this length */
#define WORD_BYTES    128  /* of an op type, a domain, a provider */
#define KEYS_MAX      8	   /* distinct parallel sections of one operator execution */
#define WINDOWS_MAX   16   /* ranges of runs to record */
#define SIGHT_BYTES   256  /* of the first argument's object, for calibration */
#define SHAPE_VALUES  32   /* inputs and outputs of an operator; with more, no shapes */
#define SHAPE_RANK    8	   /* dimensions of a tensor; with more, no shapes */
#define TENSOR_WORDS  24   /* of a tensor's object, for the search of its layout */
#define TAG_BYTES     128  /* of a run's tag, NUL included */
#define SETUP_BYTES   64   /* of what a setup is called, NUL included */
#define FAILURE_BYTES 512  /* of the message of a run that failed, NUL included */
#define INSTANCES_MAX 64   /* locations that are probed at once: runtimes in processes */
#define NO_ID	      0xffffffffU
#define STATIC_IDS    0x40000000U /* from here on, ids of operators known before they run */
#define NO_SLOT	      0x7ffffffU  /* nothing in the map, either, when * COUNTERS_MAX */
#define NO_SHAPES     0xffffffffU

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
	COUNTER_ON_CPU,	       /* ns, these three: see sched.bpf.h; they add up to the time */
	COUNTER_READY,
	COUNTER_BLOCKED,
	COUNTER_ALLOCS, /* these four: see memory.bpf.h */
	COUNTER_ALLOC_BYTES,
	COUNTER_FREED_BYTES,
	COUNTER_TEMP_BYTES,
	COUNTER_GPU_LAUNCHES, /* these four: see gpu/gpu.bpf.c */
	COUNTER_GPU_COPIES,
	COUNTER_GPU_COPY_BYTES,
	COUNTER_GPU_WAIT, /* ns */
};

static inline __u32 counter_is_sched(__u32 source)
{
	return source == COUNTER_ON_CPU || source == COUNTER_READY || source == COUNTER_BLOCKED;
}

static inline __u32 counter_is_memory(__u32 source)
{
	return source >= COUNTER_ALLOCS && source <= COUNTER_TEMP_BYTES;
}

static inline __u32 counter_is_gpu(__u32 source)
{
	return source >= COUNTER_GPU_LAUNCHES && source <= COUNTER_GPU_WAIT;
}

/*
 * What a site tells its program, as the cookie of its link: the runtime's own
 * value, how far the stack pointer there is below the one at the function's
 * first instruction, and whose it is of the locations that are probed.
 */
#define COOKIE_DEPTH_MAX 0xfffffe

static inline __u64 cookie_make(__u32 value, __s32 depth, __u32 instance)
{
	__u64 known = depth >= 0 && depth <= COOKIE_DEPTH_MAX ? depth + 1 : 0;

	return value | known << 32 | (__u64)instance << 56;
}

static inline __u32 cookie_value(__u64 cookie)
{
	return cookie;
}

/* Bytes, 0 where they are not known. */
static inline __u32 cookie_depth(__u64 cookie)
{
	__u32 known = cookie >> 32 & 0xffffff;

	return known - (known > 0);
}

/* Known: an exit must find exactly the frame of its entry. */
static inline __u32 cookie_depth_known(__u64 cookie)
{
	return (cookie >> 32 & 0xffffff) != 0;
}

static inline __u32 cookie_instance(__u64 cookie)
{
	return cookie >> 56;
}

/* What a session does before its runs. */
enum setup_kind {
	SETUP_LOADING = 1,    /* it gets its model */
	SETUP_INITIALIZATION, /* and makes of it what is executed */
};

enum record_type {
	RECORD_OPERATOR = 1,	/* an operator ended */
	RECORD_SIGHTING,	/* first sight of an operator, strings not readable yet */
	RECORD_STRINGS,		/* first sight of an operator, with its strings */
	RECORD_RUN,		/* a top-level run ended */
	RECORD_SESSION_END,	/* a session is about to be destroyed */
	RECORD_THREAD,		/* first sight of a thread */
	RECORD_THREADS_CHANGED, /* the process has a new thread */
	RECORD_FORKED,		/* the process has a new child */
	RECORD_EXECUTED,	/* the process executes another program */
	RECORD_SHAPES,		/* first sight of the shapes of an operator's values */
	RECORD_TAG,		/* a run has begun that its caller gave a tag */
	RECORD_FAILURE,		/* a run or a setup is about to end, the first that failed so */
	RECORD_SETUP,		/* a session has loaded its model, or was initialized */
	RECORD_PART,		/* a pool thread has done its part of a section */
	RECORD_SAMPLE,		/* what a thread was doing when it was looked at */
	RECORD_STACK,		/* first sight of a session by a sample: whose is it? */
	RECORD_LAUNCH,		/* a thread tells a GPU to do something */
	RECORD_BATCH,		/* operators of one thread ended */
};

enum record_flags {
	FLAG_THREW = 1 << 0,	/* left by an exception: no end, no counters */
	FLAG_MIGRATED = 1 << 1, /* ended on another CPU than it began */
	FLAG_NESTED = 1 << 2,	/* other operators ran inside it */
	FLAG_WORK = 1 << 3,	/* values[] is followed by the work of other threads */
	FLAG_TURNS = 1 << 4,	/* and by how events took turns */
	FLAG_LACKS = 1 << 5,	/* of one that ran directly inside it the record was lost */
};

/* How events that are more than the CPU has counters for took turns. */
struct turns {
	__u64 enabled; /* ns that all of them could have counted: on a CPU */
	__u64 sampled; /* bit i: values[i] was counted for running[i] ns of that */
	__u64 running[];
};

/*
 * An operator ended. values[] holds n counters' deltas; then, where it
 * launched parallel sections, the nanoseconds that other threads worked for it
 * and n sums of their deltas, with FLAG_WORK, where 0 ns are none; then, with
 * FLAG_TURNS, struct turns with n values, and of other threads again n + 1
 * words: enabled and running. With FLAG_WORK and where keys are told, struct
 * part_keys. With counters of memory, a word: the most that the
 * arena had given out, see peak.bpf.h. Where shapes are read, the last word of the
 * record is a shapes_word.
 */
struct operator_record {
	__u8 type;
	__u8 instance;
	__u8 flags;
	__u8 depth;    /* 0: directly in a run */
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

#define BATCH_BYTES 1024

/* Records of operators, see batch.bpf.h. In the ring it ends with the last of them. */
struct batch_record {
	__u8 type;
	__u8 pad;
	__u16 each;  /* bytes of one */
	__u32 bytes; /* of all of them */
	__u8 records[BATCH_BYTES];
};

_Static_assert(sizeof(struct batch_record) == 8 + BATCH_BYTES, "batch_record");

struct shapes_word {
	__u32 number; /* of a shapes_record, or NO_SHAPES */
	__u32 ns;     /* that reading them took on the CPU, behind the operator's end */
};

_Static_assert(sizeof(struct shapes_word) == sizeof(__u64), "shapes_word");

/* Which of the part_records, and of pool threads' launches, are of an operator: all of them
 * precede its own record. */
struct part_keys {
	__u64 n;	      /* parts that it has, told or lost; 0 where they are not told */
	__u64 keys[KEYS_MAX]; /* of its sections; 0 behind the last one */
};

struct part_record {
	__u8 type;
	__u8 migrated; /* 1: ended on another CPU than it began */
	__u16 cpu;     /* at its end */
	__u32 tid;
	__u32 pid;
	__u32 pad;
	__u64 key; /* of the section, see work.bpf.h */
	__u64 start;
	__u64 end;
};

_Static_assert(sizeof(struct part_record) == 40, "part_record");

/* What a run returned: 0 if it was good, else the runtime's own number, or: */
#define STATUS_UNKNOWN 0xffffffffU

/* A top-level run ended; values[] as in struct operator_record, without other threads and
 * shapes. */
struct run_record {
	__u8 type;
	__u8 instance;
	__u16 counted;
	__u32 tid;
	__u32 run;
	__u32 flags;
	__u32 operators; /* that began in it on its own thread, at any depth */
	__u32 status;	 /* STATUS_UNKNOWN, too, if it threw */
	__u64 owner;	 /* the object that it is a run of, or 0 */
	__u64 session;	 /* of its first operator, or 0 */
	__u64 start;
	__u64 end;
	__u64 values[];
};

_Static_assert(sizeof(struct run_record) == 56, "run_record");

/* What runs that fail are told apart by; for each the message of the first is sent. */
struct failure_key {
	__u64 owner;
	__u32 instance;
	__u32 status;
	__u32 generation; /* sessions destroyed before: of another one at the same address */
	__u32 pad;
};

struct failure_record {
	__u8 type;
	__u8 instance;
	__u8 pad[2];
	__u32 status;
	__u64 owner;		     /* as in the record of the run or setup, */
	__u64 session;		     /* which follows; 0 of a setup */
	char message[FAILURE_BYTES]; /* ends with the first NUL, if there is any */
};

_Static_assert(sizeof(struct failure_record) == 24 + FAILURE_BYTES, "failure_record");

/* What an operator is known by while its session lives. */
struct operator_key {
	__u64 session; /* the object that it belongs to, or 0 where index alone tells */
	__u64 index;   /* in the session, or an address of its own */
	__u32 instance;
	/*
	 * 1: seen in a run whose owner is known; 0: what was seen of it, as its root, may be of
	 * the rest of a run that was not seen to start.
	 */
	__u32 owned;
};

/* What an operator is, beside its strings. */
struct identity {
	struct operator_key key;
	__u64 root;  /* session of the outermost operator open on the thread */
	__u64 owner; /* of the open run, or 0 */
	__u32 id;
	__u32 tid;
	__u32 generation; /* sessions destroyed before */
	__u32 parent; /* of a sampled one: id of the operator that it runs inside of, or NO_ID */
};

struct sighting_record {
	__u8 type;
	__u8 instance;
	__u8 sampled; /* 1: by a sample, which has given it no id yet */
	__u8 pad[5];
	struct identity identity;
	/* The probe's first argument, of a sample the object at its landmark: what memory[] was
	 * read from. */
	__u64 context;
	__u8 memory[SIGHT_BYTES];
};

/* Lengths are those in the target; a longer string was cut to its array. */
struct strings_record {
	__u8 type;
	__u8 instance;
	__u8 verified; /* the node found has the index that was asked for */
	__u8 pad[5];
	struct identity identity;
	__u64 node_index;
	__u32 name_length, op_type_length, domain_length, provider_length;
	char op_type[WORD_BYTES];
	char domain[WORD_BYTES];
	char provider[WORD_BYTES];
	char name[NAME_BYTES];
};

_Static_assert(sizeof(struct identity) == 56, "identity");
_Static_assert(sizeof(struct sighting_record) == 72 + SIGHT_BYTES, "sighting_record");
_Static_assert(sizeof(struct strings_record) == 88 + 3 * WORD_BYTES + NAME_BYTES, "strings_record");

/* -- samples, see sample.bpf.h -------------------------------------------------------- */

enum sample_kind {
	SAMPLE_OWN,	/* the thread is in operator @id, */
	SAMPLE_POOL,	/* or works for it */
	SAMPLE_NOTHING, /* it is in no operator */
	SAMPLE_UNNAMED, /* it is in one of which nothing is known yet */
	SAMPLE_UNKNOWN, /* its stack does not tell */
	SAMPLE_KINDS
};

/* Flags: it was in a system call, or in a page fault, */
#define SAMPLE_IN_KERNEL 1
/* or in the runtime's own file, as far as the innermost function tells. */
#define SAMPLE_IN_RUNTIME 2

struct sample_record {
	__u8 type;
	__u8 instance; /* of its operator; else the first one of its process */
	__u8 kind;     /* enum sample_kind */
	__u8 flags;
	__u32 tid;
	__u32 pid;
	__u32 id; /* of the operator, or NO_ID */
	__u64 time;
	__u64 period; /* ns, or how many of its event, since the one before on this CPU; or: */
	__u64 ready;  /* where that are ns off the CPUs, those in which it could have run */
	__u64 ip;     /* in user space, where it is or will go on */
	__u64 mapped; /* pages of code that its process maps: with others, its files are others */
};

_Static_assert(sizeof(struct sample_record) == 56, "sample_record");

#define SAMPLED_STACK	  1536
#define SAMPLED_OWN_STACK 1024 /* of these, of the thread itself */
#define SAMPLE_AROUND_MAX 8    /* operators that one is inside of, itself included */

/*
 * First sight of an operator of a session, which may be a part of another one: the sessions of
 * the operators that it seems to be inside of, from itself outwards, and what lies on the stack
 * above them; and above what the runtime says is of the run that it belongs to, which may be on
 * another thread. What of that is left of calls that are over is for user space to find out.
 */
struct stack_record {
	__u8 type;
	__u8 instance;
	__u8 n_sessions;
	__u8 pad;
	__u32 n;     /* words of the thread's stack, from the first on, */
	__u32 n_run; /* and of the run's, from number SAMPLED_OWN_STACK on */
	__u32 generation;
	__u64 sessions[SAMPLE_AROUND_MAX];
	__u64 words[SAMPLED_STACK];
};

_Static_assert(sizeof(struct stack_record) == 16 + 8 * SAMPLE_AROUND_MAX + 8 * SAMPLED_STACK,
	       "stack_record");

/* What a thread is in that has a landmark on its stack: enum landmark_kind of user space. */
enum sampled_kind {
	SAMPLED_OPERATOR,
	SAMPLED_TASK,
};

#define SAMPLED_LANDMARKS 32   /* of a process */
#define SAMPLED_CPUS	  1024 /* a power of two */

/* What a process has of landmarks (user/runtime/runtime.h), in its own address space. */
struct sampled_process {
	__u64 low, span; /* all of them are within */
	__u32 n;
	__u32 instance;		   /* the first one of the process */
	__u64 code_low, code_span; /* of the runtime's file */
	struct sampled_landmark {
		__u64 address;
		__u64 object;
		__s32 distance;
		__u8 kind; /* enum sampled_kind */
		__u8 instance;
		__u8 pad[2];
	} landmarks[SAMPLED_LANDMARKS];
};

struct sampled_session {
	__u64 root;
	__u32 instance;
	__u32 generation;
};

/* -- shapes ---------------------------------------------------------------------------- */

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
	__u8 instance;
	__u8 n_inputs;
	__u8 n_values;
	__u8 verified; /* the kernel found is the operator's */
	__u8 pad[3];
	__u32 number;
	__u32 id;	   /* of the operator */
	__u32 epoch;	   /* of the layout that it was read with */
	__u32 constants;   /* bit i: input i is a constant of the session */
	__u32 definitions; /* in Node: the vectors of its inputs' and outputs' NodeArg* */
	__u32 pad2;
	struct operator_key key;
	__u64 kernel;
	__u64 node;
	__u64 tensor_at; /* where the last tensor was; 0: none, or the layout is proven */
	__u64 tensor[TENSOR_WORDS];		 /* its object */
	struct shape_value values[SHAPE_VALUES]; /* inputs, then outputs: n_values */
};

_Static_assert(sizeof(struct shape_value) == 96, "shape_value");
_Static_assert(sizeof(struct shapes_record) == 80 + 8 * TENSOR_WORDS + 96 * SHAPE_VALUES,
	       "shapes_record");

struct tag_record {
	__u8 type;
	__u8 instance;
	__u8 pad[2];
	__u32 run;
	char text[TAG_BYTES]; /* ends with the first NUL; a longer one was cut */
};

_Static_assert(sizeof(struct tag_record) == 8 + TAG_BYTES, "tag_record");

struct setup_record {
	__u8 type;
	__u8 instance;
	__u8 kind; /* enum setup_kind */
	__u8 pad;
	__u32 tid;
	__u32 status; /* as a run's */
	__u32 pad2;
	__u64 owner; /* as a run's */
	__u64 start;
	__u64 end;
	char name[SETUP_BYTES]; /* the runtime's own for it, if that is a text; ends with a NUL */
};

_Static_assert(sizeof(struct setup_record) == 40 + SETUP_BYTES, "setup_record");

/* What a GPU is told to do. */
enum launch_kind {
	LAUNCH_KERNEL = 1, /* to run a kernel, */
	LAUNCH_GRAPH,	   /* or what a graph holds, */
	LAUNCH_COPY,	   /* or to copy memory; */
	LAUNCH_WAIT,	   /* no: a thread has waited for it */
	LAUNCH_KINDS
};

/* What a thread waits for. */
enum wait_kind {
	WAIT_STREAM,
	WAIT_EVENT,
	WAIT_DEVICE, /* all that it has to do */
	WAIT_COPY,   /* that it has told it itself */
	WAIT_KINDS
};

struct launch_record {
	__u8 type;
	__u8 instance; /* of the operator that is open on the thread; else of the library */
	__u8 kind;     /* enum launch_kind */
	__u8 driver;   /* 1: @kernel is the driver's handle, else the address of a host stub */
	__u32 tid;
	__u32 id;	  /* of that operator, or NO_ID */
	__u32 run;	  /* NO_ID: in none that is known */
	__u8 in_operator; /* 1: one is open, of which nothing may be known; else, */
	__u8 in_task;	  /* 1: it is in a parallel section */
	__u8 waits_for;	  /* enum wait_kind */
	__u8 hip;	  /* 1: it is told to HIP, else to CUDA */
	__u32 unloads;	  /* so far, of what holds kernels: their handles may be others' then */
	__u64 key;    /* of the section that it works for, see work.bpf.h; 0: none that is known */
	__u64 time;   /* when it began */
	__u64 kernel; /* or the graph, or the event; of a copy 0 */
	__u64 stream; /* 0: the default one, or not known */
	union {
		__u64 bytes; /* of a kernel: of shared memory that it asks for beside its own */
		__u64 took;  /* of a wait, ns */
	};
	__u64 mapped;		 /* pages of code that its process maps, as in a sample */
	__u32 grid[3], block[3]; /* of a kernel */
};

_Static_assert(sizeof(struct launch_record) == 96, "launch_record");

struct session_end_record {
	__u8 type;
	__u8 instance;
	__u8 pad[2];
	__u32 tid;
	__u64 owner;
};

/* Of first sight and of what happens to a process; comm[] of first sight only. */
struct thread_record {
	__u8 type;
	__u8 pad[3];
	__u32 tid;
	__u32 pid;
	char comm[16];
};

/* Of one location that is probed: a runtime in a process. */
struct instance {
	__u32 generation; /* sessions destroyed so far; counted by the programs */
	/* Written by user space: no end of a session can be seen, so that what is known of
	 * operators holds for one run. */
	__u32 forget_each_run;
	/* Likewise: where an arena counts the bytes that it has given out, from its address; 0:
	 * not known. Then a program tells an arena's address, for user space to find that. */
	__u32 in_use_at;
	__u32 pad;
	__u64 arena;
	/* Likewise, of a library of a GPU: the code of its file, in the process. */
	__u64 code_low, code_span;
};

#define IN_USE_AT_MAX 0x1000
#define PEAK_UNKNOWN  0xffffffffffffffffULL /* 0: nothing was got of an arena */

/* Without cookies (before 5.15) a program asks for its site's by where it is. */
struct site_key {
	__u64 address;
	__u32 pid;
	__u32 pad;
};

enum number_kind {
	NUMBER_OPERATOR,
	NUMBER_RUN,
	NUMBER_SHAPES,
	NUMBER_KINDS,
};

/* The runs from number @first on, @count of them. */
struct window {
	__u32 first;
	__u32 count;
};

/*
 * Sums kept in the kernel, see sums.bpf.h. Durations are counted in buckets of eight per
 * power of two, the lowest eight of one nanosecond each; what is longer than the
 * last one is in it, too.
 */
#define SUMS_MAX     16384 /* operators; a power of two */
#define SUM_BUCKETS  304   /* up to 2^40 ns */
#define RUN_SUMS_MAX 1024  /* sessions */

/*
 * What events counted of executions or runs: of n events, a table of n words for each of these.
 * The first is the one that most executions add to.
 */
enum sum_count {
	SUM_VALUE,	/* on the calling thread */
	SUM_BELOW,	/* of that, in operators directly inside */
	SUM_WORK,	/* on other threads, for these executions themselves, */
	SUM_WORK_BELOW, /* and for those inside */
	SUM_MISSING,	/* executions for which it was not counted */
	SUM_COUNTS,
};

/*
 * What executions of an operator took; or the runs of a session, of those that were good, and of
 * which no operator was lost.
 */
struct sum {
	__u64 ns;	     /* of all */
	__u64 below_ns;	     /* of that, in operators directly inside, on the run's own thread, */
	__u64 children;	     /* of which there were so many, */
	__u64 inside;	     /* and so many at all depths */
	__u64 nested;	     /* executions that had any */
	__u64 migrated;	     /* ended on another CPU than they began */
	__u64 elsewhere;     /* were on another thread than their run */
	__u64 unclear;	     /* runs of which the counts below are not all of that */
	__u64 work_ns;	     /* of other threads, for these executions; for all in these runs */
	__u64 work_below_ns; /* for what ran inside of executions */
	__u32 buckets[SUM_BUCKETS];		 /* of ns: together, how many there were */
	__u64 counts[SUM_COUNTS * COUNTERS_MAX]; /* of an operator, as many as are wanted */
};

/* Of one operator: all of its executions at the same place, that is below the same parent. */
struct operator_sum {
	__u32 owner; /* the operator's id + 1; 0: free, which user space says */
	__u32 parent;
	__u8 instance;
	__u8 depth;
	__u8 pad[2];
	__u32 generation; /* of the instance, in which the operator got its number */
	struct sum sum;	  /* empty where it is free */
};

struct run_sum_key {
	__u64 owner, session; /* as a run_record's */
	__u32 instance;
	__u32 generation; /* of it */
};

#define RUN_SET_BITS 9 /* 512 sets: some hundred runs at once never fill one */
#define RUN_SETS     (1 << RUN_SET_BITS)
#define RUN_PLACES   8 /* in a set */

/* Where a run is open, see runs.bpf.h. */
struct run_place {
	__u64 sp; /* at its entry; 0: none is open */
	__u64 owner;
	__u32 run;
	__u32 pid;  /* stacks of different processes have the same addresses */
	__u32 held; /* by how many threads; more than 1: some of them give way */
	__u32 pad;
};

struct run_places {
	struct run_place places[RUN_PLACES];
};

/* Losses, counted in the kernel. */
struct losses {
	__u64 ring_full;
	__u64 too_deep;
	__u64 threads_full;
	__u64 operators_full;
	__u64 unnumbered; /* operators that got no id */
	__u64 work_lost;
	__u64 runs_full; /* runs that found no place, see runs.bpf.h */
};

#endif
