// SPDX-License-Identifier: GPL-2.0-only
/* opprobe serve: what operators cost, for a monitoring system. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd.h"
#include "serving.h"
#include "subject.h"

#define LISTEN	  "127.0.0.1:9464" /* the port that OpenTelemetry's exporters for Prometheus have */
#define NODES_MAX 10000
#define KEEP_MIN  (1u << 20)

struct serve_arguments {
	struct serving_options serving;
	struct choice choice;
};

static volatile sig_atomic_t quit, leave;

static void on_signal(int number)
{
	/* Another one ends the program: probes go with its file descriptors. */
	if (quit)
		signal(number, SIG_DFL);
	quit = leave = 1;
}

enum {
	OPTION_LISTEN = 256,
	OPTION_TOKEN_FILE,
	OPTION_TLS_CERT,
	OPTION_TLS_KEY,
	OPTION_NODES,
	OPTION_KEEP,
	OPTION_MAX_OVERHEAD,
	OPTION_SAMPLE,
	OPTION_CONFIG,
	OPTION_BUFFER,
};

static const struct argp_option serve_options[] = {
	{"listen", OPTION_LISTEN, "ADDRESS", 0,
	 "Answer there: HOST:PORT, [::1]:PORT, unix:PATH, or fd:N, a socket that listens (default " LISTEN
	 "); an address that other machines reach needs --token-file",
	 0},
	{"token-file", OPTION_TOKEN_FILE, "FILE", 0,
	 "Answer those only who know the word that this file has at the time, as "
	 "\"Authorization: Bearer WORD\"",
	 0},
	{"tls-cert", OPTION_TLS_CERT, "FILE", 0,
	 "Answer by HTTPS, with the certificate that this file has at the time: PEM, with those that "
	 "it rests on behind it",
	 0},
	{"tls-key", OPTION_TLS_KEY, "FILE", 0, "The key of that certificate, PEM as well", 0},
	{"nodes", OPTION_NODES, "N", 0,
	 "So many operators have series of their own, those that take most (default 500); the rest "
	 "is told as \"other\"",
	 0},
	{"keep", OPTION_KEEP, "SIZE", 0,
	 "Memory for what was recorded last, of which captures are made (default 16M)", 0},
	{"max-overhead", OPTION_MAX_OVERHEAD, "SHARE", 0,
	 "Take samples in place of probes if these take more of the processes' CPU time than this "
	 "(default 1%; 100%: whatever they take)",
	 0},
	{"sample", OPTION_SAMPLE, "RATE", 0,
	 "No probes in operators: look at what each CPU does so often per second (99)", 0},
	{"events", 'e', "EVENTS", 0,
	 "Count these: EVENT[=NAME],... as in `opprobe list`; none for time only", 0},
	{"config", OPTION_CONFIG, "FILE", 0, "Count the events of this JSON file", 0},
	{"buffer", OPTION_BUFFER, "SIZE", 0, "Ring buffer, a power of two (default 8M)", 0},
	{},
};

static const char serve_doc[] =
	"Tell a monitoring system such as Prometheus what the operators of all models cost, for "
	"weeks: processes are recorded when they have loaded a runtime, and until they go.\v"
	"It answers at /metrics in OpenMetrics, at / with the page of what was recorded last, at "
	"/capture with a capture and at /profile with a pprof profile of that (?seconds=10: of the "
	"last ten). Nobody can have it do anything.\n\n"
	"Examples:\n"
	"  sudo opprobe serve -a\n"
	"  sudo opprobe serve --comm 'python3*' --max-overhead 0.5%\n"
	"  sudo opprobe serve -a --sample 99                with no probe in an operator\n"
	"  sudo opprobe serve -a --listen unix:/run/opprobe/metrics.sock\n"
	"  sudo opprobe serve -a --listen 0.0.0.0:9464 --token-file /etc/opprobe/token \\\n"
	"      --tls-cert /etc/opprobe/tls.crt --tls-key /etc/opprobe/tls.key\n"
	"  curl -s http://127.0.0.1:9464/metrics | grep opprobe_run_duration_seconds\n"
	"  curl -so last.opp 'http://127.0.0.1:9464/capture?seconds=60'\n"
	"  go tool pprof -top http://127.0.0.1:9464/profile\n";

static size_t parse_nodes(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || !n || n > NODES_MAX)
		argp_error(state, "'%s' is no number of operators from 1 to %d", text, NODES_MAX);
	return n;
}

static void finish_arguments(struct serve_arguments *arguments, struct argp_state *state)
{
	struct recording_options *recording = &arguments->serving.recording;

	if (!choice_made(&arguments->choice))
		argp_error(state,
			   "which processes? All that have a runtime with -a, or some of "
			   "them with -p PID, --comm NAME, --container ID|NAME, --pod POD or "
			   "--cgroup PATH");
	if (!arguments->serving.certificate_file != !arguments->serving.key_file)
		argp_error(state, "a certificate and its key go together: %s FILE is missing",
			   arguments->serving.key_file ? "--tls-cert" : "--tls-key");
	if (recording->events && recording->config)
		argp_error(state, "-e and --config exclude each other");
	if (recording_samples(recording) && (recording->events || recording->config))
		argp_error(state, "--sample has no probes for %s: leave one of them out",
			   recording->events ? "-e" : "--config");
	if (recording_samples(recording) && recording->max_overhead > 0)
		argp_error(state, "--sample has no probes that would take anything: leave "
				  "--max-overhead out");
	if (recording->max_overhead <= 0)
		recording->max_overhead = SERVING_OVERHEAD;
}

static error_t parse_serve(int key, char *text, struct argp_state *state)
{
	struct serve_arguments *arguments = state->input;
	struct recording_options *recording = &arguments->serving.recording;
	uint64_t keep;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->choice;
		break;
	case OPTION_LISTEN:
		arguments->serving.listen = text;
		break;
	case OPTION_TOKEN_FILE:
		arguments->serving.token_file = text;
		break;
	case OPTION_TLS_CERT:
		arguments->serving.certificate_file = text;
		break;
	case OPTION_TLS_KEY:
		arguments->serving.key_file = text;
		break;
	case OPTION_NODES:
		arguments->serving.nodes = parse_nodes(text, state);
		break;
	case OPTION_KEEP:
		if (parse_size(text, &keep) || keep < KEEP_MIN)
			argp_error(state, "'%s' is not a size such as 16M, 1M at least", text);
		arguments->serving.keep = keep;
		break;
	case OPTION_MAX_OVERHEAD:
		recording->max_overhead = subject_parse_share(text, state);
		break;
	case OPTION_SAMPLE:
		recording->sample_rate = subject_parse_rate(text, "", state);
		break;
	case 'e':
		recording->events = text;
		break;
	case OPTION_CONFIG:
		recording->config = text;
		break;
	case OPTION_BUFFER:
		recording->buffer_size = subject_parse_buffer(text, state);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", text);
		break;
	case ARGP_KEY_END:
		finish_arguments(arguments, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_serve(int argc, char **argv)
{
	static const struct argp_child children[] = {{&choice_argp, 0, "Which processes:", 0}, {}};
	static const struct argp argp = {serve_options, parse_serve, NULL, serve_doc,
					 children,	NULL,	     NULL};
	const struct sigaction action = {.sa_handler = on_signal};
	struct serve_arguments arguments = {
		.serving =
			{
				.leave = &leave,
				.quit = &quit,
				.listen = LISTEN,
				.nodes = SERVING_NODES,
				.keep = SERVING_KEEP,
			},
	};
	struct error err = {};
	int error;

	arguments.serving.choice = &arguments.choice;
	cmd_parse(&argp, argc, argv, &arguments);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	error = serving_run(&arguments.serving, &err);
	if (!error)
		return EXIT_OK;
	fprintf(stderr, "opprobe: %s\n", err.text);
	return EXIT_FAILED;
}
