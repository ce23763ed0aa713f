/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of serving, for its own four files: serving.c has one recording after the other,
 * serving_who.c who is recorded, serving_cost.c whether by probes or samples, serving_pages.c what
 * is answered.
 */
#ifndef OPPROBE_SERVING_STATE_H
#define OPPROBE_SERVING_STATE_H

#include <pthread.h>

#include "collect/usage.h"
#include "live/live.h"
#include "serve/exporter.h"
#include "serve/metrics.h"
#include "serve/token.h"
#include "serving.h"
#include "target/arrivals.h"

#define SERVING_SECOND UINT64_C(1000000000)
#define LATER_MAX      64 /* processes that are looked at again */

/* A process that could not be looked into. */
struct later {
	pid_t pid;
	unsigned int tries;
	uint64_t next; /* clock_ns() */
};

/* What there is to tell of all recordings. */
struct told {
	double cpu_ns, charged_ns;
	uint64_t recordings;
	bool samples;
};

/* Of CPU time, ns. */
struct charged {
	double cpu;	/* that the processes used */
	double probes;	/* of it, what all probes are charged with, */
	double of_runs; /* and those of runs alone */
};

/* What probes took, and what the processes used. */
struct account {
	struct usage usage;
	uint64_t executions, runs, tasks; /* that were charged */
	uint64_t looked;
	struct charged since;  /* the last time that there was enough of it to judge */
	unsigned int too_much; /* times, one after the other */
	uint64_t sample_for;   /* next time, ns */
	uint64_t sample_until; /* 0: probes are in place */
	bool runs_stay;	       /* those of runs are, beside samples */
};

struct serving {
	struct record_sink sink; /* first: of both */
	struct record_sink *counting;
	const struct serving_options *options;
	struct running_files *files;
	struct arrivals *arrivals; /* NULL: of processes that were given by their numbers */
	struct later later[LATER_MAX];
	size_t n_later;
	bool missed;  /* some who came, since the last look at all */
	bool refused; /* that a runtime cannot be recorded was said */
	struct metrics *metrics;
	struct metrics_options metrics_options;
	struct exporter *exporter;
	struct token *token;		    /* NULL: whoever can reach it may ask */
	struct certificate *certificate;    /* or NULL */
	bool renewing;			    /* another one waits until it can be used, which */
	uint64_t renewed;		    /* was tried then, ns; 0: not yet */
	struct recording_options recording; /* that is on, of: */
	pid_t pids[PROCESSES_MAX];
	uint64_t scanned, began;
	bool attached; /* something was recorded, ever */
	struct account account;
	pthread_mutex_t looking; /* of: */
	struct live *live;	 /* what is recorded, kept for a while; NULL: nothing is */
	pthread_mutex_t lock;	 /* of what is told by another thread */
	struct told told;
};

/* A line for who runs it. */
void serving_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* -- serving_who.c ------------------------------------------------------------------------ */

/*
 * Look at all processes: add those that are wanted and not among the @n @pids yet, of which there
 * is room for @max. Returns how many there are.
 */
size_t serving_scan(struct serving *serving, pid_t *pids, size_t n, size_t max);
/* Those who have come of late, up to @max. */
size_t serving_take_arrivals(struct serving *serving, pid_t *pids, size_t max);

/* -- serving_cost.c ----------------------------------------------------------------------- */

/* A recording begins: what was charged of the one before is none of it. */
void serving_begin_account(struct serving *serving);
/* Is it to end, as its probes take too much, or may be tried again? */
bool serving_look_at_cost(struct serving *serving, const struct metrics_size *size, uint64_t tasks);

/* -- serving_pages.c ---------------------------------------------------------------------- */

extern const struct exporter_page serving_pages[]; /* of a struct serving */

#endif
