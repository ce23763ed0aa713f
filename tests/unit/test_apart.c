// SPDX-License-Identifier: GPL-2.0-only
/* Calls that are not left halfway, whoever is killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/apart.h"

struct item {
	unsigned int times;
	pid_t pid; /* of the process that did it */
	unsigned int sum;
};

/* Uses some of its stack, which nobody else may use meanwhile. */
static void act(void *data)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	struct item *item = data;
	volatile uint8_t some[8192];
	unsigned int sum = 0;

	for (size_t i = 0; i < sizeof(some); i++)
		some[i] = (uint8_t)((uintptr_t)item >> 4);
	syscall(SYS_nanosleep, &pause, NULL);
	for (size_t i = 0; i < sizeof(some); i++)
		sum += some[i] == (uint8_t)((uintptr_t)item >> 4);
	item->sum = sum;
	item->pid = (pid_t)syscall(SYS_getpid);
	item->times++;
}

static void each_is_done_once_and_by_another_process(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 200};

	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		struct item *items = calloc(sizes[k] + 1, sizeof(*items));

		assert_non_null(items);
		apart_each(act, items, sizes[k], sizeof(*items));
		for (size_t i = 0; i < sizes[k]; i++) {
			assert_int_equal(items[i].times, 1);
			assert_int_equal(items[i].sum, 8192);
			assert_int_not_equal(items[i].pid, getpid());
			assert_true(kill(items[i].pid, 0) < 0);
		}
		assert_int_equal(items[sizes[k]].times, 0);
		free(items);
	}
	assert_true(waitpid(-1, NULL, WNOHANG | __WALL) < 0);
}

/* Say that it has begun, and some time later that it has come to its end. */
static void be_slow(void *data)
{
	const struct timespec pause = {.tv_nsec = 300000000};
	const int *pipe = data;

	syscall(SYS_write, pipe[1], "b", 1);
	syscall(SYS_nanosleep, &pause, NULL);
	syscall(SYS_write, pipe[1], "e", 1);
}

static void what_has_begun_ends_although_its_process_is_killed(void **state)
{
	int ends[2], status;
	char said = 0;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		apart_each(be_slow, ends, 1, sizeof(ends));
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &said, 1), 1);
	assert_int_equal(said, 'b');
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(read(ends[0], &said, 1), 1);
	assert_int_equal(said, 'e');
	/* And then it is gone: nobody holds the pipe. */
	assert_int_equal(read(ends[0], &said, 1), 0);
	close(ends[0]);
}

/* As Ctrl-C does, to all processes of the terminal. */
static void interrupt_all(void *data)
{
	syscall(SYS_kill, 0, SIGINT);
	be_slow(data);
}

static void a_signal_of_the_terminal_waits_until_it_is_done(void **state)
{
	char said[3] = "";
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		setpgid(0, 0);
		signal(SIGINT, SIG_DFL);
		apart_each(interrupt_all, ends, 1, sizeof(ends));
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	assert_int_equal(read(ends[0], said, sizeof(said)), 2);
	assert_memory_equal(said, "be", 2);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_done_once_and_by_another_process),
		cmocka_unit_test(what_has_begun_ends_although_its_process_is_killed),
		cmocka_unit_test(a_signal_of_the_terminal_waits_until_it_is_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
