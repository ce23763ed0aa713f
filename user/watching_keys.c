// SPDX-License-Identifier: GPL-2.0-only
/* What keys do to a live view. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "watching_state.h"

#define GROUPS "nosetx" /* keys of the following, in their order */
static const enum analyze_group groups[] = {GROUP_NODE,	   GROUP_OP,	 GROUP_SHAPE,
					    GROUP_SESSION, GROUP_THREAD, GROUP_PROCESS};

/* -- rows by something else ----------------------------------------------------------- */

static int regroup(struct watching *w, const struct analyze_options *options)
{
	struct error err;
	int error = live_regroup(w->live, options, &err);

	if (error) {
		watching_tell(w, "%s", err.text);
		return error;
	}
	w->view.selected = NULL;
	w->view.first = 0;
	w->again = true;
	return 0;
}

static void group_by(struct watching *w, enum analyze_group group)
{
	struct analyze_options options = *live_options(w->live);

	options.group = group;
	regroup(w, &options);
}

/* The next one that there can be: of sums, there are not all. */
static void next_group(struct watching *w)
{
	struct analyze_options options = *live_options(w->live);
	size_t at = 0, n = sizeof(groups) / sizeof(groups[0]);

	for (size_t i = 0; i < n; i++)
		if (groups[i] == options.group)
			at = i;
	do
		options.group = groups[++at % n];
	while (regroup(w, &options) == -EOPNOTSUPP);
}

/* A glob as it is; of a mere name, whatever holds it. Allocated. */
static char *glob_of(const char *text)
{
	char *glob;

	return asprintf(&glob, strpbrk(text, "*?[") ? "%s" : "*%s*", text) < 0 ? NULL : glob;
}

static void filter(struct watching *w, const char *text)
{
	struct analyze_options options = *live_options(w->live);
	bool is_op = !strncmp(text, "op=", 3), is_model = !strncmp(text, "model=", 6);
	const char *what = text + (is_op ? 3 : is_model ? 6 : 0);
	char *glob = *what ? glob_of(what) : NULL, *before = w->filter;

	if (*what && !glob) {
		watching_tell(w, "out of memory");
		return;
	}
	options.name = is_op || is_model ? NULL : glob;
	options.op = is_op ? glob : NULL;
	options.model = is_model ? glob : NULL;
	if (!*what)
		options.one_session = false;
	w->filter = glob;
	regroup(w, &options);
	/* Unless it was refused, nothing points there any more. */
	if (live_options(w->live)->name == options.name &&
	    live_options(w->live)->op == options.op &&
	    live_options(w->live)->model == options.model) {
		free(before);
	} else {
		free(glob);
		w->filter = before;
	}
}

/* -- typing ------------------------------------------------------------------------------ */

/* Append @code as UTF-8, if it fits. */
static void type(char *text, int code)
{
	size_t n = strlen(text);
	char bytes[5] = "";

	if (code < 0x80)
		bytes[0] = (char)code;
	else if (code < 0x800)
		snprintf(bytes, sizeof(bytes), "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
	else if (code < 0x10000)
		snprintf(bytes, sizeof(bytes), "%c%c%c", 0xe0 | code >> 12,
			 0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
	else
		snprintf(bytes, sizeof(bytes), "%c%c%c%c", 0xf0 | code >> 18,
			 0x80 | (code >> 12 & 0x3f), 0x80 | (code >> 6 & 0x3f),
			 0x80 | (code & 0x3f));
	if (n + strlen(bytes) <= PROMPT_MAX)
		strcpy(text + n, bytes);
}

static void erase_last(char *text)
{
	size_t n = strlen(text);

	while (n && (text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = '\0';
}

static void typing(struct watching *w, int key)
{
	w->again = true;
	if (key == SCREEN_ENTER || key == SCREEN_ESCAPE)
		w->prompts = false;
	if (key == SCREEN_ENTER)
		filter(w, w->typed);
	else if (key == SCREEN_BACKSPACE)
		erase_last(w->typed);
	else if (key >= ' ' && key < SCREEN_UP)
		type(w->typed, key);
}

/* -- one row ------------------------------------------------------------------------------- */

static void sort_by(struct watching *w, int by)
{
	struct live_look look;
	struct error err;
	char key[sizeof(w->sort)];
	int error = live_look(w->live, &look);

	if (error)
		return;
	error = top_sort(&look, &w->view, by, key, sizeof(key), &err);
	live_release(w->live);
	if (error) {
		watching_tell(w, "%s", err.text);
		return;
	}
	strcpy(w->sort, key);
	w->view.report.sort = w->sort;
	watching_tell(w, "sorted by %s", w->sort);
}

static void move(struct watching *w, long by)
{
	struct live_look look;
	struct error err;

	if (live_look(w->live, &look))
		return;
	if (!top_move(&look, &w->view, by, &err))
		w->again = true;
	live_release(w->live);
}

/* Of the row that is selected, a session or a process: its nodes. */
static bool choose_part(struct watching *w, const struct live_look *look,
			struct analyze_options *options)
{
	const struct analyze_row *row = w->view.selected;

	*options = look->analysis->options;
	if (options->group == GROUP_SESSION && row->session != CAPTURE_UNKNOWN) {
		options->one_session = true;
		options->session = row->session;
	} else if (options->group == GROUP_PROCESS && row->process) {
		options->one_process = true;
		options->pid = row->process->pid;
	} else {
		return false;
	}
	options->group = GROUP_NODE;
	return true;
}

static void look_into(struct watching *w)
{
	struct analyze_options options;
	struct detail *detail = NULL;
	struct live_look look;
	struct error err;
	bool part;
	int error;

	if (live_look(w->live, &look))
		return;
	if (look.analysis->has_samples) {
		live_release(w->live);
		watching_tell(w, "samples know of no single executions to look into");
		return;
	}
	/* The selected one may be of rows that were. */
	error = top_move(&look, &w->view, 0, &err);
	if (error || !w->view.selected) {
		live_release(w->live);
		return;
	}
	part = choose_part(w, &look, &options);
	error = part ? 0 : detail_new(look.analysis, w->view.selected, &detail);
	live_release(w->live);
	if (part) {
		regroup(w, &options);
		return;
	}
	if (!error)
		error = detail_read(detail, w->live);
	if (error) {
		detail_free(detail);
		watching_tell(w, error == -EINVAL ? "group by node, op or shape to look into one"
						  : "out of memory");
		return;
	}
	detail_free(w->detail);
	w->detail = detail;
	w->mode = MODE_DETAIL;
	w->again = true;
}

/* -- what else there is ------------------------------------------------------------------- */

static void reset(struct watching *w)
{
	struct error err;

	w->view.selected = NULL;
	w->view.first = 0;
	if (live_reset(w->live, &err))
		watching_tell(w, "%s", err.text);
	else
		watching_tell(w, "begun anew");
}

static void write_capture(struct watching *w)
{
	const struct live_writing writing = {
		.path = w->options->capture,
		.naming = w->options->naming,
		.who = "opprobe top",
	};
	struct error err;
	char *where;

	if (live_write(w->live, &writing, &where, &err))
		watching_tell(w, "%s", err.text);
	else
		watching_tell(w, "written: opprobe report %s", where ?: w->options->capture);
	free(where);
}

static void go_on(struct watching *w)
{
	w->view.paused = w->frozen = false;
	w->again = true;
}

static void pause_or_go_on(struct watching *w)
{
	if (w->view.paused) {
		go_on(w);
		return;
	}
	w->view.paused = w->again = true;
}

static void table_key(struct watching *w, int key)
{
	const char *group = key > 0 && key < 128 ? strchr(GROUPS, key) : NULL;
	long page = (long)top_rows(&w->view);

	/* What needs another picture ends the pause. */
	if (w->view.paused && key != 'p' && key != ' ' && key != 'w')
		go_on(w);
	switch (key) {
	case '<':
	case SCREEN_LEFT:
		sort_by(w, -1);
		break;
	case '>':
	case SCREEN_RIGHT:
		sort_by(w, 1);
		break;
	case 'g':
		next_group(w);
		break;
	case '/':
		w->prompts = true;
		w->typed[0] = '\0';
		w->again = true;
		break;
	case 'p':
	case ' ':
		pause_or_go_on(w);
		break;
	case 'r':
		reset(w);
		break;
	case 'w':
		write_capture(w);
		break;
	case SCREEN_UP:
	case 'k':
		move(w, -1);
		break;
	case SCREEN_DOWN:
	case 'j':
		move(w, 1);
		break;
	case SCREEN_PAGE_UP:
		move(w, -page);
		break;
	case SCREEN_PAGE_DOWN:
		move(w, page);
		break;
	case SCREEN_HOME:
		move(w, -LONG_MAX / 2);
		break;
	case SCREEN_END:
		move(w, LONG_MAX / 2);
		break;
	case SCREEN_ENTER:
		look_into(w);
		break;
	case 'h':
	case '?':
		w->mode = MODE_HELP;
		w->again = true;
		break;
	default:
		if (group)
			group_by(w, groups[group - GROUPS]);
	}
}

void watching_key(struct watching *w, int key)
{
	if (key == SCREEN_CTRL_C || (key == 'q' && !w->prompts)) {
		*w->options->stop = 1;
	} else if (key == SCREEN_CTRL_L) {
		screen_redraw();
		w->again = true;
	} else if (w->prompts) {
		typing(w, key);
	} else if (w->mode == MODE_TABLE) {
		table_key(w, key);
	} else if (w->mode == MODE_HELP || key == SCREEN_ESCAPE || key == SCREEN_ENTER ||
		   key == SCREEN_BACKSPACE || key == SCREEN_LEFT) {
		w->mode = MODE_TABLE;
		w->again = true;
	}
}
