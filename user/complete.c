// SPDX-License-Identifier: GPL-2.0-only
/* opprobe complete: for the completion of shells, see complete.h and opprobe(1). */
#include "complete.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#define ABOUT_MAX 90 /* bytes of what is told of a word */

/* -- what is offered ----------------------------------------------------------------- */

/* As much of @about as there is room for, whole words of it, without what ends a line. */
static void print_about(FILE *out, const char *about)
{
	size_t n = strlen(about);

	if (n > ABOUT_MAX) {
		for (n = ABOUT_MAX; n && about[n] != ' '; n--)
			;
		while (n && strchr(" ,;:(", about[n - 1]))
			n--;
	}
	putc('\t', out);
	for (size_t i = 0; i < n; i++)
		putc(iscntrl((unsigned char)about[i]) ? ' ' : about[i], out);
	if (about[n])
		fputs(" ...", out);
}

void complete_offer(const struct completion *c, const char *text, const char *about)
{
	const char *typed = c->word + c->prefix;

	if (strncmp(text, typed, strlen(typed)) != 0)
		return;
	fprintf(c->out, "%.*s%s", (int)c->prefix, c->word, text);
	if (about && *about)
		print_about(c->out, about);
	putc('\n', c->out);
}

/* Can it stand in any shell's command line as it is, and be no option there? */
static bool is_plain(const char *text)
{
	if (!*text || *text == '-')
		return false;
	for (; *text; text++)
		if (!isascii(*text) ||
		    (!isalnum((unsigned char)*text) && !strchr("._+-/@:=,", *text)))
			return false;
	return true;
}

void complete_offer_foreign(const struct completion *c, const char *text, const char *about)
{
	char plain[ABOUT_MAX * 2];
	size_t n = 0;

	if (!is_plain(text))
		return;
	for (; about && about[n] && n < sizeof(plain) - 1; n++)
		plain[n] = isascii(about[n]) && (isalnum((unsigned char)about[n]) ||
						 strchr(" ._+-/@=,", about[n]))
				   ? about[n]
				   : '?';
	plain[n] = '\0';
	complete_offer(c, text, plain);
}

void complete_files(const struct completion *c, const char *suffix)
{
	fprintf(c->out, ":files%s%s\n", *suffix ? " " : "", suffix);
}

/* -- which place it is --------------------------------------------------------------- */

/* The command line as far as it is read. */
struct place {
	struct completion *c;
	const char *command; /* "" for opprobe itself */
	size_t first;	     /* word behind it */
};

static void offer_options(const struct completion *c, const struct command_options *options)
{
	char text[64];

	for (size_t i = 0; i < options->n; i++) {
		const struct command_option *it = &options->items[i];

		for (size_t k = 0; k < it->n_names; k++) {
			snprintf(text, sizeof(text), "--%s", it->names[k]);
			complete_offer(c, text, it->text);
		}
		if (it->letter && it->letter != '?' && c->word[1] != '-') {
			snprintf(text, sizeof(text), "-%c", it->letter);
			complete_offer(c, text, it->text);
		}
	}
}

/* The option that @word is, which may have its argument in it; NULL if it is none. */
static const struct command_option *option_of(const struct command_options *options,
					      const char *word)
{
	if (word[0] != '-' || !word[1])
		return NULL;
	if (word[1] == '-')
		return options_named(options, word + 2, strcspn(word + 2, "="));
	/* Of letters in a row, the last one may take what follows. */
	for (word++; word[1]; word++) {
		const struct command_option *it = options_lettered(options, *word);

		if (!it || it->argument)
			return it;
	}
	return options_lettered(options, *word);
}

/* Does @option, as it stands in @word, take the next one? */
static bool takes_next(const struct command_option *option, const char *word)
{
	if (!option || !option->argument || option->optional)
		return false;
	if (word[1] == '-')
		return !strchr(word, '=');
	return word[strlen(word) - 1] == option->letter;
}

static void complete_word(const struct place *place, const struct command_options *options)
{
	struct completion *c = place->c;
	const struct command_option *option = NULL;

	for (size_t i = place->first; i + 1 < c->n_words; i++) {
		const char *word = c->words[i];

		if (!strcmp(word, "--")) {
			if (strstr(options->arguments, "COMMAND"))
				fprintf(c->out, ":command %zu\n", i + 2);
			else
				complete_operand(c, options->arguments);
			return;
		}
		option = option_of(options, word);
		if (!takes_next(option, word))
			continue;
		if (i + 2 == c->n_words) {
			complete_argument(c, place->command, option);
			return;
		}
		i++;
		option = NULL;
	}
	if (c->word[0] == '-' && c->word[1] == '-' && strchr(c->word, '=')) {
		c->prefix = strcspn(c->word, "=") + 1;
		option = option_of(options, c->word);
		if (option && option->argument)
			complete_argument(c, place->command, option);
	} else if (c->word[0] == '-') {
		offer_options(c, options);
	} else if (option && option->optional && !strcmp(option->argument, "FILE")) {
		/* "--trace FILE" is as good as with a '='; others stand by themselves. */
		complete_argument(c, place->command, option);
	} else {
		complete_operand(c, options->arguments);
	}
}

static int complete_with(const struct argp *argp, void *context)
{
	const struct place *place = context;
	struct command_options options;

	if (!options_list(argp, &options))
		complete_word(place, &options);
	array_free(&options);
	fflush(place->c->out);
	return EXIT_OK;
}

static void offer_commands(const struct completion *c, const struct command *all)
{
	for (const struct command *command = all; command->name; command++)
		if (command->help)
			complete_offer(c, command->name, command->help);
}

int cmd_complete(const struct command *all, int argc, char **argv)
{
	int first = argc > 1 && !strcmp(argv[1], "--") ? 2 : 1;
	struct completion c = {.out = stdout, .words = argv + first, .n_words = argc - first};
	struct place place = {.c = &c, .command = ""};
	char *title[] = {(char *)"opprobe", NULL};
	const struct command *command = NULL;

	if (argc <= first) {
		fputs("opprobe complete: which words? See opprobe(1)\n", stderr);
		return EXIT_USAGE;
	}
	c.word = c.words[c.n_words - 1];
	if (c.n_words == 1 && c.word[0] != '-') {
		offer_commands(&c, all);
		return EXIT_OK;
	}
	if (c.words[0][0] != '-') {
		command = cmd_find(all, c.words[0]);
		if (command && command->about && command->help && c.n_words == 2)
			offer_commands(&c, all);
		if (!command || !command->run)
			return EXIT_OK;
		place.command = command->name;
		place.first = 1;
	}
	cmd_see_tables(complete_with, &place);
	return command ? command->run(1, title) : cmd_profile(1, title);
}
