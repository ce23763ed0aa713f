// SPDX-License-Identifier: GPL-2.0-only
#include "serving.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "collect/usage.h"
#include "inspect/rights.h"
#include "live/live.h"
#include "serve/exporter.h"
#include "serve/kept.h"
#include "serve/metrics.h"
#include "serve/series.h"
#include "target/arrivals.h"
#include "whose.h"

#define SECOND	      UINT64_C(1000000000)
#define WAIT_NS	      200000000L	   /* between looks for somebody to record */
#define SCAN_EVERY    (300 * SECOND)	   /* all processes: for what no mapping tells */
#define SCAN_AT_LEAST (10 * SECOND)	   /* apart, where mappings were missed */
#define RENEW_EVERY   (24 * 3600 * SECOND) /* a recording, or */
#define RENEW_AFTER   (10 * SECOND)	   /* at the earliest, if it knows */
#define ADDED_MAX     16		   /* processes that came, */
#define DEFINED_MAX   200000		   /* or so many operators, sessions and threads */
#define RETRY_FIRST   SECOND		   /* behind a failure; twice as long behind the next, */
#define RETRY_LAST    (60 * SECOND)	   /* up to this */
#define CHARGE_EVERY  (2 * SECOND)	   /* what probes took is looked at, and if it was */
#define USED_MIN      20e6		   /* ns of CPU time: less says nothing of shares */
#define TOO_MUCH      2		     /* times too much, one after the other, samples are taken */
#define SAMPLE_FIRST  (600 * SECOND) /* for so long; twice as long next time, */
#define SAMPLE_LAST   (4 * 3600 * SECOND) /* up to this */
#define RUNS_SHARE    0.5 /* of what probes may take, that those of runs may alone */
#define HITS_OF_RUN   2.0 /* the probes of a run take so many times an operator's, */
#define IN_TARGET     2.0 /* and those in a target what they take in opprobe itself */
#define ARRIVALS_MAX  1024
#define LATER_MAX     64 /* processes that are looked at again, as they could not be looked into: */
#define LATER_TRIES   4	 /* so often, */
#define LATER_NS      SECOND /* after so long, for twice as long as before, first */
#define PATIENCE_NS   (2 * SECOND)

/* A process that could not be looked into. */
struct later {
	pid_t pid;
	unsigned int tries;
	uint64_t next; /* clock_ns() */
};

/* What there is to tell of all recordings. */
struct told {
	double cpu_ns, charged_ns;
	uint64_t recordings;
	bool samples;
};

/* What probes took, and what the processes used. */
struct account {
	struct usage usage;
	uint64_t executions, runs; /* that were charged */
	uint64_t looked;
	unsigned int too_much; /* looks, one after the other */
	uint64_t sample_for;   /* next time, ns */
	uint64_t sample_until; /* 0: probes are in place */
	bool runs_stay;	       /* those of runs are, beside samples */
};

struct serving {
	struct record_sink sink; /* first: of both */
	struct record_sink *counting;
	const struct serving_options *options;
	struct running_files *files;
	struct arrivals *arrivals; /* NULL: of processes that were given by their numbers */
	struct later later[LATER_MAX];
	size_t n_later;
	struct metrics *metrics;
	struct metrics_options metrics_options;
	struct exporter *exporter;
	struct recording_options recording; /* that is on */
	uint64_t scanned, began;
	bool attached; /* something was recorded, ever */
	struct account account;
	pthread_mutex_t looking; /* of: */
	struct live *live;	 /* what is recorded, kept for a while; NULL: nothing is */
	pthread_mutex_t lock;	 /* of what is told by another thread */
	struct told told;
};

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	utf8_clean(text);
	fprintf(stderr, "opprobe: %s\n", text);
}

/* -- who is there --------------------------------------------------------------------------- */

/* Add those of @running that are wanted and not among the @n @pids yet; returns how many there are.
 */
static size_t add_fitting(const struct serving *s, const struct running *running, pid_t *pids,
			  size_t n, size_t max)
{
	for (size_t i = 0; i < running->list.n && n < max; i++) {
		const struct running_process *it = &running->list.items[i];
		bool there = false;

		for (size_t k = 0; k < n && !there; k++)
			there = pids[k] == it->pid;
		if (!there && running_fits(it, &s->options->choice->by))
			pids[n++] = it->pid;
	}
	return n;
}

static void look_later(struct serving *s, pid_t pid, unsigned int tries)
{
	if (tries < LATER_TRIES && s->n_later < LATER_MAX)
		s->later[s->n_later++] = (struct later){
			.pid = pid,
			.tries = tries + 1,
			.next = clock_ns() + (LATER_NS << tries),
		};
}

static size_t scan(struct serving *s, pid_t *pids, size_t n, size_t max)
{
	const struct running_options look = {.files = s->files, .stop = s->options->leave};
	struct running running;
	struct error err;

	s->scanned = clock_ns();
	if (!running_find(&running, &look, &err)) {
		n = add_fitting(s, &running, pids, n, max);
		for (size_t i = 0; i < running.hidden && i < HIDDEN_TOLD; i++)
			look_later(s, running.hidden_pids[i], 0);
	} else if (!*s->options->quit) {
		say("%s", err.text);
	}
	running_free(&running);
	return n;
}

/*
 * Process @pid has mapped something that may be a runtime. Where the machine is so busy that it
 * cannot be looked into in time, or the process withholds what it maps, it is tried again.
 */
static size_t look_at(struct serving *s, pid_t pid, unsigned int tries, pid_t *pids, size_t n,
		      size_t max)
{
	const struct running_options look = {
		.files = s->files,
		.patience = PATIENCE_NS << tries,
		.stop = s->options->leave,
	};
	struct running running;

	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return n;
	if (!running_find_one(&running, &look, pid, NULL)) {
		n = add_fitting(s, &running, pids, n, max);
		if (running.hidden)
			look_later(s, pid, tries);
	}
	running_free(&running);
	return n;
}

static size_t look_again(struct serving *s, pid_t *pids, size_t n, size_t max)
{
	uint64_t now = clock_ns();

	for (size_t i = s->n_later; i-- > 0;) {
		struct later it = s->later[i];

		if (it.next > now)
			continue;
		s->later[i] = s->later[--s->n_later];
		n = look_at(s, it.pid, it.tries, pids, n, max);
	}
	return n;
}

/* Those who have come of late, up to @max. */
static size_t take_arrivals(struct serving *s, pid_t *pids, size_t max)
{
	static struct arrival list[ARRIVALS_MAX];
	pid_t last = 0;
	bool missed;
	size_t n = 0, some = arrivals_take(s->arrivals, list, ARRIVALS_MAX, &missed);
	uint64_t since = clock_ns() - s->scanned;

	for (size_t i = 0; i < some; i++) {
		if (list[i].pid == last ||
		    running_is_without(s->files, list[i].device, list[i].inode))
			continue;
		/* All that it maps is looked at then. */
		last = list[i].pid;
		n = look_at(s, last, 0, pids, n, max);
	}
	n = look_again(s, pids, n, max);
	if (since > SCAN_EVERY || (missed && since > SCAN_AT_LEAST))
		n = scan(s, pids, n, max);
	return n;
}

/* -- what it costs -------------------------------------------------------------------------- */

/* What probes took since the last look, ns; *@of_runs: those of runs alone. Reckoned as for
 * --max-overhead of a recording, see recording_budget.c. */
static double charge(struct serving *s, const struct metrics_size *size, double *of_runs)
{
	struct account *account = &s->account;
	double hit = IN_TARGET * (double)metrics_hit_ns(s->metrics);
	double executions = (double)(size->executions - account->executions);
	double runs = HITS_OF_RUN * (double)(size->runs - account->runs);

	account->executions = size->executions;
	account->runs = size->runs;
	*of_runs = hit * runs;
	return hit * executions + *of_runs;
}

static double used(struct serving *s)
{
	pid_t pids[4 * PROCESSES_MAX];
	size_t n = metrics_pids(s->metrics, pids, sizeof(pids) / sizeof(pids[0]));
	double cpu = 0;

	for (size_t i = 0; i < n; i++) {
		const struct process process = {.pid = pids[i]};

		cpu += usage_of(&s->account.usage, &process);
	}
	return cpu;
}

/* Probes took @charged of @cpu, those of runs @of_runs: which stay? */
static void take_samples(struct serving *s, double cpu, double charged, double of_runs)
{
	struct account *account = &s->account;
	double share = s->options->recording.max_overhead;

	account->runs_stay = !account->sample_until && of_runs < RUNS_SHARE * share * cpu;
	say("probes take %.1f %% of the processes' CPU time, and may take %.1f: samples are taken "
	    "instead%s, for %" PRIu64 " minutes",
	    100 * charged / cpu, 100 * share, account->runs_stay ? ", and probes of runs stay" : "",
	    account->sample_for / (60 * SECOND));
	/* What is tried then is tried with all probes. */
	if (account->sample_until)
		return;
	account->sample_until = clock_ns() + account->sample_for;
	account->sample_for *= 2;
	if (account->sample_for > SAMPLE_LAST)
		account->sample_for = SAMPLE_LAST;
}

static bool is_too_much(struct serving *s, double cpu, double charged)
{
	struct account *account = &s->account;
	double share = s->options->recording.max_overhead;

	/* All of it: then there is no bound. */
	if (cpu > USED_MIN && share < 1)
		account->too_much = charged > cpu * share ? account->too_much + 1 : 0;
	return account->too_much >= TOO_MUCH;
}

/* Is the recording to end, as its probes take too much, or may be tried again? */
static bool look_at_cost(struct serving *s, const struct metrics_size *size)
{
	struct account *account = &s->account;
	uint64_t now = clock_ns();
	double cpu, charged, of_runs;

	if (now - account->looked < CHARGE_EVERY)
		return false;
	account->looked = now;
	cpu = used(s);
	charged = charge(s, size, &of_runs);
	pthread_mutex_lock(&s->lock);
	s->told.cpu_ns += cpu;
	s->told.charged_ns += charged;
	pthread_mutex_unlock(&s->lock);
	if (account->sample_until && now > account->sample_until)
		return true;
	if (recording_samples(&s->recording) && !account->runs_stay)
		return false;
	if (!is_too_much(s, cpu, charged))
		return false;
	take_samples(s, cpu, charged, of_runs);
	return true;
}

/* -- while a recording is on ------------------------------------------------------------------ */

static bool knows_too_much(const struct serving *s, const struct metrics_size *size)
{
	uint64_t age = clock_ns() - s->began;

	return age > RENEW_EVERY ||
	       (age > RENEW_AFTER && (size->added >= ADDED_MAX || size->defined > DEFINED_MAX ||
				      (size->added && size->processes >= PROCESSES_MAX - 4)));
}

static size_t arrived(const struct recording_options *options, pid_t *pids, size_t max)
{
	struct serving *s = options->context;
	struct metrics_size size;

	exporter_tend(s->exporter);
	metrics_size(s->metrics, &size);
	if (look_at_cost(s, &size) || knows_too_much(s, &size) || *s->options->quit)
		*s->options->leave = 1;
	return s->arrivals && !*s->options->leave ? take_arrivals(s, pids, max) : 0;
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

	if (s->account.sample_until && clock_ns() > s->account.sample_until)
		s->account = (struct account){.usage = s->account.usage,
					      .sample_for = s->account.sample_for};
	prepare(s, pids, n);
	s->account.executions = s->account.runs = 0;
	s->account.too_much = 0;
	s->account.looked = 0; /* at once, for what the processes have used so far */
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
	usage_free(&s->account.usage);
	s->account.usage = (struct usage){};
	return error;
}

static void wait_a_little(struct serving *s)
{
	const struct timespec pause = {.tv_nsec = WAIT_NS};

	exporter_tend(s->exporter);
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
	size_t n = scan(s, pids, 0, max);

	if (!n && !*s->options->quit)
		say("no process that is wanted has a runtime mapped: waiting for one");
	while (!n && !*s->options->quit) {
		wait_a_little(s);
		n = take_arrivals(s, pids, max);
	}
	return n;
}

/* Is it no process that fails, but what opprobe may do here? */
static bool is_hopeless(const struct serving *s, int error)
{
	return !s->attached && error != -ESRCH && error != -ENOENT && error != -ENOEXEC &&
	       error != -EAGAIN && error != -EINTR && error != -ENOMEM;
}

static bool has_gone(const pid_t *pids, size_t n)
{
	bool gone = false;

	for (size_t i = 0; i < n && !gone; i++) {
		const struct process process = {.pid = pids[i]};
		uint64_t ns;

		gone = process_cpu(&process, &ns) != 0;
	}
	return gone;
}

static int record_those_that_come(struct serving *s, struct error *err)
{
	pid_t pids[PROCESSES_MAX];
	uint64_t retry = RETRY_FIRST;

	while (!*s->options->quit) {
		struct error why;
		size_t n;
		int error;

		*s->options->leave = 0;
		n = wait_for_some(s, pids, PROCESSES_MAX);
		if (*s->options->quit)
			break;
		error = record(s, pids, n, &why);
		if (!error || *s->options->leave) {
			retry = RETRY_FIRST;
			continue;
		}
		if (is_hopeless(s, error)) {
			*err = why;
			return error;
		}
		/* It is gone, and others may be there. */
		if (has_gone(pids, n)) {
			pause_for(s, WAIT_NS);
			continue;
		}
		say("%s; tried again in %" PRIu64 " s", why.text, retry / SECOND);
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

/* -- pages ------------------------------------------------------------------------------------- */

/* A number that is alone. */
static void put_number(const struct exposition *to, const char *type,
		       const struct series_metric *metric, double value)
{
	exposition_head(to, metric, type);
	fprintf(to->out, "%s%s %.15g\n", metric->name, strcmp(type, "counter") ? "" : "_total",
		value);
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static double own_cpu(void)
{
	struct rusage own = {}, children = {};

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return seconds_of(&own.ru_utime) + seconds_of(&own.ru_stime) +
	       seconds_of(&children.ru_utime) + seconds_of(&children.ru_stime);
}

static double own_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double own_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	double n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n > 3 ? n - 3 : 0; /* ".", "..", and its own */
}

static void write_costs(struct serving *s, const struct exposition *to)
{
	static const struct series_metric
		cpu = {.name = "opprobe_targets_cpu_seconds",
		       .unit = "seconds",
		       .help = "CPU time of the processes while they were recorded."},
		charged = {.name = "opprobe_overhead_charged_seconds",
			   .unit = "seconds",
			   .help = "Of that, what probes are charged with."},
		budget = {.name = "opprobe_overhead_budget_ratio",
			  .unit = "ratio",
			  .help = "The share of the processes' CPU time that probes may take."},
		recordings = {.name = "opprobe_recordings",
			      .help = "Recordings that began: each forgets who has gone."},
		recording = {.name = "opprobe_recording", .help = "How operators are seen now."};
	struct told told;

	pthread_mutex_lock(&s->lock);
	told = s->told;
	pthread_mutex_unlock(&s->lock);
	put_number(to, "counter", &cpu, told.cpu_ns / 1e9);
	put_number(to, "counter", &charged, told.charged_ns / 1e9);
	if (!recording_samples(&s->options->recording))
		put_number(to, "gauge", &budget, s->options->recording.max_overhead);
	put_number(to, "counter", &recordings, (double)told.recordings);
	exposition_head(to, &recording, "stateset");
	fprintf(to->out,
		"opprobe_recording{opprobe_recording=\"probes\"} %d\n"
		"opprobe_recording{opprobe_recording=\"samples\"} %d\n",
		!told.samples, told.samples);
}

static void write_self(const struct exposition *to)
{
	static const struct series_metric
		cpu = {.name = "process_cpu_seconds",
		       .unit = "seconds",
		       .help = "CPU time of opprobe itself, helpers that have ended included."},
		memory = {.name = "process_resident_memory_bytes",
			  .unit = "bytes",
			  .help = "Memory of opprobe itself."},
		descriptors = {.name = "process_open_fds",
			       .help = "Descriptors of opprobe itself."};

	put_number(to, "counter", &cpu, own_cpu());
	put_number(to, "gauge", &memory, own_memory());
	put_number(to, "gauge", &descriptors, own_descriptors());
}

static int write_metrics(void *context, const struct exporter_request *request, FILE *out,
			 struct error *err)
{
	static const struct series_metric target = {.name = "target",
						    .help = "What tells all this."};
	static const struct series_label labels[] = {
		{"service_name", "opprobe"}, {"service_version", OPPROBE_VERSION}, {}};
	const struct exposition to = {out, request->better};
	struct serving *s = context;
	int error;

	exposition_head(&to, &target, "info");
	fputs("target_info", out);
	exposition_labels(&to, labels);
	fputs(" 1\n", out);
	error = metrics_write(s->metrics, &to);
	write_costs(s, &to);
	write_self(&to);
	if (request->better)
		fputs("# EOF\n", out);
	return error ? error_set(err, error, "out of memory") : 0;
}

/* What was recorded of late, as @kind of it. */
static int open_kept(struct serving *s, const char *kind, const struct exporter_request *request,
		     uint64_t *size, struct error *err)
{
	uint64_t now = clock_ns(), span = request->seconds * SECOND;
	const struct part_of part = {
		.since = span && span < now ? now - span : 0,
		.pid = request->pid,
	};
	int fd;

	pthread_mutex_lock(&s->looking);
	if (s->live)
		fd = kept_open(s->live, kind, &part, size, err);
	else
		fd = error_set(err, -ENOENT,
			       "nothing is recorded now: no process that is wanted "
			       "has a runtime");
	pthread_mutex_unlock(&s->looking);
	return fd;
}

static int open_capture(void *context, const struct exporter_request *request, uint64_t *size,
			struct error *err)
{
	return open_kept(context, KEPT_CAPTURE, request, size, err);
}

static int open_profile(void *context, const struct exporter_request *request, uint64_t *size,
			struct error *err)
{
	return open_kept(context, "profile.pb", request, size, err);
}

static int open_page(void *context, const struct exporter_request *request, uint64_t *size,
		     struct error *err)
{
	return open_kept(context, "", request, size, err);
}

static const struct exporter_page pages[] = {
	{.path = "/metrics",
	 .type = "text/plain; version=0.0.4; charset=utf-8",
	 .better = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	 .write = write_metrics},
	{.path = "/capture",
	 .type = "application/octet-stream",
	 .file = "opprobe.opp",
	 .open = open_capture},
	{.path = "/profile",
	 .type = "application/octet-stream",
	 .file = "profile.pb",
	 .open = open_profile},
	{.path = "/", .type = "text/html; charset=utf-8", .open = open_page},
	{},
};

/* -- life ---------------------------------------------------------------------------------------
 */

static void find_whose(void *context, pid_t pid, struct metrics_whose *whose)
{
	const struct serving *s = context;

	whose_find(pid, s->options->pod_logs, whose);
}

static int start(struct serving *s, struct exporter_options *exporter, struct error *err)
{
	s->metrics_options = (struct metrics_options){
		.nodes = s->options->nodes, .whose = find_whose, .context = s};
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
		.token = s->options->token,
		.pages = pages,
		.begin = rights_renounce,
		.context = s,
	};
	s->exporter = exporter_start(exporter, err);
	if (!s->exporter)
		return -EIO;
	say("metrics at %s%s", exporter_where(s->exporter), "/metrics");
	return 0;
}

int serving_run(const struct serving_options *options, struct error *err)
{
	struct serving s = {
		.sink.take = take, .options = options, .account.sample_for = SAMPLE_FIRST};
	struct exporter_options exporter;
	int error;

	pthread_mutex_init(&s.lock, NULL);
	pthread_mutex_init(&s.looking, NULL);
	error = start(&s, &exporter, err);
	if (!error)
		error = s.arrivals ? record_those_that_come(&s, err) : record_those(&s, err);
	exporter_stop(s.exporter);
	arrivals_free(s.arrivals);
	running_files_free(s.files);
	metrics_free(s.metrics);
	usage_free(&s.account.usage);
	pthread_mutex_destroy(&s.looking);
	pthread_mutex_destroy(&s.lock);
	return error;
}
