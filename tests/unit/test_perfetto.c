// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's trace as its trace_processor takes it: packets in the order of time, those of one
 * time in that of the file, slices nested by what begins and ends. What the numbers say is
 * checked with protobuf's own decoder in tests/e2e/test_perfetto.py.
 */
#include "output_helper.h"

#include "output/perfetto.h"

/* What a packet tells of. */
struct event {
	uint64_t time, type, track, iid;
	char name[64];
	size_t at; /* in the file */
};

struct trace {
	struct event events[512];
	size_t n, names;
	char text[4096]; /* what begins and ends */
};

static uint64_t get_varint(const uint8_t **p, const uint8_t *end)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		assert_true(*p < end);
		value |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return value;
	}
	fail_msg("a number of more than 64 bits");
	return 0;
}

/* The next field of a message: its number, its value or the length of what is at *@p. */
static uint32_t get_field(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	uint64_t key = get_varint(p, end);

	assert_true((key & 7) == 0 || (key & 7) == 1 || (key & 7) == 2);
	if ((key & 7) == 1) {
		assert_true(end - *p >= 8);
		*p += 8;
		*value = 0;
	} else {
		*value = get_varint(p, end);
		assert_true((key & 7) == 0 || *value <= (uint64_t)(end - *p));
	}
	return key >> 3;
}

static bool is_message(enum packet_field field)
{
	return field == PACKET_CLOCKS || field == PACKET_EVENT || field == PACKET_INTERNED ||
	       field == PACKET_DEFAULTS || field == PACKET_TRACK;
}

static void read_event(struct event *event, const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		uint64_t value;
		uint32_t field = get_field(&p, end, &value);

		if (field == EVENT_TYPE)
			event->type = value;
		if (field == EVENT_TRACK)
			event->track = value;
		if (field == EVENT_NAME_IID)
			event->iid = value;
		if (field == EVENT_NAME) {
			assert_true(value < sizeof(event->name));
			memcpy(event->name, p, value);
		}
		if (field == EVENT_NAME || field == EVENT_ANNOTATION)
			p += value;
	}
}

/* The texts of the entries @p: a viewer refuses strings that are no UTF-8. */
static void check_texts(const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		uint64_t size, length;
		const uint8_t *entry;

		get_field(&p, end, &size);
		for (entry = p; entry < p + size;) {
			const char *text;
			char copy[256] = "";

			if (get_field(&entry, p + size, &length) != ENTRY_NAME)
				continue;
			assert_true(length < sizeof(copy));
			memcpy(copy, entry, length);
			for (text = copy; *text;)
				assert_false(utf8_harms_terminal(utf8_next(&text)));
			entry += length;
		}
		p += size;
	}
}

static void read_packet(struct trace *trace, const uint8_t *p, const uint8_t *end)
{
	struct event event = {.at = trace->n};

	while (p < end) {
		uint64_t value;
		uint32_t field = get_field(&p, end, &value);

		if (field == PACKET_TIMESTAMP)
			event.time = value - START;
		if (field == PACKET_EVENT)
			read_event(&event, p, p + value);
		if (field == PACKET_INTERNED)
			check_texts(p, p + value);
		trace->names += field == PACKET_INTERNED;
		if (is_message((enum packet_field)field))
			p += value;
	}
	assert_true(trace->n < sizeof(trace->events) / sizeof(trace->events[0]));
	if (event.type)
		trace->events[trace->n++] = event;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * "name[name[]]": what begins and ends on threads, and points as "name!". The recording itself
 * is on the track of its process.
 */
static void write_text(struct trace *trace)
{
	uint64_t recording = 0;
	size_t n = 0;

	for (size_t i = 0; i < trace->n; i++)
		if (!strcmp(trace->events[i].name, "recording"))
			recording = trace->events[i].track;
	qsort(trace->events, trace->n, sizeof(trace->events[0]), by_time);
	for (size_t i = 0; i < trace->n; i++) {
		const struct event *event = &trace->events[i];
		char name[80];

		if (event->track == recording)
			continue;
		if (event->iid)
			snprintf(name, sizeof(name), "%u", (unsigned int)event->iid - 1);
		else
			snprintf(name, sizeof(name), "%s", event->name);
		if (event->type == TYPE_BEGIN)
			n += snprintf(trace->text + n, sizeof(trace->text) - n, "%s[", name);
		if (event->type == TYPE_END)
			n += snprintf(trace->text + n, sizeof(trace->text) - n, "]");
		if (event->type == TYPE_INSTANT)
			n += snprintf(trace->text + n, sizeof(trace->text) - n, "%s!", name);
	}
}

/* The events of a capture, which is removed. */
static struct trace *traced(struct test_capture *c)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	struct error err;
	char path[] = "/tmp/opprobe-test-XXXXXX";
	const uint8_t *p, *end;
	uint8_t *bytes;
	size_t size;

	close(mkstemp(path));
	if (export_capture(c->path, &(struct export_options){.format = "perfetto"}, path, NULL,
			   &err))
		fail_msg("%s", err.text);
	bytes = file_read(path, &size);
	unlink(path);
	for (p = bytes, end = bytes + size; p < end;) {
		uint64_t length;

		assert_int_equal(get_field(&p, end, &length), TRACE_PACKET);
		read_packet(trace, p, p + length);
		p += length;
	}
	free(bytes);
	write_text(trace);
	test_remove(c);
	return trace;
}

static void check_text(struct test_capture *c, const char *expected)
{
	struct trace *trace = traced(c);

	assert_string_equal(trace->text, expected);
	free(trace);
}

static struct test_capture three_operators(void)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "choose", "If");
	test_operator(&c, 1, "inner", "Add");
	test_operator(&c, 2, "", "Conv");
	return c;
}

static void write_inner(struct test_capture *c, uint32_t op, uint32_t depth, uint64_t start,
			uint64_t end)
{
	struct capture_exec exec = test_exec(op, start, end);

	exec.depth = depth;
	exec.parent = depth ? 0 : CAPTURE_UNKNOWN;
	test_write(c, exec);
}

static void write_run(struct test_capture *c, uint32_t number, uint64_t start, uint64_t end)
{
	struct capture_run run = test_run(number, start, end);

	assert_int_equal(capture_write_run(c->writer, &run), 0);
}

static void what_is_around_begins_first_also_in_the_same_nanosecond(void **state)
{
	struct test_capture c = three_operators();

	write_inner(&c, 1, 2, 10, 20);
	write_inner(&c, 2, 2, 20, 20);
	write_inner(&c, 1, 2, 20, 30);
	write_inner(&c, 0, 1, 10, 30);
	write_inner(&c, 2, 1, 30, 40);
	write_inner(&c, 0, 0, 10, 40);
	write_inner(&c, 2, 0, 40, 50);
	write_run(&c, 0, 10, 50);
	test_finish(&c);
	check_text(&c, "model_run[0[0[1[]2[]1[]]2[]]2[]]");
}

/* The next run has its own first ones, and begins later than what is kept of the one before. */
static void each_run_is_around_its_own(void **state)
{
	struct test_capture c = three_operators();

	for (uint32_t i = 0; i < 2; i++) {
		struct capture_exec exec = test_exec(2, 100 + 50 * i, 150 + 50 * i);

		exec.run = i;
		test_write(&c, exec);
		write_run(&c, i, 100 + 50 * i, 150 + 50 * i);
	}
	test_finish(&c);
	check_text(&c, "model_run[2[]]model_run[2[]]");
}

/* The operator around the first one was lost. */
static void the_first_inside_of_another_is_no_later_one(void **state)
{
	struct test_capture c = three_operators();
	struct capture_exec inner = test_exec(1, 30, 40);

	write_inner(&c, 1, 1, 10, 20);
	inner.depth = 1;
	inner.parent = 2;
	test_write(&c, inner);
	write_inner(&c, 2, 0, 30, 50);
	write_run(&c, 0, 5, 50);
	test_finish(&c);
	check_text(&c, "model_run[1[]2[1[]]]");
}

static void what_took_no_time_is_inside_of_what_took_none(void **state)
{
	struct test_capture c = three_operators();

	write_inner(&c, 1, 1, 10, 10);
	write_inner(&c, 0, 0, 10, 10);
	write_run(&c, 0, 10, 10);
	test_finish(&c);
	check_text(&c, "model_run[0[1[]]]");
}

/* What was around them was lost, or is of a recording that broke off. */
static void what_is_in_nothing_is_there(void **state)
{
	struct test_capture c = three_operators();
	struct capture_exec other = test_exec(2, 60, 70);

	write_inner(&c, 1, 3, 10, 20);
	write_inner(&c, 2, 1, 30, 40);
	write_inner(&c, 2, 0, 50, 55);
	other.run = 1;
	test_write(&c, other);
	test_finish(&c);
	check_text(&c, "1[]2[]2[]2[]");
}

/* A flow leads from what is first. */
static void a_part_begins_behind_its_operator(void **state)
{
	const struct capture_part parts[] = {{.thread = 1, .start = START + 10, .end = START + 15},
					     {.thread = 1, .start = START + 16, .end = START + 18}};
	struct test_capture c = three_operators();
	struct capture_exec exec = test_exec(2, 10, 20);

	exec.flags = EXEC_WORK | EXEC_PARTS;
	exec.work_ns = 7;
	exec.parts = parts;
	exec.n_parts = 2;
	test_write(&c, exec);
	write_run(&c, 0, 10, 20);
	test_finish(&c);
	check_text(&c, "model_run[2[2[]2[]]]");
}

static void what_threw_is_a_point(void **state)
{
	struct test_capture c = three_operators();
	struct capture_exec threw = test_exec(2, 20, 20);

	threw.flags = EXEC_THREW;
	write_inner(&c, 1, 0, 10, 20);
	test_write(&c, threw);
	write_run(&c, 0, 10, 30);
	test_finish(&c);
	check_text(&c, "model_run[1[]2!]");
}

static void the_recording_begins_when_probes_are_in_place(void **state)
{
	struct test_capture c = three_operators();
	struct trace *trace;
	size_t seen = 0;

	assert_int_equal(capture_write_begin(c.writer, &(struct capture_begin){START + 300}), 0);
	test_finish(&c);
	trace = traced(&c);
	for (size_t i = 0; i < trace->n; i++) {
		if (strcmp(trace->events[i].name, "recording"))
			continue;
		assert_int_equal(trace->events[i].time, 300);
		seen++;
	}
	assert_int_equal(seen, 1);
	free(trace);
}

static void names_of_any_bytes_are_utf8(void **state)
{
	struct test_capture c = odd_capture();
	struct trace *trace = traced(&c);

	assert_int_equal(trace->names, 1 + N_NAMES);
	assert_non_null(strstr(trace->text, "model_run["));
	free(trace);
}

/* Of one nanosecond, a million of them: then the order is not kept, and nor is much else. */
static void what_is_kept_has_an_end(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct error err;

	test_operator(&c, 0, "", "Conv");
	for (int i = 0; i < 60000; i++)
		test_write(&c, test_exec(0, 10, 10));
	test_finish(&c);
	assert_int_equal(export_capture(c.path, &(struct export_options){.format = "perfetto"},
					"/dev/null", NULL, &err),
			 0);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_around_begins_first_also_in_the_same_nanosecond),
		cmocka_unit_test(each_run_is_around_its_own),
		cmocka_unit_test(what_took_no_time_is_inside_of_what_took_none),
		cmocka_unit_test(what_is_in_nothing_is_there),
		cmocka_unit_test(the_first_inside_of_another_is_no_later_one),
		cmocka_unit_test(a_part_begins_behind_its_operator),
		cmocka_unit_test(what_threw_is_a_point),
		cmocka_unit_test(the_recording_begins_when_probes_are_in_place),
		cmocka_unit_test(names_of_any_bytes_are_utf8),
		cmocka_unit_test(what_is_kept_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
