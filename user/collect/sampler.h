/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler: an event on each CPU that calls a program now and then, about whatever thread
 * runs there. Events of threads would be switched with them, which costs 2 us each time; these
 * cost nothing in between.
 *
 *	new ─▶ start ─▶ { redraw } ─▶ stop ─▶ free
 */
#ifndef OPPROBE_SAMPLER_H
#define OPPROBE_SAMPLER_H

#include <stdint.h>

#include "../base/error.h"
#include "../capture/records.h"

struct opprobe_bpf;
struct sampler;

/*
 * Events that call the program of @bpf @rate times per second and CPU on average while that
 * works; nothing is called yet. NULL with @err set.
 */
struct sampler *sampler_new(struct opprobe_bpf *bpf, double rate, struct error *err);
/* What its events are of, for the sink. */
void sampler_describe(const struct sampler *sampler, struct capture_sampling *sampling);
/* 0, or a negative errno with @err set. */
int sampler_start(struct sampler *sampler, struct error *err);
/*
 * What runs in turns would fall in step with an even clock: so each CPU has a period that is
 * drawn anew every now and then, half of the usual one to one and a half. To be called often.
 */
void sampler_redraw(struct sampler *sampler, uint64_t now);
void sampler_stop(struct sampler *sampler);
void sampler_free(struct sampler *sampler);

#endif
