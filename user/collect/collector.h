/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collecting: the life of one recording, from the load of the BPF programs to
 * the last record in the capture. Formats nothing.
 *
 *	new ─▶ attach ─▶ run ─▶ stop ─▶ free
 */
#ifndef OPPROBE_COLLECTOR_H
#define OPPROBE_COLLECTOR_H

#include <signal.h>
#include <stdint.h>

#include "../capture/capture.h"
#include "../counters/counters.h"
#include "../runtime/runtime.h"
#include "../target/process.h"

struct collector_options {
	const struct process *process;
	const struct location *location;
	const struct mapped_file *file; /* that the location is in */
	const struct counter_set *counters;
	struct capture_writer *writer; /* its info must have been written */
	uint64_t buffer_size;	       /* of the ring, bytes; 0 for the default */
	/* Set by a signal handler: stop, but orderly. */
	const volatile sig_atomic_t *stop;
	/* Called about every 0.2 s while running, for progress; may be NULL. */
	void (*progress)(const struct collector_options *options, const char *state,
			 uint64_t operators, uint64_t runs, uint64_t lost);
};

enum collector_end {
	COLLECTOR_STOPPED,  /* *stop was set */
	COLLECTOR_DURATION, /* the time was over */
	COLLECTOR_EXITED,   /* the target exited */
};

struct collector;

/*
 * Load the BPF programs and open the counters on all threads of the target,
 * which does not notice. NULL with @err set on failure.
 */
struct collector *collector_new(const struct collector_options *options, struct error *err);
/* Put the probes in place; from here on operators are counted. */
int collector_attach(struct collector *collector, struct error *err);
/*
 * Record until *stop, for @duration ns (0: no limit), or until the target
 * exits. Returns enum collector_end, or a negative errno with @err set: names
 * that cannot be proven (-ENOTRECOVERABLE), a capture that cannot be written.
 * What was recorded before stays in the capture.
 */
int collector_run(struct collector *collector, uint64_t duration, struct error *err);
/* Detach, write what is left, the losses and the end record. */
int collector_stop(struct collector *collector, enum collector_end end, struct error *err);
/* Operators written to the capture so far. */
uint64_t collector_operators(const struct collector *collector);
void collector_free(struct collector *collector);

#endif
