/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of a command as its own tables have them, in one list: completion
 * (complete.c) and the manual pages (help.c) are made from it, so that no option is
 * forgotten there.
 *
 *	options_list(argp, &options) ─▶ options.items[] ─▶ array_free()
 *
 * The tables exist only while a command reads its command line, some of them on its stack.
 */
#ifndef OPPROBE_OPTIONS_H
#define OPPROBE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

#define OPTION_NAMES 4

struct command_option {
	const char *names[OPTION_NAMES]; /* without their "--"; the first, and what is as good */
	size_t n_names;
	char letter;	      /* 0 if it has none */
	const char *argument; /* "PID", or NULL */
	bool optional;	      /* the argument, which is "=FILE" then */
	const char *text;
	const char *heading; /* that it stands below, or NULL */
};

struct command_options {
	const char *arguments; /* what follows the options: "FILE", or "" */
	ARRAY_OF(struct command_option);
};

/*
 * List the options of @argp and of what it includes, and the ones that argp adds, without
 * those that are hidden. 0 or -ENOMEM; to be freed in either case.
 */
int options_list(const struct argp *argp, struct command_options *options);
/* The one that is called @name, of @length bytes; NULL if there is none. */
const struct command_option *options_named(const struct command_options *options, const char *name,
					   size_t length);
const struct command_option *options_lettered(const struct command_options *options, char letter);

#endif
