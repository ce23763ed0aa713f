// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a synthetic capture, for measurements and for tests of the views: a
 * model of 100 nodes, one of them an If with three nodes inside, run again
 * and again on several threads. The same arguments give the same bytes.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../capture_write.h"
#include "../make_values.h"

#define NESTED	    3
#define SESSIONS    4 /* with models */
#define POOL	    2 /* threads, with parts */
#define MICROSECOND 1000u
#define MILLISECOND (1000u * MICROSECOND)
#define SECOND	    UINT64_C(1000000000)

struct settings {
	uint64_t records;
	uint32_t threads, events, nodes;
	bool launches, multiplexed, shapes, work, parts, odd_names, unfinished, no_runs, outcomes,
		models, sums, budget, samples, off_cpu;
	const char *path;
};

struct maker {
	struct settings settings;
	struct capture_writer *writer;
	uint64_t random;
	uint64_t clock[64];		       /* of each thread */
	uint64_t counts[64][CAPTURE_COUNTERS]; /* of each thread's run */
	uint64_t written;
	uint32_t runs;
	int failure;
};

static const char *const op_types[] = {"Conv", "Relu",	  "MatMul",  "Add",
				       "Gemm", "Softmax", "Reshape", "LayerNormalization"};
static const char *const event_names[] = {"cycles", "instructions", "cache-misses",
					  "branch-misses"};

/* xorshift64* */
static uint64_t next_random(struct maker *m)
{
	m->random ^= m->random >> 12;
	m->random ^= m->random << 25;
	m->random ^= m->random >> 27;
	return m->random * UINT64_C(2685821657736338717);
}

static void check(struct maker *m, int status)
{
	if (status && !m->failure)
		m->failure = status;
}

static void write_info(struct maker *m)
{
	struct capture_info info = {
		.pid = 4242,
		.command = "node server.js",
		.library = "/srv/app/node_modules/onnxruntime-node/libonnxruntime.so.1",
		.runtime = "onnxruntime",
		.version = "1.24.3",
		.build_id = "0123456789abcdef0123456789abcdef01234567",
		.kernel = "6.1.0",
		.machine = "x86_64",
		.cpu = "Example CPU",
		.host = "example",
		.n_cpus = m->settings.models ? 16 : 2,
		.realtime_offset = INT64_C(1700000000000000000),
		.has_boottime = true,
		.start = UINT64_C(1000000000000),
		.opprobe_version = "0.1.0",
		.n_events = m->settings.events,
	};

	for (uint32_t i = 0; i < info.n_events; i++) {
		struct capture_event *event = &info.events[i];

		snprintf(event->name, sizeof(event->name), "%s%.0u", event_names[i % 4], i / 4);
		snprintf(event->event, sizeof(event->event), "perf::%s:u", event_names[i % 4]);
		event->group = m->settings.multiplexed ? i / 2 : 0;
		event->multiplexed = m->settings.multiplexed;
	}
	check(m, capture_write_info(m->writer, &info));
}

static void node_name(const struct maker *m, uint32_t op, char *name, size_t size)
{
	static const char *const odd[] = {"",
					  "a \"quoted\" \\ name",
					  "caf\xc3\xa9/\xe5\xb1\x82",
					  "\x1b[31mred",
					  "broken \xff\xc3",
					  "=1+1",
					  "two\nlines"};

	if (m->settings.odd_names && op < sizeof(odd) / sizeof(odd[0]))
		snprintf(name, size, "%s", odd[op]);
	else if (op >= m->settings.nodes)
		snprintf(name, size, "/block.%u/then_branch/%s_%u", m->settings.nodes / 2 / 8,
			 op_types[op % 8], op - m->settings.nodes);
	else
		snprintf(name, size, "/block.%u/%s", op / 8,
			 op == m->settings.nodes / 2 ? "If" : op_types[op % 8]);
}

static uint32_t n_sessions(const struct maker *m)
{
	return m->settings.models ? SESSIONS : 1;
}

/* The first of the operators of the session that @run is of. */
static uint32_t first_operator(const struct maker *m, uint32_t run)
{
	return run % n_sessions(m) * (m->settings.nodes + NESTED);
}

/* Two sessions of one file, one of a model from memory, one of which nothing is known. */
static void write_models(struct maker *m)
{
	struct capture_model model = {
		.path = "/srv/models/resnet.onnx",
		.graph = "main_graph",
		.producer = "pytorch",
		.providers = "CPUExecutionProvider",
		.graph_hash = UINT64_C(0x0123456789abcdef),
		.intra_threads = 4,
		.intra_spins = KNOWN_YES,
		.inter_spins = NOT_KNOWN,
		.memory_pattern = KNOWN_YES,
		.arena = KNOWN_YES,
	};

	check(m, capture_write_model(m->writer, &model));
	model.session = 1;
	check(m, capture_write_model(m->writer, &model));
	model.session = 2;
	model.path = "";
	model.graph = "a \"quoted\" caf\xc3\xa9\x1b[31m \xff";
	model.producer = NULL;
	model.intra_threads = 1;
	model.arena = KNOWN_NO;
	check(m, capture_write_model(m->writer, &model));
	check(m, capture_write_thread(m->writer, &(struct capture_thread){m->settings.threads, 6000,
									  "pool", 0}));
}

static void write_operators(struct maker *m, uint32_t session)
{
	uint32_t first = first_operator(m, session);

	for (uint32_t op = 0; op < m->settings.nodes + NESTED; op++) {
		char name[128];
		struct capture_operator node = {
			.op = first + op,
			.session = session,
			.node_index = op < m->settings.nodes ? op : op - m->settings.nodes,
			.name = name,
			.op_type = op == m->settings.nodes / 2 ? "If" : op_types[op % 8],
			.domain = "",
			.provider = "CPUExecutionProvider",
		};

		node_name(m, op, name, sizeof(name));
		check(m, capture_write_operator(m->writer, &node));
	}
}

/* Each session loads its model and is initialized, on the first thread, before any run. */
static void write_setups(struct maker *m)
{
	for (uint32_t i = 0; i < n_sessions(m); i++) {
		struct capture_setup setup = {
			.session = i, .has_status = true, .failure = CAPTURE_UNKNOWN};

		for (uint32_t kind = CAPTURE_SETUP_LOADING; kind < CAPTURE_SETUP_KINDS; kind++) {
			setup.kind = kind;
			setup.start = m->clock[0];
			m->clock[0] += kind * 100 * MICROSECOND;
			setup.end = m->clock[0];
			strcpy(setup.name, kind == CAPTURE_SETUP_LOADING
						   ? "model_loading_uri"
						   : "session_initialization");
			/* What can fail, does, in the last session. */
			if (m->settings.outcomes && i + 1 == n_sessions(m) &&
			    kind == CAPTURE_SETUP_INITIALIZATION)
				setup.failure = 0;
			check(m, capture_write_setup(m->writer, &setup));
		}
	}
}

/* Those of the pool have the numbers behind the others. */
static uint32_t pool_thread(const struct maker *m, uint32_t i)
{
	return m->settings.threads + 1 + i;
}

static void write_definitions(struct maker *m)
{
	for (uint32_t i = 0; i < n_sessions(m); i++)
		check(m, capture_write_session(
				 m->writer, &(struct capture_session){i, 0x7f0000001000 + i, 0}));
	for (uint32_t i = 0; i < m->settings.threads; i++)
		check(m, capture_write_thread(m->writer,
					      &(struct capture_thread){i, 5000 + i, "worker", 0}));
	for (uint32_t i = 0; m->settings.parts && i < POOL; i++)
		check(m, capture_write_thread(
				 m->writer,
				 &(struct capture_thread){pool_thread(m, i), 6000 + i, "pool", 0}));
	for (uint32_t i = 0; i < n_sessions(m); i++)
		write_operators(m, i);
	if (m->settings.models)
		write_models(m);
	if (m->settings.outcomes)
		check(m, capture_write_failure(
				 m->writer, &(struct capture_failure){0, 0, 2, "INVALID_ARGUMENT",
								      "no such shape"}));
	if (m->settings.models)
		write_setups(m);
	for (uint32_t i = 0; m->settings.shapes && i < 4; i++) {
		struct capture_shapes shapes;
		struct made_values made[2];
		char inputs[64], outputs[64];

		snprintf(inputs, sizeof(inputs), "[{\"float\":[%u,64]},!{\"float\":[64]}]",
			 1u << i);
		snprintf(outputs, sizeof(outputs), "[{\"float\":[%u,64]}]", 1u << i);
		shapes = make_shapes(made, i, inputs, outputs);
		check(m, capture_write_shapes(m->writer, &shapes));
	}
}

/* The work of @exec, in as many parts as there are threads of the pool. */
static void add_parts(const struct maker *m, struct capture_exec *exec, struct capture_part *parts)
{
	uint64_t left = exec->work_ns;

	for (uint32_t i = 0; i < POOL; i++) {
		uint64_t ns = left / (POOL - i);

		parts[i] = (struct capture_part){.thread = pool_thread(m, i),
						 .cpu = i,
						 .migrated = exec->run % 8 == i,
						 .start = exec->start + 100 * i};
		parts[i].end = parts[i].start + ns;
		left -= ns;
	}
	exec->flags |= EXEC_PARTS;
	exec->parts = parts;
	exec->n_parts = POOL;
}

/* Operators launch one of two kernels, or copy; a graph now and then. */
static void write_launch(struct maker *m, const struct capture_exec *exec)
{
	const uint32_t what = exec->op % 4;
	struct capture_launch launch = {
		.kind = what == 3   ? CAPTURE_LAUNCH_COPY
			: what == 2 ? CAPTURE_LAUNCH_GRAPH
				    : CAPTURE_LAUNCH_KERNEL,
		.place = CAPTURE_LAUNCH_INSIDE,
		.op = exec->op,
		.run = exec->run,
		.thread = exec->thread,
		.function = what < 2 ? what : CAPTURE_UNKNOWN,
		.time = exec->start + 50,
		.kernel = what == 3 ? 0 : 0x1000 + what,
		.bytes = what == 3 ? 100 + exec->op : 0,
	};

	if (what < 2)
		for (int i = 0; i < 3; i++)
			launch.grid[i] = launch.block[i] = 1 + exec->op % 8;
	check(m, capture_write_launch(m->writer, &launch));
}

static void write_kernels(struct maker *m)
{
	static const char *const symbols[] = {"scale", "fill"};

	for (uint32_t i = 0; i < 2; i++) {
		const struct capture_function kernel = {
			.function = i, .file = CAPTURE_UNKNOWN, .symbol = symbols[i]};

		check(m, capture_write_function(m->writer, &kernel));
	}
}

static void write_exec(struct maker *m, struct capture_exec *exec)
{
	uint64_t duration = exec->end - exec->start;
	struct capture_part parts[POOL];

	exec->cpu = exec->thread % 2;
	exec->shapes = m->settings.shapes ? exec->run % 4 : CAPTURE_UNKNOWN;
	exec->counted = 0;
	for (uint32_t i = 0; i < m->settings.events; i++) {
		if (m->settings.multiplexed && (exec->run + i / 2) % 2)
			continue;
		exec->counted |= 1u << i;
		exec->counters[i] = duration * 3 / (1 + (i % 4) * (i % 4) * 10);
		exec->work_counters[i] = exec->counters[i] / 2;
		m->counts[exec->thread][i] += exec->depth ? 0 : exec->counters[i];
	}
	if (m->settings.work && exec->op % 4 == 0) {
		exec->flags |= EXEC_WORK;
		exec->work_ns = duration / 2;
		if (m->settings.parts)
			add_parts(m, exec, parts);
	}
	check(m, capture_write_exec(m->writer, exec));
	m->written++;
	if (m->settings.launches)
		write_launch(m, exec);
}

static uint64_t some_duration(struct maker *m, uint32_t op)
{
	return (1 + op % 8) * MICROSECOND + next_random(m) % (2 * MICROSECOND);
}

/* Nested operators end, and are written, before the one they ran inside. */
static void write_node(struct maker *m, uint32_t op, uint32_t thread, uint32_t run)
{
	uint64_t *clock = &m->clock[thread];
	uint32_t first = first_operator(m, run);
	struct capture_exec exec = {
		.op = first + op, .thread = thread, .run = run, .parent = CAPTURE_UNKNOWN};

	exec.start = *clock;
	if (op == m->settings.nodes / 2) {
		exec.flags = EXEC_NESTED;
		for (uint32_t i = 0; i < NESTED; i++) {
			struct capture_exec inner = {.op = first + m->settings.nodes + i,
						     .thread = thread,
						     .run = run,
						     .parent = first + op,
						     .depth = 1};

			*clock += 200;
			inner.start = *clock;
			*clock += some_duration(m, i);
			inner.end = *clock;
			write_exec(m, &inner);
		}
		*clock += 200;
	} else {
		*clock += some_duration(m, op);
	}
	exec.end = *clock;
	write_exec(m, &exec);
	*clock += 100 + next_random(m) % 100;
}

static void write_tag(struct maker *m, uint32_t number)
{
	struct capture_tag tag = {.run = number};

	snprintf(tag.text, sizeof(tag.text), "user %u", number % 3);
	check(m, capture_write_tag(m->writer, &tag));
}

/* Of seven runs one returns an error, and one throws. */
static void end_badly(struct capture_run *run)
{
	run->threw = run->run % 7 == 3;
	run->has_operators = run->has_status = !run->threw;
	run->failure = run->run % 7 == 5 ? 0 : CAPTURE_UNKNOWN;
	if (run->threw)
		run->end = run->start;
}

/* What @n executions, or runs, took in an interval that has just ended: some microseconds each. */
static struct capture_sum some_sum(struct maker *m, uint32_t n, uint32_t *buckets)
{
	struct capture_sum sum = {.op = CAPTURE_UNKNOWN,
				  .session = CAPTURE_UNKNOWN,
				  .parent = CAPTURE_UNKNOWN,
				  .start = m->clock[0] - SECOND,
				  .end = m->clock[0],
				  .buckets = buckets};

	memset(buckets, 0, CAPTURE_BUCKETS * sizeof(*buckets));
	for (uint32_t left = n; left; left -= left / 2 + 1) {
		uint32_t at = 70 + next_random(m) % 20, some = left / 2 + 1;

		buckets[at] += some;
		sum.ns += some * capture_bucket_middle(at);
	}
	for (uint32_t i = 0; i < m->settings.events; i++) {
		sum.counters[i].value = sum.ns / (1 + i);
		sum.counters[i].missing = i == 3;
	}
	return sum;
}

/* An If holds some operators, whose sums come before its own. */
static void write_operator_sum(struct maker *m, uint32_t session, uint32_t op, uint32_t n)
{
	const uint32_t first = first_operator(m, session), around = first + m->settings.nodes / 2;
	uint32_t buckets[CAPTURE_BUCKETS];
	struct capture_sum sum = some_sum(m, n, buckets);

	sum.op = first + op;
	sum.depth = op >= m->settings.nodes;
	sum.parent = sum.depth ? around : CAPTURE_UNKNOWN;
	sum.migrated = n / 16;
	if (m->settings.work && op % 4 == 0)
		sum.work_ns = sum.ns / 2;
	if (sum.op == around) {
		sum.below_ns = sum.ns / 2;
		sum.children = sum.inside = (uint64_t)NESTED * n;
		sum.nested = n;
		for (uint32_t i = 0; i < m->settings.events; i++)
			sum.counters[i].below = sum.counters[i].value / 2;
	}
	check(m, capture_write_sum(m->writer, &sum));
	m->written++;
}

/* One interval of all sessions: the operators' sums, and those of their runs. */
static void write_sums(struct maker *m)
{
	uint32_t buckets[CAPTURE_BUCKETS];

	m->clock[0] += SECOND;
	for (uint32_t session = 0; session < n_sessions(m); session++) {
		struct capture_sum runs;

		for (uint32_t op = m->settings.nodes + NESTED; op-- > 0;)
			write_operator_sum(m, session, op, 100);
		runs = some_sum(m, 100, buckets);
		runs.of_runs = true;
		runs.session = session;
		runs.ns *= 2 * m->settings.nodes;
		runs.below_ns = runs.ns / 4;
		runs.children = 100 * m->settings.nodes;
		runs.inside = runs.children + 100 * NESTED;
		check(m, capture_write_sum(m->writer, &runs));
	}
	m->runs += 100 * n_sessions(m);
}

static const struct capture_sampling on_cpu = {"cpu-clock", "ns", CAPTURE_SAMPLING_TIME, 99000, 0},
				     off_cpu = {"off-cpu", "ns", CAPTURE_SAMPLING_OFF_CPU, 0, 1};

#define FUNCTIONS 5

/* In which samples see threads; of one, nothing is known but the file. */
static void write_functions(struct maker *m)
{
	static const char *const symbols[FUNCTIONS] = {"expf", "", "", "_ZN4mlas4GemmEv", ""};
	const struct capture_file file = {0, "/opt/lib/libonnxruntime.so.1", "abcdef"};

	check(m, capture_write_file(m->writer, &file));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		const struct capture_function function = {
			i, 0, i != 2, 0x1000 * i, 0x2000 * i, i ? 0x100 * i : 0, symbols[i]};

		check(m, capture_write_function(m->writer, &function));
	}
}

/* One look at each thread: mostly in an operator, its own or another thread's. */
static void write_samples(struct maker *m)
{
	for (uint32_t t = 0; t < m->settings.threads; t++) {
		uint64_t random = next_random(m);
		struct capture_sample sample = {
			.seen = random % 8 ? CAPTURE_SEEN_OWN + (random >> 8) % 2
					   : CAPTURE_SEEN_RUNTIME + (random >> 8) % 4,
			.op = CAPTURE_UNKNOWN,
			.parent = CAPTURE_UNKNOWN,
			.thread = t,
			.in_kernel = !(random >> 16 & 15),
			.time = m->clock[t],
			.amount = 10 * MILLISECOND,
			.ready = m->settings.off_cpu ? (random >> 32) % 2 * MILLISECOND : 0,
			.function = CAPTURE_UNKNOWN,
		};

		if (seen_in_operator(sample.seen)) {
			sample.op = (uint32_t)(random >> 24) % m->settings.nodes;
			sample.function = (uint32_t)(random >> 36) % FUNCTIONS;
			sample.at = (uint32_t)(random >> 44) % 256;
		}
		m->clock[t] += 10 * MILLISECOND;
		check(m, capture_write_sample(m->writer, &sample));
		m->written++;
	}
}

/* All threads run the model at once; their records interleave. */
static void write_runs(struct maker *m)
{
	uint32_t n = m->settings.threads;
	uint64_t start[64];

	for (uint32_t t = 0; t < n; t++) {
		start[t] = m->clock[t];
		m->clock[t] += MICROSECOND;
		if (m->settings.outcomes)
			write_tag(m, m->runs + t);
	}
	for (uint32_t op = 0; op < m->settings.nodes && m->written < m->settings.records; op++)
		for (uint32_t t = 0; t < n; t++)
			write_node(m, op, t, m->runs + t);
	for (uint32_t t = 0; t < n; t++) {
		struct capture_run run = {.run = m->runs + t,
					  .session = (m->runs + t) % n_sessions(m),
					  .step = (m->runs + t) / n_sessions(m),
					  .thread = t,
					  .start = start[t]};

		m->clock[t] += MICROSECOND;
		run.end = m->clock[t];
		if (!m->settings.multiplexed) {
			run.counted = (1u << m->settings.events) - 1;
			for (uint32_t i = 0; i < m->settings.events; i++)
				run.counters[i] = m->counts[t][i] + 1000;
		}
		if (m->settings.outcomes)
			end_badly(&run);
		if (!m->settings.no_runs)
			check(m, capture_write_run(m->writer, &run));
		memset(m->counts[t], 0, sizeof(m->counts[t]));
		m->clock[t] += 10 * MICROSECOND;
	}
	m->runs += n;
}

/* Some runs of each session were not recorded, and those of another that is not known. */
static void write_budget(struct maker *m)
{
	struct capture_budget budget = {.share_ppm = 10000,
					.cpu_ns = m->clock[0],
					.charged_ns = m->clock[0] / 200,
					.windows = 7,
					.all_seen = true};

	check(m, capture_write_budget(m->writer, &budget));
	for (uint32_t session = 0; session <= n_sessions(m); session++) {
		struct capture_rest rest = {session, 1000, SECOND};

		if (session == n_sessions(m))
			rest.session = CAPTURE_UNKNOWN;
		check(m, capture_write_rest(m->writer, &rest));
	}
}

static void write_end(struct maker *m)
{
	struct capture_end end = {.end = m->clock[0] + 1000, .reason = "interrupted"};

	if (m->settings.budget)
		write_budget(m);
	if (m->settings.models)
		check(m, capture_write_pool(m->writer, &(struct capture_pool){m->settings.threads,
									      1000, 9000}));
	check(m, capture_write_loss(m->writer, &(struct capture_loss){}));
	if (!m->settings.unfinished)
		check(m, capture_write_end(m->writer, &end));
}

static int make(struct maker *m, struct error *err)
{
	m->random = 88172645463325252u;
	m->writer = capture_writer_open(m->settings.path, OUTPUT_NAMED, err);
	if (!m->writer)
		return -1;
	for (uint32_t t = 0; t < m->settings.threads; t++)
		m->clock[t] = UINT64_C(1000000000000) + t * 300;
	write_info(m);
	write_definitions(m);
	if (m->settings.samples) {
		check(m,
		      capture_write_sampling(m->writer, m->settings.off_cpu ? &off_cpu : &on_cpu));
		write_functions(m);
	}
	if (m->settings.launches)
		write_kernels(m);
	while (m->written < m->settings.records && !m->failure)
		m->settings.sums      ? write_sums(m)
		: m->settings.samples ? write_samples(m)
				      : write_runs(m);
	write_end(m);
	if (capture_writer_close(m->writer, NULL, err))
		return -1;
	return m->failure ? error_set(err, m->failure, "A record was refused: %s.",
				      strerror(-m->failure))
			  : 0;
}

int main(int argc, char **argv)
{
	struct maker m = {
		.settings = {.records = 1000000, .threads = 2, .events = 4, .nodes = 100}};
	struct settings *s = &m.settings;
	struct error err;
	int option;

	while ((option = getopt(argc, argv, "n:t:e:p:mswkourfdgblca")) >= 0) {
		switch (option) {
		case 'n':
			s->records = strtoull(optarg, NULL, 10);
			break;
		case 't':
			s->threads = strtoul(optarg, NULL, 10);
			break;
		case 'e':
			s->events = strtoul(optarg, NULL, 10);
			break;
		case 'p':
			s->nodes = strtoul(optarg, NULL, 10);
			break;
		case 'm':
			s->multiplexed = true;
			break;
		case 's':
			s->shapes = true;
			break;
		case 'w':
			s->work = true;
			break;
		case 'k':
			s->parts = true;
			break;
		case 'o':
			s->odd_names = true;
			break;
		case 'u':
			s->unfinished = true;
			break;
		case 'r':
			s->no_runs = true;
			break;
		case 'f':
			s->outcomes = true;
			break;
		case 'd':
			s->models = true;
			break;
		case 'g':
			s->sums = true;
			break;
		case 'b':
			s->budget = true;
			break;
		case 'l':
			s->samples = true;
			break;
		case 'a':
			s->launches = true;
			break;
		case 'c':
			s->samples = s->off_cpu = true;
			break;
		default:
			optind = argc;
		}
	}
	if (optind != argc - 1 || s->threads < 1 || s->threads > 64 || s->nodes < 1 ||
	    s->events > CAPTURE_COUNTERS) {
		fprintf(stderr,
			"usage: make_capture [-n RECORDS] [-t THREADS] [-e EVENTS] [-p "
			"NODES] [-mswkourfdgblca] FILE\n"
			"  -m multiplexed events  -s shapes  -w work of other threads\n"
			"  -k parts of that, on two threads of a pool\n"
			"  -o odd node names      -u without an end record\n"
			"  -r without records of runs  -f runs that fail or throw, and have tags\n"
			"  -d models of four sessions, as far as they are known\n"
			"  -g sums of each second in place of executions and runs\n"
			"  -b within a budget, with runs that were not recorded\n"
			"  -l samples in place of executions and runs  -c times off the CPUs likewise\n"
			"  -a what each operator has a GPU do\n");
		return 2;
	}
	s->path = argv[optind];
	if (make(&m, &err)) {
		fprintf(stderr, "make_capture: %s\n", err.text);
		return 1;
	}
	fprintf(stderr, "%" PRIu64 " operator records, %u runs\n", m.written, m.runs);
	return 0;
}
