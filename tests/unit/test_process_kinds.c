// SPDX-License-Identifier: GPL-2.0-only
/* Processes of kinds that are rare: zombies, threads, 32 bits, an upgraded file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "needs.h"
#include "target/debug_file.h"
#include "target/process.h"

static struct process self;

static int open_self(void **state)
{
	return process_open(&self, getpid(), NULL);
}

static int close_self(void **state)
{
	process_close(&self);
	return 0;
}

/* Opening @pid fails, and the sentence has @part. */
static void refused(pid_t pid, const char *part)
{
	struct process process = {};
	struct error err = {};

	assert_true(process_open(&process, pid, &err) < 0);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
	process_close(&process);
}

static pid_t child_that(void (*does)(void))
{
	pid_t pid = fork();

	if (!pid) {
		does();
		_exit(0);
	}
	return pid;
}

static void wait_forever(void)
{
	for (;;)
		pause();
}

static void end_at_once(void)
{
}

/* -- what can be opened -------------------------------------------------------- */

static void a_zombie_has_exited_already(void **state)
{
	pid_t child = child_that(end_at_once);
	siginfo_t info;

	assert_int_equal(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
	refused(child, "has exited already");
	waitpid(child, NULL, 0);
}

static void *tell_tid(void *pipe)
{
	pid_t tid = syscall(SYS_gettid);

	if (write(((int *)pipe)[1], &tid, sizeof(tid)) == sizeof(tid))
		wait_forever();
	return NULL;
}

static void a_thread_is_told_from_its_process(void **state)
{
	struct thread_list threads = {};
	char expected[64], name[16];
	pthread_t thread;
	int ends[2];
	pid_t tid;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, tell_tid, ends), 0);
	pthread_setname_np(thread, "a worker");
	assert_int_equal(read(ends[0], &tid, sizeof(tid)), sizeof(tid));
	snprintf(expected, sizeof(expected), "is a thread of process %d", getpid());
	refused(tid, expected);

	assert_int_equal(process_threads(&self, &threads), 0);
	assert_int_equal(threads.n, 2);
	assert_int_equal(threads.items[0], getpid());
	assert_int_equal(threads.items[1], tid);
	process_thread_name(&self, tid, name);
	assert_string_equal(name, "a worker");
	assert_true(process_thread_birth(&self, tid) >= process_thread_birth(&self, getpid()));
	assert_true(process_thread_birth(&self, getpid()) > 0);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	process_thread_name(&self, tid, name);
	assert_string_equal(name, "");
	assert_int_equal(process_thread_birth(&self, tid), 0);
	thread_list_free(&threads);
	close(ends[0]);
	close(ends[1]);
}

static void a_program_of_32_bits_is_refused(void **state)
{
	char path[] = "/tmp/opprobe-process-XXXXXX", command[128];
	struct process process = {};
	struct error err = {};
	int fd = mkstemp(path), ends[2], status, error = 0;
	pid_t child;

	assert_true(fd >= 0);
	close(fd);
	/* A 32-bit program that waits: no library, so that any compiler will do. */
	snprintf(command, sizeof(command),
		 "echo 'void _start(void) { for (;;) ; }' | "
		 "cc -m32 -x c - -nostdlib -static -o %s 2>/dev/null",
		 path);
	if (system(command)) {
		unlink(path);
		leave_out("a compiler of 32-bit programs");
	}
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		execl(path, path, NULL);
		if (write(ends[1], "", 1) < 0)
			_exit(2);
		_exit(1);
	}
	close(ends[1]);
	status = read(ends[0], command, 1);
	close(ends[0]);
	if (!status)
		error = process_open(&process, child, &err);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(path);
	if (status)
		leave_out("a kernel that runs 32-bit programs");
	assert_int_equal(error, -EINVAL);
	assert_non_null(strstr(err.text, "32-bit"));
}

/* -- the files that it maps ------------------------------------------------------- */

static const struct mapped_file *find_file(const struct mapped_file *files, ssize_t n,
					   const char *path)
{
	for (ssize_t i = 0; i < n; i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	return NULL;
}

/* After an upgrade, another file has the name; the process goes on with the one that it maps. */
static void a_mapped_file_that_was_replaced_is_still_the_one_that_is_opened(void **state)
{
	char path[] = "/tmp/opprobe-process-XXXXXX", text[16];
	size_t page = sysconf(_SC_PAGESIZE);
	const struct mapped_file *file;
	struct mapped_file *files;
	int fd = mkstemp(path), other;
	char link[64];
	struct stat st, opened;
	void *code;
	ssize_t n;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, page), 0);
	assert_int_equal(fstat(fd, &st), 0);
	code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (code == MAP_FAILED) {
		unlink(path);
		leave_out("a /tmp from which programs may be mapped");
	}
	n = process_mapped_files(&self, &files, NULL);
	assert_true(n > 1);
	file = find_file(files, n, path);
	assert_non_null(file);
	assert_false(file->deleted);
	assert_int_equal(file->start, (uintptr_t)code);
	assert_int_equal(file->end - file->start, page);
	assert_int_equal(file->inode, st.st_ino);
	free(files);

	unlink(path);
	other = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(other, "another", 7), 7);
	close(other);
	n = process_mapped_files(&self, &files, NULL);
	file = find_file(files, n, path);
	assert_non_null(file);
	assert_true(file->deleted);
	snprintf(link, sizeof(link), "/proc/self/map_files/%" PRIx64 "-%" PRIx64, file->start,
		 file->end);
	fd = open_regular(link);
	free(files);
	unlink(path);
	if (fd < 0 && geteuid())
		leave_out(NEEDS_ROOT);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(opened.st_ino, st.st_ino);
	assert_int_equal(read(fd, text, 7), 7);
	assert_memory_not_equal(text, "another", 7);
	close(fd);
	munmap(code, page);
}

static void the_files_of_a_process_that_is_gone_are_refused_as_such(void **state)
{
	struct mapped_file *files;
	struct process process;
	struct error err = {};
	pid_t pid = child_that(wait_forever);

	assert_int_equal(process_open(&process, pid, &err), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(process_mapped_files(&process, &files, &err), -ESRCH);
	assert_non_null(strstr(err.text, "has exited"));
	process_close(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zombie_has_exited_already),
		cmocka_unit_test(a_thread_is_told_from_its_process),
		cmocka_unit_test(a_program_of_32_bits_is_refused),
		cmocka_unit_test(the_files_of_a_process_that_is_gone_are_refused_as_such),
		cmocka_unit_test(a_mapped_file_that_was_replaced_is_still_the_one_that_is_opened),
	};

	return cmocka_run_group_tests(tests, open_self, close_self);
}
