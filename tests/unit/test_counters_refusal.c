// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals: each cause has a sentence of its own, with a remedy. Made up for
 * the causes that this machine may not have, and real ones in children that
 * give up their rights.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/counters.h"
#include "counters/refusal.h"
#include "needs.h"

#define NOBODY 65534

/* A machine on which nothing is in the way. */
static const struct permissions all_well = {.paranoid = 2, .sys_admin = true, .perfmon = true};
static const struct permissions nobody = {.paranoid = 2};

static struct counter counter_of(const char *event)
{
	struct counter_set set = {};
	struct error err = {};

	if (counters_parse(&set, event, &err))
		fail_msg("%s: %s", event, err.text);
	return set.counters[0];
}

static void says(int code, const char *event, pid_t tid, struct permissions permissions,
		 const char *cause, const char *remedy)
{
	struct counter counter = counter_of(event);
	struct error err = {};

	assert_int_equal(refusal(&err, code, &counter, tid, &permissions), code);
	if (!strstr(err.text, cause) || !strstr(err.text, remedy) || !strstr(err.text, event))
		fail_msg("'%s' lacks '%s', '%s' or '%s'", err.text, cause, remedy, event);
	assert_true(strlen(refusal_brief(code, &counter, &permissions)) > 5);
}

static void a_machine_without_pmu_is_told_from_a_cpu_without_the_event(void **state)
{
	struct permissions without = all_well;

	without.cycles = -ENOENT;
	says(-ENOENT, "cycles", 0, without, "no hardware counters", "count software events");
	says(-ENOENT, "r1a2", 0, without, "virtual machine", "give the machine a PMU");
	says(-ENOENT, "cache-misses", 0, all_well, "this CPU does not count it", "opprobe list");
	says(-EINVAL, "r1a2", 0, all_well, "does not accept", "check its modifiers");
	says(-EOPNOTSUPP, "branches", 0, all_well, "this CPU does not count it", "opprobe list");
	says(-ENOENT, "alignment-faults", 0, without, "this kernel does not count", "leave it out");
}

static void paranoid_is_quoted_with_the_capability_that_lifts_it(void **state)
{
	struct permissions debian = {.paranoid = 3}, perfmon = {.paranoid = 3, .perfmon = true};

	says(-EACCES, "cycles:k", 0, nobody,
	     "perf_event_paranoid is 2 and opprobe lacks CAP_PERFMON", "perf_event_paranoid=1");
	says(-EACCES, "cycles", 0, debian,
	     "perf_event_paranoid is 3 and opprobe lacks CAP_SYS_ADMIN", "perf_event_paranoid=2");
	says(-EACCES, "cycles", 0, perfmon, "lacks CAP_SYS_ADMIN", "run it as root");
}

static void capabilities_of_a_user_namespace_do_not_count(void **state)
{
	struct permissions container = all_well;

	container.user_namespace = true;
	says(-EACCES, "cycles:k", 0, container, "capabilities of a user namespace",
	     "outside the container");
	assert_false(permissions_lift_paranoid(&container));
	assert_true(permissions_lift_paranoid(&all_well));
}

static void seccomp_is_blamed_when_the_rights_are_there(void **state)
{
	struct permissions filtered = all_well;

	filtered.seccomp = true;
	says(-EPERM, "cycles", 0, filtered, "seccomp filter", "profile that allows it");
	says(-ENOSYS, "cycles", 0, filtered, "seccomp filter", "profile that allows it");
	says(-EPERM, "cycles", 0, all_well, "security module", "allow opprobe perf_event");
	says(-ENOSYS, "cycles", 0, all_well, "CONFIG_PERF_EVENTS", "context-switches");
}

static void another_users_thread_is_told(void **state)
{
	says(-EACCES, "cycles", 4711, nobody, "thread 4711: it belongs to another user",
	     "run opprobe as root");
}

static void a_held_counter_names_the_watchdog_if_it_is_on(void **state)
{
	struct permissions watched = all_well;

	watched.nmi_watchdog = true;
	says(-EBUSY, "cycles", 0, watched, "NMI watchdog", "kernel.nmi_watchdog=0");
	says(-EBUSY, "cycles", 0, all_well, "another user of the PMU", "another perf");
}

static void file_limits_of_the_process_and_of_the_machine_differ(void **state)
{
	says(-EMFILE, "cycles", 0, all_well, "opprobe has all", "ulimit -n");
	says(-ENFILE, "cycles", 0, all_well, "this machine has all", "fs.file-max");
}

static void an_unexpected_errno_is_still_a_sentence(void **state)
{
	says(-E2BIG, "cycles", 0, all_well, "too old", "modifiers");
	says(-EIO, "cycles", 0, all_well, "perf_event_open fails (Input/output error)", "dmesg");
}

/* -- the real thing -------------------------------------------------------- */

/* What else a child exits with. */
#define NOT_ROOT       77
#define NOT_RESTRICTED 78

/* Run @child in a process of its own; it exits with 0 if it was content. */
static void in_child(int (*child)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ROOT)
		leave_out(NEEDS_ROOT);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_RESTRICTED)
		leave_out("kernel.perf_event_paranoid of 2 or more");
	assert_int_equal(status, 0);
}

/* counters_check() of @event fails here and says @part. */
static int check_says(const char *event, const char *part)
{
	struct counter_set set = {};
	struct error err = {};

	if (counters_parse(&set, event, &err) || !counters_check(&set, &err)) {
		fprintf(stderr, "%s is not refused: %s\n", event, err.text);
		return 1;
	}
	if (strstr(err.text, part))
		return 0;
	fprintf(stderr, "'%s' does not say '%s'\n", err.text, part);
	return 1;
}

static int setting(const char *path)
{
	FILE *file = fopen(path, "r");
	int value = 0;

	if (file) {
		if (fscanf(file, "%d", &value) != 1)
			value = 0;
		fclose(file);
	}
	return value;
}

static int without_rights(void)
{
	char quoted[64];
	int paranoid = setting("/proc/sys/kernel/perf_event_paranoid");

	if (geteuid())
		return NOT_ROOT;
	if (paranoid < 2)
		return NOT_RESTRICTED;
	if (setresuid(NOBODY, NOBODY, NOBODY))
		return 1;
	snprintf(quoted, sizeof(quoted), "kernel.perf_event_paranoid is %d", paranoid);
	return check_says("page-faults:uk", quoted) ||
	       check_says("alignment-faults", "run it as root");
}

static void without_rights_the_setting_is_quoted(void **state)
{
	in_child(without_rights);
}

static int nobody_still_has_a_default_set(void)
{
	struct counter_set set = {};
	struct error err = {};
	bool faults = false;

	if (geteuid())
		return NOT_ROOT;
	if (setresuid(NOBODY, NOBODY, NOBODY))
		return 1;
	if (counters_default(&set, &err) || counters_check(&set, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < set.n; i++)
		faults = faults || set.counters[i].source == COUNTER_FAULTS ||
			 set.counters[i].source == COUNTER_PERF;
	return !faults;
}

static void without_rights_the_default_set_still_works(void **state)
{
	in_child(nobody_still_has_a_default_set);
}

/* Let every system call pass but perf_event_open, which gives @code. */
static int filter_perf_event_open(int code)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = 4, .filter = rules};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int with_eperm(void)
{
	if (geteuid())
		return NOT_ROOT;
	return filter_perf_event_open(EPERM) || check_says("task-clock", "seccomp filter");
}

static int with_enosys(void)
{
	if (geteuid())
		return NOT_ROOT;
	return filter_perf_event_open(ENOSYS) || check_says("task-clock", "seccomp filter");
}

static void a_seccomp_filter_is_recognised(void **state)
{
	in_child(with_eperm);
	in_child(with_enosys);
}

static int without_files(void)
{
	struct rlimit none = {.rlim_cur = 3, .rlim_max = 20};

	return setrlimit(RLIMIT_NOFILE, &none) || check_says("task-clock", "ulimit -n");
}

static void without_files_the_limit_is_told(void **state)
{
	in_child(without_files);
}

static int events_of_the_task_alone(void)
{
	struct counter_set set = {};
	struct error err;

	/* Nothing is opened for what task_struct holds. */
	return filter_perf_event_open(EPERM) ||
	       counters_parse(&set, "task-faults,context-switches,task-migrations", &err) ||
	       counters_check(&set, &err);
}

static void what_needs_no_perf_event_cannot_be_refused(void **state)
{
	in_child(events_of_the_task_alone);
}

static void a_hardware_event_is_counted_or_the_pmu_is_missing(void **state)
{
	struct counter_set set = {};
	struct error err = {};

	assert_int_equal(counters_parse(&set, "cycles", &err), 0);
	if (counters_check(&set, &err) == -ENOENT)
		assert_non_null(strstr(err.text, "no hardware counters"));
}

/* -- doctor ---------------------------------------------------------------- */

static const struct finding *find(const struct finding *findings, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(findings[i].name, name))
			return &findings[i];
	fail_msg("no finding '%s'", name);
	return NULL;
}

static void doctor_finds_what_works(void **state)
{
	struct finding findings[16];
	const pid_t self = getpid();
	size_t n = counters_diagnose(&self, 1, findings, 16);

	if (geteuid())
		leave_out(NEEDS_ROOT);
	assert_int_equal(find(findings, n, "perf permission")->verdict, FINDING_OK);
	assert_int_equal(find(findings, n, "perf events")->verdict, FINDING_OK);
	assert_int_equal(find(findings, n, "target's threads")->verdict, FINDING_OK);
	for (size_t i = 0; i < n; i++)
		assert_true(*findings[i].text);
	assert_int_equal(counters_diagnose(NULL, 0, findings, 2), 2);
}

static int doctor_without_rights(void)
{
	struct finding findings[16];
	size_t n;

	if (geteuid() || filter_perf_event_open(EPERM))
		return NOT_ROOT;
	n = counters_diagnose(NULL, 0, findings, 16);
	return find(findings, n, "perf events")->verdict != FINDING_FAIL ||
	       find(findings, n, "seccomp")->verdict != FINDING_WARN;
}

static void doctor_finds_what_is_in_the_way(void **state)
{
	in_child(doctor_without_rights);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_without_pmu_is_told_from_a_cpu_without_the_event),
		cmocka_unit_test(paranoid_is_quoted_with_the_capability_that_lifts_it),
		cmocka_unit_test(capabilities_of_a_user_namespace_do_not_count),
		cmocka_unit_test(seccomp_is_blamed_when_the_rights_are_there),
		cmocka_unit_test(another_users_thread_is_told),
		cmocka_unit_test(a_held_counter_names_the_watchdog_if_it_is_on),
		cmocka_unit_test(file_limits_of_the_process_and_of_the_machine_differ),
		cmocka_unit_test(an_unexpected_errno_is_still_a_sentence),
		cmocka_unit_test(without_rights_the_setting_is_quoted),
		cmocka_unit_test(without_rights_the_default_set_still_works),
		cmocka_unit_test(a_seccomp_filter_is_recognised),
		cmocka_unit_test(without_files_the_limit_is_told),
		cmocka_unit_test(what_needs_no_perf_event_cannot_be_refused),
		cmocka_unit_test(a_hardware_event_is_counted_or_the_pmu_is_missing),
		cmocka_unit_test(doctor_finds_what_works),
		cmocka_unit_test(doctor_finds_what_is_in_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
