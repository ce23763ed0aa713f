// SPDX-License-Identifier: GPL-2.0-only
/* Which container of its pod a process is in, by what its mountinfo says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "target/cgroup.h"
#include "target/pod.h"

#define UID    "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define OTHER  "ffffffff-4e5f-6071-8293-a4b5c6d7e8f9"
#define STATIC "0123456789abcdef0123456789abcdef"

/* As containerd has them: what comes before and behind the line that tells. */
#define ROOT_LINE                                                                                  \
	"1467 1290 0:134 / / rw,relatime master:411 - overlay overlay rw,lowerdir=/var/lib/"       \
	"containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/71/fs,upperdir=/u,workdir=/w" \
	"\n1469 1467 0:138 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755\n"
#define LOG_LINE(root)                                                                             \
	"1480 1469 259:1 " root " /dev/termination-log rw,relatime - ext4 /dev/nvme0n1p1 rw\n"
#define HOSTS_LINE                                                                                 \
	"1479 1467 259:1 /var/lib/kubelet/pods/" UID "/etc-hosts /etc/hosts rw,relatime - ext4 "   \
	"/dev/nvme0n1p1 rw\n"

/* NULL: none is told. */
static void assert_name(const char *text, const char *uid, const char *expected)
{
	char name[POD_CONTAINER + 1] = "";
	FILE *mountinfo = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(mountinfo);
	assert_int_equal(pod_container(mountinfo, uid, name), expected != NULL);
	if (expected)
		assert_string_equal(name, expected);
	fclose(mountinfo);
}

static void assert_root(const char *root, const char *expected)
{
	char text[2000];

	snprintf(text, sizeof(text), ROOT_LINE HOSTS_LINE LOG_LINE("%s"), root);
	assert_name(text, UID, expected);
}

static void the_file_of_its_last_words_tells_it(void **state)
{
	assert_name(ROOT_LINE HOSTS_LINE LOG_LINE("/var/lib/kubelet/pods/" UID
						  "/containers/server/1b2c3d4e"),
		    UID, "server");
	assert_name(LOG_LINE("/pods/" UID "/containers/server/1b2c3d4e"), UID, "server");
}

/* From the root of the file system, wherever that is mounted and the kubelet keeps its files. */
static void the_folders_above_are_any(void **state)
{
	assert_root("/kubelet/pods/" UID "/containers/a/1b2c3d4e", "a");
	assert_root("/pods/" UID "/containers/model-2/00000000", "model-2");
	assert_root("/@data/my\\040files/\\134/pods/" UID "/containers/a/1b2c3d4e", "a");
	assert_root("/pods/" UID "/containers/x/pods/" UID "/containers/a/1b2c3d4e", "a");
}

static void static_pods_have_numbers_without_dashes(void **state)
{
	char uid[CGROUP_POD + 1];

	assert_true(cgroup_pod("0::/kubepods/burstable/pod" STATIC "/0123\n", uid));
	assert_name(LOG_LINE("/var/lib/kubelet/pods/" STATIC "/containers/etcd/1b2c3d4e"), uid,
		    "etcd");
}

/* The folder has '-' where the group has '_'. */
static void groups_that_systemd_names_are_of_the_same_pod(void **state)
{
	char uid[CGROUP_POD + 1];

	assert_true(cgroup_pod("0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-"
			       "pod0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/x.scope\n",
			       uid));
	assert_name(LOG_LINE("/var/lib/kubelet/pods/" UID "/containers/server/1b2c3d4e"), uid,
		    "server");
}

static void a_file_of_another_pod_tells_nothing(void **state)
{
	assert_root("/var/lib/kubelet/pods/" OTHER "/containers/server/1b2c3d4e", NULL);
	assert_root("/var/lib/kubelet/pods/x" UID "/containers/server/1b2c3d4e", NULL);
	assert_root("/var/lib/kubelet/pods/" UID "x/containers/server/1b2c3d4e", NULL);
	assert_root("/pods/0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9/containers/server/1b2c3d4e", NULL);
}

static void what_is_no_such_file_tells_nothing(void **state)
{
	static const char *const roots[] = {
		"/",
		"/docker/containers/0123/termination-log",
		"/tripods/" UID "/containers/server/1b2c3d4e",
		"pods/" UID "/containers/server/1b2c3d4e",
		"/pods/" UID "/volumes/server/1b2c3d4e",
		"/pods/" UID "/containers/server",
		"/pods/" UID "/containers/server/",
		"/pods/" UID "/containers/server/1b2c3d4",
		"/pods/" UID "/containers/server/1b2c3d4e5",
		"/pods/" UID "/containers/server/1b2c3d4E",
		"/pods/" UID "/containers/server/1b2c3d4e/f",
		"/pods/" UID "/containers/server/1b2c3d4e//deleted",
		"/pods/" UID "/containers/server\\0571b2c3d4e",
	};

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		assert_root(roots[i], NULL);
}

static void what_no_pod_may_call_its_container_is_no_name(void **state)
{
	static const char *const names[] = {
		"",
		".",
		"..",
		"Server",
		"ser_ver",
		"ser.ver",
		"-server",
		"server-",
		"ser\\040ver",
		"ser\\134ver",
		"ser\"ver",
		"s\xc3\xa9rver",
		"ser/ver",
		"-",
		"0123456789012345678901234567890123456789012345678901234567890123",
	};
	char root[300];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(root, sizeof(root), "/pods/" UID "/containers/%s/1b2c3d4e", names[i]);
		assert_root(root, NULL);
	}
	assert_root("/pods/" UID "/containers/"
		    "012345678901234567890123456789012345678901234567890123456789012/1b2c3d4e",
		    "012345678901234567890123456789012345678901234567890123456789012");
}

static void what_is_mounted_elsewhere_tells_nothing(void **state)
{
	assert_name("\n\n   \n", UID, NULL);
	assert_name(ROOT_LINE HOSTS_LINE, UID, NULL);
	assert_name("1 2 8:1 /pods/" UID
		    "/containers/a/1b2c3d4e /dev/termination-log2 rw - x y z\n",
		    UID, NULL);
	assert_name("1 2 8:1 /pods/" UID "/containers/a/1b2c3d4e /x/dev/termination-log rw - x y\n",
		    UID, NULL);
	/* Words are counted. */
	assert_name("1 2 8:1 x /pods/" UID "/containers/a/1b2c3d4e /dev/termination-log rw - x\n",
		    UID, NULL);
	assert_name("2 8:1 /pods/" UID "/containers/a/1b2c3d4e /dev/termination-log rw - x\n", UID,
		    NULL);
	assert_name("1 2 8:1 /pods/" UID "/containers/a/1b2c3d4e\n/dev/termination-log rw - x\n",
		    UID, NULL);
	assert_name("1 2 8:1 /pods/" UID "/containers/a/1b2c3d4e /dev/termination-log\n", UID,
		    NULL);
}

static void of_two_names_none_is_certain(void **state)
{
	static const char a[] = LOG_LINE("/pods/" UID "/containers/a/1b2c3d4e");
	static const char again[] = LOG_LINE("/pods/" UID "/containers/a/2b2c3d4e");
	static const char b[] = LOG_LINE("/pods/" UID "/containers/b/1b2c3d4e");
	static const char strange[] = LOG_LINE("/pods/" OTHER "/containers/b/1b2c3d4e");
	char text[1000];

	snprintf(text, sizeof(text), "%s%s", a, b);
	assert_name(text, UID, NULL);
	snprintf(text, sizeof(text), "%s%s%s", strange, a, again);
	assert_name(text, UID, "a");
}

/* A text of @n bytes 'x' that @behind follows. The caller frees it. */
static char *behind_long(const char *before, size_t n, const char *behind)
{
	char *text = malloc(strlen(before) + n + strlen(behind) + 1);

	assert_non_null(text);
	strcpy(text, before);
	memset(text + strlen(before), 'x', n);
	strcpy(text + strlen(before) + n, behind);
	return text;
}

/* Of any length around the room that there is for a line. */
static void a_long_line_hides_none_and_is_none(void **state)
{
	static const char line[] = LOG_LINE("/pods/" UID "/containers/a/1b2c3d4e");

	for (size_t n = 8000; n < 8400; n++) {
		char *lines = behind_long("1 2 0:1 / / rw - overlay overlay rw,lowerdir=/", n,
					  "\n" LOG_LINE("/pods/" UID "/containers/a/1b2c3d4e"));
		/* What is behind the room of a line is none of its own. */
		char *one = behind_long("1 2 0:1 / /", n, line);
		char *root = behind_long("1 2 0:1 /", n,
					 "/pods/" UID "/containers/a/1b2c3d4e "
					 "/dev/termination-log rw - x y z\n");
		bool fits = n + strlen("1 2 0:1 /") +
				    strlen("/pods/" UID "/containers/a/1b2c3d4e "
					   "/dev/termination-log ") <
			    8192;

		assert_name(lines, UID, "a");
		assert_name(one, UID, NULL);
		assert_name(root, UID, fits ? "a" : NULL);
		free(lines);
		free(one);
		free(root);
	}
}

/* An overlay's options are long, and behind what is looked for. */
static void a_line_that_goes_on_for_long_tells_it(void **state)
{
	char *text = behind_long("1 2 0:1 /pods/" UID "/containers/a/1b2c3d4e /dev/termination-log "
				 "rw - overlay overlay rw,lowerdir=/",
				 100000, "\n");

	assert_name(text, UID, "a");
	free(text);
}

static void what_follows_too_many_lines_is_not_read(void **state)
{
	static const char line[] = LOG_LINE("/pods/" UID "/containers/a/1b2c3d4e");
	const size_t most = 8192;
	char *text = malloc(most + sizeof(line));

	assert_non_null(text);
	memset(text, '\n', most);
	strcpy(text + most - 1, line);
	assert_name(text, UID, "a");
	text[most - 1] = '\n';
	strcpy(text + most, line);
	assert_name(text, UID, NULL);
	free(text);
}

static void a_text_that_ends_anywhere_is_harmless(void **state)
{
	static const char text[] = "9\0" ROOT_LINE LOG_LINE("/pods/" UID "/containers/a/1b2c3d4e");
	char name[POD_CONTAINER + 1];

	for (size_t n = 1; n < sizeof(text); n++) {
		FILE *mountinfo = fmemopen((void *)text, n, "r");

		assert_non_null(mountinfo);
		if (pod_container(mountinfo, UID, name))
			assert_string_equal(name, "a");
		fclose(mountinfo);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_of_its_last_words_tells_it),
		cmocka_unit_test(the_folders_above_are_any),
		cmocka_unit_test(static_pods_have_numbers_without_dashes),
		cmocka_unit_test(groups_that_systemd_names_are_of_the_same_pod),
		cmocka_unit_test(a_file_of_another_pod_tells_nothing),
		cmocka_unit_test(what_is_no_such_file_tells_nothing),
		cmocka_unit_test(what_no_pod_may_call_its_container_is_no_name),
		cmocka_unit_test(what_is_mounted_elsewhere_tells_nothing),
		cmocka_unit_test(of_two_names_none_is_certain),
		cmocka_unit_test(a_long_line_hides_none_and_is_none),
		cmocka_unit_test(a_line_that_goes_on_for_long_tells_it),
		cmocka_unit_test(what_follows_too_many_lines_is_not_read),
		cmocka_unit_test(a_text_that_ends_anywhere_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
