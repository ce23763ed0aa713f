/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal as a screen that frames are shown on, and keys are read from. It is the user's
 * again whatever ends the program, but SIGKILL.
 *
 *	check ─▶ start ─▶ { size, draw, key, suspend } ─▶ end
 *
 * All of it is for one thread.
 */
#ifndef OPPROBE_SCREEN_H
#define OPPROBE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "output/frame.h"

/* Keys that are no characters. */
enum screen_key {
	SCREEN_NONE = 0, /* in the time that was waited for one */
	SCREEN_CTRL_C = 3,
	SCREEN_CTRL_L = 12,
	SCREEN_ENTER = 13,
	SCREEN_CTRL_Z = 26,
	SCREEN_ESCAPE = 27,
	SCREEN_BACKSPACE = 127,
	SCREEN_UP = 0x110000, /* beyond Unicode */
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_OTHER,
};

/* Can it be had? A sentence now, instead of behind the work. 0 or a negative errno. */
int screen_check(struct error *err);
/* @colour: if it has any, and its user does not mind. 0 or a negative errno with @err set. */
int screen_start(bool colour, struct error *err);
/* The size by now; true if it was another at the last call. */
bool screen_size(size_t *width, size_t *height);
void screen_draw(const struct frame *frame);
/* Draw all of it anew: others may have written there. */
void screen_redraw(void);
/* A character or an enum screen_key; waits up to @ms. */
int screen_key(int ms);
/* Was it asked for, by SIGTSTP? */
bool screen_should_suspend(void);
/* Give the terminal back and stop, until somebody lets it go on. */
void screen_suspend(void);
void screen_end(void);
/* The same from another thread, of a screen whose thread waits for a terminal that is stuck. */
void screen_give_up(void);

#endif
