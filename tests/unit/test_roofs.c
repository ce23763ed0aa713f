// SPDX-License-Identifier: GPL-2.0-only
/* What the machine can do at most: measured, kept, read, and how near operators came to it. */
#include "analysis_helper.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "collect/info.h"
#include "roofs/kernels.h"
#include "roofs/machine.h"
#include "roofs/roofs.h"
#include "roofs/rounds.h"

/* -- rounds ------------------------------------------------------------------------- */

static void add_rounds(struct rounds *rounds, unsigned int n, double rate)
{
	while (n--)
		rounds_add(rounds, rate);
}

static void the_fastest_rounds_that_agree_are_the_figure(void **state)
{
	struct rounds rounds = {};
	double rate;

	assert_false(rounds_settled(&rounds, &rate));
	add_rounds(&rounds, 40, 50);
	add_rounds(&rounds, 7, 100);
	assert_false(rounds_settled(&rounds, &rate)); /* too few */
	add_rounds(&rounds, 1, 1000);
	/* The one that nobody else reached is not taken. */
	assert_true(rounds_settled(&rounds, &rate));
	assert_true(rate == 100);
	add_rounds(&rounds, 16, 50);
	/* Of 64, the ninth is 50. */
	assert_false(rounds_settled(&rounds, &rate));
	assert_true(rate == 100);
	add_rounds(&rounds, 2, 93);
	assert_true(rounds_settled(&rounds, &rate));
	add_rounds(&rounds, ROUNDS_MAX, 93);
	assert_int_equal(rounds.n, ROUNDS_MAX);
	assert_true(rounds_settled(&rounds, &rate));
	assert_true(rate == 93);
}

/* -- loops --------------------------------------------------------------------------- */

#define FLOATS 1024

/* Whatever vectors it has: a loop that leaves something out would be fast. */
static void loops_do_all_of_their_work(void **state)
{
	static _Alignas(KERNEL_ALIGNMENT) float a[FLOATS], b[FLOATS], sum[FLOATS], past[FLOATS];
	static const uint64_t flop_of_a_step[] = {24 * 16 * 2, 12 * 8 * 2, 24 * 4 * 2, 12 * 4 * 2};
	int usable = 0;

	for (const struct roof_kernels *kernels = roof_kernels_all; kernels->usable; kernels++) {
		bool known = false;

		if (!kernels->usable())
			continue;
		usable++;
		for (int i = 0; i < FLOATS; i++) {
			a[i] = i;
			b[i] = 3 * i;
			sum[i] = past[i] = -1;
		}
		kernels->read(a, sizeof(a));
		kernels->add(sum, a, b, sizeof(a));
		kernels->stream(past, a, b, sizeof(a));
		for (int i = 0; i < FLOATS; i++)
			assert_true(sum[i] == 4 * i && past[i] == 4 * i);
		for (size_t i = 0; i < sizeof(flop_of_a_step) / sizeof(flop_of_a_step[0]); i++)
			known |= kernels->compute(1000) == 1000 * flop_of_a_step[i];
		assert_true(known);
	}
	assert_true(usable);
	assert_true(roof_kernels()->usable());
}

/* -- the measurement ------------------------------------------------------------------ */

static double last_progress;

static void note_progress(double done)
{
	assert_true(done >= 0 && done <= 1);
	last_progress = done;
}

/* On a machine that is busy some is not known, and that is said. */
static void the_machine_is_measured(void **state)
{
	struct capture_roofs roofs;
	struct roofs_about about;
	struct roof_cpus cpus;
	struct error err;
	bool missing;

	assert_int_equal(roof_cpus_find(&cpus), 0);
	assert_true(cpus.n >= 1);
	assert_int_equal(roofs_measure(&roofs, &about, note_progress, &err), 0);
	assert_true(roofs.measured > 1700000000);
	assert_int_equal(roofs.cpus, cpus.n);
	assert_string_equal(roofs.instructions, roof_kernels()->name);
	assert_true(last_progress > 0);
	missing = !roofs.one.flops || !roofs.all.flops;
	if (missing)
		assert_true(about.n_notes);
	else
		assert_true(roofs.all.flops > roofs.one.flops / 2 &&
			    roofs.all.flops < roofs.one.flops * (cpus.n + 1));
	if (cpus.items[0].caches[ROOF_L1] && roofs.one.bytes[ROOF_L1] &&
	    roofs.one.bytes[ROOF_MEMORY])
		assert_true(roofs.one.bytes[ROOF_L1] > roofs.one.bytes[ROOF_MEMORY]);
	roof_cpus_free(&cpus);
	/* The caller may run where it could before. */
	assert_int_equal(roof_cpus_find(&cpus), 0);
	assert_int_equal(roofs.cpus, cpus.n);
	roof_cpus_free(&cpus);
}

/* -- keeping -------------------------------------------------------------------------- */

static struct capture_info made_machine(void)
{
	return (struct capture_info){
		.host = "box",
		.machine = "x86_64",
		.cpu = "Some \"CPU\" @ 3 GHz",
		.n_cpus = 8,
		.roofs =
			{
				.measured = 1700000000,
				.cpus = 6,
				.instructions = "AVX-512",
				.one = {100500000000, {1000000000, 0, 3, 30000000000}},
				.all = {600000000000, {0, 7, 8, 90123456789}},
			},
	};
}

static int parse_roofs(struct capture_info *machine, const char *text)
{
	machine->roofs = (struct capture_roofs){};
	return roofs_parse(machine, text, strlen(text));
}

static void what_is_kept_is_read_on_the_same_machine_only(void **state)
{
	struct capture_info machine = made_machine(), again = made_machine();
	struct roofs_about about = {.notes = {"a \"note\""}, .n_notes = 1};
	char *text = roofs_json(&machine, &about, "/a/path");

	assert_int_equal(parse_roofs(&again, text), 0);
	assert_memory_equal(&again.roofs, &machine.roofs, sizeof(machine.roofs));
	assert_true(roofs_whole(&again.roofs));
	again.roofs.all.bytes[ROOF_MEMORY] = 0;
	assert_false(roofs_whole(&again.roofs));
	strcpy(again.host, "other");
	assert_int_equal(parse_roofs(&again, text), -ESTALE);
	assert_int_equal(again.roofs.measured, 0);
	again = made_machine();
	again.n_cpus = 4;
	assert_int_equal(parse_roofs(&again, text), -ESTALE);
	again = made_machine();
	again.cpu[0] = '\0';
	assert_int_equal(parse_roofs(&again, text), -ESTALE);
	again = made_machine();
	strcpy(again.machine, "aarch64");
	assert_int_equal(parse_roofs(&again, text), -ESTALE);
	free(text);
}

/* @text with @from replaced by @to, which is there. */
static char *with(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *changed;

	assert_non_null(at);
	assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >
		    0);
	return changed;
}

static void what_no_measurement_can_be_is_not_believed(void **state)
{
	static const char *const wrong[][2] = {
		{"opprobe-roofs", "something"},
		{"\"version\":\t1", "\"version\":\t2"},
		{"1700000000", "0"},
		{"1700000000", "-5"},
		{"1700000000", "null"},
		{"100.5", "-100.5"},
		{"100.5", "1e300"},
		{"100.5", "1e999"},
		{"100.5", "0"},
		{"100.5", "\"100.5\""},
		{"100.5", "[]"},
		{"90.123456789", "1e10"},
		{"\"cpus\":\t6", "\"cpus\":\t0"},
		{"\"cpus\":\t6", "\"cpus\":\t1e12"},
		{"\"one_cpu\"", "\"two_cpus\""},
		{"\"machine\":\t{", "\"machine\":\t[{"},
		{"\"roofs\":\t{", "\"roofs\":\t7, \"other\":\t{"},
	};
	struct capture_info machine = made_machine(), again = made_machine();
	char *text = roofs_json(&machine, &(struct roofs_about){}, NULL), *changed;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		changed = with(text, wrong[i][0], wrong[i][1]);
		if (parse_roofs(&again, changed) != -EBADMSG || again.roofs.measured)
			fail_msg("believed: %s", wrong[i][1]);
		free(changed);
	}
	changed = with(text, "100.5", "null");
	assert_int_equal(parse_roofs(&again, changed), 0);
	assert_int_equal(again.roofs.one.flops, 0);
	free(changed);
	assert_int_equal(parse_roofs(&again, ""), -EBADMSG);
	/* Of any length, which a NUL does not end. */
	again.roofs = (struct capture_roofs){};
	assert_int_equal(roofs_parse(&again, text, strlen(text) / 2), -EBADMSG);
	free(text);
}

/* A folder of this test's own. */
static char *make_place(char *folder)
{
	strcpy(folder, "/tmp/opprobe-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	setenv("OPPROBE_STATE", folder, 1);
	return folder;
}

static void remove_place(const char *folder)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	unsetenv("OPPROBE_STATE");
}

static void recordings_find_what_was_kept(void **state)
{
	struct capture_info machine = {}, again = {};
	char folder[64], *path;
	struct error err;

	make_place(folder);
	info_describe_machine(&machine);
	info_describe_machine(&again);
	roofs_read(&again);
	assert_int_equal(again.roofs.measured, 0);
	machine.roofs = made_machine().roofs;
	assert_int_equal(roofs_keep(&machine, &(struct roofs_about){}, &path, &err), 0);
	assert_memory_equal(path, folder, strlen(folder));
	roofs_read(&again);
	assert_memory_equal(&again.roofs, &machine.roofs, sizeof(machine.roofs));
	free(path);
	/* A folder that cannot be made. */
	setenv("OPPROBE_STATE", "/proc/nowhere/at/all", 1);
	assert_int_not_equal(roofs_keep(&machine, &(struct roofs_about){}, &path, &err), 0);
	assert_null(path);
	assert_non_null(strstr(err.text, "/proc/nowhere/at/all/roofs.json"));
	remove_place(folder);
}

/* A file that somebody else could have put there, or that would be waited for. */
static void traps_in_place_of_the_file_are_passed_by(void **state)
{
	struct capture_info machine = {};
	char folder[64], path[96], elsewhere[96], *kept;
	struct error err;

	make_place(folder);
	snprintf(path, sizeof(path), "%s/roofs.json", folder);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", folder);
	info_describe_machine(&machine);
	machine.roofs = made_machine().roofs;
	assert_int_equal(roofs_keep(&machine, &(struct roofs_about){}, &kept, &err), 0);
	free(kept);
	assert_int_equal(rename(path, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, path), 0);
	roofs_read(&machine);
	assert_int_equal(machine.roofs.measured, 0);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	roofs_read(&machine);
	assert_int_equal(machine.roofs.measured, 0);
	unlink(path);
	assert_int_equal(rename(elsewhere, path), 0);
	roofs_read(&machine);
	assert_int_equal(machine.roofs.measured, 1700000000);
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		roofs_read(&machine);
		assert_int_equal(machine.roofs.measured, 0);
	}
	remove_place(folder);
}

/* -- operators below them -------------------------------------------------------------- */

struct below {
	const char *type, *inputs, *outputs;
	uint64_t ns;
	double of_one, of_four; /* %, with one thread and with four; NAN: not known */
};

/* One CPU: 100 FLOP and 10 bytes a ns; all: 300 and 20. */
static const struct below below[] = {
	/* 262144 FLOP, 49152 bytes: 4915 ns of memory, 2621 ns of computing; of four 2458. */
	{"MatMul", "[{\"float\":[64,32]},{\"float\":[32,64]}]", "[{\"float\":[64,64]}]", 10000,
	 32.768, 16.384},
	/* 33554432 FLOP take 335544 ns; of four threads 111848 */
	{"MatMul", "[{\"float\":[256,256]},{\"float\":[256,256]}]", "[{\"float\":[256,256]}]",
	 400000, 83.88608, 27.962027},
	/* Not computed but moved, of any type: 2000 bytes. */
	{"Transpose", "[{\"float16\":[500]}]", "[{\"float16\":[500]}]", 100, 200, 100},
	{"Add", "[{\"float16\":[500]},{\"float16\":[500]}]", "[{\"float16\":[500]}]", 100, NAN,
	 NAN},
	{"Add", "[{\"int64\":[500]},{\"int64\":[500]}]", "[{\"int64\":[500]}]", 100, NAN, NAN},
	{"MyOwn", "[{\"float\":[500]}]", "[{\"float\":[500]}]", 100, NAN, NAN},
};
#define N_BELOW (sizeof(below) / sizeof(below[0]))

static struct test_capture capture_below(bool roofs, uint32_t threads)
{
	struct capture_model model = CAPTURE_MODEL_UNKNOWN;
	struct capture_info info = test_info(0);
	struct test_capture c;
	char name[16];

	if (roofs)
		info.roofs = (struct capture_roofs){
			.measured = 1,
			.cpus = 8,
			.one = {100000000000, {[ROOF_MEMORY] = 10000000000}},
			.all = {300000000000, {[ROOF_MEMORY] = 20000000000}},
		};
	c = test_begin(&info);
	model.intra_threads = threads;
	assert_int_equal(capture_write_model(c.writer, &model), 0);
	for (uint32_t i = 0; i < N_BELOW; i++) {
		struct capture_exec exec = test_exec(i, i * 1000000, i * 1000000 + below[i].ns);

		snprintf(name, sizeof(name), "op%u", i);
		test_operator(&c, i, name, below[i].type);
		test_shapes(&c, i, below[i].inputs, below[i].outputs);
		exec.shapes = i;
		test_write(&c, exec);
	}
	test_finish(&c);
	return c;
}

static void check_below(bool roofs, uint32_t threads, size_t expected)
{
	struct test_capture c = capture_below(roofs, threads);
	struct analysis *a = analyzed(c.path, (struct analyze_options){});
	char name[16];

	for (uint32_t i = 0; i < N_BELOW; i++) {
		const double of[] = {NAN, below[i].of_one, below[i].of_four};
		double got;

		snprintf(name, sizeof(name), "op%u", i);
		got = 100 * analyze_roof(a, row(a, name));
		if (isnan(of[expected]) ? !isnan(got) : !(fabs(got - of[expected]) < 1e-4))
			fail_msg("%s with %u threads: %g is not %g", name, threads, got,
				 of[expected]);
	}
	analysis_free(a);
	test_remove(&c);
}

static void operators_are_held_against_the_roof_of_their_threads(void **state)
{
	check_below(true, 1, 1);
	check_below(true, 4, 2);
	/* More threads than CPUs have no higher roof. */
	check_below(true, 64, 2);
	/* How many there are, or what the machine can do, is not known. */
	check_below(true, 0, 0);
	check_below(false, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fastest_rounds_that_agree_are_the_figure),
		cmocka_unit_test(loops_do_all_of_their_work),
		cmocka_unit_test(the_machine_is_measured),
		cmocka_unit_test(what_is_kept_is_read_on_the_same_machine_only),
		cmocka_unit_test(what_no_measurement_can_be_is_not_believed),
		cmocka_unit_test(recordings_find_what_was_kept),
		cmocka_unit_test(traps_in_place_of_the_file_are_passed_by),
		cmocka_unit_test(operators_are_held_against_the_roof_of_their_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
