// SPDX-License-Identifier: GPL-2.0-only
/* Processes that were chosen may have gone since; those that were named may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "following.h"
#include "inspect/child.h"
#include "inspect/hands.h"
#include "inspect/spawn.h"

static char said[1024];
static size_t n_said;
static volatile sig_atomic_t stop;

static void say(void *context, const char *text)
{
	n_said++;
	strncpy(said, text, sizeof(said) - 1);
}

/* The number of a process that was there and is not any more. */
static pid_t gone(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/* Open @n @pids; how many lines were said, or -1 with @err if they are refused. */
static int open_pids(const pid_t *pids, size_t n, bool some, struct error *err)
{
	const struct following_options options = {
		.pids = pids, .n_pids = n, .some = some, .stop = &stop, .say = say};
	struct following *following;

	n_said = 0;
	*err = (struct error){};
	following = following_open(&options, err);
	if (!following)
		return -1;
	following_free(following);
	return (int)n_said;
}

static void what_was_named_must_be_there(void **state)
{
	const pid_t pids[] = {getpid(), gone()};
	struct error err;

	assert_int_equal(open_pids(pids, 1, false, &err), 0);
	assert_int_equal(open_pids(pids, 2, false, &err), -1);
	assert_non_null(strstr(err.text, "there is no process"));
	assert_int_equal(n_said, 0);
}

static void what_was_chosen_and_is_gone_is_said_and_left_out(void **state)
{
	const pid_t last[] = {getpid(), gone()}, first[] = {gone(), getpid()};
	struct error err;

	assert_int_equal(open_pids(last, 2, true, &err), 1);
	assert_non_null(strstr(said, "is not recorded: there is no process"));
	assert_int_equal(open_pids(first, 2, true, &err), 1);
}

static void when_all_that_were_chosen_are_gone_it_is_refused(void **state)
{
	const pid_t pids[] = {gone(), gone()};
	struct error err;

	assert_int_equal(open_pids(pids, 1, true, &err), -1);
	assert_non_null(strstr(err.text, "there is no process"));
	assert_int_equal(open_pids(pids, 2, true, &err), -1);
	assert_non_null(strstr(err.text, "there is no process"));
}

/* The one without a runtime is left out if another may have one: here, none has. */
static void what_was_chosen_and_has_no_runtime_is_left_out_but_for_the_last(void **state)
{
	const pid_t pids[] = {getpid(), fork()};
	struct following_options options = {
		.pids = pids, .n_pids = 2, .some = true, .stop = &stop, .say = say};
	struct following *following;
	struct error err = {};
	char sentence[64];
	size_t n;

	if (!pids[1]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(sentence, sizeof(sentence), "process %d is not recorded: ", pids[0]);
	for (int some = 1; some >= 0; some--) {
		options.some = some;
		n_said = 0;
		following = following_open(&options, NULL);
		assert_non_null(following);
		/* This very program holds what a runtime does, and no place to probe. */
		assert_true(following_find(following, &err) < 0);
		assert_int_equal(n_said, some);
		if (some)
			assert_memory_equal(said, sentence, strlen(sentence));
		assert_true(*err.text);
		following_targets(following, &n);
		assert_int_equal(n, 0);
		following_free(following);
	}
	kill(pids[1], SIGKILL);
	waitpid(pids[1], NULL, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_named_must_be_there),
		cmocka_unit_test(what_was_chosen_and_is_gone_is_said_and_left_out),
		cmocka_unit_test(when_all_that_were_chosen_are_gone_it_is_refused),
		cmocka_unit_test(what_was_chosen_and_has_no_runtime_is_left_out_but_for_the_last),
	};

	if (spawn_is(HELPER_HANDS, argc, argv))
		return hands_child();
	if (spawn_is(HELPER_INSPECTOR, argc, argv))
		return inspector_child();

	return cmocka_run_group_tests(tests, NULL, NULL);
}
