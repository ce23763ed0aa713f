/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording is made of: records, in the order in which they became
 * known, and the sinks that take them. collect/ hands records to one sink and
 * knows no more of it; the capture file, the fold of analyze/, the exports, the live view
 * and the measurement of the probes' own cost are sinks.
 *
 * Things are referred to by small numbers (operator, session, thread, shapes,
 * process) that are defined by a record before their first use. All times are
 * nanoseconds of CLOCK_MONOTONIC. What is not known is absent
 * (CAPTURE_UNKNOWN, a cleared flag or mask bit, an empty string), never 0.
 */
#ifndef OPPROBE_RECORDS_H
#define OPPROBE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/attribute.h"
#include "../base/known.h"
#include "shapes.h"

#define CAPTURE_UNKNOWN	  UINT32_MAX
#define CAPTURE_COUNTERS  16
#define CAPTURE_NOTES	  8
#define CAPTURE_NOTE_SIZE 256
#define CAPTURE_TAG_SIZE  128
#define CAPTURE_NAME_SIZE 64	     /* of a setup's name */
#define CAPTURE_PATH_MAX  4096	     /* bytes of a model's path, */
#define CAPTURE_WORDS_MAX 1024	     /* and of any other text of it */
#define CAPTURE_DEPTH_MAX 64	     /* depths are below it */
#define CAPTURE_PARTS_MAX 8192	     /* of an execution; more of them count as lost */
#define CAPTURE_BUCKETS	  304	     /* of durations, see struct capture_sum */
#define CAPTURE_IDS_MAX	  (1u << 20) /* numbers of operators, threads, sessions, shapes, too */

/* One event that was counted. */
struct capture_event {
	char name[128];	  /* the user's name, else the event's own */
	char event[128];  /* the full event: "perf::INSTRUCTIONS:u" */
	uint32_t group;	  /* events of one number are scheduled together */
	bool multiplexed; /* may have been off for a part of the time */
	char unit[16];	  /* "ns" for clocks, "bytes", "" for counts */
};

/* From where data comes: the roof is of reading, or of reading and writing, what lies there. */
enum capture_roof_level { ROOF_L1, ROOF_L2, ROOF_L3, ROOF_MEMORY, ROOF_LEVELS };

/* What CPUs can do at most, each second. 0: not known. */
struct capture_roof {
	uint64_t flops; /* multiply-adds of single precision are two */
	uint64_t bytes[ROOF_LEVELS];
};

#define CAPTURE_ROOF_MAX UINT64_C(1000000000000000000) /* what is more was not measured */

/* What the machine can do at most, as `opprobe doctor --roofs` measured it. */
struct capture_roofs {
	uint64_t measured;     /* when, s of CLOCK_REALTIME; 0: never, and nothing is known */
	uint32_t cpus;	       /* that all are of */
	char instructions[16]; /* whose, "AVX2" */
	struct capture_roof one, all; /* of one CPU, and of those of them together */
};

/*
 * Facts about the recording that are known before the first operator. What
 * they say of a process and of a runtime is that of process 0.
 */
struct capture_info {
	uint32_t pid;
	char command[256];  /* the target's command line, shortened */
	char library[1024]; /* path of the runtime, as the target knows it */
	char runtime[64];   /* "onnxruntime" */
	char version[32];   /* "" if unknown */
	char build_id[41];
	char kernel[128]; /* uname release */
	char machine[32]; /* uname machine */
	char cpu[128];	  /* model name */
	char host[128];
	uint32_t n_cpus;
	struct capture_roofs roofs;
	int64_t realtime_offset; /* CLOCK_REALTIME - CLOCK_MONOTONIC, ns */
	int64_t boottime_offset; /* CLOCK_BOOTTIME - CLOCK_MONOTONIC, ns, */
	bool has_boottime;	 /* if that is known */
	uint64_t start; /* when they were about to go in, if struct capture_begin does not come */
	char opprobe_version[32];
	struct capture_event events[CAPTURE_COUNTERS];
	uint32_t n_events;
	/* Lines that every view's header repeats: "no hardware counters here: ..." */
	char notes[CAPTURE_NOTES][CAPTURE_NOTE_SIZE];
	uint32_t n_notes;
};

/* A process beside the first. What is not known is "". */
struct capture_process {
	uint32_t process; /* from 1 on */
	uint32_t pid;
	uint32_t parent; /* the process that forked it, if that is one of the recording */
	const char *command, *library, *runtime, *version, *build_id; /* as in the info */
};

struct capture_thread {
	uint32_t thread;
	uint32_t tid;
	char comm[16];
	uint32_t process;
};

struct capture_session {
	uint32_t session;
	uint64_t address; /* in the target; reused after a release */
	uint32_t process;
};

/*
 * What a session is: its model, and how it executes it. Behind its session, at any
 * time; each part may be unknown by itself. A later one of the same session takes
 * the place of the one before. Strings may hold any bytes.
 */
struct capture_model {
	uint32_t session;
	const char *path; /* as the user gave it; "" of a model from memory; NULL if not known */
	const char *graph, *producer; /* as the model says, perhaps ""; NULL if not known */
	const char
		*providers;  /* in the order of preference, a ',' between them; NULL if not known */
	uint64_t graph_hash; /* of the graph's operators as they are executed; 0 if not known */
	/* That execute, the caller's included; 0 if not known, or (inter) not used. */
	uint32_t intra_threads, inter_threads;
	/* enum known: */
	uint8_t parallel; /* operators of a run at once, not one after the other */
	uint8_t intra_spins,
		inter_spins; /* threads of the pool spin for a while before they sleep */
	uint8_t memory_pattern, arena;
	/* What its memory arena counts, if that is known: bytes given out when it was asked,
	 * at most until then, and taken from the system for it. */
	bool has_memory;
	uint64_t memory_in_use, memory_most, memory_total;
};

enum capture_setup_kind {
	CAPTURE_SETUP_LOADING = 1,    /* it got its model */
	CAPTURE_SETUP_INITIALIZATION, /* and made of it what is executed */
	CAPTURE_SETUP_KINDS
};

/* What a session did before its runs, written when it was over. */
struct capture_setup {
	uint32_t session;
	uint32_t thread;
	uint32_t kind;		      /* enum capture_setup_kind */
	char name[CAPTURE_NAME_SIZE]; /* the runtime's own for it, "" if it has none; any bytes */
	uint64_t start, end;
	bool has_status;  /* what it returned is known */
	uint32_t failure; /* then: why it failed, or CAPTURE_UNKNOWN if it did not */
};

/* It returned an error, which is known. */
static inline bool setup_failed(const struct capture_setup *setup)
{
	return setup->has_status && setup->failure != CAPTURE_UNKNOWN;
}

/* A node of a session's graph (or of a subgraph's). Strings may hold any bytes. */
struct capture_operator {
	uint32_t op;
	uint32_t session;    /* CAPTURE_UNKNOWN if not known */
	uint32_t node_index; /* CAPTURE_UNKNOWN if not known */
	const char *name;    /* as in the graph: "" for an unnamed node */
	const char *op_type;
	const char *domain;
	const char *provider;
	bool name_truncated;
};

/*
 * Attributes of an operator, behind it and before its first execution; an operator
 * without such a record has some that are not known. @attributes are sound ones.
 */
struct capture_attributes {
	uint32_t op;
	uint32_t n; /* up to ATTRIBUTES_MAX */
	const struct attribute *attributes;
};

enum capture_exec_flags {
	EXEC_THREW = 1 << 0,	/* its kernel threw: end and counters are not known */
	EXEC_MIGRATED = 1 << 1, /* ended on another CPU than it began */
	EXEC_NESTED = 1 << 2,	/* other operators ran inside it (If, Loop, Scan) */
	EXEC_WORK = 1 << 3,	/* work_* holds what other threads did for it */
	EXEC_TURNS = 1 << 7,	/* turns is known */
	EXEC_LACKS = 1 << 9,	/* one that ran directly inside it was lost, or may have been */
	EXEC_PARTS = 1 << 11,	/* parts[] holds what work_ns is the sum of */
};

/*
 * More events than a CPU has counters for take turns. Then they do not count
 * all the time of an execution: for how long they could have counted (the time
 * on a CPU, the same for all of them), and for how long those did that paused.
 */
struct capture_turns {
	uint64_t enabled; /* ns */
	/* Bit i set: counters[i] was counted, but for running[i] ns of enabled only. */
	uint32_t sampled;
	uint64_t running[CAPTURE_COUNTERS];
	/* The same of other threads, with EXEC_WORK. */
	uint64_t work_enabled, work_running[CAPTURE_COUNTERS];
};

/* What the caller of a run says that it belongs to, before anything of it. */
struct capture_tag {
	uint32_t run;
	char text[CAPTURE_TAG_SIZE]; /* any bytes, not ""; a longer one was cut */
};

/*
 * Why runs and setups fail: what they return, in the runtime's own words, and the
 * message of the first one of a session that did so.
 */
struct capture_failure {
	uint32_t failure;
	uint32_t session;    /* CAPTURE_UNKNOWN if not known */
	uint32_t code;	     /* the runtime's own, not 0 */
	const char *name;    /* of the code: "INVALID_ARGUMENT", "" if not known */
	const char *message; /* any bytes, "" if not known; shortened */
};

/*
 * What one thread of a pool did of an execution, in one go: its part of one
 * parallel section. Without its spinning, and without what the launcher itself
 * does, which is in the execution's own time.
 */
struct capture_part {
	uint32_t thread;
	uint32_t cpu;  /* at its end */
	bool migrated; /* it ended on another CPU than it began */
	uint64_t start, end;
};

/* One execution of an operator, written when it ended: a nested one
 * therefore precedes the one that it ran inside. */
struct capture_exec {
	uint32_t op;
	uint32_t thread;
	uint32_t run;	 /* CAPTURE_UNKNOWN if its run was not seen to start */
	uint32_t parent; /* the operator (not execution) around it, or CAPTURE_UNKNOWN */
	uint32_t shapes; /* CAPTURE_UNKNOWN unless recorded */
	/* What reading them took, behind its end: ns in whatever it ran inside of; 0 if not known.
	 */
	uint32_t shapes_ns;
	uint32_t depth; /* 0: directly in a run */
	uint32_t flags;
	uint32_t cpu;	     /* at its end */
	uint64_t start, end; /* end == start if EXEC_THREW */
	/* Bit i set: counters[i] was counted for all of it, on all its threads. */
	uint32_t counted;
	uint64_t counters[CAPTURE_COUNTERS]; /* the calling thread's */
	/* With EXEC_WORK: what other threads did for it, beside the above, and
	 * without what they did for operators that ran inside it. */
	uint64_t work_ns;			  /* summed over those threads */
	uint64_t work_counters[CAPTURE_COUNTERS]; /* valid where counted or sampled */
	struct capture_turns turns;		  /* with EXEC_TURNS: no event paused without */
	/* Bytes that its memory arena had given out at most: at its start, and right behind
	 * what was got of it for this operator or inside of it; 0: not known. */
	uint64_t peak;
	/*
	 * With EXEC_PARTS, and then EXEC_WORK, too: which threads worked on it, and when, in
	 * the order in which they began. All of them lie in the time of the execution, and they
	 * add up to work_ns, or to less where some were lost, which are counted. Those of one
	 * thread do not overlap, which readers do not check. Without EXEC_PARTS, parts were
	 * not recorded. It is the reader's memory: see struct record_sink.
	 */
	uint32_t n_parts; /* up to CAPTURE_PARTS_MAX; 0 if all were lost */
	const struct capture_part *parts;
};

/* One top-level run, written when it ended. */
struct capture_run {
	uint32_t run; /* numbered over the capture, from 0, as they start */
	uint32_t session;
	uint32_t step; /* numbered per session, from 0 */
	uint32_t thread;
	uint64_t start, end;
	bool threw;	  /* left by an exception: end is not known */
	bool has_status;  /* what it returned is known */
	uint32_t failure; /* then: why it failed, or CAPTURE_UNKNOWN if it did not */
	uint32_t counted;
	uint64_t counters[CAPTURE_COUNTERS];
	bool has_turns;
	struct capture_turns turns; /* without work_*: it is the thread's own */
	/* How many operators began in it on its own thread, at any depth: if
	 * fewer were recorded, the others were lost. */
	bool has_operators;
	uint32_t operators;
	/* As of an execution, of what its own thread got, perhaps nothing; if that and the
	 * peaks of all its operators are known. With has_operators. */
	bool has_peak;
	uint64_t peak;
};

/* It returned an error, which is known. One that threw did not return. */
static inline bool run_failed(const struct capture_run *run)
{
	return run->has_status && run->failure != CAPTURE_UNKNOWN;
}

/*
 * Executions of one operator that ended in an interval, added up, where they are not told one by
 * one: all at one place of the graph. Or runs of one session, of those that are not told:
 * they were good, and no operator of them was lost. What is added up is read while it grows, so
 * that of one that ends at that moment a part may be in the next interval.
 *
 * Durations are counted in buckets: a duration below 8 ns has one of its own, and above that each
 * power of two has eight of the same width. The last one holds all that is longer, too.
 */
struct capture_sum {
	bool of_runs;
	uint32_t session; /* of runs, CAPTURE_UNKNOWN if it is not known; else the operator's own */
	uint32_t op, parent; /* of executions; as in struct capture_exec */
	uint32_t depth;
	uint64_t start, end; /* the interval */
	uint64_t ns;	     /* of all */
	uint64_t below_ns;   /* of that, in operators directly inside, and on the run's thread, */
	uint64_t children;   /* of which there were so many, */
	uint64_t inside;     /* and so many at all depths */
	uint64_t nested;     /* executions that had any */
	uint64_t migrated;   /* ended on another CPU than they began */
	uint64_t elsewhere;  /* were on another thread than their run */
	uint64_t unclear;    /* runs whose events tell nothing of what is below */
	uint64_t work_ns;    /* of other threads, for these executions themselves, */
	uint64_t work_below_ns; /* and for what ran inside */
	struct {
		uint64_t missing; /* executions or runs for which the event was not counted, */
		uint64_t value;	  /* and what it counted for the others, on the calling thread; */
		uint64_t below, work, work_below; /* as above */
	} counters[CAPTURE_COUNTERS];
	/* CAPTURE_BUCKETS of them; together, how many there were: at least one. It is the
	 * reader's memory: see struct record_sink. */
	const uint32_t *buckets;
};

/* How many executions, or runs, it is of. */
static inline uint64_t capture_sum_count(const struct capture_sum *sum)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < CAPTURE_BUCKETS; i++)
		count += sum->buckets[i];
	return count;
}

/* The middle of bucket @i, ns. */
static inline uint64_t capture_bucket_middle(uint32_t i)
{
	uint32_t power = i >> 3;

	return power ? ((uint64_t)(8 + (i & 7)) << (power - 1)) +
			       ((UINT64_C(1) << (power - 1)) - 1) / 2
		     : i;
}

/* What was lost so far; each is a running total, the last record counts. */
struct capture_loss {
	uint64_t ring_full;    /* records that found the ring buffer full */
	uint64_t too_deep;     /* operators nested deeper than the stack */
	uint64_t unnamed;      /* operators whose strings could not be read */
	uint64_t missed;       /* probe hits that the kernel skipped */
	uint64_t threads_full; /* hits on threads beyond the table */
	uint64_t work_lost;    /* operators whose share of other threads is not known */
	uint64_t runs_full;    /* runs whose operators on other threads are in no run */
	uint64_t unfinished;   /* operators that waited for the end of their run, which was lost */
	uint64_t parts_lost;   /* parts of executions that are there: work_ns has them */
};

/* Records of operators, or at least of something: which of them is not known. */
static inline uint64_t loss_operators(const struct capture_loss *loss)
{
	return loss->ring_full + loss->too_deep + loss->unnamed + loss->missed +
	       loss->threads_full + loss->unfinished;
}

/* Whatever was lost, of every kind. */
static inline uint64_t loss_total(const struct capture_loss *loss)
{
	return loss_operators(loss) + loss->work_lost + loss->runs_full + loss->parts_lost;
}

/* Take what was lost @before off @loss. */
static inline void loss_subtract(struct capture_loss *loss, const struct capture_loss *before)
{
	loss->ring_full -= before->ring_full;
	loss->too_deep -= before->too_deep;
	loss->unnamed -= before->unnamed;
	loss->missed -= before->missed;
	loss->threads_full -= before->threads_full;
	loss->work_lost -= before->work_lost;
	loss->runs_full -= before->runs_full;
	loss->unfinished -= before->unfinished;
	loss->parts_lost -= before->parts_lost;
}

/* What a thread did for operators of others, over the whole recording: told at its end, and to
 * a sink that looks before that now and then, so far. */
struct capture_pool {
	uint32_t thread;
	uint64_t work_ns; /* inside of tasks */
	uint64_t cpu_ns;  /* on a CPU, whatever it did; 0 if not known */
};

/* What turned out while recording: views repeat it beside the notes of the info. */
struct capture_note {
	char text[CAPTURE_NOTE_SIZE];
};

/* What the probes add, measured on the machine of the recording: constants
 * that a view may subtract. Before the first execution, or not at all if they
 * could not be measured. */
struct capture_overhead {
	uint64_t own_ns;    /* to the time of each execution */
	uint64_t nested_ns; /* to the time of whatever it runs inside of, once per execution */
	uint64_t own[CAPTURE_COUNTERS]; /* the same of each counter */
	uint64_t nested[CAPTURE_COUNTERS];
};

/* Of which nothing is known: initialises a struct capture_model. */
#define CAPTURE_MODEL_UNKNOWN                                                                      \
	{                                                                                          \
		.parallel = NOT_KNOWN, .intra_spins = NOT_KNOWN, .inter_spins = NOT_KNOWN,         \
		.memory_pattern = NOT_KNOWN, .arena = NOT_KNOWN,                                   \
	}

/*
 * One run after the end of the recording, to tell what recording costs the
 * target: with the operators' probes in place, or without. What lies side by
 * side in time is a pair.
 */
struct capture_cost {
	uint32_t session; /* CAPTURE_UNKNOWN if not known */
	uint32_t pair;	  /* numbered from 0 */
	bool probed;
	uint64_t ns;
};

/*
 * A bound on what recording costs, kept by recording some of the runs: running totals, the last
 * record counts.
 */
struct capture_budget {
	uint32_t share_ppm; /* of the CPU time that the targets would use without probes, at least 1
			     */
	uint64_t cpu_ns;    /* that they used, probes and all, */
	uint64_t charged_ns; /* and what of it the probes took at most, by what is known of them */
	uint64_t windows;    /* in which runs were recorded */
	bool all_seen;	     /* the other runs are in struct capture_rest, all of them */
};

/* Runs of a session of which nothing but these figures was recorded: likewise totals. */
struct capture_rest {
	uint32_t session; /* CAPTURE_UNKNOWN if not known */
	uint64_t runs;
	uint64_t ns;
};

/* What samples are, and so what they stand for. */
enum capture_sampling_kind {
	CAPTURE_SAMPLING_TIME,	  /* of CPUs, at times that do not depend on what they do */
	CAPTURE_SAMPLING_EVENT,	  /* of an event: by rate, each for those since the one before */
	CAPTURE_SAMPLING_EACH,	  /* each event that there was: no estimate; neither are */
	CAPTURE_SAMPLING_OFF_CPU, /* each time that a thread was off the CPUs, by how long */
	CAPTURE_SAMPLING_KINDS
};

/* How samples were taken, before the first of them: how often, of what. */
struct capture_sampling {
	char event[128]; /* "cpu-clock" where they are of time */
	char unit[16];	 /* "ns", or "" of what is counted */
	uint32_t kind;	 /* enum capture_sampling_kind */
	uint64_t rate;	 /* so many in 1000 s of a CPU, on average; 0: at each */
	uint64_t period; /* so many events, of which each sample is one */
};

/* Do its samples stand for what was not looked at? */
static inline bool sampling_is_estimate(const struct capture_sampling *sampling)
{
	return sampling->kind == CAPTURE_SAMPLING_TIME || sampling->kind == CAPTURE_SAMPLING_EVENT;
}

/* What a thread was doing when it was looked at. */
enum capture_seen {
	CAPTURE_SEEN_OWN = 1,	/* it was in an operator, */
	CAPTURE_SEEN_POOL,	/* or worked for one that another thread was in */
	CAPTURE_SEEN_RUNTIME,	/* it was in no operator: in the runtime's own code, */
	CAPTURE_SEEN_ELSEWHERE, /* or anywhere else */
	CAPTURE_SEEN_UNNAMED,	/* in an operator of which nothing was known */
	CAPTURE_SEEN_UNKNOWN,	/* its stack did not tell */
	CAPTURE_SEEN_KINDS
};

/* Was it in an operator that is known, or did it work for one? */
static inline bool seen_in_operator(uint32_t seen)
{
	return seen == CAPTURE_SEEN_OWN || seen == CAPTURE_SEEN_POOL;
}

/* A thread was looked at. */
struct capture_sample {
	uint32_t seen;	     /* enum capture_seen */
	uint32_t op, parent; /* as in struct capture_exec; CAPTURE_UNKNOWN if in none */
	uint32_t depth;
	uint32_t thread;
	bool in_kernel; /* in a system call, a page fault or the like */
	uint64_t time;
	uint64_t amount;   /* of the event, that it stands for; about, of clocks; or */
	uint64_t ready;	   /* where it is ns off the CPUs, those of it that it waited for one */
	uint32_t function; /* that it was in, in user space; CAPTURE_UNKNOWN if not known */
	uint32_t at;	   /* bytes from the function's first one */
};

/* A file that a process maps, in which samples saw it. */
struct capture_file {
	uint32_t file;
	const char *path;     /* as the process knows it; any bytes */
	const char *build_id; /* hexadecimal; "" if it has none, or could not be read */
};

/*
 * What samples saw of a file: a function, or where that is not known, a part of the code. Or a
 * kernel of a GPU, of which nothing but the symbol is known.
 */
struct capture_function {
	uint32_t function;
	uint32_t file;	    /* CAPTURE_UNKNOWN of a kernel */
	bool bounded;	    /* it is one function, else what lies between those that are known */
	uint64_t offset;    /* in the file, of its first byte */
	uint64_t address;   /* the same as the file was linked, 0 if not known */
	uint64_t size;	    /* bytes; CAPTURE_FUNCTION_MAX at most, 0: to the file's end */
	const char *symbol; /* "" if it has none */
};

#define CAPTURE_FUNCTION_MAX (UINT64_C(1) << 32)

/* What a thread told a GPU to do. */
enum capture_launch_kind {
	CAPTURE_LAUNCH_KERNEL = 1, /* to run a kernel, */
	CAPTURE_LAUNCH_GRAPH,	   /* or what a graph holds, */
	CAPTURE_LAUNCH_COPY,	   /* or to copy memory; */
	CAPTURE_LAUNCH_WAIT,	   /* no: the thread has waited for it */
	CAPTURE_LAUNCH_KINDS
};

/* What it waited for. */
enum capture_wait {
	CAPTURE_WAIT_STREAM,
	CAPTURE_WAIT_EVENT,
	CAPTURE_WAIT_DEVICE, /* all that it had to do */
	CAPTURE_WAIT_COPY,   /* that it had told it itself */
	CAPTURE_WAITS
};

/* Whose it was. */
enum capture_launch_place {
	CAPTURE_LAUNCH_OUTSIDE, /* of no operator, */
	CAPTURE_LAUNCH_INSIDE,	/* of the one that was open on the thread, or that it worked for, */
	CAPTURE_LAUNCH_UNNAMED, /* of one that is not known, */
	CAPTURE_LAUNCH_POOL,	/* or in a parallel section, of one that is not known */
	CAPTURE_LAUNCH_PLACES
};

/* A thread told a GPU to do something. */
struct capture_launch {
	uint32_t kind;	/* enum capture_launch_kind */
	uint32_t place; /* enum capture_launch_place */
	uint32_t op;	/* CAPTURE_UNKNOWN unless it was inside of one */
	uint32_t run;	/* CAPTURE_UNKNOWN if it was in none, or that is not known */
	uint32_t thread;
	bool driver;	   /* it was told to the driver, not to a library above that */
	uint32_t function; /* the kernel, or one of the host that stands for it; CAPTURE_UNKNOWN:
			      not known */
	uint64_t time;	   /* when it began */
	uint64_t kernel; /* its address, or the driver's handle; of a graph, or an event, its; else
			    0 */
	uint64_t stream; /* 0: the default one, or not known */
	uint64_t bytes;	 /* of a copy; of a kernel, of shared memory beside what it has itself */
	uint32_t grid[3], block[3]; /* of a kernel */
	uint32_t waits_for;	    /* of a wait, enum capture_wait, */
	uint64_t took;		    /* and ns */
};

/* All probes are in place, which takes long of many processes: nothing of before is recorded. */
struct capture_begin {
	uint64_t begin;
};

/* The end of a complete capture; one that lacks it was cut short. */
struct capture_end {
	uint64_t end;
	char reason[64]; /* "interrupted", "duration reached", "target exited" */
};

enum capture_type {
	CAPTURE_THREAD = 1,
	CAPTURE_SESSION,
	CAPTURE_OPERATOR,
	CAPTURE_EXEC = 5, /* 4 were shapes as text, in format 1 */
	CAPTURE_RUN,
	CAPTURE_LOSS,
	CAPTURE_END,
	CAPTURE_INFO,
	CAPTURE_OVERHEAD,
	CAPTURE_POOL,
	CAPTURE_NOTE,
	CAPTURE_SHAPES,
	CAPTURE_PROCESS,
	CAPTURE_COST,
	CAPTURE_FAILURE,
	CAPTURE_TAG,
	CAPTURE_MODEL,
	CAPTURE_ATTRIBUTES,
	CAPTURE_SETUP,
	CAPTURE_SUM,
	CAPTURE_BUDGET,
	CAPTURE_REST,
	CAPTURE_SAMPLING,
	CAPTURE_SAMPLE,
	CAPTURE_FILE,
	CAPTURE_FUNCTION,
	CAPTURE_LAUNCH,
	CAPTURE_BEGIN,
};

struct capture_record {
	enum capture_type type;
	union {
		const struct capture_info *info;
		struct capture_process process;
		struct capture_thread thread;
		struct capture_session session;
		struct capture_model model;
		struct capture_setup setup;
		struct capture_operator op;
		struct capture_attributes attributes;
		struct capture_shapes shapes;
		struct capture_exec exec;
		struct capture_tag tag;
		struct capture_failure failure;
		struct capture_run run;
		struct capture_sum sum;
		struct capture_loss loss;
		struct capture_begin begin;
		struct capture_end end;
		struct capture_overhead overhead;
		struct capture_pool pool;
		struct capture_cost cost;
		struct capture_budget budget;
		struct capture_rest rest;
		struct capture_sampling sampling;
		struct capture_sample sample;
		struct capture_file file;
		struct capture_function function;
		struct capture_launch launch;
		struct capture_note note;
	};
};

/*
 * One who takes the records of one recording, from the first to the last:
 *
 *	info ─▶ { definitions } ─▶ [begin] ─▶
 *		{ definitions, executions, runs, losses, notes, ... } ─▶ end
 *
 * The info comes first and once; whatever a record refers to was defined
 * before; a nested execution precedes the one around it, an execution the
 * run that it is of. The end comes last, or never: a recording may break off
 * behind any record, and what was taken so far counts.
 *
 * A record, its strings, its values and the info that it points to belong to
 * who hands it over and are gone when take() returns: a sink copies what it
 * keeps.
 *
 * take() returns 0 or a negative errno. -EINVAL, -ERANGE and -E2BIG are of
 * this record (it contradicts itself or what came before, or is beyond a
 * limit): it is left out, and others may follow. Any other failure is the
 * sink's, and every later record gets it again. Whoever made the sink ends
 * and frees it; it is called from one thread at a time.
 *
 * A sink is the first member of what stands behind it, or a member found by
 * its offset.
 */
struct record_sink {
	int (*take)(struct record_sink *sink, const struct capture_record *record);
};

static inline int sink_take(struct record_sink *sink, const struct capture_record *record)
{
	return sink->take(sink, record);
}

#endif
