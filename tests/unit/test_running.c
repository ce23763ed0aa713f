// SPDX-License-Identifier: GPL-2.0-only
/* Which of the processes with a runtime are meant: names, containers, control groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "running.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static void a_container_is_told_by_its_id_wherever_that_stands(void **state)
{
	static const char *const texts[] = {
		"0::/system.slice/docker-" ID ".scope\n",
		"0::/docker/" ID "\n",
		"0::/kubepods.slice/kubepods-pod1b2c.slice/cri-containerd-" ID ".scope/init\n",
		"12:pids:/\n4:memory:/docker/" ID "\n0::/\n",
		"0::/../../machine.slice/libpod-" ID ".scope",
		/* One in another: it is in the inner one. */
		"0::/docker/" OTHER "/docker/" ID "\n",
	};
	char id[CGROUP_ID + 1];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_true(cgroup_container(texts[i], id));
		assert_string_equal(id, ID);
	}
}

static void what_is_no_id_is_no_container(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"0::/\n",
		ID,
		ID "\n" ID,
		"0::" ID "\n",
		"4:" ID ":/",
		"0::/a/" ID "0",
		"0::/user.slice/25b58909092858fca7d7c3d9bed8717f\n",
	};
	char id[CGROUP_ID + 1];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(cgroup_container(texts[i], id));
}

static void a_group_holds_itself_and_what_is_below(void **state)
{
	static const char text[] = "4:memory:/jobs/25\n0::/system.slice/model.service/worker\n";
	static const char *const yes[] = {
		"/",
		"/jobs",
		"/jobs/25",
		"/jobs/25/",
		"/system.slice",
		"/system.slice/model.service",
		"/system.slice/model.service/worker",
		"/sys/fs/cgroup",
		"/sys/fs/cgroup/system.slice/model.service",
		"/sys/fs/cgroup/memory/jobs/25",
	};
	static const char *const no[] = {
		"/job",
		"/jobs/2",
		"/jobs/25/6",
		"/model.service",
		"/system.slice/model",
		"/system.slice/model.service/worker/1",
		"/sys/fs/cgroup/other/system.slice",
		"/25\n0:",
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(cgroup_within(text, yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(cgroup_within(text, no[i]));
}

static struct running_process process(pid_t pid, const char *comm, const char *program,
				      const char *container)
{
	struct running_process it = {.pid = pid};

	strcpy(it.names[RUNNING_COMM], comm);
	strcpy(it.names[RUNNING_PROGRAM], program);
	strcpy(it.container, container);
	if (*container)
		it.pod = (struct pod){"prod", "model-x7k2p", "server-1"};
	strcpy(it.cgroups, *container ? "0::/docker/" ID "\n" : "0::/user.slice\n");
	return it;
}

static void all_that_is_said_holds_of_what_is_chosen(void **state)
{
	const struct running_process it = process(1, "node-MainThread", "node", ID);
	static const struct running_choice yes[] = {
		{},
		{.comm = "node"},
		{.comm = "n*e"},
		{.comm = "node-*"},
		{.container = ID},
		{.container = "0123"},
		{.container = "server-1"},
		{.pod = "model-x7k2p"},
		{.pod = "model-*"},
		{.pod = "prod/model-*"},
		{.pod = "*/model-x7k2p"},
		{.cgroup = "/docker"},
		{.comm = "node", .container = "0123", .pod = "*", .cgroup = "/docker"},
	};
	static const struct running_choice no[] = {
		{.comm = "Node"},
		{.comm = "od"},
		{.comm = ""},
		{.container = "123"},
		{.container = "1234"},
		{.container = "012"},
		{.container = "server"},
		{.container = "server-12"},
		{.container = ID "0"},
		{.pod = "model"},
		{.pod = ""},
		{.pod = "prod*model*"},
		{.pod = "prod/*/*"},
		{.pod = "production/model-*"},
		{.pod = "/model-*"},
		{.cgroup = "/dock"},
		{.comm = "nod", .container = "0123", .cgroup = "/docker"},
		{.comm = "node", .container = "1123", .cgroup = "/docker"},
		{.comm = "node", .container = "0123", .cgroup = "/pods"},
		{.comm = "node", .pod = "prod/other"},
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(running_fits(&it, &yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(running_fits(&it, &no[i]));
}

/* A process that names neither program nor container is none of "*" with one. */
static void what_is_not_known_fits_nothing(void **state)
{
	const struct running_process it = process(1, "", "", "");

	assert_false(running_fits(&it, &(struct running_choice){.comm = "*"}));
	assert_false(running_fits(&it, &(struct running_choice){.container = ""}));
	assert_false(running_fits(&it, &(struct running_choice){.pod = "*"}));
	assert_false(running_fits(&it, &(struct running_choice){.pod = "*/*"}));
	assert_true(running_fits(&it, &(struct running_choice){}));
}

static void choose_or_say_what_there_is(void **state)
{
	struct running_process list[] = {
		process(4711, "node-MainThread", "node", ""),
		process(4712, "python3", "python3.11", ""),
		process(4713, "node", "node", ID),
	};
	struct running running = {.list = {.items = list, .n = 3}};
	struct error err = {};
	pid_t pids[2] = {};

	assert_int_equal(
		running_choose(&running, &(struct running_choice){.comm = "node"}, pids, 2, &err),
		2);
	assert_int_equal(pids[0], 4711);
	assert_int_equal(pids[1], 4713);
	assert_int_equal(running_choose(&running, &(struct running_choice){}, pids, 2, &err),
			 -E2BIG);
	assert_non_null(strstr(err.text, "3 processes"));
	assert_int_equal(
		running_choose(&running, &(struct running_choice){.comm = "ruby"}, pids, 2, &err),
		-ENOENT);
	assert_non_null(strstr(err.text, "named 'ruby'"));
	assert_non_null(strstr(err.text, "4711 (node), 4712 (python3.11), 4713 (node)"));
	running.list.n = 0;
	running.hidden = 5;
	assert_int_equal(running_choose(&running, &(struct running_choice){.container = "1b2c"},
					pids, 2, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "in container 1b2c"));
	assert_non_null(strstr(err.text, "(5 could not be looked into"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_is_told_by_its_id_wherever_that_stands),
		cmocka_unit_test(what_is_no_id_is_no_container),
		cmocka_unit_test(a_group_holds_itself_and_what_is_below),
		cmocka_unit_test(all_that_is_said_holds_of_what_is_chosen),
		cmocka_unit_test(what_is_not_known_fits_nothing),
		cmocka_unit_test(choose_or_say_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
