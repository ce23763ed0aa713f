/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The collector's state, for its own fifteen files: load.c brings the BPF
 * programs into the kernel, members.c the processes under their probes,
 * records.c takes what the programs send, unsettled.c what comes before names
 * can be read, executions.c what they tell of operators and runs, outcomes.c what they tell of runs
 * beside counts, models.c what sessions are, attributes.c what operators are, memory.c what is
 * known of their memory, gpu.c of what they have GPUs do, unfinished.c what waits for a run's end
 * in vain, cost.c compares runs when the recording is over, windows.c keeps those that lie in a
 * window, rest.c tells what is told beside all that, of the pool and of losses, collector.c is the
 * life as collector.h tells it.
 */
#ifndef OPPROBE_COLLECT_STATE_H
#define OPPROBE_COLLECT_STATE_H

#include "../../bpf/events.h"
#include "../base/array.h"
#include "../runtime/skeleton.h"
#include "collector.h"
#include "failures.h"
#include "held.h"
#include "identity.h"
#include "instance.h"
#include "parts.h"
#include "pool.h"
#include "sampled.h"
#include "sampler.h"
#include "thread_numbers.h"
#include "threads.h"
#include "windows.h"

/* What this kernel offers, asked at the load. */
struct kernel_features {
	bool task_storage; /* state kept with the task, from 5.11 on */
	bool cookies;	   /* handed to programs, from 5.15 on */
	bool task_regs;	   /* told to programs, from 5.15 on */
	bool multi;	   /* links of many probes, filtered by process, from 6.6 on */
};

struct news_list {
	ARRAY_OF(struct collector_news);
};

/* Runs of one kind, side by side in time with some of the other kind. */
struct cost_turn {
	bool probed; /* with the operators' probes in place */
	uint32_t pair;
	uint64_t since; /* runs count that begin later; 0: none does */
	uint32_t runs;	/* so far */
};

struct collector {
	struct collector_options options;
	struct opprobe_bpf *bpf;
	struct kernel_features features;
	ARRAY_OF(struct member *) members;
	ARRAY_OF(struct instance_state *) instances; /* by their number */
	bool with_memory;			     /* some counters are of it */
	/* Are the probes in place? */
	bool sessions_attached, runs_attached, operators_attached;
	struct ring_buffer *ring;
	ssize_t to_take;     /* bytes of it, before whoever takes them looks up */
	bool behind;	     /* there may be more, which wakes nobody */
	struct held *held;   /* with min_duration */
	struct parts *parts; /* NULL: keys are not told */
	struct sums *sums;   /* likewise */
	struct sampled *sampled;
	struct sampler *sampler;
	struct hot *hot;	  /* with layers: names of what they are told */
	struct run_place *places; /* where runs are open: NULL before that was asked */
	struct {
		ARRAY_OF(struct capture_part);
	} parts_told; /* with the last execution */
	struct thread_slots *threads;
	struct identity_table *identities;
	struct thread_numbers numbers;
	struct pool pool;
	struct capture_loss lost_before, lost_told; /* this capture; told: in all */
	struct failures failures;
	struct attribute_lists *attributes; /* of sessions, as they were asked last */
	uint32_t n_shapes, n_names;	    /* numbers given so far */
	struct news_list news;
	bool expecting; /* further targets, even if none of these lives */

	bool releasing;
	uint64_t operators, runs, unnamed, unheld, unfinished, parts_lost;
	uint64_t runs_ended; /* of those to record, kept or too short */
	uint64_t updated, reported, swept;
	unsigned int idle_turns; /* looks into the ring that found none, one after the other */
	uint64_t overfull; /* operators that found their table full, when it was cleared last */
	bool threads_changed;
	bool all_along;	      /* operators' probes have been there as long as those of runs */
	uint64_t ended;	      /* when the recording was over, 0 before; */
	uint32_t runs_at_end; /* how many runs had started then */
	bool closed;	      /* and all of it has been taken */
	struct cost_turn turn;
	struct windows windows; /* with options.windows */
	/* By part: the process whose probes are in place, or may be; NULL: those of all. */
	const struct process *only[PROBES_PARTS];
	struct error failure;
	int failed;
};

/* Are operators to tell the keys of their sections, as pool threads tell what they did? */
static inline bool collector_wants_keys(const struct collector_options *options)
{
	return options->parts || options->layers;
}

/* Load the BPF programs for the collector's options; 0 or a negative errno with @err set. */
int collector_load(struct collector *collector, struct error *err);
/*
 * Let go of the programs, if any, and of what they use. Before @living targets that takes its
 * time: some ms per program.
 */
void collector_unload(struct collector *collector, bool living);
/* Is any of @counters a perf event, so that threads need some? */
bool counters_need_events(const struct counter_set *counters);
/* Counters (bits) that are not known of what is at @location. */
uint32_t collector_hidden_counters(const struct collector *collector,
				   const struct location *location);
/*
 * What of GPUs is counted of @member, whose runtimes and layers are @located, and since when: of
 * what it turns out to be known now and was not before, @since.
 */
void collector_know_gpu(struct collector *collector, struct member *member,
			const struct located *located, uint64_t since);
/* Counters (bits) that are not known of what began at @start in @instance. */
uint32_t collector_hidden(const struct collector *collector, const struct instance_state *instance,
			  uint64_t start);
/* Tell the programs where the code of @instance lies, if it is a layer's. */
void collector_share_code(struct collector *collector, const struct instance_state *instance);
/*
 * Is @record as long as its flags say? Of @size bytes, which may be fewer than the record's own,
 * as from a damaged one.
 */
bool collector_operator_is_whole(const struct collector *collector,
				 const struct operator_record *record, size_t size);
bool collector_run_is_whole(const struct collector *collector, const struct run_record *record,
			    size_t size);
/* The keys of parallel sections in a whole @record; NULL if it has none. */
const struct part_keys *collector_part_keys(const struct collector *collector,
					    const struct operator_record *record);
/* Tell an execution by its whole @record of @size bytes, with parts_join()'s behind it. */
void collector_add_operator(struct collector *collector, struct instance_state *instance,
			    const struct operator_record *record, size_t size);
/* Tell a run that is to be kept, by its whole @record of @size bytes. */
void collector_add_run(struct collector *collector, struct instance_state *instance,
		       const struct run_record *record, size_t size);
/* A GPU is told something. */
void collector_add_launch(struct collector *collector, const struct instance_state *instance,
			  const struct launch_record *record);
/* Tell launches that wait for their operators as they are: of @member, or NULL: of all. */
void collector_leave_launches(struct collector *collector, const struct member *member);
/* Find where arenas count what they have given out, of which the programs told one. */
void collector_look_for_arenas(struct collector *collector);
/* Say what of memory turned out not to be known. */
void collector_send_memory_notes(struct collector *collector);

/* Take a record from the ring. Failures are kept in @collector. */
void collector_take(struct collector *collector, const void *data, size_t size);
/*
 * The recording is over, and its probes are out: take what there is of it, in the ring and where
 * records wait until they are many (bpf/batch.bpf.h).
 */
void collector_take_last(struct collector *collector);
/*
 * Take what is in the ring, or else what comes within @timeout_ms; was that anything? Of much it is
 * a part, so that whoever calls can look after other things, and the next call goes on at once.
 */
bool collector_drain(struct collector *collector, int timeout_ms);
/* Take all that is in the ring by now, and not for ever what comes meanwhile. */
void collector_take_all(struct collector *collector);
/* A record of an instance of which all is known that it needs. */
void collector_take_settled(struct collector *collector, const void *data, size_t size);
/* A record of @instance, of which not all is known yet. */
void collector_take_unsettled(struct collector *collector, struct instance_state *instance,
			      const void *data, size_t size);
#define COLLECTOR_CANNOT_WRITE "cannot write the capture"
#define COLLECTOR_CANNOT_HOLD  "cannot hold what comes in"

/* Keep @error, if it is one, as the collector's failure unless it has one; returns it. */
int collector_keep_failure(struct collector *collector, int error, const char *what);
/* Hand @record to the sink, whose failure becomes the collector's. */
void collector_send(struct collector *collector, const struct capture_record *record);
/* Open the events of threads that are new, and close those of dead ones. */
void collector_look_for_threads(struct collector *collector, uint64_t now);
/*
 * Count and forget the operators that wait for the end of a run that is not
 * open any more. Looked for twice before that, so that it takes two calls.
 */
void collector_look_for_ends(struct collector *collector);
void collector_free_places(struct collector *collector);
/*
 * Is one of the open runs of whom the window is of among those that @among tells? Where they cannot
 * be known, none is.
 */
bool collector_runs_open(struct collector *collector,
			 bool (*among)(const struct windows *windows, uint32_t run));
/* It did not throw, and returned no error that is known. */
static inline bool run_is_good(const struct run_record *run)
{
	return !(run->flags & FLAG_THREW) && (!run->status || run->status == STATUS_UNKNOWN);
}

/* How many sessions of @instance were destroyed so far: see struct instance of bpf/events.h. */
static inline uint32_t collector_generation(const struct collector *collector, uint32_t instance)
{
	return __atomic_load_n(&collector->bpf->bss->instances[instance % INSTANCES_MAX].generation,
			       __ATOMIC_ACQUIRE);
}

/*
 * Is there still what was seen? The kernel counts the sessions that were destroyed,
 * in the @generation of @instance now: as many as have been told, up to the record
 * that is taken, or as there were when it was @seen, in the generation @seen_in.
 */
static inline bool collector_is_there(const struct instance_state *instance, uint32_t generation,
				      bool seen, uint32_t seen_in)
{
	return instance->ends == generation || (seen && seen_in == generation);
}

/* Say what @session is, unless that was said, or cannot be yet. */
void collector_tell_model(struct collector *collector, const struct instance_state *instance,
			  uint32_t session);
/*
 * The recording of processes from the @first one on begins: what their threads have used up to now
 * is from before.
 */
void collector_begin_pool(struct collector *collector, size_t first);
/* See what threads that have worked have used by now, which is what the pool is told to have. */
void collector_look_at_pool(struct collector *collector);
/* All that was lost, since the collector is there. */
struct capture_loss collector_losses(const struct collector *collector);
/* Tell what is told beside what was recorded: the pool, memory, notes, losses. */
void collector_tell_rest(struct collector *collector);
/* Another capture begins: of all that, what has been told is not told again. */
void collector_renew_rest(struct collector *collector);
/* Say anew of sessions what they are, and what their memory arenas count by now. */
void collector_tell_memory(struct collector *collector);
/*
 * Say what attributes the operator of @identity has, which was defined just now, of
 * @session. Where shapes are wanted: what operators compute takes both.
 */
void collector_tell_attributes(struct collector *collector, const struct instance_state *instance,
			       const struct identity *identity, uint32_t session);
/* A run begins whose caller gave it a tag. */
void collector_add_tag(struct collector *collector, const struct tag_record *record);
/* The first run of a session that fails in this way is about to end. */
void collector_take_failure(struct collector *collector, const struct instance_state *instance,
			    const struct failure_record *record);
/* A session has loaded its model, or was initialized. */
void collector_add_setup(struct collector *collector, const struct instance_state *instance,
			 const struct setup_record *record);
/* Fill in what @run returned, as its @record tells. */
void collector_add_status(struct collector *collector, const struct instance_state *instance,
			  const struct run_record *record, struct capture_run *run);
/* A run has ended after the recording. */
void cost_take(struct collector *collector, const struct run_record *run);
/* The recording's number of the kernel's operator @id, or CAPTURE_UNKNOWN. */
uint32_t collector_operator(struct collector *collector, uint32_t id);
/* The recording's number of thread @tid of @member, which is defined at first need. */
uint32_t collector_thread(struct collector *collector, uint32_t tid, const struct member *member);
/*
 * No more records of @instance will come: those that still wait for shapes are
 * taken without, those that wait for names are counted as lost.
 */
void collector_settle(struct collector *collector, struct instance_state *instance);

/* Make ready to record @target; nothing is attached yet. Negative with @err set on failure. */
int collector_add_target(struct collector *collector, const struct collector_target *target,
			 struct error *err);
/* Define the processes in the sink that it has not been told of. */
void collector_tell_members(struct collector *collector);
/* Take the probes of the instances of @member (NULL: of all) away: of @first and what is behind. */
void collector_detach(struct collector *collector, const struct member *member,
		      enum probes_part first);
/* Is a member alive? Those that are not any more are news. */
bool collector_look_for_living(struct collector *collector);
/* Drop those that have exited, whose last records have been taken. */
void collector_drop_dead(struct collector *collector);
/* The last member that had @pid, which may be gone; NULL if none had. */
const struct member *collector_member_with(const struct collector *collector, uint32_t pid);
/* The member that thread @tid is of; NULL if it is not there any more to tell. */
struct member *collector_member_of(struct collector *collector, pid_t tid);
void collector_free_members(struct collector *collector);

#endif
