// SPDX-License-Identifier: GPL-2.0-only
/* opprobe help: which commands there are, and the manual page of one. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cmd.h"
#include "options.h"

static const char usage[] = "opprobe help [COMMAND]";

/* opprobe -p PID, as the others are in the table. */
static const struct command profile = {"opprobe", cmd_profile, "opprobe", ""};

const struct command *cmd_find(const struct command *all, const char *name)
{
	for (const struct command *command = all; command->name; command++)
		if (!strcmp(name, command->name))
			return command;
	return NULL;
}

int cmd_unknown(const struct command *all, const char *name)
{
	struct nearest nearest = {.text = name};
	char names[256];

	for (const struct command *command = all; command->name; command++)
		if (command->help)
			nearest_offer(&nearest, command->name);
	fprintf(stderr, "opprobe: there is no command '%s'%s: see `opprobe --help`\n", name,
		nearest_print(&nearest, "; nearest: ", names, sizeof(names)));
	return EXIT_USAGE;
}

void cmd_print_overview(const struct command *all, FILE *out)
{
	fputs("opprobe: what each operator of a running model costs the machine\n\n"
	      "  sudo opprobe -p PID      record until Ctrl-C, print the table, leave the capture\n",
	      out);
	for (const struct command *command = all; command->name; command++)
		if (command->help)
			fprintf(out, "  opprobe %-16s %s\n", command->name, command->help);
	fputs("\n"
	      "Examples:\n"
	      "  sudo opprobe ps\n"
	      "  sudo opprobe --comm node -d 10s\n"
	      "  sudo opprobe -- node server.js\n"
	      "  sudo opprobe -p 4711 -e cycles,instructions,page-faults --sort self\n"
	      "  sudo opprobe record -p 4711 -d 10s -o run.opp && opprobe report run.opp\n"
	      "  opprobe doctor --file libonnxruntime.so\n\n"
	      "Each command has its own --help, and a manual page: `opprobe help COMMAND`. That of\n"
	      "profiling is `opprobe -p PID --help`.\n",
	      out);
}

/* -- for programs: documented in opprobe(1) ----------------------------------------- */

static int finish(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_OK;
	fputs("opprobe: cannot write the list: is the disk full, or the reader gone?\n", stderr);
	return EXIT_FAILED;
}

static int print_commands(const struct command *all)
{
	for (const struct command *command = all; command->name; command++)
		if (command->help)
			printf("%s\t%s\n", command->name, command->help);
	return finish();
}

static void print_option(const struct command_option *it)
{
	const char *between = "";

	if (it->letter) {
		printf("-%c", it->letter);
		between = ",";
	}
	for (size_t i = 0; i < it->n_names; i++, between = ",")
		printf("%s--%s", between, it->names[i]);
	printf("\t%s\t%s\t%s\t%s\n", it->argument ?: "", it->optional ? "optional" : "",
	       it->heading ?: "", it->text);
}

static int print_options(const struct argp *argp, void *context)
{
	struct command_options options;
	int error = options_list(argp, &options);

	for (size_t i = 0; i < options.n && !error; i++)
		print_option(&options.items[i]);
	array_free(&options);
	if (!error)
		return finish();
	fputs("opprobe: cannot list the options: out of memory\n", stderr);
	return EXIT_FAILED;
}

/* ----------------------------------------------------------------------------------- */

/* The page of @command in the manual; false if it cannot be shown. */
static bool show_page(const char *name)
{
	char page[64];
	int status;
	pid_t child;

	snprintf(page, sizeof(page), "%s%s", strcmp(name, "opprobe") ? "opprobe-" : "", name);
	child = fork();
	if (!child) {
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		/* Where there is none, the help says what it would. */
		if (!freopen("/dev/null", "w", stderr))
			_exit(127);
		execlp("man", "man", page, NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

static int show_help(const struct command *all, const struct command *command)
{
	char *argv[] = {(char *)command->title, (char *)"--help", NULL};

	if (show_page(command->name))
		return EXIT_OK;
	if (command->run)
		return command->run(2, argv);
	cmd_print_overview(all, stdout);
	return finish();
}

int cmd_help(const struct command *all, int argc, char **argv)
{
	bool options = argc > 1 && !strcmp(argv[1], "--options");
	const char *name = argc > 1 + options ? argv[1 + options] : NULL;
	const struct command *command =
		name && strcmp(name, "opprobe") != 0 ? cmd_find(all, name) : &profile;

	if (argc == 2 && !strcmp(argv[1], "--commands"))
		return print_commands(all);
	if (argc > 2 + options) {
		fprintf(stderr, "opprobe help: one command at a time: %s\n", usage);
		return EXIT_USAGE;
	}
	if (!name && !options) {
		cmd_print_overview(all, stdout);
		return finish();
	}
	if (name && !strcmp(name, "--help")) {
		printf("Usage: %s\nShow the manual page of a command, or its help where there is "
		       "none; without one, which commands there are.\n"
		       "\nExamples:\n  opprobe help\n  opprobe help record\n",
		       usage);
		return finish();
	}
	if (!command || (!command->help && command != &profile))
		return cmd_unknown(all, name);
	if (!options)
		return show_help(all, command);
	if (!command->run)
		return EXIT_OK;
	argv[0] = (char *)command->title;
	cmd_see_tables(print_options, NULL);
	return command->run(1, argv);
}
