// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs an ONNX model through ONNX Runtime's C API, deterministically, and
 * prints what each batch of runs took by this process's own reckoning.
 *
 *   ort_run [options] LIBRARY MODEL.onnx [RUNS]
 *
 * LIBRARY is loaded at run time; nothing of ONNX Runtime is needed to build
 * this. The inputs are those of MODEL.inputs (see models.py), filled from a
 * fixed seed like inference.cjs does. Without RUNS, commands come on stdin,
 * one per line, and each is answered by one line of JSON:
 *
 *   run N              run the model N times on every thread
 *   set INPUT V...     give a one-dimensional int64 input other values
 *   tag TEXT           give the runs from now on this tag; none if it is empty
 *   arena              what the memory arena of the first session counts (from 1.23 on)
 *   end-profiling      make the built-in profiler write its files
 *   hold N             begin N runs, each on a thread of its own, which stay open (with -H)
 *   let-go             they end, one after another
 *   let-die            or their threads die inside of them
 *   lock               keep what is mapped from now on in memory, from its start on
 *   recreate           release the sessions and create them again
 *   reload LIBRARY     the same with another file of the runtime
 *   load LIBRARY       have any library in memory
 *   fork               have a child that obeys, too:
 *   child COMMAND      what it is to do
 *   exec               execute this program anew, which answers as at its start
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ort_api.h"
#include "ort_held.h"

#define INPUTS_MAX   8
#define OUTPUTS_MAX  64
#define DIMS_MAX     8
#define SESSIONS_MAX 16
#define WORKERS_MAX  256
#define SEED	     1

struct event {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool exclude_kernel;
};

enum { EVENTS = 3 };
static const struct event events[EVENTS] = {
	{"task_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
	{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true},
};

struct input {
	char name[64];
	int type;
	size_t element_size;
	int64_t dims[DIMS_MAX];
	size_t n_dims;
	void *data;
	size_t size; /* bytes */
	void *value;
};

struct options {
	const char *library, *model, *profile;
	char **arguments;
	int intra_threads, inter_threads, sessions, concurrency, optimize, warmup;
	bool parallel, plain_memory, no_pattern, events, holding, times, depths, lingers;
	const char *statistics;
	const char *operators; /* a library that has some of its own */
};

struct worker {
	pthread_t thread;
	void *session, *run_options;
	long runs, failed;
	uint64_t cpu_ns, faults, counts[EVENTS];
	bool counted[EVENTS];
	uint64_t *run_ns; /* of each run; NULL: not told */
	uint32_t checksum;
	char failure[256];
};

static struct api api;
static struct options options = {
	.intra_threads = 1, .sessions = 1, .concurrency = 1, .optimize = 99};
static void *env, *memory, *allocator, *tagged_options;
static void *sessions[SESSIONS_MAX];
static struct input inputs[INPUTS_MAX];
static size_t n_inputs;
static char *output_names[OUTPUTS_MAX];
static size_t n_outputs;
static struct worker workers[WORKERS_MAX];

static void die(const char *what, const char *why)
{
	fprintf(stderr, "ort_run: %s: %s\n", what, why);
	exit(1);
}

static void check(status_t status, const char *what)
{
	if (status)
		die(what, api.error_message(status));
}

static size_t size_of_type(int type)
{
	switch (type) {
	case 1: /* float */
		return 4;
	case 7: /* int64 */
		return 8;
	case 9: /* bool */
		return 1;
	}
	die("a tensor", "has a type that ort_run does not know");
	return 0;
}

static void fill(struct input *input, uint32_t seed)
{
	size_t count = input->size / input->element_size;
	uint32_t state = seed;

	if (input->type != 1)
		return;
	for (size_t i = 0; i < count; i++) {
		state = state * 1664525u + 1013904223u;
		((float *)input->data)[i] = (float)((state >> 8) / 8388608.0 - 1);
	}
}

/* (Re)make the tensor after a change of dimensions; its data becomes zeros. */
static void make_tensor(struct input *input)
{
	size_t count = 1;

	for (size_t i = 0; i < input->n_dims; i++)
		count *= input->dims[i];
	if (input->value)
		api.release_value(input->value);
	free(input->data);
	input->size = count * input->element_size;
	input->data = calloc(count ? count : 1, input->element_size);
	if (!input->data)
		die(input->name, strerror(errno));
	check(api.create_tensor(memory, input->data, input->size, input->dims, input->n_dims,
				input->type, &input->value),
	      input->name);
}

static void set_values(struct input *input, char *words)
{
	size_t count = input->size / input->element_size, i = 0;

	for (char *rest, *word = strtok_r(words, " ", &rest); word && i < count;
	     word = strtok_r(NULL, " ", &rest), i++) {
		if (input->type == 7)
			((int64_t *)input->data)[i] = strtoll(word, NULL, 10);
		else if (input->type == 9)
			((uint8_t *)input->data)[i] = atoi(word) != 0;
		else
			((float *)input->data)[i] = strtof(word, NULL);
	}
}

/* One line: NAME TYPE DIM... [= VALUE...] */
static void read_input(char *line)
{
	struct input *input = &inputs[n_inputs];
	char *values = strstr(line, " = "), *rest, *word;

	if (n_inputs == INPUTS_MAX)
		die("the model", "has too many inputs");
	if (values) {
		*values = '\0';
		values += 3;
	}
	word = strtok_r(line, " ", &rest);
	snprintf(input->name, sizeof(input->name), "%s", word ? word : "");
	word = strtok_r(NULL, " ", &rest);
	if (!word)
		die(input->name, "has no type");
	input->type = !strcmp(word, "float") ? 1 : !strcmp(word, "int64") ? 7 : 9;
	input->element_size = size_of_type(input->type);
	while ((word = strtok_r(NULL, " ", &rest)) && input->n_dims < DIMS_MAX)
		input->dims[input->n_dims++] = strtoll(word, NULL, 10);
	make_tensor(input);
	if (values)
		set_values(input, values);
	else
		fill(input, SEED + n_inputs);
	n_inputs++;
}

static void read_inputs(const char *model)
{
	char path[4096], line[4096];
	const char *dot = strrchr(model, '.');
	FILE *file;

	snprintf(path, sizeof(path), "%.*s.inputs", dot ? (int)(dot - model) : (int)strlen(model),
		 model);
	file = fopen(path, "r");
	if (!file)
		die(path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			read_input(line);
	}
	fclose(file);
}

/* Have @made know the operators of another library, which stays loaded. */
static void add_operators(void *made)
{
	status_t (*add)(void *, void *const *(*const *base)(uint32_t));
	const void *(*base)(void);
	void *library = dlopen(options.operators, RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		die(options.operators, dlerror());
	add = dlsym(library, "RegisterCustomOps");
	base = dlsym(api.handle, "OrtGetApiBase");
	if (!add || !base)
		die(options.operators, "has no operators");
	check(add(made, base()), options.operators);
}

static void create_sessions(void)
{
	char prefix[4096];
	void *made;

	for (int i = 0; i < options.sessions; i++) {
		check(api.create_session_options(&made), "session options");
		check(api.set_intra_threads(made, options.intra_threads), "intra-op threads");
		check(api.set_optimization(made, options.optimize), "optimisation level");
		if (options.parallel)
			check(api.set_execution_mode(made, 1), "execution mode");
		if (options.inter_threads)
			check(api.set_inter_threads(made, options.inter_threads),
			      "inter-op threads");
		if (options.plain_memory) {
			check(api.disable_arena(made), "arena");
			check(api.disable_mem_pattern(made), "memory patterns");
		}
		if (options.no_pattern)
			check(api.disable_mem_pattern(made), "memory patterns");
		if (options.statistics)
			check(api.add_config(made, "session.collect_node_memory_stats_to_file",
					     options.statistics),
			      "statistics of memory");
		if (options.operators)
			add_operators(made);
		if (options.profile) {
			snprintf(prefix, sizeof(prefix), "%s%d", options.profile, i);
			check(api.enable_profiling(made, prefix), "profiling");
		}
		check(api.create_session(env, options.model, made, &sessions[i]), options.model);
	}
}

static void read_outputs(void)
{
	check(api.output_count(sessions[0], &n_outputs), "outputs");
	if (n_outputs > OUTPUTS_MAX)
		die("the model", "has too many outputs");
	for (size_t i = 0; i < n_outputs; i++)
		check(api.output_name(sessions[0], i, allocator, &output_names[i]), "outputs");
}

static uint32_t checksum(void *const *outputs)
{
	uint32_t hash = 0x811c9dc5;
	size_t count;
	void *info, *data;
	int type;

	for (size_t i = 0; i < n_outputs; i++) {
		check(api.tensor_info(outputs[i], &info), "output");
		check(api.element_count(info, &count), "output");
		check(api.element_type(info, &type), "output");
		api.release_tensor_info(info);
		check(api.tensor_data(outputs[i], &data), "output");
		for (size_t byte = 0; byte < count * size_of_type(type); byte++)
			hash = (hash ^ ((uint8_t *)data)[byte]) * 0x01000193u;
	}
	return hash;
}

static void run_once(struct worker *worker, bool last)
{
	const char *names[INPUTS_MAX];
	void *values[INPUTS_MAX], *outputs[OUTPUTS_MAX] = {};
	status_t status;

	for (size_t i = 0; i < n_inputs; i++) {
		names[i] = inputs[i].name;
		values[i] = inputs[i].value;
	}
	status = api.run(worker->session, worker->run_options, names, values, n_inputs,
			 (const char *const *)output_names, n_outputs, outputs);
	if (status) {
		worker->failed++;
		snprintf(worker->failure, sizeof(worker->failure), "%s", api.error_message(status));
		api.release_status(status);
		return;
	}
	if (last)
		worker->checksum = checksum(outputs);
	for (size_t i = 0; i < n_outputs; i++)
		api.release_value(outputs[i]);
}

/* The same from deeper in the stack. */
static void run_at_depth(struct worker *worker, bool last, long depth)
{
	char room[1 + 3000 * depth];

	/* It is there until the model has run. */
	__asm__ volatile("" : : "r"(room) : "memory");
	run_once(worker, last);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static __attribute__((noinline)) void spin_until(uint64_t end)
{
	while (nanoseconds(CLOCK_MONOTONIC) < end)
		;
}

/*
 * Stay for @ns in a function whose frame is larger than the stack of a run, and is not written:
 * what runs have left there is there to be seen.
 */
static __attribute__((noinline)) void linger(uint64_t ns)
{
	char room[1 << 16];

	__asm__ volatile("" : : "r"(room));
	spin_until(nanoseconds(CLOCK_MONOTONIC) + ns);
	__asm__ volatile("" : : "r"(room));
}

static uint64_t thread_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

/* Events of our own on this thread: what opprobe's figures must add up to. */
static int open_event(const struct event *event)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.exclude_kernel = event->exclude_kernel,
		.exclude_hv = 1,
	};

	return options.events ? syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) : -1;
}

static uint64_t read_event(int fd)
{
	uint64_t value = 0;

	return fd >= 0 && read(fd, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t faults, cpu, before[EVENTS];
	int fds[EVENTS];

	for (int i = 0; i < EVENTS; i++)
		fds[i] = open_event(&events[i]);
	faults = thread_faults();
	cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < EVENTS; i++)
		before[i] = read_event(fds[i]);
	for (long i = 0; i < worker->runs; i++) {
		bool timed = worker->run_ns || options.lingers;
		uint64_t start = timed ? nanoseconds(CLOCK_MONOTONIC) : 0, took;

		run_at_depth(worker, i == worker->runs - 1, options.depths ? i % 7 : 0);
		took = timed ? nanoseconds(CLOCK_MONOTONIC) - start : 0;
		if (worker->run_ns)
			worker->run_ns[i] = took;
		if (options.lingers)
			linger(took);
	}
	for (int i = EVENTS - 1; i >= 0; i--)
		worker->counts[i] = read_event(fds[i]) - before[i];
	worker->cpu_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	worker->faults = thread_faults() - faults;
	for (int i = 0; i < EVENTS; i++) {
		worker->counted[i] = fds[i] >= 0;
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return NULL;
}

static void print_json_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar((unsigned char)*text < ' ' ? ' ' : *text);
	}
	putchar('"');
}

/* What each run of the @n workers took. */
static void print_times(int n)
{
	const char *before = ",\"run_ns\":[";

	for (int i = 0; i < n; i++) {
		for (long run = 0; workers[i].run_ns && run < workers[i].runs; run++) {
			printf("%s%" PRIu64, before, workers[i].run_ns[run]);
			before = ",";
		}
		free(workers[i].run_ns);
	}
	printf("]");
}

static void run_batch(long runs)
{
	int n = options.sessions * options.concurrency;
	uint64_t start, wall, cpu = 0, faults = 0, counts[EVENTS] = {};
	const char *failure = "";
	long failed = 0;

	start = nanoseconds(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++) {
		workers[i] = (struct worker){.session = sessions[i % options.sessions],
					     .run_options = tagged_options,
					     .runs = runs};
		if (options.times)
			workers[i].run_ns = calloc(runs + 1, sizeof(*workers[i].run_ns));
		if (n > 1 && pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("a thread", "cannot be created");
	}
	if (n == 1)
		work(&workers[0]);
	for (int i = 0; i < n && n > 1; i++)
		pthread_join(workers[i].thread, NULL);
	wall = nanoseconds(CLOCK_MONOTONIC) - start;
	for (int i = 0; i < n; i++) {
		failed += workers[i].failed;
		cpu += workers[i].cpu_ns;
		faults += workers[i].faults;
		for (int event = 0; event < EVENTS; event++)
			counts[event] += workers[i].counts[event];
		if (workers[i].failed)
			failure = workers[i].failure;
		else if (workers[i].checksum != workers[0].checksum)
			die("threads", "have different results");
	}
	printf("{\"ok\":true,\"runs\":%ld,\"failed\":%ld,\"sum\":\"%08" PRIx32
	       "\",\"wall_ns\":%" PRIu64 ",\"ns_per_run\":%" PRIu64 ",\"thread_cpu_ns\":%" PRIu64
	       ",\"faults\":%" PRIu64,
	       runs * n, failed, workers[0].checksum, wall, runs ? wall / runs : 0, cpu, faults);
	for (int event = 0; event < EVENTS; event++)
		if (workers[0].counted[event])
			printf(",\"%s\":%" PRIu64, events[event].name, counts[event]);
	if (options.times && runs)
		print_times(n);
	if (failed) {
		printf(",\"error\":");
		print_json_text(failure);
	}
	printf("}\n");
}

static void set_tag(const char *tag)
{
	if (!tagged_options)
		check(api.create_run_options(&tagged_options), "run options");
	check(api.set_run_tag(tagged_options, tag), "tag");
	printf("{\"ok\":true}\n");
}

static void run_with_tag(void)
{
	struct worker worker = {.session = sessions[0]};

	check(api.create_run_options(&worker.run_options), "run options");
	check(api.set_run_tag(worker.run_options, "held"), "tag");
	run_once(&worker, false);
	if (worker.failed)
		die("a run that was held", worker.failure);
}

static void hold_runs(long n)
{
	if (!options.holding || n < 1 || !hold(n, run_with_tag))
		die("hold", "wants -H, and that so many threads can be made");
	printf("{\"ok\":true}\n");
}

static void let_go(bool die)
{
	held_let_go(die);
	printf("{\"ok\":true}\n");
}

static void set_input(char *arguments)
{
	char *rest, *name = strtok_r(arguments, " ", &rest);
	struct input *input = NULL;

	for (size_t i = 0; i < n_inputs && name; i++)
		if (!strcmp(inputs[i].name, name))
			input = &inputs[i];
	if (!input || input->type != 7 || input->n_dims != 1)
		die("set", "wants the name of a one-dimensional int64 input");
	input->dims[0] = *rest != '\0';
	for (const char *c = rest; *c; c++)
		input->dims[0] += *c == ' ';
	make_tensor(input);
	set_values(input, rest);
	printf("{\"ok\":true}\n");
}

static void end_profiling(void)
{
	char *file;

	printf("{\"ok\":true,\"files\":[");
	for (int i = 0; i < options.sessions; i++) {
		check(api.end_profiling(sessions[i], allocator, &file), "profiling");
		if (i)
			putchar(',');
		print_json_text(file);
	}
	printf("]}\n");
}

static void lock_memory(void)
{
	if (mlockall(MCL_FUTURE))
		printf("{\"ok\":false,\"error\":\"%s\"}\n", strerror(errno));
	else
		printf("{\"ok\":true}\n");
}

static void recreate(void)
{
	for (int i = 0; i < options.sessions; i++)
		api.release_session(sessions[i]);
	create_sessions();
	printf("{\"ok\":true}\n");
}

static void start(void)
{
	const char *problem = api_load(&api, options.library);

	if (problem)
		die(options.library, problem);
	/* 4: only fatal errors are logged; a failing run is answered. 1: tags of runs are. */
	if (options.holding)
		check(api.create_env_with_log(held_log, NULL, 1, "ort_run", &env), "environment");
	else
		check(api.create_env(4, "ort_run", &env), "environment");
	check(api.cpu_memory(1, 0, &memory), "memory");
	check(api.default_allocator(&allocator), "allocator");
	create_sessions();
	read_outputs();
}

static void reload(const char *library)
{
	for (int i = 0; i < options.sessions; i++)
		api.release_session(sessions[i]);
	for (size_t i = 0; i < n_inputs; i++) {
		api.release_value(inputs[i].value);
		inputs[i].value = NULL;
	}
	options.library = strdup(library);
	start();
	for (size_t i = 0; i < n_inputs; i++) {
		make_tensor(&inputs[i]);
		fill(&inputs[i], SEED);
	}
	printf("{\"ok\":true}\n");
}

static int to_child = -1;

/* The child reads its commands from a pipe, and goes when that is closed. */
static void obey(void);

static void fork_child(void)
{
	int ends[2];
	pid_t child;

	if (pipe(ends))
		die("pipe", strerror(errno));
	fflush(stdout);
	child = fork();
	if (child < 0)
		die("fork", strerror(errno));
	if (!child) {
		close(ends[1]);
		stdin = fdopen(ends[0], "r");
		obey();
		/* The runtime's own end waits for threads that a child does not have. */
		_exit(0);
	}
	close(ends[0]);
	to_child = ends[1];
	printf("{\"ok\":true,\"child\":%d}\n", child);
}

/*
 * Pairs of strings are a std::map, and behind it two std::vectors, of the keys and of the
 * values (core/session/abi_key_value_pairs.h).
 */
#define PAIRS_MAP 48

static void tell_arena(void)
{
	struct ort_allocator *of_session;
	const char ***pairs;
	void *where, *made;
	size_t n;

	check(api.cpu_memory(1, 0, &where), "memory");
	check(api.create_allocator(sessions[0], where, &of_session), "allocator");
	if (of_session->version < 23) {
		printf("{\"ok\":false,\"error\":\"it does not tell\"}\n");
		return;
	}
	check(of_session->statistics(of_session, &made), "statistics");
	pairs = (const char ***)((char *)made + PAIRS_MAP);
	n = pairs[1] - pairs[0];
	printf("{\"ok\":true");
	for (size_t i = 0; i < n; i++)
		printf(",\"%s\":%s", pairs[0][i], pairs[3][i]);
	printf("}\n");
}

static void obey(void)
{
	char line[4096];

	while (fflush(stdout), fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "run ", 4))
			run_batch(strtol(line + 4, NULL, 10));
		else if (!strncmp(line, "set ", 4))
			set_input(line + 4);
		else if (!strncmp(line, "tag ", 4))
			set_tag(line + 4);
		else if (!strcmp(line, "arena"))
			tell_arena();
		else if (!strcmp(line, "end-profiling"))
			end_profiling();
		else if (!strncmp(line, "hold ", 5))
			hold_runs(strtol(line + 5, NULL, 10));
		else if (!strcmp(line, "let-go") || !strcmp(line, "let-die"))
			let_go(!strcmp(line, "let-die"));
		else if (!strcmp(line, "lock"))
			lock_memory();
		else if (!strcmp(line, "recreate"))
			recreate();
		else if (!strncmp(line, "reload ", 7))
			reload(line + 7);
		else if (!strcmp(line, "fork"))
			fork_child();
		else if (!strncmp(line, "child ", 6))
			dprintf(to_child, "%s\n", line + 6);
		else if (!strncmp(line, "load ", 5))
			printf("{\"ok\":%s}\n",
			       dlopen(line + 5, RTLD_NOW | RTLD_GLOBAL) ? "true" : "false");
		else if (!strcmp(line, "exec"))
			execv("/proc/self/exe", options.arguments);
		else
			printf("{\"ok\":false,\"error\":\"unknown command\"}\n");
	}
}

static void usage(FILE *out)
{
	fputs("Usage: ort_run [options] LIBRARY MODEL.onnx [RUNS]\n"
	      "  -t N  intra-op threads (1)      -s N  sessions (1)\n"
	      "  -i N  inter-op threads          -c N  threads that run each session (1)\n"
	      "  -p    parallel execution mode   -P F  built-in profiler, files F<session>_*\n"
	      "  -O N  optimisation level: 0 none, 1, 2, 99 all (99)\n"
	      "  -m    plain malloc: no arena, no memory patterns\n"
	      "  -M    no memory patterns    -N F  memory of each node into F (from 1.22 on)\n"
	      "  -e    read task-clock, page-faults and instructions on the calling threads\n"
	      "  -x LIBRARY  with operators of its own\n"
	      "  -H    runs can be held\n"
	      "  -w N  runs before the first that counts (0)\n"
	      "  -l    tell what each run took\n"
	      "  -d    each run from another depth of the stack than the one before\n"
	      "  -g    after each run, stay as long in a frame that holds what runs left there\n",
	      out);
}

static void parse_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "t:i:s:c:pP:O:mMN:eHlw:dghx:")) != -1) {
		switch (option) {
		case 't':
			options.intra_threads = atoi(optarg);
			break;
		case 'i':
			options.inter_threads = atoi(optarg);
			break;
		case 's':
			options.sessions = atoi(optarg);
			break;
		case 'c':
			options.concurrency = atoi(optarg);
			break;
		case 'p':
			options.parallel = true;
			break;
		case 'P':
			options.profile = optarg;
			break;
		case 'O':
			options.optimize = atoi(optarg);
			break;
		case 'm':
			options.plain_memory = true;
			break;
		case 'M':
			options.no_pattern = true;
			break;
		case 'N':
			options.statistics = optarg;
			break;
		case 'x':
			options.operators = optarg;
			break;
		case 'e':
			options.events = true;
			break;
		case 'H':
			options.holding = true;
			break;
		case 'l':
			options.times = true;
			break;
		case 'd':
			options.depths = true;
			break;
		case 'g':
			options.lingers = true;
			break;
		case 'w':
			options.warmup = atoi(optarg);
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (argc - optind < 2 || argc - optind > 3 || options.sessions < 1 ||
	    options.sessions > SESSIONS_MAX || options.concurrency < 1 ||
	    options.concurrency > WORKERS_MAX / SESSIONS_MAX) {
		usage(stderr);
		exit(2);
	}
	options.library = argv[optind];
	options.model = argv[optind + 1];
}

int main(int argc, char **argv)
{
	struct worker warm;

	parse_options(argc, argv);
	options.arguments = argv;
	start();
	read_inputs(options.model);
	warm = (struct worker){.session = sessions[0]};
	for (int i = 0; i < options.warmup; i++)
		run_once(&warm, false);
	if (argc - optind == 3) {
		run_batch(strtol(argv[optind + 2], NULL, 10));
	} else {
		printf("{\"ok\":true,\"ready\":%d}\n", getpid());
		obey();
	}
	for (int i = 0; i < options.sessions; i++)
		api.release_session(sessions[i]);
	return 0;
}
