// SPDX-License-Identifier: GPL-2.0-only
/* Files that are made where others may have put things before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_file.h"

#define OTHER_USER 12345

static char folder[] = "/tmp/opprobe-test-XXXXXX";

static int enter_folder(void **state)
{
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave_folder(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") || system(command) ? -1 : 0;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void check_text(const char *path, const char *text)
{
	char got[256] = "";
	FILE *file = fopen(path, "r");

	if (!file)
		fail_msg("%s is not there", path);
	if (fread(got, 1, sizeof(got) - 1, file) || feof(file))
		fclose(file);
	assert_string_equal(got, text);
}

static bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static struct output_file opened(const char *path, enum output_naming naming)
{
	struct output_file file;
	struct error err = {};

	if (output_file_open(&file, path, naming, &err))
		fail_msg("%s", err.text);
	assert_int_equal(write(file.fd, "new", 3), 3);
	return file;
}

static void check_refused(const char *path, int error, const char *why)
{
	struct output_file file;
	struct error err = {};

	assert_int_equal(output_file_open(&file, path, OUTPUT_NAMED, &err), error);
	if (!strstr(err.text, why) || !strstr(err.text, path))
		fail_msg("%s", err.text);
}

static void the_stem_of_a_path_is_without_its_ending(void **state)
{
	assert_int_equal(output_stem("a/run.opp"), 5);
	assert_int_equal(output_stem("a/run"), 5);
	assert_int_equal(output_stem("a.b/run"), 7);
	assert_int_equal(output_stem("run.json.gz"), 8);
	/* A name that is an ending only has none. */
	assert_int_equal(output_stem(".opp"), 4);
	assert_int_equal(output_stem("a/.opp"), 6);
}

static void a_new_file_is_its_owners_alone(void **state)
{
	struct output_file file = opened("fresh", OUTPUT_NAMED);
	struct stat st;

	check_text("fresh", "new");
	assert_int_equal(output_file_close(&file, true, NULL), 0);
	check_text("fresh", "new");
	assert_int_equal(stat("fresh", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void one_that_is_dropped_is_gone(void **state)
{
	struct output_file file = opened("dropped", OUTPUT_NAMED);

	output_file_drop(&file);
	assert_false(exists("dropped"));
}

static void what_is_there_is_replaced_by_something_whole_only(void **state)
{
	struct output_file file;
	char *left;

	put("named", "old");
	file = opened("named", OUTPUT_NAMED);
	check_text("named", "old");
	output_file_drop(&file);
	check_text("named", "old");
	assert_false(exists("named.new"));

	file = opened("named", OUTPUT_NAMED);
	assert_int_equal(output_file_close(&file, false, &left), 0);
	assert_string_equal(left, "named.new");
	free(left);
	check_text("named", "old");
	check_text("named.new", "new");

	/* What was left is not touched, either. */
	put("named.new", "left");
	file = opened("named", OUTPUT_NAMED);
	assert_int_equal(output_file_close(&file, true, NULL), 0);
	check_text("named", "new");
	check_text("named.new", "left");
}

static void a_hard_link_keeps_what_it_has(void **state)
{
	struct output_file file;

	put("precious", "old");
	assert_int_equal(link("precious", "hard"), 0);
	file = opened("hard", OUTPUT_NAMED);
	assert_int_equal(output_file_close(&file, true, NULL), 0);
	check_text("precious", "old");
	check_text("hard", "new");
}

static void a_name_of_opprobes_own_is_a_free_one(void **state)
{
	struct output_file first = opened("run.opp", OUTPUT_FREE), second, third;

	second = opened("run.opp", OUTPUT_FREE);
	assert_string_equal(second.path, "run.2.opp");
	/* Whatever is in the way stays: a link, a pipe. */
	assert_int_equal(symlink("precious", "run.3.opp"), 0);
	assert_int_equal(mkfifo("run.4.opp", 0600), 0);
	third = opened("run.opp", OUTPUT_FREE);
	assert_string_equal(third.path, "run.5.opp");
	assert_int_equal(output_file_close(&first, true, NULL), 0);
	assert_int_equal(output_file_close(&second, true, NULL), 0);
	output_file_drop(&third);
	check_text("run.opp", "new");
	check_text("run.2.opp", "new");
	assert_false(exists("run.5.opp"));
	assert_true(exists("run.3.opp") && exists("run.4.opp"));
}

static void a_file_that_is_being_written_is_refused(void **state)
{
	struct output_file file = opened("busy", OUTPUT_NAMED);

	check_refused("busy", -EBUSY, "another opprobe");
	assert_int_equal(output_file_close(&file, true, NULL), 0);
	file = opened("busy", OUTPUT_NAMED);
	output_file_drop(&file);
}

static void a_link_of_another_user_is_not_followed(void **state)
{
	put("secret", "old");
	assert_int_equal(symlink("secret", "planted"), 0);
	if (geteuid())
		return; /* it cannot be made another user's */
	assert_int_equal(lchown("planted", OTHER_USER, OTHER_USER), 0);
	check_refused("planted", -ELOOP, "of another user");
	check_text("secret", "old");
}

static void a_pipe_of_another_user_is_not_written(void **state)
{
	struct output_file file;
	int reader;

	if (geteuid())
		return; /* it cannot be made another user's */
	assert_int_equal(mkfifo("trap", 0666), 0);
	assert_int_equal(chown("trap", OTHER_USER, OTHER_USER), 0);
	reader = open("trap", O_RDONLY | O_NONBLOCK);
	check_refused("trap", -ELOOP, "pipe of another user");
	/* But it may be the one's who called sudo. */
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "12345", 1);
	file = opened("trap", OUTPUT_NAMED);
	output_file_drop(&file);
	setenv("SUDO_UID", "12346", 1);
	check_refused("trap", -ELOOP, "pipe of another user");
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	close(reader);
}

static void a_link_of_ones_own_is_followed(void **state)
{
	struct output_file file;

	assert_int_equal(mkdir("deep", 0700), 0);
	assert_int_equal(symlink("deep/target", "mine"), 0);
	file = opened("mine", OUTPUT_NAMED);
	assert_int_equal(output_file_close(&file, true, NULL), 0);
	check_text("deep/target", "new");
	file = opened("mine", OUTPUT_NAMED);
	check_text("deep/target.new", "new");
	output_file_drop(&file);
	check_text("deep/target", "new");
	assert_int_equal(symlink("circle", "circle"), 0);
	check_refused("circle", -ELOOP, "too many");
}

static void pipes_and_devices_are_written_in_place(void **state)
{
	struct output_file file;
	char text[8] = "";
	int reader;

	assert_int_equal(mkfifo("pipe", 0600), 0);
	check_refused("pipe", -ENXIO, "nobody reads it");
	reader = open("pipe", O_RDONLY | O_NONBLOCK);
	file = opened("pipe", OUTPUT_NAMED);
	assert_int_equal(read(reader, text, sizeof(text) - 1), 3);
	assert_string_equal(text, "new");
	output_file_drop(&file);
	close(reader);
	assert_true(exists("pipe"));
	file = opened("/dev/null", OUTPUT_NAMED);
	output_file_drop(&file);
	assert_true(exists("/dev/null"));
	check_refused("deep", -EISDIR, "directory");
	check_refused("no/such/folder", -ENOENT, "No such file");
}

static void what_is_open_already_can_be_named(void **state)
{
	struct output_file file;
	char path[64], text[8] = "";
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[1]);
	file = opened(path, OUTPUT_NAMED);
	assert_int_equal(read(fds[0], text, sizeof(text) - 1), 3);
	assert_string_equal(text, "new");
	assert_int_equal(output_file_close(&file, true, NULL), 0);
	close(fds[0]);
	close(fds[1]);
}

static void what_another_has_put_there_is_not_removed(void **state)
{
	struct output_file file = opened("swapped", OUTPUT_NAMED);

	assert_int_equal(rename("swapped", "elsewhere"), 0);
	put("swapped", "other");
	output_file_drop(&file);
	check_text("swapped", "other");
}

static void under_sudo_a_file_is_its_users(void **state)
{
	struct output_file file;
	struct stat st;

	if (geteuid())
		return; /* only root gives files away */
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "12346", 1);
	file = opened("users", OUTPUT_NAMED);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(fstat(file.fd, &st), 0);
	assert_int_equal(st.st_uid, OTHER_USER);
	assert_int_equal(st.st_gid, 12346);
	output_file_drop(&file);
	setenv("SUDO_UID", "12x", 1);
	setenv("SUDO_GID", "1", 1);
	file = opened("roots", OUTPUT_NAMED);
	assert_int_equal(fstat(file.fd, &st), 0);
	assert_int_equal(st.st_uid, 0);
	output_file_drop(&file);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stem_of_a_path_is_without_its_ending),
		cmocka_unit_test(a_new_file_is_its_owners_alone),
		cmocka_unit_test(one_that_is_dropped_is_gone),
		cmocka_unit_test(what_is_there_is_replaced_by_something_whole_only),
		cmocka_unit_test(a_hard_link_keeps_what_it_has),
		cmocka_unit_test(a_name_of_opprobes_own_is_a_free_one),
		cmocka_unit_test(a_file_that_is_being_written_is_refused),
		cmocka_unit_test(a_link_of_another_user_is_not_followed),
		cmocka_unit_test(a_pipe_of_another_user_is_not_written),
		cmocka_unit_test(a_link_of_ones_own_is_followed),
		cmocka_unit_test(pipes_and_devices_are_written_in_place),
		cmocka_unit_test(what_is_open_already_can_be_named),
		cmocka_unit_test(what_another_has_put_there_is_not_removed),
		cmocka_unit_test(under_sudo_a_file_is_its_users),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
