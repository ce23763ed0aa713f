/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The collector's state, for its own three files: load.c brings the BPF
 * programs into the kernel, records.c takes what they send, collector.c is
 * its life as collector.h tells it.
 */
#ifndef OPPROBE_COLLECT_STATE_H
#define OPPROBE_COLLECT_STATE_H

#include "../../bpf/events.h"
#include "../base/array.h"
#include "../runtime/skeleton.h"
#include "collector.h"
#include "held.h"
#include "identity.h"
#include "pool.h"
#include "probes.h"
#include "shapes.h"
#include "thread_numbers.h"
#include "threads.h"

/* What this kernel offers, asked at the load. */
struct kernel_features {
	bool task_storage; /* state kept with the task, from 5.11 on */
	bool cookies;	   /* handed to programs, from 5.15 on */
	bool multi;	   /* links of many probes, filtered by process, from 6.6 on */
};

struct collector {
	struct collector_options options;
	struct opprobe_bpf *bpf;
	struct kernel_features features;
	struct probes *run_probes, *operator_probes;
	struct ring_buffer *ring;
	struct held *held; /* with min_duration */
	struct thread_slots *threads;
	struct pool *pool;
	struct identity_table *identities;
	struct naming *naming;	    /* NULL: operators are known before they run */
	struct shape_table *shapes; /* NULL: not wanted, or not to be had */
	char note[256];		    /* why not, else "" */

	struct thread_numbers numbers;

	/* Records that wait for names, in order: {u32 size, bytes}. */
	ARRAY_OF(unsigned char) pending;
	uint32_t sightings;

	bool releasing;
	uint64_t operators, runs, unnamed, unheld;
	uint64_t updated, reported;
	uint64_t overfull; /* operators that found their table full, when it was cleared last */
	bool threads_changed;
	struct error failure;
	int failed;
};

/* Load the BPF programs for the collector's options; 0 or a negative errno with @err set. */
int collector_load(struct collector *collector, struct error *err);
/* Is any of @counters a perf event, so that threads need some? */
bool counters_need_events(const struct counter_set *counters);

/* The ring buffer's callback: @context is the collector. Failures are kept in it. */
int collector_take(void *context, void *data, size_t size);
/* Keep @error, if it is one, as the collector's failure unless it has one; returns it. */
int collector_keep_failure(struct collector *collector, int error);
/* Hand @record to the sink, whose failure becomes the collector's. */
void collector_send(struct collector *collector, const struct capture_record *record);
/* The recording's number of thread @tid, which is defined at first need. */
uint32_t collector_thread(struct collector *collector, uint32_t tid);
/* Take all records that waited for names or shapes, in order. */
void collector_take_pending(struct collector *collector);
/* Have the names' places been proven? */
bool collector_calibrated(const struct collector *collector);

#endif
