/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of watching, for its own two files: watching.c is the thread and its frames,
 * watching_keys.c what keys do.
 */
#ifndef OPPROBE_WATCHING_STATE_H
#define OPPROBE_WATCHING_STATE_H

#include <pthread.h>

#include "base/array.h"
#include "output/top.h"
#include "output/top_detail.h"
#include "watching.h"

#define PROMPT_MAX 200 /* bytes that can be typed */

enum watching_mode {
	MODE_TABLE,
	MODE_DETAIL, /* of one row */
	MODE_HELP,
};

struct watching {
	const struct watching_options *options;
	struct live *live;
	struct top_view view;
	enum watching_mode mode;
	struct frame frame; /* that is shown */
	bool again;	    /* it is to be made anew, at once */
	bool frozen;	    /* it is the one that was shown when a pause began */
	bool prompts;	    /* a filter is being typed */
	char typed[PROMPT_MAX + 1];
	char message[512]; /* that the bottom line has, until @message_ends */
	uint64_t message_ends;
	char sort[192];
	char *filter; /* that was typed: analyze_options point into it */
	struct detail *detail;

	pthread_t thread;
	bool started;
	pthread_mutex_t lock;	  /* of the following */
	bool on_screen;		  /* lines wait until that is left */
	ARRAY_OF(char *) waiting; /* lines */
	bool told;		  /* a new one of them is to be shown */

	struct error err;
	int error; /* of watching itself */
};

/* Show @format for a while. */
void watching_tell(struct watching *watching, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* What a key does. */
void watching_key(struct watching *watching, int key);

#endif
