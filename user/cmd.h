/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands: each parses its arguments, calls the rooms, prints errors. */
#ifndef OPPROBE_CMD_H
#define OPPROBE_CMD_H

#include <argp.h>

/* Exit statuses, in the manner of the shell and of argp. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_INTERRUPTED = 130, /* before anything was recorded */
};

/* Parse the command line into @arguments; what is wrong with it ends the program. */
void cmd_parse(const struct argp *argp, int argc, char **argv, void *arguments);

/* @argv[0] is what argp shows as the program's name: "opprobe record". */
int cmd_profile(int argc, char **argv); /* opprobe -p PID */
int cmd_ps(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
