/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters: from the user's words to what the kernel counts. Events are
 * named as libpfm4 or perf names them and become perf_event_attr, or a field
 * of task_struct where that holds the same number exactly; what else of
 * task_struct can be counted has names of its own. Knows nothing of runtimes.
 */
#ifndef OPPROBE_COUNTERS_H
#define OPPROBE_COUNTERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../bpf/events.h"
#include "../base/error.h"

struct counter {
	char name[128];		     /* the user's alias, else as typed: a column's title */
	char event[128];	     /* libpfm4's full name, or perf's short name */
	enum counter_source source;  /* how it is read at a probe */
	struct perf_event_attr attr; /* for the two COUNTER_PERF sources */
	unsigned int group;	     /* counters of one number are opened as one group */
	bool together;		     /* named in one {...}: must be counted at the same time */
	bool multiplexed;	     /* its group takes turns on the PMU; see counters_check() */
	char unit[16];		     /* "ns", "bytes" or "" */
};

struct counter_set {
	struct counter counters[COUNTERS_MAX];
	size_t n;
	/* Lines for the user: what the default set lacks here, and why. */
	char notes[4][256];
	size_t n_notes;
};

/*
 * Parse @list, the argument of -e: EVENT[=NAME],... with libpfm4 event
 * strings or perf's short names, :u and :k modifiers, {a,b} for events that
 * must be counted together. Adds to @set. The error names the event and the
 * nearest existing ones. An '=' belongs to the event where libpfm4 or perf
 * read it so (perf::CYCLES:u=1, cpu/event=0xc0/), else it starts the name.
 */
int counters_parse(struct counter_set *set, const char *list, struct error *err);
/*
 * Read the JSON file @path: {"libpfm4 event": "name", ...}. Adds to @set.
 * Errors give line and column. Like counters_parse(), leaves @set as it was
 * on failure.
 */
int counters_read_config(struct counter_set *set, const char *path, struct error *err);
/*
 * The one event of @text, for samples of it: perf's, whatever else may count the same. Its
 * modifiers are as those of -e.
 */
int counters_parse_sampled(struct counter *counter, const char *text, struct error *err);
/* Is it time, by a clock of perf's? */
bool counter_is_clock(const struct counter *counter);
/*
 * Add the default set: where the time goes (on-cpu, ready, blocked), if the
 * kernel tells; what this machine can open of cycles, instructions,
 * cache-misses and branch-misses; if none of them, the software set
 * (task-faults, context-switches, task-migrations) and a note that says so.
 */
int counters_default(struct counter_set *set, struct error *err);
/*
 * Add what operators get from their runtime's allocators, of which some may be there
 * already: allocs, alloc-bytes, freed-bytes, temp-bytes.
 */
int counters_add_memory(struct counter_set *set, struct error *err);
/* Which counters of @set these are: bit i, of counter i. */
uint32_t counters_of_memory(const struct counter_set *set);
/* The same of what GPUs are told to do. */
int counters_add_gpu(struct counter_set *set, struct error *err);
uint32_t counters_of_gpu(const struct counter_set *set);
/*
 * Try to open every counter of @set on this thread, and close it again: a
 * refusal is told before anything is attached to the target. The sentence
 * tells apart: no such event on this CPU, no PMU (virtual machine), no
 * permission (perf_event_paranoid, capability, seccomp), a counter that
 * somebody else holds, too many files.
 *
 * Then measures what the PMU counts at once and forms the groups: sets
 * `group` and `multiplexed` of every counter, and adds a note if the groups
 * have to take turns. A {...} that does not fit is refused.
 */
int counters_check(struct counter_set *set, struct error *err);

/* -- what this machine offers (opprobe doctor) --------------------------- */

enum finding_verdict { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct finding {
	const char *name; /* "hardware counters": static, a row's title */
	enum finding_verdict verdict;
	char text[512]; /* one sentence, with a remedy unless ok */
};

/*
 * Check what counting depends on, by doing it: the system call, permission,
 * seccomp, hardware counters, NMI watchdog, tracepoints, open files, and
 * whether each of @n processes may be counted. Fills at most @max findings and
 * returns how many there are.
 */
size_t counters_diagnose(const pid_t *pids, size_t n, struct finding *findings, size_t max);

/* -- perf events on the threads of the target ---------------------------- */

struct thread_counters;

/*
 * Keeps the per-task perf events of up to @slots threads and stores their
 * fds in the BPF map @map_fd (PERF_EVENT_ARRAY) at slot * set->n + i. Raises
 * the soft limit of open files as far as allowed. @set must outlive it.
 * Sets with no COUNTER_PERF source need none: all calls then do nothing.
 */
struct thread_counters *thread_counters_new(const struct counter_set *set, int map_fd,
					    unsigned int slots, struct error *err);
/*
 * Open all events on thread @tid, enabled, and store them at @slot. Returns
 * 0; -ESRCH if the thread is gone (no sentence); a negative errno and a
 * sentence otherwise. On failure the slot is left empty.
 */
int thread_counters_open(struct thread_counters *counters, unsigned int slot, pid_t tid,
			 struct error *err);
/* Close the events of @slot and empty it. */
void thread_counters_close(struct thread_counters *counters, unsigned int slot);
void thread_counters_free(struct thread_counters *counters);

#endif
