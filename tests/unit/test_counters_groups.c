// SPDX-License-Identifier: GPL-2.0-only
/* Groups on PMUs that are made up: so many counters, some held by others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "counters/groups.h"

struct pmu {
	size_t counters;    /* that can count anything */
	bool cycle_counter; /* and one that counts cycles only */
	int broken;	    /* what trying gives, unless 0 */
};

/* A group has one PMU; groups of different types are on different PMUs. */
static int pmu_fit(const struct counter_set *set, const struct group *groups, size_t n, void *arg)
{
	const struct pmu *pmu = arg;
	size_t used[2] = {}, cycles = 0;

	if (pmu->broken)
		return pmu->broken;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < groups[i].n; j++) {
			const struct perf_event_attr *attr =
				&set->counters[groups[i].members[j]].attr;
			bool other = attr->type >= PERF_TYPE_MAX;

			if (other !=
			    (set->counters[groups[i].members[0]].attr.type >= PERF_TYPE_MAX))
				return 0;
			if (pmu->cycle_counter && !other && attr->type == PERF_TYPE_HARDWARE &&
			    attr->config == PERF_COUNT_HW_CPU_CYCLES && !cycles)
				cycles++;
			else
				used[other]++;
		}
	return used[0] <= pmu->counters && used[1] <= pmu->counters;
}

static struct counter_set parsed(const char *list)
{
	struct counter_set set = {};
	struct error err = {};

	if (counters_parse(&set, list, &err))
		fail_msg("%s: %s", list, err.text);
	return set;
}

static struct counter_set formed(const char *list, struct pmu pmu)
{
	struct counter_set set = parsed(list);
	struct error err = {};

	if (groups_form(&set, pmu_fit, &pmu, &err))
		fail_msg("%s: %s", list, err.text);
	return set;
}

static unsigned int group_of(const struct counter_set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (!strcmp(set->counters[i].name, name))
			return set->counters[i].group;
	fail_msg("no counter %s", name);
	return 0;
}

/* No group is larger than the PMU, and each hardware event is in one. */
static void each_group_fits(const struct counter_set *set, size_t counters)
{
	for (size_t i = 0; i < set->n; i++) {
		size_t n = 0;

		for (size_t j = 0; j < set->n; j++)
			n += set->counters[j].group == set->counters[i].group;
		assert_in_range(n, 1, counters);
	}
}

static void events_that_fit_are_one_group_and_never_take_turns(void **state)
{
	struct counter_set set = formed("cycles,r1,instructions,r2", (struct pmu){.counters = 4});

	for (size_t i = 0; i < set.n; i++) {
		assert_int_equal(set.counters[i].group, 0);
		assert_false(set.counters[i].multiplexed);
	}
	assert_int_equal(set.n_notes, 0);
}

static void twelve_events_on_seven_counters_take_turns_in_two_groups(void **state)
{
	struct counter_set set = formed("r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,cycles,instructions",
					(struct pmu){.counters = 6, .cycle_counter = true});

	each_group_fits(&set, 7);
	for (size_t i = 0; i < set.n; i++) {
		assert_in_range(set.counters[i].group, 0, 1);
		assert_true(set.counters[i].multiplexed);
	}
	assert_int_equal(group_of(&set, "cycles"), group_of(&set, "instructions"));
	assert_int_equal(set.n_notes, 1);
	assert_non_null(strstr(set.notes[0], "12 hardware events take turns in 2 groups"));
}

static void events_of_a_ratio_stay_together(void **state)
{
	struct counter_set set = formed("branches,cycles,cache-misses,r1,branch-misses,"
					"cache-references,instructions,L1-dcache-loads,"
					"L1-dcache-load-misses",
					(struct pmu){.counters = 2});

	each_group_fits(&set, 2);
	assert_int_equal(group_of(&set, "cycles"), group_of(&set, "instructions"));
	assert_int_equal(group_of(&set, "branches"), group_of(&set, "branch-misses"));
	assert_int_equal(group_of(&set, "cache-misses"), group_of(&set, "cache-references"));
	assert_int_equal(group_of(&set, "L1-dcache-loads"),
			 group_of(&set, "L1-dcache-load-misses"));
}

static void a_ratio_without_room_is_taken_apart(void **state)
{
	struct counter_set set = formed("cycles,instructions", (struct pmu){.counters = 1});

	assert_int_not_equal(set.counters[0].group, set.counters[1].group);
	assert_true(set.counters[0].multiplexed && set.counters[1].multiplexed);
}

static void braces_are_kept_and_nothing_joins_them(void **state)
{
	struct counter_set set =
		formed("{r1,r2},cycles,{r3,instructions}", (struct pmu){.counters = 4});

	assert_int_equal(group_of(&set, "r1"), group_of(&set, "r2"));
	assert_int_equal(group_of(&set, "r3"), group_of(&set, "instructions"));
	assert_int_not_equal(group_of(&set, "r1"), group_of(&set, "r3"));
	assert_int_not_equal(group_of(&set, "cycles"), group_of(&set, "r1"));
	assert_int_not_equal(group_of(&set, "cycles"), group_of(&set, "r3"));
	assert_true(set.counters[0].multiplexed);
}

static void braces_that_all_fit_do_not_take_turns(void **state)
{
	struct counter_set set = formed("{r1,r2},{r3,r4}", (struct pmu){.counters = 4});

	assert_false(set.counters[0].multiplexed);
	assert_int_equal(set.n_notes, 0);
}

static void braces_that_do_not_fit_are_refused(void **state)
{
	struct counter_set set = parsed("cs,{r1,r2,page-faults,r3}"), before = set;
	struct pmu pmu = {.counters = 2};
	struct error err = {};

	assert_int_equal(groups_form(&set, pmu_fit, &pmu, &err), -ENOSPC);
	assert_non_null(
		strstr(err.text, "the 3 hardware events of the group that begins with 'r1'"));
	assert_non_null(strstr(err.text, "room for 2"));
	assert_memory_equal(&set, &before, sizeof(set));
}

static void software_events_stay_out_of_hardware_groups(void **state)
{
	struct counter_set set =
		formed("{r1,task-clock,r2},page-faults,cpu-clock", (struct pmu){.counters = 2});

	assert_int_equal(group_of(&set, "r1"), group_of(&set, "r2"));
	for (size_t i = 0; i < set.n; i++)
		for (size_t j = 0; j < i; j++)
			if (set.counters[i].source != COUNTER_PERF ||
			    set.counters[j].source != COUNTER_PERF)
				assert_int_not_equal(set.counters[i].group, set.counters[j].group);
	assert_false(set.counters[1].multiplexed);
}

static void events_of_two_pmus_are_two_groups_that_run_beside_each_other(void **state)
{
	struct counter_set set = parsed("r1,r2,r3,r4");
	struct pmu pmu = {.counters = 2};
	struct error err = {};

	set.counters[1].attr.type = set.counters[3].attr.type = PERF_TYPE_MAX + 3;
	assert_int_equal(groups_form(&set, pmu_fit, &pmu, &err), 0);
	assert_int_equal(set.counters[0].group, set.counters[2].group);
	assert_int_equal(set.counters[1].group, set.counters[3].group);
	assert_int_not_equal(set.counters[0].group, set.counters[1].group);
	assert_false(set.counters[0].multiplexed);
}

static void a_pmu_whose_counters_are_all_held_is_told(void **state)
{
	struct counter_set set = parsed("cycles"), together = parsed("{r1,r2}");
	struct pmu pmu = {.counters = 0};
	struct error err = {};

	assert_int_equal(groups_form(&set, pmu_fit, &pmu, &err), -EBUSY);
	assert_non_null(strstr(err.text, "nmi_watchdog"));
	assert_int_equal(groups_form(&together, pmu_fit, &pmu, &err), -EBUSY);
}

static void a_trial_that_fails_is_an_error_and_not_a_group(void **state)
{
	struct counter_set set = parsed("cycles"), together = parsed("{r1,r2}");
	struct pmu pmu = {.broken = -EMFILE};
	struct error err = {};

	assert_int_equal(groups_form(&set, pmu_fit, &pmu, &err), -EMFILE);
	assert_non_null(strstr(err.text, "ulimit -n"));
	assert_int_equal(groups_form(&together, pmu_fit, &pmu, &err), -EMFILE);
}

static void forming_groups_twice_changes_nothing(void **state)
{
	struct pmu pmu = {.counters = 2};
	struct counter_set set = formed("{r1,r2},r3,cycles,instructions,cs", pmu), before = set;
	struct error err;

	assert_int_equal(groups_form(&set, pmu_fit, &pmu, &err), 0);
	assert_memory_equal(&set, &before, sizeof(set));
}

static void sixteen_events_on_one_counter_are_sixteen_groups(void **state)
{
	struct counter_set set = formed("r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd,re,rf,r10",
					(struct pmu){.counters = 1});

	each_group_fits(&set, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_that_fit_are_one_group_and_never_take_turns),
		cmocka_unit_test(twelve_events_on_seven_counters_take_turns_in_two_groups),
		cmocka_unit_test(events_of_a_ratio_stay_together),
		cmocka_unit_test(a_ratio_without_room_is_taken_apart),
		cmocka_unit_test(braces_are_kept_and_nothing_joins_them),
		cmocka_unit_test(braces_that_all_fit_do_not_take_turns),
		cmocka_unit_test(braces_that_do_not_fit_are_refused),
		cmocka_unit_test(software_events_stay_out_of_hardware_groups),
		cmocka_unit_test(events_of_two_pmus_are_two_groups_that_run_beside_each_other),
		cmocka_unit_test(a_pmu_whose_counters_are_all_held_is_told),
		cmocka_unit_test(a_trial_that_fails_is_an_error_and_not_a_group),
		cmocka_unit_test(forming_groups_twice_changes_nothing),
		cmocka_unit_test(sixteen_events_on_one_counter_are_sixteen_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
