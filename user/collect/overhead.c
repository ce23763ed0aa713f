// SPDX-License-Identifier: GPL-2.0-only
/*
 * opprobe records itself: a collector of its own, on the functions of
 * overhead_code.S, whose executions go to a sink that keeps samples. What must
 * hold: the constants are those of the same programs with the same counters
 * on the same kind of instruction. What could break it is another load on the
 * machine; hence the medians of executions taken in turns.
 */
#include "overhead.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../bpf/events.h"
#include "collector.h"
#include "probes.h"

#define TURNS	      301
#define WARM_UP	      20 /* turns that do not count */
#define NESTED	      8	 /* executions inside the outer one */
#define OVERHEAD_STEP 3	 /* instructions between inner_a and inner_b */

/* The node index that tells the kinds of execution apart. */
enum kind { INNER_A, INNER_B, OUTER_PROBED, OUTER_PLAIN, KINDS };

#define DECLARE_PLACES(name)                                                                       \
	extern const char overhead_##name##_enter_stepped[], overhead_##name##_enter_emulated[];   \
	extern const char overhead_##name##_exit_stepped[], overhead_##name##_exit_emulated[]

DECLARE_PLACES(inner_a);
DECLARE_PLACES(inner_b);
DECLARE_PLACES(outer);

#if defined(__x86_64__)
void overhead_inner_a(void *unused, void *context, long index);
void overhead_inner_b(void *unused, void *context, long index);
void overhead_inner_plain(void *unused, void *context, long index);
void overhead_outer(long count, void *context, long index, void *inner);
#define CALL_INNER(function, context, index)	    function(NULL, context, index)
#define CALL_OUTER(count, context, index, function) overhead_outer(count, context, index, function)
#else
void overhead_inner_a(void *context, long index);
void overhead_inner_b(void *context, long index);
void overhead_inner_plain(void *context, long index);
void overhead_outer(void *context, long index, long count, void *inner);
#define CALL_INNER(function, context, index)	    function(context, index)
#define CALL_OUTER(count, context, index, function) overhead_outer(context, index, count, function)
#endif

struct overhead_job {
	pthread_t thread;
	struct location location;
	const struct counter_set *set;
	struct overhead_kind kind;
	struct capture_overhead result;
	const char *manner;
	struct error err;
	int error;
	sem_t done;
};

/* Per kind: durations and counters of its executions. */
struct samples {
	struct record_sink sink; /* first: take() is handed its address */
	size_t n_counters;
	enum kind kinds[16]; /* by operator; KINDS: none of these */
	unsigned int seen[KINDS];
	uint64_t ns[KINDS][TURNS];
	uint64_t counters[CAPTURE_COUNTERS][KINDS][TURNS];
	unsigned int n[KINDS];
};

/* -- a runtime whose operators are these functions ---------------------------- */

static int calibrate(const struct process *process, const struct sighting_record *sighting,
		     struct layout *layout)
{
	memset(layout, 0, sizeof(*layout));
	return 0;
}

static int describe(const struct process *process, const struct layout *layout,
		    const struct identity *identity, struct strings_record *strings)
{
	memset(strings, 0, sizeof(*strings));
	strings->verified = 1;
	strings->identity = *identity;
	strings->node_index = identity->index;
	strings->op_type_length = 1;
	strings->op_type[0] = 'k';
	return 0;
}

static const struct runtime own_runtime = {
	.name = "opprobe",
	.title = "opprobe",
	.calibrate = calibrate,
	.describe = describe,
};

static int add_site(struct location *location, enum site_role role, const void *address)
{
	struct site *site = &location->sites[location->n_sites++];

	*site = (struct site){.role = role, .convention = OP_BY_INDEX, .stack_depth = -1};
	return probes_own_offset(address, &site->offset);
}

static int locate(struct overhead_job *job)
{
	struct location *location = &job->location;
	bool enter = job->kind.enter_emulated, leave = job->kind.exit_emulated;
	int error = 0;

#define ADD(name)                                                                                  \
	do {                                                                                       \
		error |= add_site(location, SITE_OP_ENTER,                                         \
				  enter ? overhead_##name##_enter_emulated                         \
					: overhead_##name##_enter_stepped);                        \
		error |= add_site(location, SITE_OP_EXIT,                                          \
				  leave ? overhead_##name##_exit_emulated                          \
					: overhead_##name##_exit_stepped);                         \
	} while (0)
	ADD(inner_a);
	ADD(inner_b);
	ADD(outer);
#undef ADD
	location->runtime = &own_runtime;
	return error ? -ENOENT : 0;
}

/* -- measuring ------------------------------------------------------------------ */

static void execute_all(void)
{
	/* What the probes take for the context: its first word is the session. */
	uint64_t context[SIGHT_BYTES / 8] = {(uintptr_t)&own_runtime};

	for (int turn = 0; turn < WARM_UP + TURNS; turn++) {
		CALL_INNER(overhead_inner_a, context, INNER_A);
		CALL_INNER(overhead_inner_b, context, INNER_B);
		CALL_OUTER(NESTED, context, OUTER_PROBED, overhead_inner_a);
		CALL_OUTER(NESTED, context, OUTER_PLAIN, overhead_inner_plain);
	}
}

/* Record all executions; the collector is left to the caller, probes in place. */
static int record(struct overhead_job *job, struct record_sink *sink, const struct process *self,
		  struct collector **made)
{
	static const volatile sig_atomic_t stop = 1;
	const struct collector_limits no_limits = {};
	struct mapped_file file = {.open_path = "/proc/self/exe"};
	struct collector_options options = {
		.process = self,
		.location = &job->location,
		.file = &file,
		.counters = job->set,
		.sink = sink,
		.buffer_size = 1 << 20,
		.few_operators = true,
		.stop = &stop,
	};
	struct collector *collector = *made = collector_new(&options, &job->err);
	int error = collector ? collector_attach(collector, &job->err) : -EINVAL;

	if (error)
		return error;
	job->manner = collector_manner(collector);
	execute_all();
	error = collector_run(collector, &no_limits, &job->err);
	return error < 0 ? error : collector_finish(collector, COLLECTOR_STOPPED, NULL, &job->err);
}

static void add_sample(struct samples *samples, const struct capture_exec *exec, enum kind kind)
{
	unsigned int n = samples->n[kind];

	if (exec->depth || samples->seen[kind]++ < WARM_UP || n == TURNS ||
	    (exec->flags & EXEC_THREW))
		return;
	samples->ns[kind][n] = exec->end - exec->start;
	for (size_t i = 0; i < samples->n_counters; i++)
		samples->counters[i][kind][n] = exec->counters[i];
	samples->n[kind]++;
}

static int take_sample(struct record_sink *sink, const struct capture_record *record)
{
	struct samples *samples = (struct samples *)sink;
	const size_t n = sizeof(samples->kinds) / sizeof(samples->kinds[0]);

	if (record->type == CAPTURE_OPERATOR && record->op.op < n)
		samples->kinds[record->op.op] =
			record->op.node_index < KINDS ? record->op.node_index : KINDS;
	else if (record->type == CAPTURE_EXEC && record->exec.op < n &&
		 samples->kinds[record->exec.op] < KINDS)
		add_sample(samples, &record->exec, samples->kinds[record->exec.op]);
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median(uint64_t *samples, unsigned int n)
{
	unsigned int middle = n / 2;

	qsort(samples, n, sizeof(*samples), compare_samples);
	return samples[middle];
}

/* Both constants from the samples of one quantity. */
static void constants(const struct overhead_job *job, uint64_t samples[KINDS][TURNS],
		      const unsigned int *n, uint64_t *own, uint64_t *nested)
{
	/* Instructions of inner_a from its entry on to before its exit. */
	int between = 3 + (job->kind.exit_emulated - job->kind.enter_emulated);
	double a = median(samples[INNER_A], n[INNER_A]);
	double b = median(samples[INNER_B], n[INNER_B]);
	double probed = median(samples[OUTER_PROBED], n[OUTER_PROBED]);
	double plain = median(samples[OUTER_PLAIN], n[OUTER_PLAIN]);
	double constant = a - (b - a) * between / OVERHEAD_STEP;
	double inside = (probed - plain) / NESTED;

	*own = constant > 0 ? constant + 0.5 : 0;
	*nested = inside > 0 ? inside + 0.5 : 0;
}

static int evaluate(struct overhead_job *job, struct samples *samples)
{
	struct capture_overhead *result = &job->result;

	for (int kind = 0; kind < KINDS; kind++)
		if (samples->n[kind] < TURNS / 2)
			return -ENODATA;
	constants(job, samples->ns, samples->n, &result->own_ns, &result->nested_ns);
	for (size_t i = 0; i < job->set->n; i++)
		constants(job, samples->counters[i], samples->n, &result->own[i],
			  &result->nested[i]);
	return 0;
}

static int measure(struct overhead_job *job, const struct process *self, struct collector **made)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	int error = -ENOMEM;

	if (samples) {
		samples->sink.take = take_sample;
		samples->n_counters = job->set->n;
		error = record(job, &samples->sink, self, made);
	}
	if (!error)
		error = evaluate(job, samples);
	free(samples);
	return error;
}

static void *job_main(void *data)
{
	struct collector *collector = NULL;
	struct overhead_job *job = data;
	struct process self;

	job->error = process_open(&self, getpid(), &job->err);
	if (!job->error)
		job->error = measure(job, &self, &collector);
	/* Nobody needs to wait for the probes to go. */
	sem_post(&job->done);
	collector_free(collector);
	process_close(&self);
	return NULL;
}

struct overhead_kind overhead_kind(const struct location *location)
{
	struct overhead_kind kind = {true, true};

	for (size_t i = 0; i < location->n_sites; i++) {
		if (location->sites[i].role == SITE_OP_ENTER)
			kind.enter_emulated &= location->sites[i].emulated;
		if (location->sites[i].role == SITE_OP_EXIT)
			kind.exit_emulated &= location->sites[i].emulated;
	}
	return kind;
}

struct overhead_job *overhead_start(struct overhead_kind kind, const struct counter_set *set)
{
	struct overhead_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->set = set;
	job->kind = kind;
	sem_init(&job->done, 0, 0);
	if (locate(job) || pthread_create(&job->thread, NULL, job_main, job)) {
		free(job);
		return NULL;
	}
	return job;
}

int overhead_wait(struct overhead_job *job, struct capture_overhead *overhead, struct error *err)
{
	while (sem_wait(&job->done) && errno == EINTR)
		;
	*overhead = job->result;
	if (job->error && err)
		*err = job->err;
	if (job->error && err && !err->text[0])
		error_set(err, job->error, "the probes could not be tried out: %s",
			  strerror(-job->error));
	return job->error;
}

const char *overhead_manner(const struct overhead_job *job)
{
	return job->manner;
}

void overhead_free(struct overhead_job *job)
{
	if (!job)
		return;
	pthread_join(job->thread, NULL);
	sem_destroy(&job->done);
	free(job);
}
