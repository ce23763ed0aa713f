// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* What argp takes of every command. */
static const struct argp_option argps_own[] = {
	{"help", '?', NULL, 0, "Tell of these options", -1},
	{"usage", -2, NULL, 0, "Tell of them in one line", -1},
	{"version", 'V', NULL, 0, "Print opprobe's version", -1},
	{},
};

static bool is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc;
}

static int list_table(const struct argp_option *table, struct command_options *options)
{
	const char *heading = NULL;

	for (const struct argp_option *o = table; o && !is_end(o); o++) {
		struct command_option *it;

		if (!o->name && !o->key) {
			heading = o->doc;
			continue;
		}
		if (o->flags & OPTION_ALIAS && options->n) {
			it = &options->items[options->n - 1];
			if (o->name && it->n_names < OPTION_NAMES)
				it->names[it->n_names++] = o->name;
			continue;
		}
		if (o->flags & (OPTION_HIDDEN | OPTION_DOC))
			continue;
		it = array_push(options);
		if (!it)
			return -ENOMEM;
		*it = (struct command_option){
			.names = {o->name},
			.n_names = o->name ? 1 : 0,
			.letter = o->key > 0 && o->key < 128 && isprint(o->key) ? o->key : '\0',
			.argument = o->arg,
			.optional = o->flags & OPTION_ARG_OPTIONAL,
			.text = o->doc ?: "",
			.heading = heading,
		};
	}
	return 0;
}

static int list_tables(const struct argp *argp, struct command_options *options)
{
	int error = list_table(argp->options, options);

	for (const struct argp_child *child = argp->children; child && child->argp && !error;
	     child++)
		error = list_tables(child->argp, options);
	return error;
}

int options_list(const struct argp *argp, struct command_options *options)
{
	int error;

	*options = (struct command_options){.arguments = argp->args_doc ?: ""};
	error = list_tables(argp, options);
	return error ?: list_table(argps_own, options);
}

const struct command_option *options_named(const struct command_options *options, const char *name,
					   size_t length)
{
	for (size_t i = 0; i < options->n; i++)
		for (size_t k = 0; k < options->items[i].n_names; k++)
			if (!strncmp(options->items[i].names[k], name, length) &&
			    !options->items[i].names[k][length])
				return &options->items[i];
	return NULL;
}

const struct command_option *options_lettered(const struct command_options *options, char letter)
{
	for (size_t i = 0; i < options->n; i++)
		if (letter && options->items[i].letter == letter)
			return &options->items[i];
	return NULL;
}
