/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Somebody watches a recording: a thread of its own shows what is known of it every second, on a
 * screen with keys or as text, so that neither waits for the other.
 *
 *	new ─▶ start ─▶ ... ─▶ end ─▶ free
 */
#ifndef OPPROBE_WATCHING_H
#define OPPROBE_WATCHING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "live/live.h"
#include "output/output.h"

enum watching_manner {
	WATCHING_SCREEN,
	WATCHING_TEXT, /* a frame after the other */
	WATCHING_JSON, /* a line each */
};

struct watching_options {
	enum watching_manner manner;
	struct report_options report; /* how to begin with */
	uint64_t interval;	      /* ns between two frames */
	uint64_t frames;	      /* how many, 0: until the end */
	const char *capture;	      /* what is written on request, */
	enum output_naming naming;    /* and how */
	volatile sig_atomic_t *stop;  /* set to end the recording */
};

struct watching;

/* @options and @live outlive the result. NULL with @err set. */
struct watching *watching_new(const struct watching_options *options, struct live *live,
			      struct error *err);
/* From now on, records come. 0 or a negative errno with @err set. */
int watching_start(struct watching *watching, struct error *err);
/* A line for the user: to stderr, but while there is a screen. From any thread. */
void watching_say(struct watching *watching, const char *text);
/*
 * The recording is over. Whoever watches sees its last state, unless the user asked for the end.
 * 0, or what watching failed with, with @err set.
 */
int watching_end(struct watching *watching, struct error *err);
void watching_free(struct watching *watching);

#endif
