// SPDX-License-Identifier: GPL-2.0-only
/* opprobe view: a capture in the browser. */
#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/caller.h"
#include "capture/capture.h"
#include "cmd.h"
#include "serve/contents.h"
#include "serve/server.h"

static const struct argp_option options[] = {
	{"port", 'p', "PORT", 0,
	 "Answer there, 0 for any that is free (default: 9001, of which alone ui.perfetto.dev reads; "
	 "if that is taken, any)",
	 0},
	{},
};

static const char doc[] =
	"Show a capture in the browser, until Ctrl-C.\v"
	"It answers on 127.0.0.1 alone, and only who knows the word in the address. The second "
	"address that is printed opens the trace in ui.perfetto.dev, which reads it in the browser "
	"and sends it nowhere. Under sudo it runs as who called that.\n"
	"\n"
	"Beside the page there are trace.perfetto-trace, report.json, report.csv, trace.json, "
	"speedscope.json, profile.pb and stacks.folded, as of report and export.\n"
	"\n"
	"Examples:\n"
	"  opprobe view run.opp\n"
	"  opprobe view run.opp --port 8000\n"
	"  ssh -L 9001:127.0.0.1:9001 server opprobe view run.opp      a capture of another machine";

struct arguments {
	const char *capture;
	uint16_t port;
	bool has_port;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	unsigned long port;
	char *end;

	switch (key) {
	case 'p':
		port = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end || port > UINT16_MAX)
			argp_error(state, "'%s' is no port: give a number up to 65535", arg);
		arguments->port = port;
		arguments->has_port = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->capture)
			argp_error(state, "one capture at a time");
		arguments->capture = arg;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->capture)
			argp_error(state, "which capture? Name the file that opprobe record wrote");
		else if (!strcmp(arguments->capture, "-"))
			argp_error(state, "a pipe cannot be read several times: name a file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A sentence now, instead of in the browser. */
static int check_capture(const char *path, struct error *err)
{
	struct capture_reader *reader = capture_reader_open(path, err);

	if (!reader)
		return -1;
	capture_reader_close(reader);
	return 0;
}

static void print_addresses(const struct server *server)
{
	const char *url = server_url(server);

	printf("%s\n", url);
	if (server_port(server) == SERVER_PERFETTO_PORT)
		printf("https://ui.perfetto.dev/#!/?url=%strace.perfetto-trace\n", url);
	else
		printf("%strace.perfetto-trace    save it, and open it in ui.perfetto.dev, which "
		       "reads from port %d alone\n",
		       url, SERVER_PERFETTO_PORT);
	fflush(stdout);
}

static struct server *start(struct contents *contents, const struct arguments *arguments,
			    struct error *err)
{
	bool taken;
	struct server *server = server_start(contents, arguments->port, &taken, err);

	return server || !taken || arguments->has_port ? server
						       : server_start(contents, 0, &taken, err);
}

int cmd_view(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "FILE", doc, 0, 0, 0};
	struct arguments arguments = {.port = SERVER_PERFETTO_PORT};
	struct contents *contents = NULL;
	struct server *server = NULL;
	struct error err;
	sigset_t ends;
	int number;

	cmd_parse(&argp, argc, argv, &arguments);
	/* Before there is a thread, which then has them blocked, too. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (!caller_become(&err) && !check_capture(arguments.capture, &err))
		contents = contents_open(arguments.capture, &err);
	if (contents)
		server = start(contents, &arguments, &err);
	if (server) {
		print_addresses(server);
		sigwait(&ends, &number);
		/* The server's thread may be in the middle of a long capture: it ends with us. */
		contents_remove(contents);
		_exit(EXIT_OK);
	}
	fprintf(stderr, "opprobe: %s\n", err.text);
	if (contents) {
		contents_remove(contents);
		contents_free(contents);
	}
	return EXIT_FAILED;
}
