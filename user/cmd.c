// SPDX-License-Identifier: GPL-2.0-only
#include "cmd.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

#define LISTS_MAX 8

/* The options of a command, and of those whose options it has, too. */
struct options {
	const struct argp_option *lists[LISTS_MAX];
	size_t n;
};

static void add_options(struct options *all, const struct argp *argp)
{
	if (argp->options && all->n < LISTS_MAX)
		all->lists[all->n++] = argp->options;
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		add_options(all, child->argp);
}

/* The one behind @o, which is the first of list *@list or in it; NULL behind the last. */
static const struct argp_option *next_option(const struct options *all, size_t *list,
					     const struct argp_option *o)
{
	for (o++; !o->name && !o->key && !o->doc; o = all->lists[*list])
		if (++*list == all->n)
			return NULL;
	return o;
}

#define FOR_EACH_OPTION(o, list, all)                                                              \
	for ((list) = 0, (o) = (all)->n ? (all)->lists[0] : NULL; (o);                             \
	     (o) = next_option(all, &(list), o))

/* Does a word of its own follow @option? */
static bool has_argument(const struct argp_option *option)
{
	while (option->flags & OPTION_ALIAS)
		option--;
	return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* The option that @word, behind its "--" and up to its '=', is or begins; NULL if none. */
static const struct argp_option *long_option(const struct options *all, const char *word)
{
	size_t length = strcspn(word, "="), list;
	const struct argp_option *o, *found = NULL;

	FOR_EACH_OPTION(o, list, all) {
		if (!o->name || strncmp(o->name, word, length) != 0)
			continue;
		if (!o->name[length])
			return o;
		found = o;
	}
	return found;
}

static bool is_argps_own(const char *word)
{
	static const char *const own[] = {"help", "usage", "version"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strncmp(own[i], word, strlen(word)))
			return true;
	return false;
}

/* Does a word of its own follow the letters of @word, which stand behind a "-"? */
static bool takes_next(const struct options *all, const char *word)
{
	const struct argp_option *o;
	size_t list;

	for (; *word; word++)
		FOR_EACH_OPTION(o, list, all)
			if (o->key == *word && o->arg)
				return has_argument(o) && !word[1];
	return false;
}

/* getopt would say that it does not know @word, and not what is like it. */
static void refuse_option(const struct options *all, const char *program, const char *word)
{
	int length = (int)strcspn(word, "=");
	char *name = strndup(word, length), names[256];
	struct nearest nearest = {.text = name ?: word};
	const struct argp_option *o;
	size_t list;

	FOR_EACH_OPTION(o, list, all)
		if (o->name)
			nearest_offer(&nearest, o->name);
	fprintf(stderr, "%s: there is no option '--%.*s'%s: see `%s --help'\n", program, length,
		word, nearest_print(&nearest, "; nearest: ", names, sizeof(names)), program);
	exit(EXIT_USAGE);
}

/* Refuse what is no option, whatever else may be wrong. */
static void check_options(const struct options *all, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *word = argv[i];
		const struct argp_option *option;

		if (word[0] != '-')
			continue;
		if (word[1] != '-') {
			i += takes_next(all, word + 1);
			continue;
		}
		option = long_option(all, word + 2);
		if (!option && !is_argps_own(word + 2))
			refuse_option(all, argv[0], word + 2);
		i += option && has_argument(option) && !strchr(word, '=');
	}
}

/* Whoever wants the tables of a command in the place of what it does. */
static struct {
	int (*see)(const struct argp *argp, void *context);
	void *context;
} seer;

void cmd_see_tables(int (*see)(const struct argp *argp, void *context), void *context)
{
	seer.see = see;
	seer.context = context;
}

void cmd_parse(const struct argp *argp, int argc, char **argv, void *arguments)
{
	struct options all = {};

	if (seer.see)
		exit(seer.see(argp, seer.context));
	add_options(&all, argp);
	argp_err_exit_status = EXIT_USAGE;
	check_options(&all, argc, argv);
	/* Whatever else is wrong it says and exits. */
	if (!argp_parse(argp, argc, argv, 0, NULL, arguments))
		return;
	fputs("opprobe: out of memory reading the command line\n", stderr);
	exit(EXIT_FAILED);
}
