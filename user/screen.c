// SPDX-License-Identifier: GPL-2.0-only
#include "screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/utf8.h"

#define ESCAPE_MS 25 /* in which what follows an escape makes a key of it */

enum pair {
	PAIR_BAR = 1,
	PAIR_WARNING,
	PAIR_DIM,
};

static SCREEN *screen;
static bool coloured;
static size_t last_width, last_height;
static struct termios before;
static char leave[128]; /* what makes the terminal as it was: for whoever cannot call curses */
static volatile sig_atomic_t is_on, should_suspend;

static const int deaths[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};

/* -- whatever happens -------------------------------------------------------------- */

/* Async-signal-safe. Waits for nothing. */
static void restore(void)
{
	struct pollfd room = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (!is_on)
		return;
	is_on = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	if (poll(&room, 1, 0) == 1 && write(STDOUT_FILENO, leave, strlen(leave)) < 0)
		return;
}

static void on_death(int number)
{
	restore();
	signal(number, SIG_DFL);
	raise(number);
}

static void on_stop(int number)
{
	should_suspend = 1;
}

static void add_leaving(const char *name)
{
	const char *text = tigetstr(name);
	size_t used = strlen(leave);

	/* tigetstr() has two ways to say no. */
	if (text && text != (char *)-1 && used + strlen(text) < sizeof(leave))
		strcpy(leave + used, text);
}

static void catch_signals(void)
{
	struct sigaction death = {.sa_handler = on_death, .sa_flags = SA_RESETHAND},
			 stop = {.sa_handler = on_stop};

	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++)
		sigaction(deaths[i], &death, NULL);
	sigaction(SIGTSTP, &stop, NULL);
}

/* -- life ----------------------------------------------------------------------------- */

/* What is drawn is UTF-8, whatever sudo left of the locale. */
static void choose_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (MB_CUR_MAX == 1 && !setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "en_US.UTF-8");
}

int screen_check(struct error *err)
{
	const char *term = getenv("TERM");
	int found = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, -ENOTTY,
				 "standard input or output is no terminal: use -b for frames as "
				 "text, or --json");
	if (!term || !*term || !strcmp(term, "dumb") ||
	    setupterm(NULL, STDOUT_FILENO, &found) == ERR || !tigetstr("cup") ||
	    tigetstr("cup") == (char *)-1)
		return error_set(err, -ENOTSUP,
				 "the terminal '%s' has no screen that can be written to, or is "
				 "not known here: use -b for frames as text, or set TERM",
				 term ?: "");
	return 0;
}

static void choose_colours(bool colour)
{
	const char *none = getenv("NO_COLOR");

	coloured = colour && !(none && *none) && has_colors() && start_color() == OK;
	if (!coloured)
		return;
	use_default_colors();
	init_pair(PAIR_BAR, COLOR_CYAN, -1);
	init_pair(PAIR_WARNING, COLOR_RED, -1);
	init_pair(PAIR_DIM, -1, -1);
}

/* Of the bytes that come: no signals of keys, as these would reach another thread. */
static void choose_modes(void)
{
	raw();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(ESCAPE_MS);
}

int screen_start(bool colour, struct error *err)
{
	choose_locale();
	if (tcgetattr(STDIN_FILENO, &before))
		return error_set(err, -errno, "cannot use the terminal: %s", error_reason(-errno));
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return error_set(err, -ENOTSUP, "cannot use the terminal: use -b");
	leave[0] = '\0';
	add_leaving("sgr0");
	add_leaving("cnorm");
	add_leaving("rmkx");
	add_leaving("rmcup");
	is_on = 1;
	catch_signals();
	choose_modes();
	choose_colours(colour);
	return 0;
}

void screen_end(void)
{
	if (!screen)
		return;
	if (is_on) {
		is_on = 0;
		endwin();
	}
	signal(SIGTSTP, SIG_DFL);
	delscreen(screen);
	screen = NULL;
}

void screen_give_up(void)
{
	restore();
}

bool screen_should_suspend(void)
{
	return should_suspend;
}

void screen_suspend(void)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	endwin();
	is_on = 0;
	signal(SIGTSTP, SIG_DFL);
	should_suspend = 0;
	/* Here and now, or this thread would go on with the screen: it stops all of them. */
	pthread_sigmask(SIG_UNBLOCK, &stop, NULL);
	raise(SIGTSTP);
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
	catch_signals();
	is_on = 1;
	screen_redraw();
}

/* -- showing --------------------------------------------------------------------------- */

bool screen_size(size_t *width, size_t *height)
{
	struct winsize size;
	bool changed;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row) {
		size.ws_col = COLS;
		size.ws_row = LINES;
	}
	if (size.ws_col != COLS || size.ws_row != LINES)
		resizeterm(size.ws_row, size.ws_col);
	*width = size.ws_col;
	*height = size.ws_row;
	changed = *width != last_width || *height != last_height;
	last_width = *width;
	last_height = *height;
	return changed;
}

void screen_redraw(void)
{
	clearok(stdscr, TRUE);
}

static attr_t attributes_of(enum frame_style style)
{
	switch (style) {
	case FRAME_TITLE:
	case FRAME_SELECTED:
		return A_REVERSE;
	case FRAME_HEADINGS:
		return A_BOLD;
	case FRAME_DIM:
	case FRAME_KEYS:
		return A_DIM;
	case FRAME_WARNING:
		return A_BOLD | (coloured ? COLOR_PAIR(PAIR_WARNING) : 0);
	default:
		return A_NORMAL;
	}
}

/* Bytes of @text up to where blocks begin or end; *@blocks says which they are. */
static int next_part(const char *text, bool *blocks)
{
	const char *p = text;

	for (bool first = true; *p; first = false) {
		const char *at = p;
		int32_t code = utf8_next(&p);
		bool is_block = code >= 0x2580 && code <= 0x259f;

		if (!first && is_block != *blocks)
			return at - text;
		*blocks = is_block;
	}
	return p - text;
}

static void draw_line(int y, const struct frame_line *line, int width)
{
	attr_t attributes = attributes_of(line->style);
	bool blocks = false;

	move(y, 0);
	for (const char *p = line->text; *p;) {
		int n = next_part(p, &blocks);

		attrset(attributes);
		if (blocks && coloured && line->style == FRAME_PLAIN)
			attron(COLOR_PAIR(PAIR_BAR));
		addnstr(p, n);
		p += n;
	}
	attrset(attributes);
	if (line->style == FRAME_TITLE || line->style == FRAME_SELECTED)
		while (getcury(stdscr) == y && getcurx(stdscr) < width - 1)
			addch(' ');
	attrset(A_NORMAL);
}

void screen_draw(const struct frame *frame)
{
	erase();
	for (size_t y = 0; y < frame->n && (int)y < LINES; y++)
		draw_line(y, &frame->items[y], COLS);
	refresh();
}

/* -- keys --------------------------------------------------------------------------------- */

int screen_key(int ms)
{
	static const struct {
		wint_t curses;
		enum screen_key key;
	} keys[] = {
		{KEY_UP, SCREEN_UP},	     {KEY_DOWN, SCREEN_DOWN},
		{KEY_LEFT, SCREEN_LEFT},     {KEY_RIGHT, SCREEN_RIGHT},
		{KEY_PPAGE, SCREEN_PAGE_UP}, {KEY_NPAGE, SCREEN_PAGE_DOWN},
		{KEY_HOME, SCREEN_HOME},     {KEY_END, SCREEN_END},
		{KEY_ENTER, SCREEN_ENTER},   {KEY_BACKSPACE, SCREEN_BACKSPACE},
		{KEY_DC, SCREEN_BACKSPACE},
	};
	wint_t code;
	int got;

	timeout(ms);
	got = get_wch(&code);
	if (got == OK)
		return code == '\n' ? SCREEN_ENTER : code == '\b' ? SCREEN_BACKSPACE : (int)code;
	if (got != KEY_CODE_YES)
		return SCREEN_NONE;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == code)
			return keys[i].key;
	return SCREEN_OTHER;
}
