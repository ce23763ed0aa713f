/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler: an event on each CPU that calls a program now and then, about whatever thread
 * runs there. Events of threads would be switched with them, which costs 2 us each time; these
 * cost nothing in between. Or a program that is called when threads leave their CPUs.
 *
 *	new ─▶ start ─▶ { redraw, look } ─▶ stop ─▶ free
 */
#ifndef OPPROBE_SAMPLER_H
#define OPPROBE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/error.h"
#include "../capture/records.h"

struct counter;
struct opprobe_bpf;
struct sampler;

struct sampler_options {
	/* What samples are of: an event of perf's; NULL: time on CPUs. */
	const struct counter *counter;
	double rate;	 /* samples per second and CPU, on average while that works; 0: */
	uint64_t period; /* a sample at each so many of the events on a CPU; 0: by rate */
	bool off_cpu;	 /* none of these: each time that a thread was off the CPUs */
};

/* Events that call the program of @bpf; nothing is called yet. NULL with @err set. */
struct sampler *sampler_new(struct opprobe_bpf *bpf, const struct sampler_options *options,
			    struct error *err);
/* What its events are of, for the sink. */
void sampler_describe(const struct sampler *sampler, struct capture_sampling *sampling);
/* 0, or a negative errno with @err set. */
int sampler_start(struct sampler *sampler, struct error *err);
/*
 * What runs in turns would fall in step with an even clock: so each CPU has a period that is
 * drawn anew every now and then, half of the usual one to one and a half. To be called often.
 */
void sampler_redraw(struct sampler *sampler, uint64_t now);
/* CPUs come into operation, and go: within a second those that are there have an event. */
void sampler_look(struct sampler *sampler, uint64_t now);
/* What @note is to say of samples that there were not; false if there is nothing to say, or no
 * sampler. */
bool sampler_note(const struct sampler *sampler, char note[CAPTURE_NOTE_SIZE]);
void sampler_stop(struct sampler *sampler);
void sampler_free(struct sampler *sampler);

#endif
