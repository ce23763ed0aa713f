// SPDX-License-Identifier: GPL-2.0-only
#include "serving_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "inspect/rights.h"

#define WAIT_NS	    200000000L			 /* between looks for somebody to record */
#define RENEW_EVERY (24 * 3600 * SERVING_SECOND) /* a recording, or */
#define RENEW_AFTER (10 * SERVING_SECOND)	 /* at the earliest, if it knows */
#define ADDED_MAX   16				 /* processes that came, */
#define DEFINED_MAX 200000			 /* or so many operators, sessions and threads */
#define RETRY_FIRST SERVING_SECOND	  /* behind a failure; twice as long behind the next, */
#define RETRY_LAST  (60 * SERVING_SECOND) /* up to this */

void serving_say(const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	utf8_clean(text);
	fprintf(stderr, "opprobe: %s\n", text);
}

/*
 * Answer with the certificate that was found: tried once a second, as memory or descriptors may be
 * short for a while. Returns what certificate_follow() does.
 */
static int renew(struct serving *s, struct error *err)
{
	uint64_t tried = s->renewed, now = clock_ns();
	int error;

	if (tried && now - tried < SERVING_SECOND)
		return 0;
	s->renewed = now;
	error = exporter_renew(s->exporter, err);
	if (error)
		return tried ? 0 : error;
	s->renewing = false;
	return 1;
}

static void tend_certificate(struct serving *s)
{
	struct error err;
	int news = s->certificate ? certificate_follow(s->certificate, &err) : 0;

	if (news > 0) {
		s->renewing = true;
		s->renewed = 0;
	}
	if (s->renewing && news >= 0)
		news = renew(s, &err);
	if (news > 0)
		serving_say("the certificate in %s is another one, and is used from now on",
			    s->options->certificate_file);
	else if (news < 0)
		serving_say("%s; the certificate before it stays in use", err.text);
}

/*
 * To be done every now and then, by the thread that has rights left: the token may be root's, and
 * the key.
 */
static void tend(struct serving *s)
{
	struct error err;
	int news;

	exporter_tend(s->exporter);
	news = s->token ? token_follow(s->token, &err) : 0;
	if (news > 0)
		serving_say("the token in %s is another one: the one before it is refused now",
			    s->options->token_file);
	else if (news < 0)
		serving_say("%s; the token before it stays until the file has one again", err.text);
	tend_certificate(s);
}

/* -- while a recording is on ------------------------------------------------------------------ */

static bool knows_too_much(const struct serving *s, const struct metrics_size *size)
{
	uint64_t age = clock_ns() - s->began;

	return age > RENEW_EVERY ||
	       (age > RENEW_AFTER && (size->added >= ADDED_MAX || size->defined > DEFINED_MAX ||
				      (size->added && size->processes >= PROCESSES_MAX - 4)));
}

static size_t arrived(const struct recording_options *options, uint64_t tasks, pid_t *pids,
		      size_t max)
{
	struct serving *s = options->context;
	struct metrics_size size;

	tend(s);
	metrics_size(s->metrics, &size);
	if (serving_look_at_cost(s, &size, tasks) || knows_too_much(s, &size) || *s->options->quit)
		*s->options->leave = 1;
	return s->arrivals && !*s->options->leave ? serving_take_arrivals(s, pids, max) : 0;
}

static int note_attached(const struct recording_options *options, struct error *err)
{
	struct serving *s = options->context;

	(void)err;
	s->attached = true;
	return 0;
}

/* -- one recording after the other ----------------------------------------------------------- */

static void prepare(struct serving *s, const pid_t *pids, size_t n)
{
	const struct recording_options *wanted = &s->options->recording;
	struct recording_options *recording = &s->recording;

	*recording = *wanted;
	recording->pids = pids;
	recording->n_pids = n;
	recording->some = s->arrivals;
	recording->follow = true;
	recording->no_cost = true;
	recording->max_overhead = 0;
	recording->arrived = arrived;
	recording->attached = note_attached;
	recording->context = s;
	recording->stop = s->options->leave;
	recording->sums = !recording_samples(wanted) && !s->account.sample_until;
	if (!recording->sums) {
		recording->events = recording->config = NULL;
		if (!recording_samples(wanted))
			recording->sample_rate = SERVING_RATE;
		recording->sample_runs = s->account.runs_stay;
	}
}

/* Both take what is recorded. What one refuses is none of the other's. */
static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct serving *s = (struct serving *)sink;
	int counted = sink_take(s->counting, record), kept = 0;

	/* A capture of samples has no runs: its views would have none of what is between. */
	if (record->type != CAPTURE_RUN || !recording_samples(&s->recording))
		kept = sink_take(live_sink(s->live), record);
	return counted ?: kept;
}

static int begin_sinks(struct serving *s, struct error *err)
{
	static const struct analyze_options by_node = {.group = GROUP_NODE, .once = true};
	struct live *live = live_new(&by_node, s->options->keep, err);

	s->counting = live ? metrics_begin(s->metrics, err) : NULL;
	if (!s->counting) {
		live_free(live);
		return -ENOMEM;
	}
	pthread_mutex_lock(&s->looking);
	s->live = live;
	pthread_mutex_unlock(&s->looking);
	s->recording.sink = &s->sink;
	return 0;
}

static void end_sinks(struct serving *s)
{
	struct live *live = s->live;

	metrics_end(s->metrics);
	/* Who looks at it is waited for. */
	pthread_mutex_lock(&s->looking);
	s->live = NULL;
	pthread_mutex_unlock(&s->looking);
	live_free(live);
}

static int record(struct serving *s, const pid_t *pids, size_t n, struct error *err)
{
	struct recording_result result;
	int error;

	serving_begin_account(s);
	prepare(s, pids, n);
	s->began = clock_ns();
	error = begin_sinks(s, err);
	if (error)
		return error;
	pthread_mutex_lock(&s->lock);
	s->told.recordings++;
	s->told.samples = recording_samples(&s->recording);
	pthread_mutex_unlock(&s->lock);
	error = recording_run(&s->recording, &result, err);
	free(result.capture);
	end_sinks(s);
	return error;
}

static void wait_a_little(struct serving *s)
{
	const struct timespec pause = {.tv_nsec = WAIT_NS};

	tend(s);
	nanosleep(&pause, NULL);
}

static void pause_for(struct serving *s, uint64_t ns)
{
	uint64_t until = clock_ns() + ns;

	while (!*s->options->quit && clock_ns() < until)
		wait_a_little(s);
}

/* Somebody to record, as soon as there is somebody; nobody if it is to end before that. */
static size_t wait_for_some(struct serving *s, pid_t *pids, size_t max)
{
	size_t n = serving_scan(s, pids, 0, max);

	if (!n && !*s->options->quit)
		serving_say("no process that is wanted has a runtime mapped: waiting for one");
	while (!n && !*s->options->quit) {
		wait_a_little(s);
		n = serving_take_arrivals(s, pids, max);
	}
	return n;
}

/* Is it no process that fails, but what opprobe may do here? */
static bool is_hopeless(const struct serving *s, int error)
{
	return !s->attached && error != -ESRCH && error != -ENOENT && error != -ENOEXEC &&
	       error != -EAGAIN && error != -EINTR && error != -ENOMEM;
}

/* Has one of them exited meanwhile? Then what failed may have been that. */
static bool has_gone(const pid_t *pids, size_t n)
{
	bool gone = false;

	for (size_t i = 0; i < n && !gone; i++) {
		struct process process;

		gone = process_open(&process, pids[i], NULL) != 0;
		if (!gone)
			process_close(&process);
	}
	return gone;
}

static int record_those_that_come(struct serving *s, struct error *err)
{
	uint64_t retry = RETRY_FIRST;

	while (!*s->options->quit) {
		struct error why;
		size_t n;
		int error;

		*s->options->leave = 0;
		n = wait_for_some(s, s->pids, PROCESSES_MAX);
		if (*s->options->quit)
			break;
		error = record(s, s->pids, n, &why);
		if (!error || *s->options->leave) {
			retry = RETRY_FIRST;
			continue;
		}
		if (has_gone(s->pids, n)) {
			pause_for(s, WAIT_NS);
			continue;
		}
		if (is_hopeless(s, error)) {
			*err = why;
			return error;
		}
		serving_say("%s; tried again in %" PRIu64 " s", why.text, retry / SERVING_SECOND);
		pause_for(s, retry);
		retry = retry < RETRY_LAST / 2 ? 2 * retry : RETRY_LAST;
	}
	return 0;
}

/* Those that were named, until they have exited. */
static int record_those(struct serving *s, struct error *err)
{
	const struct choice *choice = s->options->choice;
	int error = 0;

	do {
		*s->options->leave = 0;
		error = record(s, choice->pids, choice->n_pids, err);
	} while (!error && *s->options->leave && !*s->options->quit);
	return *s->options->quit ? 0 : error;
}

/* -- life ---------------------------------------------------------------------------------------
 */

static void find_whose(void *context, pid_t pid, struct metrics_whose *whose)
{
	struct running_process *it = calloc(1, sizeof(*it));
	struct process process = {.pid = pid};

	(void)context;
	if (!it)
		return;
	running_describe(it, &process);
	strcpy(whose->comm,
	       *it->names[RUNNING_PROGRAM] ? it->names[RUNNING_PROGRAM] : it->names[RUNNING_COMM]);
	strcpy(whose->namespace, it->pod.namespace);
	strcpy(whose->pod, it->pod.name);
	running_container(it, whose->container);
	free(it);
}

static int start(struct serving *s, struct exporter_options *exporter, struct error *err)
{
	if (s->options->token_file) {
		s->token = token_new(s->options->token_file, err);
		if (!s->token)
			return -EINVAL;
	}
	if (s->options->certificate_file) {
		s->certificate =
			certificate_new(s->options->certificate_file, s->options->key_file, err);
		if (!s->certificate)
			return -EINVAL;
	}
	s->metrics_options =
		(struct metrics_options){.nodes = s->options->nodes, .whose = find_whose};
	s->metrics = metrics_new(&s->metrics_options, err);
	s->files = s->metrics ? running_files_new() : NULL;
	if (!s->files)
		return error_set(err, -ENOMEM, "out of memory");
	/* Before anybody is looked for, so that nobody comes in between. */
	s->arrivals = s->options->choice->n_pids ? NULL : arrivals_new(err);
	if (!s->arrivals && !s->options->choice->n_pids)
		return -EPERM;
	*exporter = (struct exporter_options){
		.listen = s->options->listen,
		.token = s->token,
		.certificate = s->certificate,
		.pages = serving_pages,
		.begin = rights_renounce,
		.context = s,
	};
	s->exporter = exporter_start(exporter, err);
	if (!s->exporter)
		return -EIO;
	serving_say("metrics at %s%s", exporter_where(s->exporter), "/metrics");
	return 0;
}

int serving_run(const struct serving_options *options, struct error *err)
{
	struct serving s = {.sink.take = take, .options = options};
	struct exporter_options exporter;
	int error;

	pthread_mutex_init(&s.lock, NULL);
	pthread_mutex_init(&s.looking, NULL);
	error = start(&s, &exporter, err);
	if (!error)
		error = s.arrivals ? record_those_that_come(&s, err) : record_those(&s, err);
	exporter_stop(s.exporter);
	token_free(s.token);
	certificate_free(s.certificate);
	arrivals_free(s.arrivals);
	running_files_free(s.files);
	metrics_free(s.metrics);
	usage_free(&s.account.usage);
	pthread_mutex_destroy(&s.looking);
	pthread_mutex_destroy(&s.lock);
	return error;
}
