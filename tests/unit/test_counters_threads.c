// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perf events on threads, read the way the probes read them: by a BPF program
 * on the thread itself, through the map that thread_counters fills.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/counters.h"
#include "needs.h"

#define SLOTS 8

struct reading {
	uint64_t value, enabled, running;
	int64_t error;
};

static int events_map = -1, result_map = -1, reader = -1;

#define INSN(_code, _dst, _src, _off, _imm)                                                        \
	((struct bpf_insn){.code = (_code),                                                        \
			   .dst_reg = (_dst),                                                      \
			   .src_reg = (_src),                                                      \
			   .off = (_off),                                                          \
			   .imm = (_imm)})
#define LOAD_MAP(_dst, _fd)                                                                        \
	INSN(BPF_LD | BPF_DW | BPF_IMM, _dst, BPF_PSEUDO_MAP_FD, 0, _fd), INSN(0, 0, 0, 0, 0)

/*
 * A program that reads the event at the index that its first argument gives
 * into element 0 of the result map, and the helper's result behind it.
 */
static int load_reader(void)
{
	const struct bpf_insn program[] = {
		/* r8 = index, r7 = &result[0] */
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 8, 1, 0, 0),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		LOAD_MAP(1, result_map),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 8, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 7, 0, 0, 0),
		/* r0 = bpf_perf_event_read_value(events, index, r7, 24) */
		LOAD_MAP(1, events_map),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 8, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 3, 7, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 24),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_read_value),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 7, 0, 24, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "read_event", "GPL", program,
			     sizeof(program) / sizeof(program[0]), NULL);
}

static struct reading read_event(unsigned int index)
{
	uint64_t context[1] = {index};
	struct bpf_test_run_opts options = {
		.sz = sizeof(options),
		.ctx_in = context,
		.ctx_size_in = sizeof(context),
	};
	struct reading reading;
	__u32 zero = 0;

	assert_int_equal(bpf_prog_test_run_opts(reader, &options), 0);
	assert_int_equal(bpf_map_lookup_elem(result_map, &zero, &reading), 0);
	return reading;
}

static int set_up(void **state)
{
	events_map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "events", 4, 4,
				    SLOTS * COUNTERS_MAX, NULL);
	result_map =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "result", 4, sizeof(struct reading), 1, NULL);
	reader = events_map < 0 || result_map < 0 ? -1 : load_reader();
	if (reader < 0)
		print_message("BPF is not to be had here: %s\n", strerror(errno));
	/* Root has it: what tests the counters must not be left out in silence. */
	return reader < 0 && !geteuid() ? -1 : 0;
}

static int tear_down(void **state)
{
	close(events_map);
	close(result_map);
	close(reader);
	return 0;
}

static struct counter_set checked(const char *list)
{
	struct counter_set set = {};
	struct error err = {};

	if (counters_parse(&set, list, &err) || counters_check(&set, &err))
		fail_msg("%s: %s", list, err.text);
	return set;
}

static pid_t gettid_now(void)
{
	return syscall(SYS_gettid);
}

static unsigned int open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* Touch @pages pages that were never touched (and not ASan's shadow of them). */
__attribute__((no_sanitize("address"))) static void touch(unsigned int pages)
{
	size_t page = sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	madvise((void *)memory, pages * page, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < pages; i++)
		memory[i * page] = 1;
	munmap((void *)memory, pages * page);
}

static void a_thread_is_counted_exactly(void **state)
{
	struct counter_set set =
		checked("task-clock,task-faults,page-faults:u=user,minor-faults:u");
	struct thread_counters *counters;
	struct reading before, after;
	struct error err = {};

	if (reader < 0)
		leave_out(NEEDS_ROOT);
	counters = thread_counters_new(&set, events_map, SLOTS, &err);
	assert_non_null(counters);
	assert_int_equal(thread_counters_open(counters, 3, gettid_now(), &err), 0);
	touch(1);
	before = read_event(3 * set.n + 2);
	touch(100);
	after = read_event(3 * set.n + 2);
	assert_int_equal(before.error, 0);
	assert_int_equal(after.error, 0);
	assert_int_equal(after.value - before.value, 100);
	assert_int_equal(after.enabled, after.running);
	assert_true(after.enabled > before.enabled);

	/* What task_struct holds has no event: its place stays empty. */
	assert_int_equal(read_event(3 * set.n + 1).error, -ENOENT);
	assert_int_equal(read_event(2 * set.n + 2).error, -ENOENT);
	thread_counters_close(counters, 3);
	assert_int_equal(read_event(3 * set.n + 2).error, -ENOENT);
	thread_counters_free(counters);
}

static uint64_t time_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint64_t thread_time(void)
{
	return time_of(CLOCK_THREAD_CPUTIME_ID);
}

static void task_clock_agrees_with_the_threads_cpu_time(void **state)
{
	struct counter_set set = checked("task-clock");
	uint64_t start, end, counted, wall;
	struct thread_counters *counters;
	struct reading before, after;
	struct error err = {};
	int tries = 0;

	if (reader < 0)
		leave_out(NEEDS_ROOT);
	counters = thread_counters_new(&set, events_map, SLOTS, &err);
	assert_int_equal(thread_counters_open(counters, 0, gettid_now(), &err), 0);
	/* Until nobody else wanted the CPU meanwhile, or nearly. */
	do {
		wall = time_of(CLOCK_MONOTONIC);
		before = read_event(0);
		start = thread_time();
		while (thread_time() - start < 20000000)
			;
		end = thread_time();
		after = read_event(0);
		wall = time_of(CLOCK_MONOTONIC) - wall;
	} while (wall > (end - start) * 102 / 100 && ++tries < 100);
	counted = after.value - before.value;
	/*
	 * Where others want the CPU, each change of threads is some microseconds of the one
	 * account and not of the other; interrupts and the machine below are in the event's
	 * alone. More than went by it cannot be, and it pauses with the thread.
	 */
	assert_in_range(counted, (end - start) * 97 / 100, wall);
	if (wall < 2 * (end - start))
		assert_in_range(counted, 0, end - start + 5000000);
	thread_counters_free(counters);
}

struct worker {
	pthread_barrier_t ready, done;
	pid_t tid;
	struct reading first, second;
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->tid = gettid_now();
	pthread_barrier_wait(&worker->ready);
	pthread_barrier_wait(&worker->ready);
	worker->first = read_event(1);
	touch(50);
	worker->second = read_event(1);
	pthread_barrier_wait(&worker->done);
	return NULL;
}

static bool has_pmu(void)
{
	struct counter_set set = {};
	struct error err;

	return reader >= 0 && !counters_parse(&set, "cycles,instructions", &err) &&
	       !counters_check(&set, &err);
}

/* The same instructions for each of @n iterations. */
__attribute__((noinline)) static void spin(unsigned int n)
{
	for (volatile unsigned int i = 0; i < n; i = i + 1)
		;
}

static void a_group_of_hardware_events_counts_all_the_time(void **state)
{
	struct thread_counters *counters;
	struct counter_set set;
	struct error err = {};
	struct reading small[2], large[2], end[2];
	uint64_t iterations;

	if (!has_pmu())
		leave_out(NEEDS_PMU);
	set = checked("task-faults,{cycles,instructions}");
	counters = thread_counters_new(&set, events_map, SLOTS, &err);
	assert_int_equal(thread_counters_open(counters, 1, gettid_now(), &err), 0);
	/* The first round binds symbols and is not counted. */
	for (unsigned int i = 0; i < 4; i++)
		small[i % 2] = read_event(1 * set.n + 1 + i % 2);
	spin(10000);
	for (unsigned int i = 0; i < 2; i++)
		large[i] = read_event(1 * set.n + 1 + i);
	spin(1010000);
	for (unsigned int i = 0; i < 2; i++) {
		end[i] = read_event(1 * set.n + 1 + i);
		assert_int_equal(end[i].error, 0);
		assert_int_equal(end[i].enabled, end[i].running);
		assert_true(end[i].value > large[i].value);
	}
	/* Twice the same but for a million iterations: the reads cancel out. */
	iterations = (end[1].value - large[1].value) - (large[1].value - small[1].value);

	assert_in_range(iterations, 2000000, 20000000);
	/* Whole instructions each; interrupts add one apiece on real machines. */
	assert_in_range(iterations % 1000000, 0, 20000);
	print_message("a million iterations: %ju instructions\n", (uintmax_t)iterations);
	thread_counters_free(counters);
}

static void groups_that_do_not_fit_take_turns_and_each_has_its_own(void **state)
{
	struct thread_counters *counters;
	struct counter_set set;
	struct error err = {};

	if (!has_pmu())
		leave_out(NEEDS_PMU);
	set = checked("instructions=a,instructions=b,instructions=c,instructions=d,"
		      "instructions=e,instructions=f,instructions=g,instructions=h,"
		      "instructions=i,instructions=j,instructions=k,instructions=l,"
		      "instructions=m,instructions=n,instructions=o,instructions=p");
	if (!set.counters[0].multiplexed)
		leave_out(NEEDS_PMU);
	counters = thread_counters_new(&set, events_map, SLOTS, &err);
	assert_int_equal(thread_counters_open(counters, 0, gettid_now(), &err), 0);
	for (uint64_t start = thread_time(); thread_time() - start < 300000000;)
		spin(1000);
	for (size_t i = 0; i < set.n; i++) {
		struct reading reading = read_event(i);

		assert_int_equal(reading.error, 0);
		assert_true(reading.running > 0);
		assert_true(reading.running < reading.enabled);
	}
	thread_counters_free(counters);
}

static void another_thread_is_counted_and_the_own_one_left_out(void **state)
{
	struct counter_set set = checked("page-faults:u");
	struct thread_counters *counters;
	struct worker worker = {};
	struct error err = {};
	pthread_t thread;

	if (reader < 0)
		leave_out(NEEDS_ROOT);
	pthread_barrier_init(&worker.ready, NULL, 2);
	pthread_barrier_init(&worker.done, NULL, 2);
	counters = thread_counters_new(&set, events_map, SLOTS, &err);
	pthread_create(&thread, NULL, work, &worker);
	pthread_barrier_wait(&worker.ready);
	assert_int_equal(thread_counters_open(counters, 1, worker.tid, &err), 0);
	/* An event of another thread cannot be read here: an error, not a 0. */
	assert_int_equal(read_event(1).error, -EINVAL);
	pthread_barrier_wait(&worker.ready);
	pthread_barrier_wait(&worker.done);
	pthread_join(thread, NULL);
	assert_int_equal(worker.first.error, 0);
	assert_int_equal(worker.second.value - worker.first.value, 50);
	thread_counters_free(counters);
}

static void a_vanished_thread_is_no_error_to_print(void **state)
{
	struct counter_set set = checked("task-clock,page-faults:u");
	struct thread_counters *counters;
	struct error err = {};
	unsigned int files;
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	counters = thread_counters_new(&set, events_map, SLOTS, &err);
	assert_non_null(counters);
	files = open_files();
	assert_int_equal(thread_counters_open(counters, 0, child, &err), -ESRCH);
	assert_string_equal(err.text, "");
	assert_int_equal(open_files(), files);
	if (reader >= 0)
		assert_int_equal(thread_counters_open(counters, 0, gettid_now(), &err), 0);
	thread_counters_free(counters);
}

static void every_file_is_closed_again(void **state)
{
	struct counter_set set = checked("task-clock,cpu-clock,page-faults:u,minor-faults:u");
	unsigned int files = open_files();
	struct thread_counters *counters;
	struct error err = {};

	if (reader < 0)
		leave_out(NEEDS_ROOT);
	counters = thread_counters_new(&set, events_map, SLOTS, &err);
	for (unsigned int slot = 0; slot < SLOTS; slot++)
		assert_int_equal(thread_counters_open(counters, slot, gettid_now(), &err), 0);
	assert_int_equal(open_files(), files + SLOTS * set.n);
	/* A slot that is opened again does not leak what it held. */
	assert_int_equal(thread_counters_open(counters, 5, gettid_now(), &err), 0);
	assert_int_equal(open_files(), files + SLOTS * set.n);
	thread_counters_close(counters, 2);
	thread_counters_close(counters, 2);
	assert_int_equal(open_files(), files + (SLOTS - 1) * set.n);
	thread_counters_free(counters);
	assert_int_equal(open_files(), files);
}

static void a_slot_beyond_the_table_is_refused(void **state)
{
	struct counter_set set = checked("task-clock");
	struct error err = {};
	struct thread_counters *counters = thread_counters_new(&set, events_map, SLOTS, &err);

	assert_int_equal(thread_counters_open(counters, SLOTS, gettid_now(), &err), -ENOSPC);
	assert_non_null(strstr(err.text, "room for 8 threads"));
	thread_counters_close(counters, SLOTS);
	thread_counters_free(counters);
}

static void a_set_of_task_fields_opens_nothing(void **state)
{
	struct counter_set set = checked("task-faults,context-switches,task-migrations");
	unsigned int files = open_files();
	struct error err = {};
	struct thread_counters *counters = thread_counters_new(&set, -1, 4096, &err);

	assert_non_null(counters);
	assert_int_equal(thread_counters_open(counters, 4095, gettid_now(), &err), 0);
	assert_int_equal(open_files(), files);
	thread_counters_close(counters, 4095);
	thread_counters_free(counters);
}

/* Who has CAP_SYS_RESOURCE may raise the hard limit as well. */
static void drop_resource_capability(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return;
	data[0].effective &= ~(1U << CAP_SYS_RESOURCE);
	data[0].permitted &= ~(1U << CAP_SYS_RESOURCE);
	syscall(SYS_capset, &header, data);
}

static int open_until_refused(const struct counter_set *set, rlim_t files)
{
	struct rlimit few = {.rlim_cur = files / 2, .rlim_max = files};
	struct thread_counters *counters;
	struct error err = {};
	unsigned int slot = 0, opened = 0;
	int ret = 0;

	drop_resource_capability();
	/* The soft limit is raised, the hard one is in the way. */
	if (setrlimit(RLIMIT_NOFILE, &few))
		return 1;
	counters = thread_counters_new(set, events_map, SLOTS, &err);
	while (counters && !ret && slot < SLOTS) {
		ret = thread_counters_open(counters, slot++, gettid_now(), &err);
		opened += !ret;
	}
	if (ret != -EMFILE || !strstr(err.text, "need") || !strstr(err.text, "ulimit -n")) {
		fprintf(stderr, "%d: %s\n", ret, err.text);
		return 2;
	}
	/* What was opened before stays, and there is room again after a close. */
	thread_counters_close(counters, 0);
	ret = thread_counters_open(counters, 0, gettid_now(), &err);
	thread_counters_free(counters);
	return ret || opened < files / 2 / set->n;
}

static void too_few_files_are_told_with_the_number_needed(void **state)
{
	struct counter_set set = checked("task-clock,cpu-clock,page-faults:u,minor-faults:u");
	rlim_t files = open_files() + 20;
	pid_t child;
	int status;

	if (reader < 0)
		leave_out(NEEDS_ROOT);
	child = fork();
	if (!child)
		_exit(open_until_refused(&set, files));
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

static void four_thousand_slots_cost_no_files_until_used(void **state)
{
	struct counter_set set = checked("task-clock,cpu-clock");
	unsigned int files = open_files();
	struct error err = {};
	struct thread_counters *counters = thread_counters_new(&set, events_map, 4096, &err);

	assert_non_null(counters);
	assert_int_equal(open_files(), files);
	thread_counters_free(counters);
	thread_counters_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_counted_exactly),
		cmocka_unit_test(task_clock_agrees_with_the_threads_cpu_time),
		cmocka_unit_test(a_group_of_hardware_events_counts_all_the_time),
		cmocka_unit_test(groups_that_do_not_fit_take_turns_and_each_has_its_own),
		cmocka_unit_test(another_thread_is_counted_and_the_own_one_left_out),
		cmocka_unit_test(a_vanished_thread_is_no_error_to_print),
		cmocka_unit_test(every_file_is_closed_again),
		cmocka_unit_test(a_slot_beyond_the_table_is_refused),
		cmocka_unit_test(a_set_of_task_fields_opens_nothing),
		cmocka_unit_test(too_few_files_are_told_with_the_number_needed),
		cmocka_unit_test(four_thousand_slots_cost_no_files_until_used),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
