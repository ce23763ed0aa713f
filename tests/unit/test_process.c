// SPDX-License-Identifier: GPL-2.0-only
/* A process as it is seen from outside: this one, its threads and its children. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/process.h"

static struct process open_process(pid_t pid)
{
	struct process process;
	struct error err = {};

	if (process_open(&process, pid, &err))
		fail_msg("%s", err.text);
	return process;
}

static void expect_refusal(pid_t pid, int error, const char *says)
{
	struct process process;
	struct error err = {};

	assert_int_equal(process_open(&process, pid, &err), error);
	if (!strstr(err.text, says))
		fail_msg("%s", err.text);
	assert_int_equal(process.fd, -1);
}

/* A thread that has a name and waits to be let go. */
struct thread {
	pthread_t id;
	pid_t tid;
	sem_t named, go;
};

static void *thread_main(void *data)
{
	struct thread *thread = data;

	thread->tid = syscall(SYS_gettid);
	prctl(PR_SET_NAME, "a) 1 (b");
	sem_post(&thread->named);
	sem_wait(&thread->go);
	return NULL;
}

static void start(struct thread *thread)
{
	sem_init(&thread->named, 0, 0);
	sem_init(&thread->go, 0, 0);
	assert_int_equal(pthread_create(&thread->id, NULL, thread_main, thread), 0);
	sem_wait(&thread->named);
}

static void end(struct thread *thread)
{
	sem_post(&thread->go);
	pthread_join(thread->id, NULL);
}

static void a_process_is_known_by_its_arguments_and_alive_until_it_exits(void **state)
{
	int fds[2], status;
	struct process process;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[1]);
		execl("/bin/cat", "cat", "-", "-", NULL);
		_exit(1);
	}
	/* It has become another program when the pipe's other end is its own. */
	close(fds[0]);
	do
		process = open_process(pid);
	while (strncmp(process.command, "cat ", 4) && (process_close(&process), true));
	assert_string_equal(process.command, "cat - -");
	assert_true(process_alive(&process));
	close(fds[1]);
	while (process_alive(&process))
		;
	/* Nobody has asked for its status yet. */
	expect_refusal(pid, -ESRCH, "has exited already");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(process_alive(&process));
	expect_refusal(pid, -ESRCH, "there is no process");
	assert_int_equal(process_read(&process, (uintptr_t)&byte, &byte, 1), -ESRCH);
	process_close(&process);
	process_close(&process);
}

static void what_is_no_process_is_refused_with_a_reason(void **state)
{
	struct thread thread;

	expect_refusal(0, -ESRCH, "there is no process");
	expect_refusal(-1, -ESRCH, "there is no process");
	start(&thread);
	expect_refusal(thread.tid, -EINVAL, "is a thread of process");
	end(&thread);
}

static void memory_is_read_as_far_as_it_is_there(void **state)
{
	struct process self = open_process(getpid());
	long page = sysconf(_SC_PAGESIZE);
	char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char copy[16];

	assert_true(two != MAP_FAILED);
	munmap(two + page, page);
	strcpy(two + page - 8, "0123456");
	assert_int_equal(process_read(&self, (uintptr_t)two + page - 8, copy, 8), 8);
	assert_string_equal(copy, "0123456");
	assert_int_equal(process_read(&self, (uintptr_t)two + page - 8, copy, 9), 8);
	assert_int_equal(process_read(&self, 16, copy, 1), -EFAULT);
	munmap(two, page);
	process_close(&self);
}

static void threads_are_listed_in_order_with_their_names_and_births(void **state)
{
	struct process self = open_process(getpid());
	struct thread_list list = {};
	struct thread threads[3];
	uint64_t birth;
	char name[16];
	pid_t gone;

	assert_int_equal(process_threads(&self, &list), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.items[0], getpid());
	for (int i = 0; i < 3; i++)
		start(&threads[i]);
	assert_int_equal(process_threads(&self, &list), 0);
	assert_int_equal(list.n, 4);
	for (size_t i = 1; i < list.n; i++)
		assert_true(list.items[i - 1] < list.items[i]);
	process_thread_name(&self, threads[0].tid, name);
	assert_string_equal(name, "a) 1 (b");
	birth = process_thread_birth(&self, threads[0].tid);
	assert_true(birth >= process_thread_birth(&self, getpid()));
	assert_true(process_thread_birth(&self, getpid()) > 0);
	gone = threads[0].tid;
	for (int i = 0; i < 3; i++)
		end(&threads[i]);
	/* The kernel lists a thread that was joined a moment longer. */
	while (process_thread_birth(&self, gone))
		;
	process_thread_name(&self, gone, name);
	assert_string_equal(name, "");
	assert_int_equal(process_thread_cpu(&self, gone), 0);
	thread_list_free(&list);
	process_close(&self);
}

static uint64_t births_field(pid_t tid)
{
	char path[64], text[1024];
	unsigned long long start;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_int_equal(sscanf(strrchr(text, ')') + 1,
				" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
				"%*d %*d %*d %llu",
				&start),
			 1);
	return start;
}

static void a_birth_is_the_start_time_whatever_the_thread_is_called(void **state)
{
	struct process self = open_process(getpid());
	struct thread thread;

	start(&thread);
	assert_int_equal(process_thread_birth(&self, thread.tid), births_field(thread.tid));
	assert_int_equal(process_thread_birth(&self, getpid()), births_field(getpid()));
	end(&thread);
	process_close(&self);
}

static void executable_files_are_listed_once_and_deleted_ones_told(void **state)
{
	struct process self = open_process(getpid());
	char path[] = "/tmp/opprobe-test-XXXXXX", own[1024];
	int fd = mkstemp(path);
	long page = sysconf(_SC_PAGESIZE);
	struct mapped_file *files;
	bool found_own = false, found = false;
	void *first, *second;
	ssize_t n;

	assert_int_equal(ftruncate(fd, 4 * page), 0);
	first = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, page);
	second = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 3 * page);
	if (first == MAP_FAILED || second == MAP_FAILED)
		skip(); /* /tmp is mounted noexec */
	unlink(path);
	n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	assert_true(n > 0);
	own[n] = '\0';
	n = process_mapped_files(&self, &files, NULL);
	assert_true(n > 1);
	for (ssize_t i = 0; i < n; i++) {
		for (ssize_t j = 0; j < i; j++)
			assert_false(files[i].inode == files[j].inode &&
				     files[i].device == files[j].device);
		if (!strcmp(files[i].path, own)) {
			found_own = true;
			assert_false(files[i].deleted);
		}
		if (!strcmp(files[i].path, path)) {
			void *lower = first < second ? first : second;

			found = true;
			assert_true(files[i].deleted);
			assert_int_equal(files[i].start, (uintptr_t)lower);
			assert_int_equal(files[i].end - files[i].start, page);
			assert_int_equal(files[i].offset, lower == first ? page : 3 * page);
		}
	}
	assert_true(found && found_own);
	free(files);
	munmap(first, page);
	munmap(second, page);
	close(fd);
	process_close(&self);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_known_by_its_arguments_and_alive_until_it_exits),
		cmocka_unit_test(what_is_no_process_is_refused_with_a_reason),
		cmocka_unit_test(memory_is_read_as_far_as_it_is_there),
		cmocka_unit_test(threads_are_listed_in_order_with_their_names_and_births),
		cmocka_unit_test(a_birth_is_the_start_time_whatever_the_thread_is_called),
		cmocka_unit_test(executable_files_are_listed_once_and_deleted_ones_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
