// SPDX-License-Identifier: GPL-2.0-only
/* What -e understands: names, modifiers, groups, and what it says otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/counters.h"
#include "needs.h"

static struct counter_set parsed(const char *list)
{
	struct counter_set set = {};
	struct error err = {};

	if (counters_parse(&set, list, &err))
		fail_msg("%s: %s", list, err.text);
	return set;
}

static struct counter one(const char *event)
{
	struct counter_set set = parsed(event);

	assert_int_equal(set.n, 1);
	return set.counters[0];
}

/* @list is refused with @code, and the sentence has @part in it. */
static void refused(const char *list, int code, const char *part)
{
	struct counter_set set = {};
	struct error err = {};
	int ret = counters_parse(&set, list, &err);

	assert_int_equal(ret, code);
	if (!strstr(err.text, part))
		fail_msg("%s: '%s' does not say '%s'", list, err.text, part);
	assert_int_equal(set.n, 0);
}

static void what_a_task_counts_anyway_needs_no_perf_event(void **state)
{
	assert_int_equal(one("task-faults").source, COUNTER_FAULTS);
	assert_int_equal(one("task-minor-faults").source, COUNTER_MINOR_FAULTS);
	assert_int_equal(one("task-major-faults").source, COUNTER_MAJOR_FAULTS);
	assert_int_equal(one("task-migrations").source, COUNTER_MIGRATIONS);
	assert_string_equal(one("task-migrations").event, "task-migrations");
	/* perf counts the same at the same place. */
	assert_int_equal(one("context-switches").source, COUNTER_SWITCHES);
	assert_int_equal(one("cs").source, COUNTER_SWITCHES);
	assert_int_equal(one("perf::PERF_COUNT_SW_CONTEXT_SWITCHES").source, COUNTER_SWITCHES);
	/* cpu-clock is 0, and no number of a task. */
	assert_int_equal(one("perf::PERF_COUNT_SW_CPU_CLOCK").source, COUNTER_PERF_SOFTWARE);
}

static void memory_is_counted_beside_what_is_asked_for(void **state)
{
	struct counter_set set = {};
	struct error err = {};

	assert_int_equal(one("allocs").source, COUNTER_ALLOCS);
	assert_string_equal(one("allocs").unit, "");
	assert_int_equal(one("alloc-bytes").source, COUNTER_ALLOC_BYTES);
	assert_int_equal(one("freed-bytes").source, COUNTER_FREED_BYTES);
	assert_int_equal(one("temp-bytes").source, COUNTER_TEMP_BYTES);
	assert_string_equal(one("temp-bytes").unit, "bytes");
	refused("alloc-bytes:u", -EINVAL, "write 'alloc-bytes' without a modifier");
	assert_int_equal(counters_parse(&set, "alloc-bytes=asked,task-faults", &err), 0);
	assert_int_equal(counters_add_memory(&set, &err), 0);
	assert_int_equal(set.n, 5);
	assert_string_equal(set.counters[0].name, "asked");
	assert_string_equal(set.counters[2].name, "allocs");
	assert_string_equal(set.counters[4].name, "temp-bytes");
	assert_int_equal(counters_add_memory(&set, &err), 0);
	assert_int_equal(set.n, 5);
}

static void a_name_of_perf_means_the_event_of_perf(void **state)
{
	static const struct {
		const char *name;
		uint64_t config;
	} events[] = {
		{"page-faults", PERF_COUNT_SW_PAGE_FAULTS},
		{"faults", PERF_COUNT_SW_PAGE_FAULTS},
		{"perf::PERF_COUNT_SW_PAGE_FAULTS", PERF_COUNT_SW_PAGE_FAULTS},
		{"perf::PAGE-FAULTS", PERF_COUNT_SW_PAGE_FAULTS},
		{"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN},
		{"perf::PERF_COUNT_SW_PAGE_FAULTS_MIN", PERF_COUNT_SW_PAGE_FAULTS_MIN},
		{"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
		{"perf::PERF_COUNT_SW_PAGE_FAULTS_MAJ", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
		{"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
		{"migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
		{"perf::PERF_COUNT_SW_CPU_MIGRATIONS", PERF_COUNT_SW_CPU_MIGRATIONS},
		{"perf::CPU-MIGRATIONS", PERF_COUNT_SW_CPU_MIGRATIONS},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct counter counter = one(events[i].name);

		assert_int_equal(counter.source, COUNTER_PERF_SOFTWARE);
		assert_int_equal(counter.attr.type, PERF_TYPE_SOFTWARE);
		assert_int_equal(counter.attr.config, events[i].config);
		assert_false(counter.attr.exclude_kernel || counter.attr.exclude_user);
	}
}

static void a_modifier_narrows_page_faults(void **state)
{
	struct counter counter = one("page-faults:u");

	assert_int_equal(counter.source, COUNTER_PERF_SOFTWARE);
	assert_int_equal(counter.attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(counter.attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_true(counter.attr.exclude_kernel);
	assert_false(counter.attr.exclude_user);
	assert_int_equal(one("perf::PERF_COUNT_SW_PAGE_FAULTS:u").source, COUNTER_PERF_SOFTWARE);
	assert_true(one("page-faults:k").attr.exclude_user);
	assert_false(one("page-faults:k").attr.exclude_kernel);
}

static void clocks_are_perf_events_in_nanoseconds(void **state)
{
	assert_int_equal(one("task-clock").source, COUNTER_PERF_SOFTWARE);
	assert_string_equal(one("task-clock").unit, "ns");
	assert_string_equal(one("cpu-clock").unit, "ns");
	assert_string_equal(one("perf::PERF_COUNT_SW_TASK_CLOCK").unit, "ns");
	assert_string_equal(one("cycles").unit, "");
}

static void hardware_events_leave_the_kernel_out_unless_asked(void **state)
{
	static const char *const events[] = {"cycles", "perf::PERF_COUNT_HW_CPU_CYCLES", "r1a2",
					     "perf::PERF_COUNT_HW_CACHE_DTLB:READ:ACCESS"};
	char text[128];

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct counter counter = one(events[i]);

		assert_int_equal(counter.source, COUNTER_PERF);
		assert_true(counter.attr.exclude_kernel && counter.attr.exclude_hv);
		assert_false(counter.attr.exclude_user);
		snprintf(text, sizeof(text), "%s:uk", events[i]);
		counter = one(text);
		assert_false(counter.attr.exclude_kernel || counter.attr.exclude_user);
		snprintf(text, sizeof(text), "%s:k", events[i]);
		assert_true(one(text).attr.exclude_user);
	}
}

static void software_events_count_everything_unless_asked(void **state)
{
	struct counter counter = one("alignment-faults");

	assert_int_equal(counter.source, COUNTER_PERF_SOFTWARE);
	assert_false(counter.attr.exclude_kernel || counter.attr.exclude_user);
	counter = one("perf::PERF_COUNT_SW_CGROUP_SWITCHES");
	assert_int_equal(counter.source, COUNTER_PERF_SOFTWARE);
	assert_false(counter.attr.exclude_kernel || counter.attr.exclude_user);
}

static void short_names_and_those_of_libpfm_are_the_same_event(void **state)
{
	static const char *const pairs[][2] = {
		{"cycles", "perf::PERF_COUNT_HW_CPU_CYCLES"},
		{"cpu-cycles", "perf::CPU-CYCLES"},
		{"instructions", "perf::PERF_COUNT_HW_INSTRUCTIONS"},
		{"cache-references", "perf::PERF_COUNT_HW_CACHE_REFERENCES"},
		{"cache-misses", "perf::PERF_COUNT_HW_CACHE_MISSES"},
		{"branches", "perf::PERF_COUNT_HW_BRANCH_INSTRUCTIONS"},
		{"branch-misses", "perf::PERF_COUNT_HW_BRANCH_MISSES"},
		{"bus-cycles", "perf::PERF_COUNT_HW_BUS_CYCLES"},
		{"stalled-cycles-frontend", "perf::PERF_COUNT_HW_STALLED_CYCLES_FRONTEND"},
		{"stalled-cycles-backend", "perf::PERF_COUNT_HW_STALLED_CYCLES_BACKEND"},
		{"ref-cycles", "perf::PERF_COUNT_HW_REF_CPU_CYCLES"},
		{"L1-dcache-loads", "perf::PERF_COUNT_HW_CACHE_L1D:READ:ACCESS"},
		{"dTLB-load-misses", "perf::PERF_COUNT_HW_CACHE_DTLB:READ:MISS"},
		{"LLC-stores", "perf::PERF_COUNT_HW_CACHE_LL:WRITE:ACCESS"},
		{"Cycles", "PERF::cycles"},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct counter a = one(pairs[i][0]), b = one(pairs[i][1]);

		assert_int_equal(a.attr.type, b.attr.type);
		assert_int_equal(a.attr.config, b.attr.config);
		assert_int_equal(a.source, b.source);
	}
}

static void raw_codes_are_hexadecimal(void **state)
{
	struct counter counter = one("r53003c");

	assert_int_equal(counter.attr.type, PERF_TYPE_RAW);
	assert_int_equal(counter.attr.config, 0x53003c);
	assert_string_equal(counter.event, "r53003c:u");
	assert_int_equal(one("perf_raw::r11").attr.config, 0x11);
	refused("r12345678901234567", -ENOENT, "there is no event");
	refused("rxyz", -ENOENT, "there is no event");
}

static void an_equals_sign_gives_a_name_or_belongs_to_the_event(void **state)
{
	assert_string_equal(one("cycles=my cycles").name, "my cycles");
	assert_string_equal(one("cycles:u=c").name, "c");
	assert_string_equal(one("perf::CYCLES:u=1").name, "perf::CYCLES:u=1");
	assert_string_equal(one("perf::CYCLES:u=1=c").name, "c");
	assert_string_equal(one("perf::PERF_COUNT_HW_CACHE_DTLB:READ:ACCESS=t").name, "t");
	assert_string_equal(one("cycles").name, "cycles");
	refused("cycles=", -EINVAL, "name");
}

static void braces_put_events_into_one_group(void **state)
{
	struct counter_set set = parsed("page-faults, {cycles,instructions=i} ,{r1,r2}:k,cs");
	static const unsigned int groups[] = {0, 1, 1, 2, 2, 3};

	assert_int_equal(set.n, 6);
	for (size_t i = 0; i < set.n; i++) {
		assert_int_equal(set.counters[i].group, groups[i]);
		assert_int_equal(set.counters[i].together, i >= 1 && i <= 4);
	}
	assert_string_equal(set.counters[2].name, "i");
	assert_true(set.counters[3].attr.exclude_user);
	assert_string_equal(set.counters[3].name, "r1");
}

static void a_list_out_of_shape_is_refused_where_it_is(void **state)
{
	refused("", -EINVAL, "character 1");
	refused("cycles,", -EINVAL, "character 8");
	refused("cycles,,cs", -EINVAL, "character 8");
	refused("{cycles", -EINVAL, "no '}'");
	refused("cycles}", -EINVAL, "'}' is out of place at character 7");
	refused("{cycles,{cs}}", -EINVAL, "no event at character 9");
	refused("{cycles}x", -EINVAL, "'x' is out of place");
	refused("{}", -EINVAL, "no event");
}

static void slashes_keep_their_commas(void **state)
{
	struct counter_set set;

	if (access("/sys/bus/event_source/devices/msr/events/tsc", F_OK))
		leave_out("the events of a TSC");
	set = parsed("msr/tsc/,msr/event=0x1/=aperf,cs");
	assert_int_equal(set.n, 3);
	assert_int_equal(set.counters[0].attr.config, 0);
	assert_int_equal(set.counters[1].attr.config, 1);
	assert_string_equal(set.counters[1].name, "aperf");
	refused("msr/event=1,nope=2/", -ENOENT, "neither an event nor a field 'nope'");
	refused("msr/event=many/", -EINVAL, "no number");
	refused("msr/event=0x10000000000000000/", -EINVAL, "no number");
	refused("msr//", -EINVAL, "PMU/TERM");
	refused("msr/tsc/z", -ENOENT, "unknown modifier");
}

static void a_pmu_that_is_not_there_is_refused(void **state)
{
	refused("nopmu/x=1/", -ENOENT, "no PMU 'nopmu'");
	refused("../x/", -ENOENT, "no PMU '..'");
	refused("/x/", -ENOENT, "no PMU ''");
}

static void a_misspelt_event_gets_the_nearest_names(void **state)
{
	refused("cycels", -ENOENT, "'cycles'");
	refused("page_faults", -ENOENT, "'page-faults'");
	refused("cache-mises", -ENOENT, "'cache-misses'");
	refused("l1-dcache-load", -ENOENT, "'L1-dcache-loads'");
	refused("perf::PERF_COUNT_HW_CPU_CYCLE", -ENOENT, "'perf::PERF_COUNT_HW_CPU_CYCLES'");
	refused("cs,instrutions,cycles", -ENOENT, "'instructions'");
}

static void what_would_always_be_wrong_is_refused(void **state)
{
	refused("context-switches:u", -EINVAL, "always count 0");
	refused("cpu-migrations:u", -EINVAL, "always count 0");
	refused("perf::PERF_COUNT_SW_CONTEXT_SWITCHES:u", -EINVAL, "always count 0");
	refused("task-clock:u", -EINVAL, "does not split");
	refused("cpu-clock:k", -EINVAL, "does not split");
	refused("task-faults:u", -EINVAL, "one number for user and kernel");
	refused("task-migrations:uk", -EINVAL, "one number for user and kernel");
	refused("perf::CYCLES:period=100", -EINVAL, "sampling period");
	refused("perf::CYCLES:pinned", -EINVAL, "pinned");
	refused("perf::CYCLES:cpu=0", -EINVAL, "a CPU");
}

static void an_event_of_another_cpu_is_told_from_one_that_never_was(void **state)
{
#ifdef __x86_64__
	const char *elsewhere = "netburst::TC_deliver_mode:DD", *bare = "TC_deliver_mode:DD";
#else
	const char *elsewhere = "arm_ac57::INST_RETIRED", *bare = "arm_ac57::CPU_CYCLES";
#endif

	refused(elsewhere, -ENOENT, "exists on other CPUs but not on this one");
	refused(bare, -ENOENT, "exists on other CPUs but not on this one");
	/* Having looked elsewhere must not let it in the next time. */
	refused(elsewhere, -ENOENT, "exists on other CPUs but not on this one");
	refused("nopmu::NO_SUCH_EVENT", -ENOENT, "there is no event");
}

static void up_to_sixteen_events_are_counted(void **state)
{
	struct counter_set set = {};
	struct error err;
	char event[16];

	for (int i = 0; i < COUNTERS_MAX; i++) {
		snprintf(event, sizeof(event), "r%x", i + 1);
		assert_int_equal(counters_parse(&set, event, &err), 0);
	}
	assert_int_equal(counters_parse(&set, "cs", &err), -E2BIG);
	assert_non_null(strstr(err.text, "up to 16"));
	assert_int_equal(set.n, COUNTERS_MAX);
}

static void one_event_may_have_two_names_but_not_two_one_name(void **state)
{
	struct counter_set set = parsed("cycles=a,cycles=b");

	assert_int_equal(set.n, 2);
	assert_int_equal(set.counters[0].attr.config, set.counters[1].attr.config);
	refused("cycles,cycles", -EEXIST, "two events");
	refused("cycles=x,cs=x", -EEXIST, "'x'");
}

static void a_refused_list_leaves_the_set_as_it_was(void **state)
{
	struct counter_set set = parsed("cycles"), before = set;
	struct error err;

	assert_true(counters_parse(&set, "cs,instructions,nonsense-event", &err) < 0);
	assert_memory_equal(&set, &before, sizeof(set));
}

static void names_without_end_or_with_control_characters_are_refused(void **state)
{
	char list[512];

	memset(list, 'x', sizeof(list) - 1);
	list[sizeof(list) - 1] = '\0';
	refused(list, -EINVAL, "longer than");
	memcpy(list, "cycles=", 7);
	list[200] = '\0';
	refused(list, -EINVAL, "is longer than 127 bytes");
	refused("cycles=a\nb", -EINVAL, "control character");
}

static void a_tracepoint_counts_in_the_kernel(void **state)
{
	struct counter_set set = {};
	struct error err;

	if (counters_parse(&set, "sched:sched_switch=s", &err))
		leave_out(NEEDS_ROOT);
	assert_int_equal(set.counters[0].attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(set.counters[0].source, COUNTER_PERF_SOFTWARE);
	assert_false(set.counters[0].attr.exclude_kernel);
	refused("sched:sched_switch:u", -EINVAL, "would count 0");
	refused("sched:sched_swich", -ENOENT, "'sched:sched_switch'");
}

/* Skylake's offcore events have their filter in config1. */
static void the_whole_attribute_is_taken_from_libpfm(void **state)
{
#ifdef __x86_64__
	static const char event[] = "skx::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE";
	pid_t child = fork();
	int status;

	if (!child) {
		/* Read once, when the library starts: so in a process of its own. */
		setenv("LIBPFM_FORCE_PMU", "skx", 1);
		execl("/proc/self/exe", "test", event, (char *)NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
#else
	leave_out(NEEDS_X86_64);
#endif
}

static int child_main(const char *event)
{
	struct counter_set set = {};
	struct error err = {};

	if (counters_parse(&set, event, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return set.counters[0].attr.config1 ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_task_counts_anyway_needs_no_perf_event),
		cmocka_unit_test(memory_is_counted_beside_what_is_asked_for),
		cmocka_unit_test(a_name_of_perf_means_the_event_of_perf),
		cmocka_unit_test(a_modifier_narrows_page_faults),
		cmocka_unit_test(clocks_are_perf_events_in_nanoseconds),
		cmocka_unit_test(hardware_events_leave_the_kernel_out_unless_asked),
		cmocka_unit_test(software_events_count_everything_unless_asked),
		cmocka_unit_test(short_names_and_those_of_libpfm_are_the_same_event),
		cmocka_unit_test(raw_codes_are_hexadecimal),
		cmocka_unit_test(an_equals_sign_gives_a_name_or_belongs_to_the_event),
		cmocka_unit_test(braces_put_events_into_one_group),
		cmocka_unit_test(a_list_out_of_shape_is_refused_where_it_is),
		cmocka_unit_test(slashes_keep_their_commas),
		cmocka_unit_test(a_pmu_that_is_not_there_is_refused),
		cmocka_unit_test(a_misspelt_event_gets_the_nearest_names),
		cmocka_unit_test(what_would_always_be_wrong_is_refused),
		cmocka_unit_test(an_event_of_another_cpu_is_told_from_one_that_never_was),
		cmocka_unit_test(up_to_sixteen_events_are_counted),
		cmocka_unit_test(one_event_may_have_two_names_but_not_two_one_name),
		cmocka_unit_test(a_refused_list_leaves_the_set_as_it_was),
		cmocka_unit_test(names_without_end_or_with_control_characters_are_refused),
		cmocka_unit_test(a_tracepoint_counts_in_the_kernel),
		cmocka_unit_test(the_whole_attribute_is_taken_from_libpfm),
	};

	return argc > 1 ? child_main(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
