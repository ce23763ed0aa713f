// SPDX-License-Identifier: GPL-2.0-only
#include "watching_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "screen.h"
#include "output/per_run.h"
#include "output/text.h"

#define KEY_MS	     100 /* between looks for the end, for lines and for the size */
#define MESSAGE_TIME UINT64_C(5000000000)  /* ns */
#define DETAIL_TIME  UINT64_C(10000000000) /* ns after which it is read anew */
#define END_PATIENCE 2			   /* s for a terminal that does not take the last of it */

/* -- lines ---------------------------------------------------------------------------- */

void watching_tell(struct watching *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(w->message, sizeof(w->message), format, args);
	va_end(args);
	w->message_ends = clock_ns() + MESSAGE_TIME;
	w->again = true;
}

static void say_now(const char *text)
{
	fprintf(stderr, "opprobe: %s\n", text);
}

void watching_say(struct watching *w, const char *text)
{
	char **line;

	pthread_mutex_lock(&w->lock);
	if (!w->on_screen) {
		say_now(text);
	} else {
		line = array_push(&w->waiting);
		if (line)
			*line = strdup(text);
		w->told = true;
	}
	pthread_mutex_unlock(&w->lock);
}

/* The last line that was said, at the bottom of the screen for a while. */
static void show_said(struct watching *w)
{
	char text[sizeof(w->message)] = "";

	pthread_mutex_lock(&w->lock);
	if (w->told && w->waiting.n && w->waiting.items[w->waiting.n - 1])
		snprintf(text, sizeof(text), "%s", w->waiting.items[w->waiting.n - 1]);
	w->told = false;
	pthread_mutex_unlock(&w->lock);
	if (*text)
		watching_tell(w, "%s", text);
}

/* What was said while there was a screen. */
static void say_waiting(struct watching *w)
{
	pthread_mutex_lock(&w->lock);
	w->on_screen = false;
	for (size_t i = 0; i < w->waiting.n; i++) {
		if (w->waiting.items[i])
			say_now(w->waiting.items[i]);
		free(w->waiting.items[i]);
	}
	array_free(&w->waiting);
	pthread_mutex_unlock(&w->lock);
}

/* -- looking ---------------------------------------------------------------------------- */

/* As live_look(), for a frame: with what rows took per run, if that is kept. */
static int look_at(struct watching *w, struct live_look *look)
{
	int error = live_look(w->live, look);

	if (!error && look->analysis->options.runs_apart) {
		error = per_run_make(look->analysis);
		if (error)
			live_release(w->live);
	}
	return error;
}

/* -- frames as text --------------------------------------------------------------------- */

static int print_frame(struct watching *w, struct error *err)
{
	size_t width = w->view.report.width;
	struct top_view view = {.report = w->view.report,
				.width = width == WIDTH_ANY ? 0 : width ?: text_room(stdout)};
	struct frame frame = {};
	struct live_look look;
	int error = look_at(w, &look);

	if (error)
		return error_set(err, error, "out of memory");
	if (w->options->manner == WATCHING_JSON) {
		error = top_json(&look, &view.report, stdout, err);
		live_release(w->live);
	} else {
		error = top_frame(&look, &view, &frame, err);
		live_release(w->live);
		if (!error) {
			frame_print(&frame, stdout);
			fputc('\n', stdout);
		}
		frame_free(&frame);
	}
	if (error)
		return error;
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		return output_failed("to standard output", errno ? -errno : -EIO, err);
	return 0;
}

/* Wait until @when, or for the end; true if it is not that. */
static bool wait_until(struct watching *w, uint64_t when)
{
	while (clock_ns() < when && !*w->options->stop) {
		uint64_t left = when - clock_ns(), most = KEY_MS * UINT64_C(1000000);
		struct timespec time = {.tv_nsec = (long)(left < most ? left : most)};

		nanosleep(&time, NULL);
	}
	return !*w->options->stop;
}

static void watch_as_text(struct watching *w)
{
	uint64_t next = clock_ns() + w->options->interval;

	for (uint64_t n = 0; !w->error && wait_until(w, next); next += w->options->interval) {
		w->error = print_frame(w, &w->err);
		if (w->options->frames && ++n == w->options->frames)
			break;
	}
	*w->options->stop = 1;
}

/* -- the screen --------------------------------------------------------------------------- */

static int make_table(struct watching *w, struct frame *frame)
{
	struct live_look look;
	struct error err;
	char prompt[PROMPT_MAX + 64];
	int error = look_at(w, &look);

	if (error)
		return error;
	snprintf(prompt, sizeof(prompt), "filter (name, op=TYPE or model=NAME): %s_", w->typed);
	w->view.message = w->prompts ? prompt : w->message[0] ? w->message : NULL;
	w->view.is_prompt = w->prompts;
	error = top_frame(&look, &w->view, frame, &err);
	if (error == -EINVAL && w->view.report.sort) {
		/* That column is none of these rows'. */
		w->view.report.sort = NULL;
		frame_free(frame);
		*frame = (struct frame){};
		error = top_frame(&look, &w->view, frame, &err);
	}
	live_release(w->live);
	w->view.message = NULL;
	return error;
}

/* Make what is to be seen; what was stays if that fails. */
static void make_frame(struct watching *w)
{
	struct frame frame = {.width = w->view.width};
	int error = 0;

	if (w->message_ends < clock_ns())
		w->message[0] = '\0';
	if (w->mode == MODE_HELP)
		top_help(&w->view, &frame);
	else if (w->mode == MODE_DETAIL)
		error = detail_frame(w->detail, &w->view, &frame);
	else
		error = make_table(w, &frame);
	if (error) {
		frame_free(&frame);
		return;
	}
	frame_free(&w->frame);
	w->frame = frame;
}

/* What is shown stays, but for the bottom line. */
static void make_bottom(struct watching *w)
{
	struct frame bottom = {.width = w->view.width};

	if (!w->frame.n || !w->message[0])
		return;
	frame_add(&bottom, FRAME_TITLE, "%s", w->message);
	if (!bottom.error) {
		struct frame_line *last = &w->frame.items[w->frame.n - 1];
		struct frame_line before = *last;

		*last = bottom.items[0];
		bottom.items[0] = before;
	}
	frame_free(&bottom);
}

static void watch_on_screen(struct watching *w)
{
	uint64_t next = 0, detailed = clock_ns();

	while (!*w->options->stop) {
		int key;

		show_said(w);
		if (screen_size(&w->view.width, &w->view.height))
			w->again = true;
		if (w->mode == MODE_DETAIL && clock_ns() - detailed > DETAIL_TIME) {
			detailed = clock_ns();
			detail_read(w->detail, w->live);
		}
		if (w->again || (clock_ns() >= next && !w->frozen)) {
			next = clock_ns() + w->options->interval;
			if (w->frozen)
				make_bottom(w);
			else
				make_frame(w);
			w->again = false;
			w->frozen = w->view.paused && w->mode == MODE_TABLE;
			screen_draw(&w->frame);
		}
		key = screen_key(KEY_MS);
		if (key == SCREEN_CTRL_Z || screen_should_suspend())
			screen_suspend();
		else if (key)
			watching_key(w, key);
	}
}

static void *watch(void *context)
{
	struct watching *w = context;

	if (w->options->manner == WATCHING_SCREEN) {
		watch_on_screen(w);
		screen_end();
	} else {
		watch_as_text(w);
	}
	return NULL;
}

/* -- life ------------------------------------------------------------------------------------ */

struct watching *watching_new(const struct watching_options *options, struct live *live,
			      struct error *err)
{
	struct watching *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	w->options = options;
	w->live = live;
	w->view.report = options->report;
	w->view.report.live = true;
	return w;
}

int watching_start(struct watching *w, struct error *err)
{
	sigset_t all, before;
	int error;

	if (w->options->manner == WATCHING_SCREEN) {
		error = screen_start(w->options->report.colour != COLOUR_NEVER, err);
		if (error)
			return error;
		w->on_screen = true;
	}
	/* Signals are for the thread that records. */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = -pthread_create(&w->thread, NULL, watch, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	w->started = !error;
	if (!error)
		return 0;
	screen_end();
	say_waiting(w);
	return error_set(err, error, "cannot start to watch: %s", error_reason(error));
}

/* Wait for the thread, but not for a terminal that takes nothing any more. */
static bool join(struct watching *w)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_PATIENCE;
	return !pthread_timedjoin_np(w->thread, NULL, &until);
}

int watching_end(struct watching *w, struct error *err)
{
	bool by_itself = !*w->options->stop;

	*w->options->stop = 1;
	if (!w->started)
		return 0;
	if (!join(w)) {
		screen_give_up();
		_exit(128 + SIGTERM);
	}
	w->started = false;
	say_waiting(w);
	if (w->error) {
		*err = w->err;
		return w->error;
	}
	/* The last state, when it was not the user who had enough of it. */
	return by_itself ? print_frame(w, err) : 0;
}

void watching_free(struct watching *w)
{
	if (!w)
		return;
	frame_free(&w->frame);
	detail_free(w->detail);
	free(w->filter);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
