/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What may stand in a place of opprobe's command line: the words that a shell completes.
 * complete.c finds out which place it is, from the tables of the command; complete_words.c
 * knows what may stand there. The answer is a line per word, with a tab and a text
 * about it for people, or a line with what the shell knows better:
 *
 *	:files SUFFIX	names of files, that end so (none: any)
 *	:command N	another command line, which begins with word N of these, from 1 on
 *	:nospace	no space behind a word that is completed here
 *
 * Nothing is said of what goes wrong, and nothing is told that would have to be quoted: texts
 * of processes and captures may hold anything.
 */
#ifndef OPPROBE_COMPLETE_H
#define OPPROBE_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "options.h"

struct completion {
	FILE *out;
	char *const *words; /* of the command line, behind the program's name */
	size_t n_words;
	const char *word; /* the one to complete */
	/* Of it, what comes before the value that is completed: "--sort=", "cycles,". */
	size_t prefix;
};

/* Offer @text, with @about (or NULL), unless what there is of the word is not its beginning. */
void complete_offer(const struct completion *c, const char *text, const char *about);
/* The same, of a @text and @about that somebody else has made, which may hold any bytes. */
void complete_offer_foreign(const struct completion *c, const char *text, const char *about);
/* Have the shell complete the name of a file. */
void complete_files(const struct completion *c, const char *suffix);

/* Offer what @option of the command @command, "" for opprobe itself, takes. */
void complete_argument(struct completion *c, const char *command,
		       const struct command_option *option);
/* Offer what a command takes that says @arguments of what follows its options. */
void complete_operand(struct completion *c, const char *arguments);

#endif
