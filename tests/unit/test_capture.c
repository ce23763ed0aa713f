// SPDX-License-Identifier: GPL-2.0-only
/* The capture file: what is written is read; what is damaged is said. */
#include "capture_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

#include "capture/format.h"

/* Read all records; returns the last status and how many there were. */
static int read_all(const char *path, int *n, struct error *err)
{
	struct capture_reader *reader = capture_reader_open(path, err);
	struct capture_record record;
	int status = -1;

	*n = 0;
	if (!reader)
		return -1;
	while ((status = capture_reader_next(reader, &record, err)) > 0)
		++*n;
	capture_reader_close(reader);
	return status;
}

static void expect_next(struct capture_reader *reader, struct capture_record *record,
			enum capture_type type)
{
	struct error err = {};

	if (capture_reader_next(reader, record, &err) != 1)
		fail_msg("no record: %s", err.text);
	assert_int_equal(record->type, type);
}

static void everything_written_is_read_back(void **state)
{
	struct capture_info info = test_info(3);
	struct capture_exec exec = test_exec(7, 1000, 3500), inner = test_exec(8, 1100, 1200);
	struct capture_run run = test_run(3, 900, 4000);
	struct made_values made[2];
	struct capture_shapes shapes = make_shapes(
		made, 5,
		"[{\"float\":[1,0,18446744073709551615]},-,!{\"string\":[300]},?,{\"odd\":[]}]",
		"[{\"Int4x2\":[7]}]");
	struct capture_record r;
	struct capture_reader *reader;
	struct test_capture c;
	struct error err;

	strcpy(info.notes[0], "no hardware counters here");
	info.n_notes = 1;
	info.realtime_offset = -77;
	info.boottime_offset = INT64_C(3600000000000);
	info.has_boottime = true;
	info.roofs = (struct capture_roofs){
		.measured = 1700000000,
		.cpus = 64,
		.instructions = "AVX-512",
		.one = {CAPTURE_ROOF_MAX, {1, 0, 3, CAPTURE_ROOF_MAX}},
		.all = {0, {5, 6, 7, 8}},
	};
	info.events[1].multiplexed = true;
	info.events[1].group = 4;
	strcpy(info.events[2].unit, "ns");
	c = test_begin(&info);
	test_operator(&c, 7, "a \"name\"\n\xff", "If");
	test_operator(&c, 8, "", "Add");
	assert_int_equal(capture_write_shapes(c.writer, &shapes), 0);
	inner.depth = 1;
	inner.parent = 7;
	inner.shapes = 5;
	inner.shapes_ns = UINT32_MAX;
	inner.peak = UINT64_MAX - 1;
	inner.cpu = 300;
	inner.flags = EXEC_MIGRATED | EXEC_WORK;
	inner.counted = 5;
	inner.counters[0] = UINT64_MAX;
	inner.counters[2] = 0;
	inner.work_ns = 12;
	inner.work_counters[0] = 13;
	inner.work_counters[2] = UINT64_C(1) << 40;
	test_write(&c, inner);
	exec.flags = EXEC_NESTED | EXEC_LACKS;
	exec.run = CAPTURE_UNKNOWN;
	test_write(&c, exec);
	run.has_operators = true;
	run.operators = 300;
	run.has_peak = true;
	run.peak = UINT64_C(1) << 40;
	run.counted = 2;
	run.counters[1] = 99;
	assert_int_equal(capture_write_run(c.writer, &run), 0);
	assert_int_equal(
		capture_write_loss(c.writer, &(struct capture_loss){1, 2, 3, 4, 5, 6, 7, 8, 9}), 0);
	test_finish(&c);

	reader = capture_reader_open(c.path, &err);
	assert_non_null(reader);
	assert_memory_equal(capture_reader_info(reader), &info, sizeof(info));
	expect_next(reader, &r, CAPTURE_THREAD);
	assert_int_equal(r.thread.tid, 100);
	assert_string_equal(r.thread.comm, "main");
	expect_next(reader, &r, CAPTURE_THREAD);
	expect_next(reader, &r, CAPTURE_SESSION);
	assert_int_equal(r.session.address, 0x1000);
	expect_next(reader, &r, CAPTURE_OPERATOR);
	assert_int_equal(r.op.op, 7);
	assert_string_equal(r.op.name, "a \"name\"\n\xff");
	assert_string_equal(r.op.provider, "CPUExecutionProvider");
	expect_next(reader, &r, CAPTURE_OPERATOR);
	assert_string_equal(r.op.name, "");
	assert_int_equal(r.op.node_index, 8);
	expect_next(reader, &r, CAPTURE_SHAPES);
	assert_int_equal(r.shapes.shapes, 5);
	assert_true(values_equal(&r.shapes.inputs, &shapes.inputs));
	assert_true(values_equal(&r.shapes.outputs, &shapes.outputs));
	expect_next(reader, &r, CAPTURE_EXEC);
	assert_int_equal(r.exec.op, 8);
	assert_int_equal(r.exec.parent, 7);
	assert_int_equal(r.exec.shapes, 5);
	assert_int_equal(r.exec.shapes_ns, UINT32_MAX);
	assert_true(r.exec.peak == UINT64_MAX - 1);
	assert_int_equal(r.exec.depth, 1);
	assert_int_equal(r.exec.cpu, 300);
	assert_int_equal(r.exec.run, 0);
	assert_int_equal(r.exec.flags, EXEC_MIGRATED | EXEC_WORK);
	assert_int_equal(r.exec.start, START + 1100);
	assert_int_equal(r.exec.end, START + 1200);
	assert_int_equal(r.exec.counted, 5);
	assert_int_equal(r.exec.counters[0], UINT64_MAX);
	assert_int_equal(r.exec.counters[2], 0);
	assert_int_equal(r.exec.work_ns, 12);
	assert_int_equal(r.exec.work_counters[2], UINT64_C(1) << 40);
	expect_next(reader, &r, CAPTURE_EXEC);
	assert_int_equal(r.exec.run, CAPTURE_UNKNOWN);
	assert_int_equal(r.exec.end - r.exec.start, 2500);
	assert_int_equal(r.exec.peak, 0);
	assert_int_equal(r.exec.counted, 0);
	expect_next(reader, &r, CAPTURE_RUN);
	assert_int_equal(r.run.run, 3);
	assert_int_equal(r.run.start, START + 900);
	assert_int_equal(r.run.end, START + 4000);
	assert_int_equal(r.run.counters[1], 99);
	assert_true(r.run.has_operators && r.run.operators == 300);
	assert_true(r.run.has_peak && r.run.peak == UINT64_C(1) << 40);
	expect_next(reader, &r, CAPTURE_LOSS);
	assert_int_equal(r.loss.threads_full, 5);
	assert_int_equal(r.loss.work_lost, 6);
	assert_int_equal(r.loss.runs_full, 7);
	assert_int_equal(r.loss.unfinished, 8);
	assert_int_equal(r.loss.parts_lost, 9);
	expect_next(reader, &r, CAPTURE_END);
	assert_string_equal(r.end.reason, "interrupted");
	assert_int_equal(capture_reader_next(reader, &r, &err), 0);
	assert_null(capture_reader_cut(reader));
	capture_reader_close(reader);
	test_remove(&c);
}

static void an_operator_record_with_four_counters_takes_at_most_64_bytes(void **state)
{
	struct capture_info info = test_info(4);
	struct test_capture c = test_begin(&info);
	const int n = 100000;
	uint64_t time = 0;
	size_t size;

	for (uint32_t op = 0; op < 1000; op++)
		test_operator(&c, op, "", "Conv");
	for (int i = 0; i < n; i++) {
		struct capture_exec exec = test_exec(i % 1000, time + 500, time + 400000);

		exec.run = i / 1000;
		exec.thread = i % 2;
		exec.parent = 999;
		exec.depth = 1;
		exec.flags = EXEC_MIGRATED;
		exec.counted = 15;
		for (int k = 0; k < 4; k++)
			exec.counters[k] = UINT64_C(5000000000) + i;
		test_write(&c, exec);
		time += 400500;
	}
	test_finish(&c);
	free(file_read(c.path, &size));
	assert_true(size / n <= 64);
	test_remove(&c);
}

static void a_capture_cut_anywhere_is_read_up_to_its_last_whole_record(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	size_t size, header;
	uint8_t *bytes;
	int n, last = 0, whole;
	struct error err;

	test_operator(&c, 0, "conv", "Conv");
	for (int i = 0; i < 10; i++)
		test_write(&c, test_exec(0, i * 100, i * 100 + 50));
	assert_int_equal(capture_writer_flush(c.writer), 0);
	for (int i = 10; i < 20; i++)
		test_write(&c, test_exec(0, i * 100, i * 100 + 50));
	test_finish(&c);
	bytes = file_read(c.path, &size);
	assert_int_equal(read_all(c.path, &whole, &err), 0);
	assert_int_equal(whole, 3 + 1 + 20 + 1);
	/* The header and the facts about the recording are needed. */
	for (header = size; header > 0; header--) {
		struct capture_reader *reader;

		file_write(c.path, bytes, header - 1);
		reader = capture_reader_open(c.path, &err);
		if (!reader)
			break;
		capture_reader_close(reader);
		assert_int_equal(read_all(c.path, &n, &err), 0);
		assert_true(n <= whole);
	}
	for (size_t cut = header; cut < size; cut++) {
		struct capture_reader *reader;

		file_write(c.path, bytes, cut);
		assert_int_equal(read_all(c.path, &n, &err), 0);
		assert_true(n == last || n == last + 1);
		last = n;
		reader = capture_reader_open(c.path, &err);
		assert_non_null(reader);
		while (capture_reader_next(reader, &(struct capture_record){}, &err) > 0)
			;
		assert_non_null(capture_reader_cut(reader));
		capture_reader_close(reader);
	}
	assert_int_equal(last, whole - 1);
	free(bytes);
	test_remove(&c);
}

static void every_changed_byte_is_noticed(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	uint8_t *bytes;
	size_t size;

	test_operator(&c, 0, "conv", "Conv");
	for (int i = 0; i < 5; i++)
		test_write(&c, test_exec(0, i * 100, i * 100 + 50));
	test_finish(&c);
	bytes = file_read(c.path, &size);
	for (size_t i = 0; i < size; i++) {
		struct error err = {};
		int n;

		bytes[i] ^= 0x20;
		file_write(c.path, bytes, size);
		bytes[i] ^= 0x20;
		assert_true(read_all(c.path, &n, &err) < 0);
		assert_true(strlen(err.text) > 0);
	}
	free(bytes);
	test_remove(&c);
}

static void damage_in_the_middle_names_its_place_and_keeps_what_precedes_it(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	size_t size, first;
	uint8_t *bytes;
	struct error err;
	char place[32];
	int n;

	test_operator(&c, 0, "conv", "Conv");
	test_write(&c, test_exec(0, 0, 50));
	assert_int_equal(capture_writer_flush(c.writer), 0);
	bytes = file_read(c.path, &first);
	free(bytes);
	test_write(&c, test_exec(0, 100, 150));
	test_finish(&c);
	bytes = file_read(c.path, &size);
	bytes[size - 3] ^= 1;
	file_write(c.path, bytes, size);
	assert_int_equal(read_all(c.path, &n, &err), -EBADMSG);
	assert_int_equal(n, 3 + 1 + 1);
	snprintf(place, sizeof(place), "byte %zu", first + FORMAT_CHUNK_HEADER);
	assert_non_null(strstr(err.text, place));
	free(bytes);
	test_remove(&c);
}

static void what_is_no_capture_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *says;
	} files[] = {
		{"", 0, "is empty"},
		{"hello, this is text", 19, "not a capture"},
		{"\x7f"
		 "ELF............",
		 16, "not a capture"},
		{FORMAT_MAGIC, 8, "cut short"},
		{FORMAT_MAGIC "\x01\x00\x10\x00\x04\x03\x02\x01", 16, "has format 1"},
		{FORMAT_MAGIC "\x03\x00\x10\x00\x04\x03\x02\x01", 16, "has format 3"},
		{FORMAT_MAGIC "\x02\x00\x10\x00\x01\x02\x03\x04", 16, "byte order"},
		{FORMAT_MAGIC "\x02\x00\x10\x00\x04\x03\x02\x01", 16, "cut short"},
	};
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct error err;

	test_finish(&c);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		file_write(c.path, (const uint8_t *)files[i].bytes, files[i].size);
		assert_null(capture_reader_open(c.path, &err));
		if (!strstr(err.text, files[i].says))
			fail_msg("file %zu: %s", i, err.text);
	}
	assert_null(capture_reader_open("/nonexistent/file", &err));
	assert_non_null(strstr(err.text, "No such file"));
	assert_null(capture_reader_open("/", &err));
	assert_non_null(strstr(err.text, "directory"));
	test_remove(&c);
}

/* A chunk with one record of @type in front of the file's other chunks. */
static void insert_record(const char *path, uint8_t type, const char *payload, size_t length)
{
	size_t size, at, record;
	uint8_t *bytes = file_read(path, &size), chunk[8192], *p = chunk + FORMAT_CHUNK_HEADER;
	FILE *file;

	at = FORMAT_HEADER_SIZE + FORMAT_CHUNK_HEADER + format_get_le32(bytes + FORMAT_HEADER_SIZE);
	*p = type;
	p = format_put_varint(p + 1, length);
	memcpy(p, payload, length);
	record = p + length - (chunk + FORMAT_CHUNK_HEADER);
	format_put_le32(chunk, record);
	format_put_le32(chunk + 4, 1);
	format_put_le32(chunk + 8, crc32(0, chunk + FORMAT_CHUNK_HEADER, record));
	format_put_le32(chunk + 12, crc32(0, chunk, 12));
	file = fopen(path, "wb");
	assert_non_null(file);
	fwrite(bytes, 1, at, file);
	fwrite(chunk, 1, FORMAT_CHUNK_HEADER + record, file);
	fwrite(bytes + at, 1, size - at, file);
	fclose(file);
	free(bytes);
}

static struct test_capture two_chunks(void)
{
	struct capture_info info = test_info(2);
	struct test_capture c = test_begin(&info);

	test_operator(&c, 0, "conv", "Conv");
	assert_int_equal(capture_writer_flush(c.writer), 0);
	test_write(&c, test_exec(0, 0, 50));
	test_finish(&c);
	return c;
}

static void records_of_a_later_version_are_skipped(void **state)
{
	struct test_capture c = two_chunks();
	struct error err;
	int n;

	insert_record(c.path, 77, "whatever", 8);
	assert_int_equal(read_all(c.path, &n, &err), 0);
	assert_int_equal(n, 3 + 1 + 1 + 1);
	test_remove(&c);
}

static void a_sample_of_what_was_not_defined_is_damage(void **state)
{
	static const struct {
		char op, parent, thread;
		bool damaged;
	} samples[] = {{0, 0, 0, false}, {9, 0, 0, true}, {0, 9, 0, true}, {0, 0, 9, true}};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		/* Its own, has a parent; at depth 0, 1 ns later than 0, of 1. */
		const char payload[] = {CAPTURE_SEEN_OWN,
					1,
					samples[i].thread,
					samples[i].op,
					0,
					samples[i].parent,
					2,
					1};
		struct test_capture c = two_chunks();
		struct error err = {};
		int n;

		insert_record(c.path, CAPTURE_SAMPLE, payload, sizeof(payload));
		assert_int_equal(read_all(c.path, &n, &err) != 0, samples[i].damaged);
		assert_int_equal(strstr(err.text, "not defined") != NULL, samples[i].damaged);
		test_remove(&c);
	}
}

/* What no machine can do was not measured, but made up. */
static void roofs_beyond_all_measure_are_damage(void **state)
{
	static const struct capture_roofs wrong[] = {
		{1, 1, "", {CAPTURE_ROOF_MAX + 1}, {}},
		{1, 1, "", {}, {.bytes[ROOF_MEMORY] = CAPTURE_ROOF_MAX + 1}},
		{CAPTURE_ROOF_MAX + 1, 1, "", {}, {}},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct capture_info info = test_info(0);
		struct test_capture c;
		struct error err = {};

		info.roofs = wrong[i];
		c = test_begin(&info);
		test_finish(&c);
		assert_null(capture_reader_open(c.path, &err));
		assert_non_null(strstr(err.text, "damaged"));
		test_remove(&c);
	}
}

static void losses_of_before_runs_could_be_lost_are_read(void **state)
{
	struct test_capture c = two_chunks();
	struct capture_reader *reader;
	struct capture_record r = {};

	insert_record(c.path, CAPTURE_LOSS, "\x01\x02\x03\x04\x05\x06", 6);
	reader = capture_reader_open(c.path, NULL);
	while (r.type != CAPTURE_LOSS)
		assert_int_equal(capture_reader_next(reader, &r, NULL), 1);
	assert_int_equal(r.loss.work_lost, 6);
	assert_int_equal(r.loss.runs_full, 0);
	assert_int_equal(r.loss.parts_lost, 0);
	while (r.type != CAPTURE_END)
		assert_int_equal(capture_reader_next(reader, &r, NULL), 1);
	capture_reader_close(reader);
	test_remove(&c);
}

/* Flags, run, step, thread, end, duration, counted with two counts; and what bit 1 announces. */
static void a_run_with_the_reserved_bit_is_read_without_what_that_announced(void **state)
{
	struct test_capture c = two_chunks();
	struct capture_reader *reader;
	struct capture_record r = {};

	insert_record(c.path, CAPTURE_RUN, "\x02\x05\x01\x00\x14\x04\x03\x07\x08\x09\x0a\x0b", 12);
	reader = capture_reader_open(c.path, NULL);
	while (r.type != CAPTURE_RUN)
		assert_int_equal(capture_reader_next(reader, &r, NULL), 1);
	assert_int_equal(r.run.run, 5);
	assert_int_equal(r.run.end, 10);
	assert_int_equal(r.run.start, 6);
	assert_int_equal(r.run.counters[0], 7);
	assert_int_equal(r.run.counters[1], 8);
	assert_false(r.run.has_operators);
	while (r.type != CAPTURE_END)
		assert_int_equal(capture_reader_next(reader, &r, NULL), 1);
	capture_reader_close(reader);
	test_remove(&c);
}

static void a_run_that_does_not_tell_its_operators_is_read(void **state)
{
	struct test_capture c = two_chunks();
	struct capture_reader *reader;
	struct capture_record r = {.run.has_operators = true};

	insert_record(c.path, CAPTURE_RUN, "\x00\x05\x01\x00\x14\x04\x03\x07\x08", 9);
	reader = capture_reader_open(c.path, NULL);
	while (r.type != CAPTURE_RUN)
		assert_int_equal(capture_reader_next(reader, &r, NULL), 1);
	assert_int_equal(r.run.counters[1], 8);
	assert_false(r.run.has_operators);
	capture_reader_close(reader);
	test_remove(&c);
}

#define SIXTEEN "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"

/* An execution of 8 ns with parts. */
#define WORKED "\x88\x10\x00\x00\x00\x00\x14\x08\x00\x05"

static void contradictions_inside_whole_chunks_are_noticed(void **state)
{
	/* Executions: flags, op, thread, depth, cpu, end, duration, counted. */
	static const struct {
		uint8_t type;
		const char *payload;
		size_t length;
		const char *says;
	} records[] = {
		{CAPTURE_EXEC, "\x00\x05\x00\x00\x00\x02\x01\x00", 8,
		 "operator that was not defined"},
		{CAPTURE_EXEC, "\x00\x00\x09\x00\x00\x02\x01\x00", 8,
		 "thread that was not defined"},
		{CAPTURE_EXEC, "\x00\x00\x00\x40\x00\x02\x01\x00", 8, "impossible depth"},
		{CAPTURE_EXEC, "\x00\x00\x00\x00\x00\x02\x09\x00", 8, "does not fit"},
		{CAPTURE_EXEC, "\x00\x00\x00\x00\x00\x02\x01\x04\x00", 9, "does not fit"},
		{CAPTURE_EXEC, "\x00\x00\x00\x00\x00\x02\x01\x03\x00", 9, "does not fit"},
		{CAPTURE_EXEC, "\x20\x00\x00\x00\x00\x07\x02\x01\x00", 9, "operator that was not"},
		{CAPTURE_EXEC, "\x40\x00\x00\x00\x00\x07\x02\x01\x00", 9, "shapes that were not"},
		{CAPTURE_EXEC, "\x01\x00\x00\x00\x00\x02\x01\x00", 8, "threw"},
		{CAPTURE_EXEC, "\x00\x00", 2, "does not fit"},
		/* Work, 5, and parts: how many, thread, CPU, delay, duration. */
		{CAPTURE_EXEC, WORKED "\x01\x09\x00\x00\x01", 15, "part on a thread"},
		{CAPTURE_EXEC, WORKED "\x01\x01\x00\x09\x00", 15, "does not fit"},
		{CAPTURE_EXEC, WORKED "\x01\x01\x00\x04\x05", 15, "does not fit"},
		{CAPTURE_EXEC, WORKED "\x02\x01\x00\x00\x03\x01\x00\x01\x03", 19,
		 "more than their sum"},
		{CAPTURE_EXEC, WORKED "\x02\x01\x00\x00\x01", 15, "does not fit"},
		{CAPTURE_EXEC, WORKED "\x01\x01\x80\x80\x80\x80\x20\x00\x01", 19, "does not fit"},
		{CAPTURE_EXEC, WORKED "\x81\x40", 12, "does not fit"},
		{CAPTURE_EXEC, "\x80\x10\x00\x00\x00\x00\x14\x08\x00\x00", 10, "parts of no work"},
		{CAPTURE_OPERATOR, "\x00\x00\x00\x00\x00\x00", 6, "defined twice"},
		{CAPTURE_OPERATOR, "\x02\x01\x07\x00\x00\x00\x00", 7, "session that was not"},
		{CAPTURE_OPERATOR,
		 "\x00\x01\x02"
		 "a\0"
		 "\x00\x00\x00",
		 8, "does not fit"},
		{CAPTURE_OPERATOR,
		 "\x00\x01\x7f"
		 "abc",
		 6, "does not fit"},
		{CAPTURE_OPERATOR, "\x00\x80\x80\x80\x01\x00\x00\x00\x00", 9, "out of range"},
		{CAPTURE_SESSION, "\x01\x00\x07", 3, "session of a process"},
		{CAPTURE_THREAD, "\x05\x01\x00\x07", 4, "thread of a process"},
		{CAPTURE_PROCESS, "\x00\x00\x01\x00\x00\x00\x00\x00", 8, "number of the first"},
		{CAPTURE_PROCESS, "\x01\x01\x01\x07\x00\x00\x00\x00\x00", 9, "child of a process"},
		{CAPTURE_SESSION, "\x00\x00", 2, "defined twice"},
		{CAPTURE_RUN, "\x00\x00\x00\x09\x02\x01\x00", 7, "thread that was not defined"},
		{CAPTURE_RUN, "\x04\x00\x07\x00\x00\x02\x01\x00", 8,
		 "session that was not defined"},
		/* Flags, session, [path], hash, threads of both kinds, five answers. */
		{CAPTURE_MODEL, "\x00\x07\x00\x00\x00\x02\x02\x02\x02\x02", 10,
		 "session that was not defined"},
		{CAPTURE_MODEL, "\x00\x00\x00\x00\x00\x02\x02\x02\x02\x03", 10, "does not fit"},
		{CAPTURE_MODEL, "\x00\x00\x00\x00\x00\x03\x02\x02\x02\x02", 10, "does not fit"},
		{CAPTURE_MODEL, "\x00\x00\x00\x00\x00\x02\x02\x02\x02", 9, "does not fit"},
		{CAPTURE_MODEL, "\x01\x00\x7f", 3, "does not fit"},
		{CAPTURE_COST, "\x03\x07\x00\x01", 4, "session that was not defined"},
		{CAPTURE_COST, "\x02\x00\x00", 3, "does not fit"},
		/* Flags, parts of a million, CPU time, of it charged, windows. */
		{CAPTURE_BUDGET, "\x00\x01\x05\x05", 4, "does not fit"},
		{CAPTURE_BUDGET, "\x00\x00\x05\x05\x00", 5, "does not fit"},
		{CAPTURE_BUDGET, "\x00\x01\x05\x06\x00", 5, "does not fit"},
		{CAPTURE_REST, "\x01\x07\x01\x01", 4, "session that was not defined"},
		{CAPTURE_REST, "\x00\x01", 2, "does not fit"},
		/* Event, unit, rate. */
		{CAPTURE_SAMPLING, "\x01x\x00\x00", 4, "does not fit"},
		{CAPTURE_SAMPLING, "\x00\x00\x01", 3, "does not fit"},
		{CAPTURE_SAMPLING, "\x01x\x00", 3, "does not fit"},
		/* What was seen, flags, thread, operator, depth, [parent], time, amount. */
		{CAPTURE_SAMPLE, "\x01\x00\x09\x00\x00\x00\x01", 7, "thread that was not defined"},
		{CAPTURE_SAMPLE, "\x01\x00\x00\x09\x00\x00\x01", 7,
		 "operator that was not defined"},
		{CAPTURE_SAMPLE, "\x02\x01\x00\x00\x01\x09\x00\x01", 8,
		 "operator that was not defined"},
		{CAPTURE_SAMPLE, "\x00\x00\x00\x00\x01", 5, "does not fit"},
		{CAPTURE_SAMPLE, "\x07\x00\x00\x00\x01", 5, "does not fit"},
		{CAPTURE_SAMPLE, "\x01\x00\x00\x00\x40\x00\x01", 7, "does not fit"},
		{CAPTURE_SAMPLE, "\x03\x00\x00\x00", 4, "does not fit"},
		{CAPTURE_THREAD, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, "does not fit"},
		{CAPTURE_INFO, "\x01\x01\x05", 3, "in its middle"},
		{CAPTURE_BEGIN, "", 0, "does not fit"},
		/* Shapes: a kind that there is not, too many dimensions and values, a rank
		 * without its dimensions, a number out of range. */
		{CAPTURE_SHAPES, "\x00\x01\x04\x00", 4, "does not fit"},
		{CAPTURE_SHAPES, "\x00\x01\x02\x01\x11" SIXTEEN "\x01\x00", 5 + 16 + 2,
		 "does not fit"},
		{CAPTURE_SHAPES,
		 "\x00\x81\x01" SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN
		 "\x00\x00",
		 3 + 129 + 1, "does not fit"},
		{CAPTURE_SHAPES, "\x00\x01\x02\x01\x02\x05", 6, "does not fit"},
		{CAPTURE_SHAPES, "\x80\x80\x80\x01\x00\x00", 6, "out of range"},
	};

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		struct test_capture c = two_chunks();
		struct error err = {};
		int n;

		insert_record(c.path, records[i].type, records[i].payload, records[i].length);
		if (read_all(c.path, &n, &err) != -EBADMSG || !strstr(err.text, records[i].says))
			fail_msg("record %zu: %s", i, err.text);
		assert_int_equal(n, 3 + 1);
		test_remove(&c);
	}
}

/* A text of @length bytes, the one of @flag. */
static void check_model_text(uint8_t flag, size_t length, bool fits)
{
	struct test_capture c = two_chunks();
	uint8_t payload[CAPTURE_PATH_MAX + 64], *p = payload;
	struct error err = {};
	int n;

	*p++ = flag;
	*p++ = 0;
	p = format_put_varint(p, length);
	memset(p, 'a', length);
	p = mempcpy(p + length, "\x00\x00\x00\x02\x02\x02\x02\x02", 8);
	insert_record(c.path, CAPTURE_MODEL, (char *)payload, p - payload);
	assert_int_equal(read_all(c.path, &n, &err), fits ? 0 : -EBADMSG);
	assert_int_equal(!!strstr(err.text, "text that is too long"), !fits);
	test_remove(&c);
}

static void texts_of_a_model_have_a_limit(void **state)
{
	check_model_text(1, CAPTURE_PATH_MAX, true);
	check_model_text(1, CAPTURE_PATH_MAX + 1, false);
	for (uint8_t flag = 2; flag <= 8; flag *= 2) {
		check_model_text(flag, CAPTURE_WORDS_MAX, true);
		check_model_text(flag, CAPTURE_WORDS_MAX + 1, false);
	}
}

static void a_recording_begins_once(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct error err = {};
	int n;

	for (uint64_t i = 0; i < 2; i++)
		capture_write_begin(c.writer, &(struct capture_begin){START + i});
	test_finish(&c);
	assert_int_equal(read_all(c.path, &n, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "begins twice"));
	assert_int_equal(n, 3 + 1);
	test_remove(&c);
}

static void what_follows_the_end_is_noticed(void **state)
{
	struct test_capture c = two_chunks();
	struct error err;
	uint8_t *bytes;
	size_t size;
	int n;

	bytes = file_read(c.path, &size);
	bytes[size] = 'x';
	file_write(c.path, bytes, size + 1);
	assert_int_equal(read_all(c.path, &n, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "follows the end"));
	free(bytes);
	test_remove(&c);
}

static int write_process(struct test_capture *c, uint32_t process, uint32_t parent)
{
	const struct capture_record record = {
		.type = CAPTURE_PROCESS,
		.process = {process, 4000 + process, parent, "node server.js", "/lib/libx.so", "x",
			    "1.2", "abcd"},
	};

	return sink_take(capture_writer_sink(c->writer), &record);
}

static void threads_and_sessions_belong_to_processes(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_record r;
	struct capture_reader *reader;

	assert_int_equal(write_process(&c, 0, CAPTURE_UNKNOWN), -EINVAL);
	assert_int_equal(write_process(&c, 2, 1), -EINVAL);
	assert_int_equal(write_process(&c, 1, CAPTURE_UNKNOWN), 0);
	assert_int_equal(write_process(&c, 1, CAPTURE_UNKNOWN), -EINVAL);
	assert_int_equal(write_process(&c, 2, 1), 0);
	assert_int_equal(capture_write_thread(c.writer, &(struct capture_thread){2, 9, "x", 3}),
			 -EINVAL);
	assert_int_equal(capture_write_thread(c.writer, &(struct capture_thread){2, 9, "x", 2}), 0);
	assert_int_equal(capture_write_session(c.writer, &(struct capture_session){1, 5, 3}),
			 -EINVAL);
	assert_int_equal(capture_write_session(c.writer, &(struct capture_session){1, 5, 1}), 0);
	test_finish(&c);

	reader = capture_reader_open(c.path, NULL);
	assert_non_null(reader);
	expect_next(reader, &r, CAPTURE_THREAD);
	assert_int_equal(r.thread.process, 0);
	expect_next(reader, &r, CAPTURE_THREAD);
	expect_next(reader, &r, CAPTURE_SESSION);
	assert_int_equal(r.session.process, 0);
	expect_next(reader, &r, CAPTURE_PROCESS);
	assert_int_equal(r.process.process, 1);
	assert_int_equal(r.process.pid, 4001);
	assert_int_equal(r.process.parent, CAPTURE_UNKNOWN);
	assert_string_equal(r.process.command, "node server.js");
	assert_string_equal(r.process.library, "/lib/libx.so");
	assert_string_equal(r.process.runtime, "x");
	assert_string_equal(r.process.version, "1.2");
	assert_string_equal(r.process.build_id, "abcd");
	expect_next(reader, &r, CAPTURE_PROCESS);
	assert_int_equal(r.process.parent, 1);
	expect_next(reader, &r, CAPTURE_THREAD);
	assert_int_equal(r.thread.process, 2);
	expect_next(reader, &r, CAPTURE_SESSION);
	assert_int_equal(r.session.process, 1);
	capture_reader_close(reader);
	test_remove(&c);
}

static void the_writer_leaves_out_what_contradicts_itself(void **state)
{
	struct capture_info info = test_info(1);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec = test_exec(0, 0, 50);
	struct capture_run run = test_run(0, 0, 50);
	static const struct capture_value many[CAPTURE_VALUES_MAX + 1];
	struct capture_shapes shapes;
	struct made_values made[2];
	struct error err;
	int n;

	test_operator(&c, 0, "conv", "Conv");
	exec.op = 1;
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	exec = test_exec(0, 50, 0);
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	exec = test_exec(0, 0, 50);
	exec.counted = 2;
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	exec.counted = 0;
	exec.thread = 7;
	assert_int_equal(capture_write_exec(c.writer, &exec), -EINVAL);
	run.has_peak = true;
	assert_int_equal(capture_write_run(c.writer, &run), -EINVAL);
	run.has_peak = false;
	run.thread = 7;
	assert_int_equal(capture_write_run(c.writer, &run), -EINVAL);
	assert_int_equal(capture_write_info(c.writer, &info), -EINVAL);
	assert_int_equal(capture_write_session(c.writer, &(struct capture_session){0, 1, 0}),
			 -EINVAL);
	assert_int_equal(
		capture_write_session(c.writer, &(struct capture_session){UINT32_MAX, 1, 0}),
		-ERANGE);
	shapes = make_shapes(made, 0, "[{\"float\":[1,2]},-]", "[]");
	shapes.inputs.n_dims = 1;
	assert_int_equal(capture_write_shapes(c.writer, &shapes), -EINVAL);
	shapes.inputs.n_dims = 3;
	assert_int_equal(capture_write_shapes(c.writer, &shapes), -EINVAL);
	made[0].values[1].rank = 1;
	assert_int_equal(capture_write_shapes(c.writer, &shapes), -EINVAL);
	shapes.inputs = (struct capture_values){.n = CAPTURE_VALUES_MAX + 1, .values = many};
	assert_int_equal(capture_write_shapes(c.writer, &shapes), -EINVAL);
	shapes = make_shapes(made, 0, "[{\"float\":[]}]", "[]");
	made[0].values[0].rank = shapes.inputs.n_dims = CAPTURE_RANK_MAX + 1;
	assert_int_equal(capture_write_shapes(c.writer, &shapes), -EINVAL);
	/* None of this spoils the file. */
	test_write(&c, test_exec(0, 0, 50));
	assert_int_equal(capture_write_overhead(c.writer, &(struct capture_overhead){}), -EINVAL);
	assert_int_equal(capture_write_cost(c.writer, &(struct capture_cost){.session = 7}),
			 -EINVAL);
	assert_int_equal(capture_write_rest(c.writer, &(struct capture_rest){.session = 7}),
			 -EINVAL);
	assert_int_equal(capture_write_budget(c.writer, &(struct capture_budget){.cpu_ns = 1}),
			 -EINVAL);
	assert_int_equal(capture_write_budget(c.writer, &(struct capture_budget){.share_ppm = 1,
										 .charged_ns = 1}),
			 -EINVAL);
	test_finish(&c);
	assert_int_equal(read_all(c.path, &n, &err), 0);
	assert_int_equal(n, 3 + 1 + 1 + 1);
	test_remove(&c);
}

static void a_place_that_cannot_be_written_is_told_at_once(void **state)
{
	struct error err;

	assert_null(capture_writer_open("/nonexistent/run.opp", OUTPUT_NAMED, &err));
	assert_non_null(strstr(err.text, "No such file"));
	assert_null(capture_writer_open("/dev/full", OUTPUT_NAMED, &err));
	assert_non_null(strstr(err.text, "No space left"));
}

/* Files of this process end at @size, as if the disk were full. */
static void limit_files(rlim_t size)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_disk_that_fills_up_keeps_what_was_written(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct capture_exec exec;
	struct error err;
	int n, status = 0;

	test_operator(&c, 0, "conv", "Conv");
	limit_files(100000);
	for (int i = 0; i < 1000000 && !status; i++) {
		exec = test_exec(0, i * 100, i * 100 + 50);
		status = capture_write_exec(c.writer, &exec);
	}
	assert_int_equal(status, -EFBIG);
	/* Whoever does not look at it does no harm: more than a buffer's worth. */
	for (int i = 0; i < 200000; i++)
		assert_int_equal(capture_write_exec(c.writer, &exec), -EFBIG);
	/* A disk that has room again has a hole in its capture: the failure stays. */
	limit_files(RLIM_INFINITY);
	assert_int_equal(capture_writer_flush(c.writer), -EFBIG);
	assert_int_equal(capture_writer_close(c.writer, NULL, &err), -EFBIG);
	assert_non_null(strstr(err.text, "too large"));
	assert_int_equal(read_all(c.path, &n, &err), 0);
	assert_true(n > 5000);
	test_remove(&c);
}

/* The writer's side of a pipe, on stdout of a child. */
static pid_t write_to_pipe(int fds[2], int records)
{
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct capture_info info = test_info(0);
		struct capture_writer *writer;
		struct capture_exec exec;
		struct error err;
		int status = 0;

		signal(SIGPIPE, SIG_IGN);
		close(fds[0]);
		dup2(fds[1], STDOUT_FILENO);
		writer = capture_writer_open("-", OUTPUT_NAMED, &err);
		if (!writer)
			_exit(99);
		capture_write_info(writer, &info);
		capture_write_thread(writer, &(struct capture_thread){0, 1, "main", 0});
		capture_write_operator(writer,
				       &(struct capture_operator){.name = "n",
								  .op_type = "T",
								  .domain = "",
								  .provider = "",
								  .session = CAPTURE_UNKNOWN});
		for (int i = 0; i < records && !status; i++) {
			exec = test_exec(0, i * 100, i * 100 + 50);
			status = capture_write_exec(writer, &exec);
		}
		if (status)
			_exit(-status);
		_exit(-capture_writer_close(writer, NULL, &err));
	}
	close(fds[1]);
	return pid;
}

static void a_stream_can_be_read_while_it_is_written(void **state)
{
	int fds[2], n = 0, status, saved = dup(STDIN_FILENO);
	pid_t pid = write_to_pipe(fds, 50000);
	struct capture_reader *reader;
	struct capture_record record;
	struct error err;

	dup2(fds[0], STDIN_FILENO);
	reader = capture_reader_open("-", &err);
	assert_non_null(reader);
	while (capture_reader_next(reader, &record, &err) > 0)
		n += record.type == CAPTURE_EXEC;
	assert_int_equal(n, 50000);
	assert_non_null(capture_reader_cut(reader));
	capture_reader_close(reader);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fds[0]);
}

static void a_reader_that_goes_away_stops_the_writer(void **state)
{
	int fds[2], status;
	pid_t pid = write_to_pipe(fds, 1000000);
	char byte;

	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EPIPE);
}

static void what_a_killed_recorder_wrote_can_be_read(void **state)
{
	struct capture_info info = test_info(0);
	struct test_capture c = test_begin(&info);
	struct error err;
	int n, status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		for (int i = 1; i <= 10; i++)
			capture_write_session(c.writer, &(struct capture_session){i, i, 0});
		capture_writer_flush(c.writer);
		for (int i = 11; i <= 20; i++)
			capture_write_session(c.writer, &(struct capture_session){i, i, 0});
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(read_all(c.path, &n, &err), 0);
	assert_int_equal(n, 3 + 10);
	assert_int_equal(capture_writer_close(c.writer, NULL, &err), 0);
	test_remove(&c);
}

/* -- replaying -------------------------------------------------------------- */

/* A capture with a record of every type, and executions over more than one chunk. */
static struct test_capture full_capture(void)
{
	struct capture_info info = test_info(2);
	struct test_capture c = test_begin(&info);
	struct capture_run run = test_run(0, 0, 100);

	capture_write_begin(c.writer, &(struct capture_begin){START + 5});
	capture_write_note(c.writer, &(struct capture_note){"something turned out"});
	capture_write_overhead(c.writer, &(struct capture_overhead){1, 2, {3, 4}, {5, 6}});
	test_shapes(&c, 0, "[{\"odd\":[1,300]},!{\"string\":[2]},-,?]", "[{\"Int4x2\":[3]}]");
	test_operator(&c, 0, "a", "Conv");
	capture_write_model(c.writer, &(struct capture_model){.path = "", .graph = "main_graph"});
	for (int i = 0; i < 10000; i++)
		test_write(&c, test_exec(0, i, i + 1));
	capture_write_run(c.writer, &run);
	capture_write_pool(c.writer, &(struct capture_pool){1, 10, 20});
	capture_write_cost(c.writer, &(struct capture_cost){0, 3, true, 1000});
	capture_write_cost(c.writer, &(struct capture_cost){CAPTURE_UNKNOWN, 4, false, 1001});
	capture_write_budget(c.writer, &(struct capture_budget){10000, 1000, 10, 3, true});
	capture_write_rest(c.writer, &(struct capture_rest){0, 300, 400});
	capture_write_rest(c.writer, &(struct capture_rest){CAPTURE_UNKNOWN, 1, 2});
	capture_write_sampling(
		c.writer,
		&(struct capture_sampling){"cpu-clock", "ns", CAPTURE_SAMPLING_TIME, 99000, 0});
	test_file(&c, 0, "/lib/libm.so.6", "abcdef");
	test_function(&c, (struct capture_function){0, 0, true, 0x1000, 0x2000, 0x100, "expf"});
	for (uint32_t i = 0; i < 2; i++)
		capture_write_sample(c.writer,
				     &(struct capture_sample){.seen = CAPTURE_SEEN_POOL,
							      .parent = CAPTURE_UNKNOWN,
							      .thread = 1,
							      .time = START,
							      .amount = 7,
							      .function = i ? 0 : CAPTURE_UNKNOWN,
							      .at = i ? 5 : 0});
	capture_write_loss(c.writer, &(struct capture_loss){1, 2, 3, 4, 5, 6});
	test_finish(&c);
	return c;
}

static void a_capture_replayed_into_a_writer_is_the_same_capture(void **state)
{
	struct test_capture c = full_capture(), copy = {.path = "/tmp/opprobe-test-XXXXXX"};
	size_t size, copy_size;
	uint8_t *bytes, *copied;
	struct capture_reader *reader = capture_reader_open(c.path, NULL);
	struct error err;

	close(mkstemp(copy.path));
	copy.writer = capture_writer_open(copy.path, OUTPUT_NAMED, &err);
	assert_int_equal(capture_replay(reader, capture_writer_sink(copy.writer), &err), 0);
	capture_reader_close(reader);
	assert_int_equal(capture_writer_close(copy.writer, NULL, &err), 0);
	bytes = file_read(c.path, &size);
	copied = file_read(copy.path, &copy_size);
	assert_int_equal(size, copy_size);
	assert_memory_equal(bytes, copied, size);
	free(bytes);
	free(copied);
	test_remove(&c);
	test_remove(&copy);
}

/* Takes as many records as it has patience for. */
struct impatient {
	struct record_sink sink;
	unsigned int patience, taken;
	enum capture_type first;
};

static int lose_patience(struct record_sink *sink, const struct capture_record *record)
{
	struct impatient *impatient = (struct impatient *)sink;

	if (!impatient->taken++)
		impatient->first = record->type;
	return impatient->taken > impatient->patience ? -ENOSPC : 0;
}

static void a_replay_begins_with_the_info_and_ends_with_the_sinks_failure(void **state)
{
	struct test_capture c = full_capture();
	struct capture_reader *reader = capture_reader_open(c.path, NULL);
	struct impatient sink = {.sink.take = lose_patience, .patience = 7};
	struct error err = {};

	assert_int_equal(capture_replay(reader, &sink.sink, &err), -ENOSPC);
	assert_non_null(strstr(err.text, strerror(ENOSPC)));
	assert_int_equal(sink.taken, 8);
	assert_int_equal(sink.first, CAPTURE_INFO);
	capture_reader_close(reader);
	test_remove(&c);
}

static void a_replay_of_a_damaged_capture_hands_on_what_precedes_the_damage(void **state)
{
	struct test_capture c = full_capture();
	size_t size;
	uint8_t *bytes = file_read(c.path, &size);
	struct impatient sink = {.sink.take = lose_patience, .patience = UINT32_MAX};
	struct capture_reader *reader;
	struct error err = {};

	bytes[size - 1] ^= 1;
	file_write(c.path, bytes, size);
	free(bytes);
	reader = capture_reader_open(c.path, &err);
	assert_int_equal(capture_replay(reader, &sink.sink, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "damaged"));
	assert_true(sink.taken > 1000);
	capture_reader_close(reader);
	test_remove(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_written_is_read_back),
		cmocka_unit_test(an_operator_record_with_four_counters_takes_at_most_64_bytes),
		cmocka_unit_test(a_capture_cut_anywhere_is_read_up_to_its_last_whole_record),
		cmocka_unit_test(every_changed_byte_is_noticed),
		cmocka_unit_test(damage_in_the_middle_names_its_place_and_keeps_what_precedes_it),
		cmocka_unit_test(what_is_no_capture_is_refused_with_a_reason),
		cmocka_unit_test(records_of_a_later_version_are_skipped),
		cmocka_unit_test(losses_of_before_runs_could_be_lost_are_read),
		cmocka_unit_test(a_sample_of_what_was_not_defined_is_damage),
		cmocka_unit_test(roofs_beyond_all_measure_are_damage),
		cmocka_unit_test(a_run_with_the_reserved_bit_is_read_without_what_that_announced),
		cmocka_unit_test(a_run_that_does_not_tell_its_operators_is_read),
		cmocka_unit_test(contradictions_inside_whole_chunks_are_noticed),
		cmocka_unit_test(texts_of_a_model_have_a_limit),
		cmocka_unit_test(a_recording_begins_once),
		cmocka_unit_test(what_follows_the_end_is_noticed),
		cmocka_unit_test(threads_and_sessions_belong_to_processes),
		cmocka_unit_test(the_writer_leaves_out_what_contradicts_itself),
		cmocka_unit_test(a_place_that_cannot_be_written_is_told_at_once),
		cmocka_unit_test(a_disk_that_fills_up_keeps_what_was_written),
		cmocka_unit_test(a_stream_can_be_read_while_it_is_written),
		cmocka_unit_test(a_reader_that_goes_away_stops_the_writer),
		cmocka_unit_test(what_a_killed_recorder_wrote_can_be_read),
		cmocka_unit_test(a_capture_replayed_into_a_writer_is_the_same_capture),
		cmocka_unit_test(a_replay_begins_with_the_info_and_ends_with_the_sinks_failure),
		cmocka_unit_test(a_replay_of_a_damaged_capture_hands_on_what_precedes_the_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
