/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of an analysis, for the files that make one: analyze.c is its
 * life, fold.c adds records up, sums.c those that are sums, samples.c samples, setups.c what came
 * before runs, grouping.c says to which rows, counters.c adds what events counted, amounts.c what
 * operators computed and moved, memory.c tells runs apart by how their operators get memory,
 * run_parts.c keeps what each row took in each run, launches.c adds up what GPUs were told,
 * devices.c what they did.
 */
#ifndef OPPROBE_ANALYZE_FOLD_H
#define OPPROBE_ANALYZE_FOLD_H

#include "../base/array.h"
#include "../capture/strings.h"
#include "analyze.h"
#include "flops.h"
#include "nesting.h"
#include "open_runs.h"
#include "rows.h"

/* Of one operator, what was added up while recording. */
struct summed_op {
	uint32_t parent;
	struct cover cover;
};

struct op_state {
	struct capture_operator op;
	struct analyze_session *session;  /* NULL if not known */
	struct attribute_set *attributes; /* NULL if not known */
	const char *label;
	bool shown;	 /* its name and type are among the selected */
	uint64_t top_ns; /* of its top-level executions that are shown, whatever its name */
	struct summed_op *summed; /* NULL if nothing of it was added up */
	/* The row that it added to last, and the part of the key that may vary. */
	struct analyze_row *row;
	const struct analyze_process *row_process;
	uint64_t row_part;
	const struct analyze_place *row_place;
};

struct shapes_state {
	struct tensor_list *inputs, *outputs;
	uint64_t sizes[ANALYZE_SIZES];
};

struct thread_state {
	struct capture_thread thread;
	const struct analyze_process *process;
	bool seen;
	struct nesting nesting;
	struct open_run *run; /* that its last top-level operator belonged to */
	/* How often an event was seen to pause: what was counted in whole under the same
	 * number was counted in one turn. */
	uint32_t pauses[CAPTURE_COUNTERS];
	struct {
		bool told; /* last, of the pool: the rest */
		uint64_t work_ns, cpu_ns;
	} pool;
};

/* Things by number, grown as numbers appear. */
struct table {
	ARRAY_OF(void *);
};

struct fold {
	struct analysis a; /* first: what the views see */
	struct record_sink sink;
	bool begun, ended;	   /* the info has come; nothing comes any more */
	int error;		   /* the first one, a negative errno, */
	struct error err;	   /* and its sentence */
	uint32_t pool_cpu_unknown; /* of how many of the pool's threads; of the others: */
	uint64_t pool_cpu_ns;
	struct rows rows;
	struct table ops, threads, shapes;
	struct strings strings;	  /* of definitions, and labels */
	struct flops_slot *flops; /* what was worked out, see amounts.c */
	struct open_runs open_runs;
	struct compensation compensation;
	struct cost_runs cost_runs;
	ARRAY_OF(uint64_t) failed; /* the numbers of runs that failed or threw */
	int memory_event;	   /* that counts bytes which are asked for, -1: none */
	bool failed_known;	   /* of all runs, and sorted: an earlier fold saw them */
	struct cover sum;
	struct analyze_row *gap_row, *rest_row;
	struct {
		uint64_t count, ns;
	} outside;			 /* top-level executions of no run, or of one that failed */
	uint64_t top_ns;		 /* of all top-level operators, whatever is shown */
	uint64_t runs_told, runs_untold; /* that tell how many operators they had, or not */
	bool runs_given_up;		 /* some did not end before too many others had begun */
	uint64_t last;			 /* the latest time seen */
};

/* -- fold.c ------------------------------------------------------------------ */

/* Add a record up. Return 0, -ENOMEM, or -EINVAL for one that contradicts what came before. */
int fold_exec(struct fold *f, const struct capture_exec *exec);
int fold_run(struct fold *f, const struct capture_run *run);
int fold_tag(struct fold *f, const struct capture_tag *tag);
void fold_pool(struct fold *f, const struct capture_pool *pool);
/* Are operators of @session executed by a pool's threads? Then those of a run without any may be of
 * no run that is known (ONNX Runtime before 1.14). */
bool fold_runs_elsewhere(const struct fold *f, uint32_t session);
/* Top-level executions of @state took @ns. */
void fold_add_to_session(struct op_state *state, uint64_t ns);

/* Is what is of them among the selected, whatever comes of the run? */
bool fold_selects(const struct fold *f, const struct analyze_process *process, uint32_t run,
		  uint32_t session);
/*
 * Likewise, of something that no execution tells: in run @run (CAPTURE_UNKNOWN: of none), by an
 * operator of @session, NULL if it is of none.
 */
bool fold_shows(const struct fold *f, const struct analyze_process *process, uint32_t run,
		const struct analyze_session *session);
/*
 * Rows of whole threads, sessions, models, runs and processes hold operators and what ran
 * inside them: their totals are of top-level operators, so that no time is
 * in them twice. When operators are chosen by name, that is for the user to
 * judge, as the ones around them may not be in the row.
 */
bool fold_counts_in_total(const struct fold *f, const struct capture_exec *exec);
/* Is @session, NULL if it is not known, of a model that is wanted? */
bool fold_has_model(const struct fold *f, const struct analyze_session *session);

/* -- sums.c ------------------------------------------------------------------ */

/* Add a sum up, as above; -EOPNOTSUPP if the options tell executions apart that it does not. */
int fold_sum(struct fold *f, const struct capture_sum *sum);
/* Add to @cover what was added up of operators that are shown, inside of none that is. */
void sums_cover(const struct fold *f, struct cover *cover);

/* -- samples.c --------------------------------------------------------------- */

/* Make the rows of what they saw, beside operators, and free them. 0 or -ENOMEM. */
int samples_begin(struct analysis *analysis);
void samples_end(struct analysis *analysis);
/* Add a sample up, as above; -EOPNOTSUPP if the options tell apart what they do not. */
int fold_sample(struct fold *f, const struct capture_sample *sample);
/* The options ask for what samples alone know, and there are none: -EOPNOTSUPP. */
int samples_missing(struct fold *f);

/* -- setups.c ---------------------------------------------------------------- */

/* Add a setup up, as above. */
int fold_setup(struct fold *f, const struct capture_setup *setup);
/* Add up the setups of sessions that are selected, as far as is known by now. */
void fold_look_at_setups(struct fold *f);

/* -- devices.c --------------------------------------------------------------- */

/*
 * Join options.profile, once all launches are known and before they are put in order. 0, -ENOENT if
 * it is of another recording, -ENOTUNIQ if it fits in several places, or -ENOMEM.
 */
int devices_join(struct fold *f);

/* -- launches.c -------------------------------------------------------------- */

/* Add up what a GPU was told, as above. */
int fold_launch(struct fold *f, const struct capture_launch *launch);

/* -- grouping.c -------------------------------------------------------------- */

/* Remember a definition, with copies of its strings. Return 0, -ENOMEM, or -EINVAL for one
 * of a process that was not defined. */
int define_operator(struct fold *f, const struct capture_operator *op);
int define_thread(struct fold *f, const struct capture_thread *thread);
int define_session(struct fold *f, const struct capture_session *session);
int define_model(struct fold *f, const struct capture_model *model);
int define_attributes(struct fold *f, const struct capture_attributes *attributes);
int define_shapes(struct fold *f, const struct capture_shapes *shapes);
int define_failure(struct fold *f, const struct capture_failure *failure);
/* The item of @number, NULL if it was not defined. */
void *table_get(const struct table *table, uint32_t number);
void table_free(struct table *table);
/*
 * The row that @exec, of the operator @state on @thread, adds to, or a sample of it that was at
 * @place; NULL if out of memory.
 */
struct analyze_row *row_of(struct fold *f, struct op_state *state,
			   const struct thread_state *thread, const struct capture_exec *exec,
			   const struct analyze_place *place);
/* Call rows of sessions and models what these are called now. */
void label_rows(struct fold *f);
/* The row of a run, where rows are runs. */
struct analyze_row *row_of_run(struct fold *f, const struct capture_run *run);

/* -- counters.c -------------------------------------------------------------- */

/* Add what was counted in @exec to @row: what is its own, and if @in_total with what ran
 * inside. Returns 0 or -ENOMEM. */
int counters_add(struct analyze_row *row, const struct thread_state *thread,
		 const struct capture_exec *exec, const struct nested_exec *nested, bool in_total);
/* Of the @n that were added up while recording, @counted of which it counted. */
struct counter_sum {
	uint64_t counted, total, self, work;
};

/* Add @sum, of event @i, to @row: its own, and if @in_total with the rest. 0 or -ENOMEM. */
int counters_add_sum(struct analyze_row *row, uint32_t i, const struct counter_sum *sum,
		     bool in_total);
/* What is its own to @sum, without what events saw that took turns. */
void counters_add_self(struct analyze_row *sum, const struct capture_exec *exec,
		       const struct nested_exec *nested);
/* Add what was counted in a run to event @i of @row: in whole, or while it was on. */
int counters_add_run(struct analyze_row *row, uint32_t i, const struct thread_state *thread,
		     const struct on_time *on, bool whole, uint64_t value, uint64_t work);

/* -- estimate.c -------------------------------------------------------------- */

/* Fill the estimates of the sum of rows, from the rows as they are. */
void estimate_sums(struct fold *f);

/* -- amounts.c --------------------------------------------------------------- */

/* Add what @exec computed and moved to @row and to the sum. Returns 0 or -ENOMEM. */
int amounts_add(struct fold *f, const struct op_state *state, struct analyze_row *row,
		const struct capture_exec *exec, const struct nested_exec *nested);

/* -- memory.c ---------------------------------------------------------------- */

/* The event that counts the bytes that operators ask for, or -1. */
int memory_event(const struct capture_info *info);
/* Know of its session how the operators @ops of @run, all on its thread, got memory. */
void memory_know_run(const struct fold *f, const struct capture_run *run,
		     const struct open_run *ops);

#endif
