// SPDX-License-Identifier: GPL-2.0-only
/* Folded stacks: a line per node and the nodes around it, with its weight; and pprof's profile. */
#include "output_helper.h"

#include <errno.h>

/* What is written of @c by @weight, and to @notes, if not NULL, what that lacks; allocated. */
static char *written(const struct test_capture *c, const char *format, const char *weight,
		     char **notes, size_t *length)
{
	struct export_options options = {.format = format, .weight = weight};
	char path[sizeof(c->path) + 8], *text, *told = NULL;
	struct error err = {};
	size_t size;
	FILE *out = open_memstream(&told, &size);

	snprintf(path, sizeof(path), "%s.folded", c->path);
	if (export_capture(c->path, &options, path, out, &err))
		fail_msg("%s", err.text);
	fclose(out);
	if (notes)
		*notes = told;
	else
		free(told);
	text = (char *)file_read(path, length);
	unlink(path);
	return text;
}

static char *folded(const struct test_capture *c, const char *weight, char **notes)
{
	size_t length;

	return written(c, "folded", weight, notes, &length);
}

static void check_folded(const struct test_capture *c, const char *weight, const char *expected)
{
	char *text = folded(c, weight, NULL);

	assert_string_equal(text, expected);
	free(text);
}

static void check_refused(const struct test_capture *c, const struct export_options *options,
			  const char *sentence)
{
	struct error err;

	assert_int_equal(export_capture(c->path, options, "/dev/null", NULL, &err), -EINVAL);
	if (!strstr(err.text, sentence))
		fail_msg("%s", err.text);
}

static struct capture_exec counted(uint32_t op, uint64_t start, uint64_t end, uint64_t count)
{
	struct capture_exec exec = test_exec(op, start, end);

	exec.counted = 1;
	exec.counters[0] = count;
	return exec;
}

/* Two runs of 10 us: an If of 4 us with an Add of 3 us inside, then a Conv of 2 us. */
static struct test_capture nested_capture(void)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "choose", "If");
	test_operator(&c, 1, "inner", "Add");
	test_operator(&c, 2, "", "Conv");
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t at = i * 20000;
		struct capture_exec inner = counted(1, at + 1500, at + 4500, 30);
		struct capture_exec around = counted(0, at + 1000, at + 5000, 40);
		struct capture_exec last = counted(2, at + 6000, at + 8000, 0);
		struct capture_run run = test_run(i, at, at + 10000);

		inner.parent = 0;
		inner.depth = 1;
		inner.run = around.run = last.run = i;
		around.flags = EXEC_NESTED;
		if (i)
			last.counted = 0;
		test_write(&c, inner);
		test_write(&c, around);
		test_write(&c, last);
		run.has_operators = true;
		run.operators = 3;
		run.counted = 1;
		run.counters[0] = 100;
		assert_int_equal(capture_write_run(c.writer, &run), 0);
	}
	test_finish(&c);
	return c;
}

static void nodes_are_below_those_around_them_and_add_up_to_the_runs(void **state)
{
	static const char expected[] = "session_0_(If_choose);If;choose;Add;inner 6000\n"
				       "session_0_(If_choose);If;choose 2000\n"
				       "session_0_(If_choose);Conv;Conv_2 4000\n"
				       "session_0_(If_choose);between_operators 8000\n";
	struct test_capture c = nested_capture();

	check_folded(&c, NULL, expected);
	check_folded(&c, "time", expected);
	test_remove(&c);
}

static void an_event_weighs_where_it_is_known_and_the_rest_is_told(void **state)
{
	struct test_capture c = nested_capture();
	char *notes, *text = folded(&c, "event0", &notes);

	assert_string_equal(text, "session_0_(If_choose);If;choose;Add;inner 60\n"
				  "session_0_(If_choose);If;choose 20\n"
				  "session_0_(If_choose);Conv;Conv_2 0\n");
	assert_non_null(strstr(notes, "1 of 6 executions add nothing"));
	assert_non_null(strstr(notes, "What lies between operators is not known"));
	free(text);
	free(notes);
	text = folded(&c, NULL, &notes);
	assert_string_equal(notes, "");
	free(text);
	free(notes);
	test_remove(&c);
}

static void a_weight_that_there_is_not_is_refused(void **state)
{
	struct test_capture c = nested_capture();
	struct export_options options = {.format = "folded", .weight = "evnet0"};

	check_refused(&c, &options, "no event 'evnet0'; nearest: 'event0': choose time or event0;");
	check_refused(&c, &options, "opprobe record with -e");
	options = (struct export_options){.format = "csv", .weight = "time"};
	check_refused(&c, &options, "csv has no weights");
	test_remove(&c);
}

static void what_is_an_estimate_is_refused(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct export_options options = {.format = "folded", .weight = "event0"};
	struct capture_exec exec = test_exec(0, 1000, 2000);

	test_operator(&c, 0, "node", "Conv");
	exec.flags = EXEC_TURNS;
	exec.turns.enabled = 1000;
	exec.turns.sampled = 1;
	exec.turns.running[0] = 500;
	exec.counters[0] = 70;
	test_write(&c, exec);
	test_finish(&c);
	check_refused(&c, &options, "event0 took turns with other events");
	check_folded(&c, "time", "session_0_(Conv_node);Conv;node 1000\n");
	test_remove(&c);
}

/* Each line is a stack, the last space, and a number, whatever is in the names. */
static void no_name_breaks_a_line(void **state)
{
	static const char *const names[] = {"a;b", "two\nlines", "ends in 5", "", "\xff", "\x1b[m"};
	static const char *const shown[] = {"a,b", "two?lines", "ends_in_5", "Conv_3", "?", "?[m"};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	char *text, line[128];

	for (uint32_t i = 0; i < 6; i++) {
		test_operator(&c, i, names[i], "Conv");
		test_write(&c, test_exec(i, i * 100, i * 100 + 50 + i));
	}
	test_finish(&c);
	text = folded(&c, NULL, NULL);
	for (uint32_t i = 0; i < 6; i++) {
		snprintf(line, sizeof(line), ";Conv;%s %u\n", shown[i], 50 + i);
		if (!strstr(text, line))
			fail_msg("no %s in %s", line, text);
	}
	free(text);
	test_remove(&c);
}

static void several_processes_and_sessions_have_roots_of_their_own(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_open(&info);
	struct capture_process other = test_process(1, 43, 0, "worker");
	struct capture_operator op = {1, 1, 0, "b", "Add", "", "", false};
	struct capture_exec exec = test_exec(1, 0, 7);
	char *text;

	assert_int_equal(capture_write_process(c.writer, &other), 0);
	test_thread(&c, 0, 100, "main", 0);
	test_thread(&c, 1, 101, "main", 1);
	test_session(&c, 0, 0);
	test_session(&c, 1, 1);
	test_operator(&c, 0, "a", "Add");
	assert_int_equal(capture_write_operator(c.writer, &op), 0);
	test_write(&c, test_exec(0, 0, 5));
	exec.thread = 1;
	exec.run = 1;
	test_write(&c, exec);
	test_finish(&c);
	text = folded(&c, NULL, NULL);
	assert_non_null(strstr(text, "server_(42);session_0_(Add_a);Add;a 5\n"));
	assert_non_null(strstr(text, "worker_(43);session_1_(Add_b);Add;b 7\n"));
	free(text);
	test_remove(&c);
}

/* -- pprof ----------------------------------------------------------------------- */

static uint64_t varint(const uint8_t **p)
{
	uint64_t value = 0;
	int shift = 0;

	do
		value |= (uint64_t)(**p & 0x7f) << shift;
	while (shift += 7, *(*p)++ & 0x80);
	return value;
}

/* The next field of a message: its number, and in *@value its number or how long *@bytes is. */
static uint32_t next_field(const uint8_t **p, uint64_t *value, const uint8_t **bytes)
{
	uint64_t key = varint(p);

	*value = varint(p);
	*bytes = key & 2 ? *p : NULL;
	assert_int_equal(key & 7 & ~2, 0);
	if (*bytes)
		*p += *value;
	return key >> 3;
}

/* Is @text among the strings of the profile? Counts its types of samples, and samples. */
static bool has_string(const char *profile, size_t size, const char *text, int *types, int *samples)
{
	const uint8_t *p = (const uint8_t *)profile, *end = p + size, *bytes;
	bool found = false;
	uint64_t length;

	*types = *samples = 0;
	while (p < end) {
		uint32_t field = next_field(&p, &length, &bytes);

		*types += field == 1;
		*samples += field == 2;
		found |= field == 6 && length == strlen(text) && !memcmp(bytes, text, length);
	}
	assert_ptr_equal(p, end);
	return found;
}

static void a_profile_has_only_what_is_known_of_all(void **state)
{
	const struct export_options options = {.format = "pprof", .weight = "event0"};
	struct test_capture c = nested_capture();
	int types, samples;
	char *notes, *text;
	size_t size;

	text = written(&c, "pprof", NULL, &notes, &size);
	assert_true(has_string(text, size, "time", &types, &samples));
	assert_int_equal(types, 2);
	assert_int_equal(samples, 4);
	assert_false(has_string(text, size, "event0", &types, &samples));
	assert_true(has_string(text, size, "between operators", &types, &samples));
	assert_string_equal(notes, "1 event is left out: not all of what was counted is known "
				   "exactly; opprobe report tells what is.\n");
	check_refused(&c, &options, "not all of what event0 counted is known exactly");
	free(text);
	free(notes);
	test_remove(&c);
}

static void a_profile_has_characters_and_nothing_else(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	int types, samples;
	char *text;
	size_t size;

	test_operator(&c, 0, "\xff\x1b[2J\xc3\xa9", "Conv");
	test_write(&c, counted(0, 1000, 2000, UINT64_C(1) << 40));
	test_finish(&c);
	text = written(&c, "pprof", "event0", NULL, &size);
	assert_true(has_string(text, size, "??[2J\xc3\xa9", &types, &samples));
	assert_int_equal(types, 3);
	assert_int_equal(samples, 1);
	assert_true(has_string(text, size, "event0", &types, &samples));
	assert_non_null(memmem(text, size, "\x80\x80\x80\x80\x80\x20", 6));
	free(text);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_below_those_around_them_and_add_up_to_the_runs),
		cmocka_unit_test(an_event_weighs_where_it_is_known_and_the_rest_is_told),
		cmocka_unit_test(a_weight_that_there_is_not_is_refused),
		cmocka_unit_test(what_is_an_estimate_is_refused),
		cmocka_unit_test(no_name_breaks_a_line),
		cmocka_unit_test(several_processes_and_sessions_have_roots_of_their_own),
		cmocka_unit_test(a_profile_has_only_what_is_known_of_all),
		cmocka_unit_test(a_profile_has_characters_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
