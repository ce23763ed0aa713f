// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "command.h"
#include "inspect/child.h"
#include "inspect/hands.h"

static const struct command commands[] = {
	{"ps", cmd_ps, "opprobe ps", "the processes that can be recorded"},
	{"record", cmd_record, "opprobe record",
	 "record a process or a command into a capture file"},
	{"top", cmd_top, "opprobe top", "watch a running process, once a second"},
	{"serve", cmd_serve, "opprobe serve", "metrics for a monitoring system, for weeks"},
	{"report", cmd_report, "opprobe report", "print a capture as a table, JSON or CSV"},
	{"view", cmd_view, "opprobe view", "show a capture in the browser"},
	{"diff", cmd_diff, "opprobe diff", "compare runs of two captures, node by node"},
	{"export", cmd_export, "opprobe export", "write a capture in a format of other tools"},
	{"list", cmd_list, "opprobe list", "the events that can be counted here"},
	{"doctor", cmd_doctor, "opprobe doctor", "what will work here, and why not"},
	{"version", cmd_version, "opprobe version", "what this opprobe is built from"},
	{"help", .help = "the manual page of a command", .about = cmd_help},
	{"complete", .about = cmd_complete},
	{},
};

const char *argp_program_version = "opprobe " OPPROBE_VERSION;

/* A file that is opened later must not get the number of a stream that was closed. */
static int open_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (spawn_is(HELPER_INSPECTOR, argc, argv))
		return inspector_child();
	if (spawn_is(HELPER_HANDS, argc, argv))
		return hands_child();
	/* A reader that goes away, a file that may not grow: failed writes with their sentence. */
	command_ignore(SIGPIPE);
	command_ignore(SIGXFSZ);
	if (open_standard_streams())
		return EXIT_FAILED;
	if (argc < 2) {
		cmd_print_overview(commands, stderr);
		return EXIT_USAGE;
	}
	command = cmd_find(commands, argv[1]);
	if (command && command->about)
		return command->about(commands, argc - 1, argv + 1);
	if (command) {
		argv[1] = (char *)command->title;
		return command->run(argc - 1, argv + 1);
	}
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		cmd_print_overview(commands, stdout);
		return EXIT_OK;
	}
	if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("%s\n", argp_program_version);
		return EXIT_OK;
	}
	if (argv[1][0] != '-')
		return cmd_unknown(commands, argv[1]);
	/* What getopt calls it in its errors. */
	argv[0] = (char *)"opprobe";
	return cmd_profile(argc, argv);
}
