// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a model of operators that take known numbers of instructions, in a
 * real ONNX Runtime: a custom operator, Exact, whose kernel is a loop of as
 * many instructions as its attribute says; every so many executions it is one
 * of another length. Or it waits: for a lock, or for a disk.
 *
 *   exact LIBRARY MODEL.onnx [again]
 *
 * With "again", each kernel runs a second session of the same model before it
 * begins, on its own thread: a run inside a run.
 *
 * Commands come on stdin, one per line: "run N". Each is answered by a line
 * of JSON that holds the instructions of this thread in all those runs, by
 * an event of our own, and its time: by the clock, on a CPU and ready for one,
 * by the kernel's account of it.
 */
#include <inttypes.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../targets/ort_api.h"

enum {
	WAITS_NOT,
	WAITS_FOR_LOCK, /* that another thread holds for so many microseconds */
	WAITS_FOR_DISK, /* for so many pages */
};

struct op_kernel {
	int64_t instructions;
	int64_t waits;
	int64_t every, other; /* each of so many executions takes so many */
	int64_t executions;
};

struct custom_op;

/*
 * What ONNX Runtime's C API, from its version 1 on, asks of a custom
 * operator ("OrtCustomOp" in its documentation). Fields that came later are
 * not looked at for an operator that says it was made for version 8.
 */
struct custom_op {
	uint32_t version;
	void *(*create)(const struct custom_op *op, void *const *api, const void *info);
	const char *(*name)(const struct custom_op *op);
	const char *(*provider)(const struct custom_op *op);
	int (*input_type)(const struct custom_op *op, size_t i);
	size_t (*input_count)(const struct custom_op *op);
	int (*output_type)(const struct custom_op *op, size_t i);
	size_t (*output_count)(const struct custom_op *op);
	void (*compute)(void *kernel, void *context);
	void (*destroy)(void *kernel);
	int (*input_kind)(const struct custom_op *op, size_t i);
	int (*output_kind)(const struct custom_op *op, size_t i);
	void *later[64];
};

/* Entries of the API table beside those of ort_api.h; positions never change. */
struct custom_api {
	status_t (*create_domain)(const char *name, void **domain);
	status_t (*add_to_domain)(void *domain, struct custom_op *op);
	status_t (*add_domain)(void *options, void *domain);
	status_t (*attribute)(const void *info, const char *name, int64_t *value);
	status_t (*output)(void *context, size_t i, const int64_t *dims, size_t n, void **value);
};

static struct api api;
static struct custom_api custom;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "exact: %s: %s\n", what, why);
	exit(1);
}

static void check(status_t status, const char *what)
{
	if (status)
		die(what, api.error_message(status));
}

static void custom_api_load(const char *library)
{
	struct api_base {
		void *const *(*get_api)(uint32_t version);
	};
	const struct api_base *(*get_base)(void);
	void *const *table;
	void *handle;

	handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	get_base = handle ? dlsym(handle, "OrtGetApiBase") : NULL;
	if (!get_base)
		die(library, "cannot be found again");
	table = get_base()->get_api(10);
	custom.create_domain = table[26];
	custom.add_to_domain = table[27];
	custom.add_domain = table[28];
	custom.attribute = table[86];
	custom.output = table[91];
}

static void *exact_create(const struct custom_op *op, void *const *table, const void *info)
{
	struct op_kernel *kernel = calloc(1, sizeof(*kernel));

	(void)op;
	(void)table;
	if (!kernel)
		die("memory", "there is none");
	check(custom.attribute(info, "instructions", &kernel->instructions), "instructions");
	check(custom.attribute(info, "waits", &kernel->waits), "waits");
	check(custom.attribute(info, "every", &kernel->every), "every");
	check(custom.attribute(info, "other", &kernel->other), "other");
	return kernel;
}

/*
 * Whatever @instructions is, an even number, the loop takes that many and the
 * way around it is the same: two instructions per iteration, and as many
 * outside for none as for many.
 */
static void execute(int64_t instructions)
{
	int64_t iterations = instructions / 2;

#if defined(__aarch64__)
	__asm__ volatile("	cbz	%0, 2f\n"
			 "1:	subs	%0, %0, #1\n"
			 "	b.ne	1b\n"
			 "2:\n"
			 : "+r"(iterations)
			 :
			 : "cc");
#elif defined(__x86_64__)
	__asm__ volatile("	test	%0, %0\n"
			 "	je	2f\n"
			 "1:	dec	%0\n"
			 "	jne	1b\n"
			 "2:\n"
			 : "+r"(iterations)
			 :
			 : "cc");
#endif
}

/* -- waiting ----------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, held;
static int64_t hold_us;

static void *hold(void *nothing)
{
	for (;;) {
		while (sem_wait(&wanted))
			;
		pthread_mutex_lock(&lock);
		sem_post(&held);
		usleep(hold_us);
		pthread_mutex_unlock(&lock);
	}
	return nothing;
}

static void wait_for_lock(int64_t us)
{
	static pthread_t holder;

	if (!holder) {
		sem_init(&wanted, 0, 0);
		sem_init(&held, 0, 0);
		if (pthread_create(&holder, NULL, hold, NULL))
			die("thread", "there is none");
	}
	hold_us = us;
	sem_post(&wanted);
	while (sem_wait(&held))
		;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

#define DISK_PAGES 1024
#define PAGE	   4096

static const volatile char *disk_file(int *fd)
{
	static char bytes[DISK_PAGES * PAGE];
	FILE *file = tmpfile();
	char *map;

	memset(bytes, 1, sizeof(bytes));
	if (!file || fwrite(bytes, sizeof(bytes), 1, file) != 1 || fflush(file) ||
	    fsync(fileno(file)))
		die("file", "cannot be written");
	*fd = fileno(file);
	map = mmap(NULL, sizeof(bytes), PROT_READ, MAP_SHARED, *fd, 0);
	if (map == MAP_FAILED || madvise(map, sizeof(bytes), MADV_RANDOM))
		die("file", "cannot be mapped");
	return map;
}

static void wait_for_disk(int64_t pages)
{
	static const volatile char *map;
	static size_t next;
	static int fd;

	if (!map)
		map = disk_file(&fd);
	madvise((void *)map, DISK_PAGES * PAGE, MADV_DONTNEED);
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("file", "cannot be dropped");
	while (pages--)
		(void)map[next++ * 37 % DISK_PAGES * PAGE];
}

static void *again, *input; /* the second session; what both are run with */

static void run_once(void *session)
{
	const char *const inputs[] = {"input"}, *const outputs[] = {"output"};
	void *output = NULL;

	check(api.run(session, NULL, inputs, &input, 1, outputs, 1, &output), "run");
	api.release_value(output);
}

static void exact_compute(void *data_of_kernel, void *context)
{
	struct op_kernel *kernel = data_of_kernel;
	static bool inside;
	const int64_t dims[] = {1};
	void *output, *data;

	if (again && !inside) {
		inside = true;
		run_once(again);
		inside = false;
	}
	check(custom.output(context, 0, dims, 1, &output), "output");
	check(api.tensor_data(output, &data), "output");
	*(float *)data = 1;
	if (kernel->waits == WAITS_FOR_LOCK)
		wait_for_lock(kernel->instructions);
	else if (kernel->waits == WAITS_FOR_DISK)
		wait_for_disk(kernel->instructions);
	else
		execute(++kernel->executions % kernel->every ? kernel->instructions
							     : kernel->other);
}

static const char *exact_name(const struct custom_op *op)
{
	(void)op;
	return "Exact";
}

/* NULL: the CPU. */
static const char *exact_provider(const struct custom_op *op)
{
	(void)op;
	return NULL;
}

static int exact_type(const struct custom_op *op, size_t i)
{
	(void)op;
	(void)i;
	return 1; /* float */
}

/* An input or output that must be there. */
static int exact_kind(const struct custom_op *op, size_t i)
{
	(void)op;
	(void)i;
	return 0;
}

static size_t exact_one(const struct custom_op *op)
{
	(void)op;
	return 1;
}

static struct custom_op exact = {
	.version = 8,
	.create = exact_create,
	.name = exact_name,
	.provider = exact_provider,
	.input_type = exact_type,
	.input_count = exact_one,
	.output_type = exact_type,
	.output_count = exact_one,
	.compute = exact_compute,
	.destroy = free,
	.input_kind = exact_kind,
	.output_kind = exact_kind,
};

static void *create_session(const char *model)
{
	void *env, *options, *domain, *session;

	check(api.create_env(3, "exact", &env), "environment");
	check(api.create_session_options(&options), "session options");
	check(api.set_intra_threads(options, 1), "intra-op threads");
	check(custom.create_domain("opprobe.test", &domain), "domain");
	check(custom.add_to_domain(domain, &exact), "operator");
	check(custom.add_domain(options, domain), "domain");
	check(api.create_session(env, model, options, &session), model);
	return session;
}

static int open_instructions(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint64_t read_event(int fd)
{
	uint64_t value = 0;

	return fd >= 0 && read(fd, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

struct times {
	uint64_t wall, on_cpu, ready; /* ns */
};

static struct times read_times(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	struct timespec now, cpu;
	struct times times = {};

	clock_gettime(CLOCK_MONOTONIC, &now);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	if (!file || fscanf(file, "%*u %" SCNu64, &times.ready) != 1)
		die("schedstat", "cannot be read");
	fclose(file);
	times.wall = now.tv_sec * 1000000000ULL + now.tv_nsec;
	times.on_cpu = cpu.tv_sec * 1000000000ULL + cpu.tv_nsec;
	return times;
}

static void run(void *session, long times)
{
	int event = open_instructions();
	struct times since = read_times(), now;
	uint64_t before = read_event(event);

	for (long i = 0; i < times; i++)
		run_once(session);
	now = read_times();
	printf("{\"ok\":true,\"runs\":%ld,\"wall_ns\":%" PRIu64 ",\"on_cpu_ns\":%" PRIu64
	       ",\"ready_ns\":%" PRIu64,
	       times, now.wall - since.wall, now.on_cpu - since.on_cpu, now.ready - since.ready);
	if (event >= 0) {
		printf(",\"instructions\":%" PRIu64, read_event(event) - before);
		close(event);
	}
	printf("}\n");
}

int main(int argc, char **argv)
{
	const int64_t dims[] = {1};
	const char *problem;
	float one = 1;
	void *session, *memory;
	char line[64];

	if (argc != 3 && (argc != 4 || strcmp(argv[3], "again")))
		die("usage", "exact LIBRARY MODEL.onnx [again]");
	problem = api_load(&api, argv[1]);
	if (problem)
		die(argv[1], problem);
	custom_api_load(argv[1]);
	session = create_session(argv[2]);
	if (argc == 4)
		again = create_session(argv[2]);
	check(api.cpu_memory(1, 0, &memory), "memory");
	check(api.create_tensor(memory, &one, sizeof(one), dims, 1, 1, &input), "input");
	printf("{\"ok\":true,\"ready\":%d}\n", getpid());
	while (fflush(stdout), fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "run ", 4))
			run(session, strtol(line + 4, NULL, 10));
		else
			printf("{\"ok\":false,\"error\":\"unknown command\"}\n");
	}
	if (again)
		api.release_session(again);
	api.release_session(session);
	return 0;
}
