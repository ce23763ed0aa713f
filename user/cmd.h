/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands: each parses its arguments, calls the rooms, prints errors. */
#ifndef OPPROBE_CMD_H
#define OPPROBE_CMD_H

#include <argp.h>
#include <stdio.h>

/* Exit statuses, in the manner of the shell and of argp. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_INTERRUPTED = 130, /* before anything was recorded */
};

/*
 * Parse the command line into @arguments; what is wrong with it ends the program. Each command
 * does this first.
 */
void cmd_parse(const struct argp *argp, int argc, char **argv, void *arguments);
/*
 * Have the command that is run next hand its tables to @see instead, which returns the status
 * that the program ends with: a command says what its options are by its tables alone.
 */
void cmd_see_tables(int (*see)(const struct argp *argp, void *context), void *context);

/* One of opprobe's commands; the last of a table has no name. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *title; /* what argp calls it */
	const char *help;  /* NULL: not for people */
	/* In the place of run, of those that are about the others. */
	int (*about)(const struct command *all, int argc, char **argv);
};

/* The one of @all that is called @name, or NULL. */
const struct command *cmd_find(const struct command *all, const char *name);
/* Say on stderr that there is none, and which names are like it; returns EXIT_USAGE. */
int cmd_unknown(const struct command *all, const char *name);
void cmd_print_overview(const struct command *all, FILE *out);

/* @argv[0] is what argp shows as the program's name: "opprobe record". */
int cmd_profile(int argc, char **argv); /* opprobe -p PID */
int cmd_ps(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_version(int argc, char **argv);
int cmd_help(const struct command *all, int argc, char **argv);
int cmd_complete(const struct command *all, int argc, char **argv);

#endif
