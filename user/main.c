// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cmd.h"
#include "command.h"
#include "inspect/child.h"
#include "inspect/hands.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *title; /* what argp calls it */
	const char *help;
};

static const struct command commands[] = {
	{"ps", cmd_ps, "opprobe ps", "the processes that can be recorded"},
	{"record", cmd_record, "opprobe record",
	 "record a process or a command into a capture file"},
	{"top", cmd_top, "opprobe top", "watch a running process, once a second"},
	{"report", cmd_report, "opprobe report", "print a capture as a table, JSON or CSV"},
	{"diff", cmd_diff, "opprobe diff", "compare runs of two captures, node by node"},
	{"export", cmd_export, "opprobe export", "write a capture in a format of other tools"},
	{"list", cmd_list, "opprobe list", "the events that can be counted here"},
	{"doctor", cmd_doctor, "opprobe doctor", "what will work here, and why not"},
	{},
};

const char *argp_program_version = "opprobe " OPPROBE_VERSION;

static void print_help(FILE *out)
{
	fputs("opprobe: what each operator of a running model costs the machine\n\n"
	      "  sudo opprobe -p PID      record until Ctrl-C, print the table, leave the capture\n",
	      out);
	for (const struct command *command = commands; command->name; command++)
		fprintf(out, "  opprobe %-16s %s\n", command->name, command->help);
	fputs("\n"
	      "Examples:\n"
	      "  sudo opprobe ps\n"
	      "  sudo opprobe --comm node -d 10s\n"
	      "  sudo opprobe -- node server.js\n"
	      "  sudo opprobe -p 4711 -e cycles,instructions,page-faults --sort self\n"
	      "  sudo opprobe record -p 4711 -d 10s -o run.opp && opprobe report run.opp\n"
	      "  opprobe doctor --file libonnxruntime.so\n\n"
	      "Each command has its own --help; `opprobe -p PID --help` is the one of profiling.\n",
	      out);
}

static void no_command(const char *name)
{
	struct nearest nearest = {.text = name};
	char names[256];

	for (const struct command *command = commands; command->name; command++)
		nearest_offer(&nearest, command->name);
	fprintf(stderr, "opprobe: there is no command '%s'%s: see `opprobe --help`\n", name,
		nearest_print(&nearest, "; nearest: ", names, sizeof(names)));
}

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
		print_help(stderr);
		return EXIT_USAGE;
	}
	for (const struct command *command = commands; command->name; command++) {
		if (strcmp(argv[1], command->name))
			continue;
		argv[1] = (char *)command->title;
		return command->run(argc - 1, argv + 1);
	}
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("%s\n", argp_program_version);
		return EXIT_OK;
	}
	if (argv[1][0] != '-') {
		no_command(argv[1]);
		return EXIT_USAGE;
	}
	/* What getopt calls it in its errors. */
	argv[0] = (char *)"opprobe";
	return cmd_profile(argc, argv);
}
