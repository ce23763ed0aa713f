// SPDX-License-Identifier: GPL-2.0-only
#include "refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../base/denied.h"
#include "../base/setting.h"
#include "event.h"
#include "open.h"

void permissions_read(struct permissions *permissions)
{
	FILE *file = fopen("/proc/self/status", "re");
	struct perf_event_attr cycles = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(cycles),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	uint64_t capabilities = 0;
	int mode = 0, fd;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "CapEff: %" SCNx64, &capabilities);
		sscanf(line, "Seccomp: %d", &mode);
	}
	if (file)
		fclose(file);
	fd = perf_open(&cycles, 0, -1);
	*permissions = (struct permissions){
		.paranoid = setting_read(SETTING_PARANOID, PARANOID_UNKNOWN),
		.sys_admin = capabilities >> CAP_SYS_ADMIN & 1,
		.perfmon = capabilities >> CAP_PERFMON & 1,
		.user_namespace = denied_in_user_namespace(),
		.seccomp = mode == 2,
		.nmi_watchdog = setting_read("/proc/sys/kernel/nmi_watchdog", 0) > 0,
		.cycles = fd < 0 ? fd : 0,
	};
	close_fd(&fd);
}

bool permissions_lift_paranoid(const struct permissions *permissions)
{
	if (permissions->user_namespace)
		return false;
	return permissions->sys_admin ||
	       (permissions->perfmon && permissions->paranoid <= PARANOID_PERFMON);
}

bool permissions_no_pmu(const struct permissions *permissions)
{
	return permissions->cycles == -ENOENT || permissions->cycles == -EOPNOTSUPP ||
	       permissions->cycles == -ENODEV || permissions->cycles == -ENXIO;
}

/* The highest perf_event_paranoid at which anybody may count @attr. */
static int allowed_level(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return -1;
	return attr->exclude_kernel ? 2 : 1;
}

static int refused_permission(struct error *err, int error, const struct counter *counter,
			      pid_t tid, const struct permissions *p)
{
	bool lifted = permissions_lift_paranoid(p);
	int level = allowed_level(&counter->attr);

	if (!lifted && p->paranoid > level && p->user_namespace && (p->sys_admin || p->perfmon))
		return error_set(err, error,
				 "not permitted to count '%s': kernel.perf_event_paranoid is %d, "
				 "and the capabilities of a user namespace do not lift it; run "
				 "opprobe outside the container, or on the host: sysctl -w "
				 "kernel.perf_event_paranoid=%d",
				 counter->event, p->paranoid, level);
	if (!lifted && p->paranoid > level)
		return error_set(
			err, error,
			"not permitted to count '%s': kernel.perf_event_paranoid is %d and opprobe "
			"lacks %s; run it as root, or: sysctl -w kernel.perf_event_paranoid=%d",
			counter->event, p->paranoid,
			p->paranoid > 2 ? "CAP_SYS_ADMIN" : "CAP_PERFMON (or CAP_SYS_ADMIN)",
			level);
	if (p->seccomp)
		return error_set(
			err, error,
			"not permitted to count '%s': a seccomp filter, as containers have it, "
			"refuses perf_event_open; run opprobe outside the container, or the "
			"container with a seccomp profile that allows it",
			counter->event);
	if (tid > 0 && !lifted)
		return error_set(err, error,
				 "not permitted to count '%s' on thread %d: it belongs to another "
				 "user; run opprobe as root",
				 counter->event, tid);
	return error_set(err, error,
			 "not permitted to count '%s' (%s): neither kernel.perf_event_paranoid "
			 "(%d) nor a missing capability nor seccomp explains it, so a security "
			 "module such as SELinux does; allow opprobe perf_event there",
			 counter->event, error_reason(error), p->paranoid);
}

/* The event is not there, or not for a thread. */
static int refused_event(struct error *err, int error, const struct counter *counter,
			 const struct permissions *p)
{
	char pmu[64] = "";

	if (counter->source == COUNTER_PERF_SOFTWARE)
		return error_set(err, error, "this kernel does not count '%s' (%s): leave it out",
				 counter->event, error_reason(error));
	if (counter->attr.type >= PERF_TYPE_MAX) {
		sysfs_pmu_name(counter->attr.type, pmu, sizeof(pmu));
		if (sysfs_pmu_is_uncore(counter->attr.type))
			return error_set(
				err, error,
				"'%s' cannot be counted per thread: the PMU '%s' serves all cores "
				"together; use 'perf stat -a' for it",
				counter->event, pmu);
	} else if (permissions_no_pmu(p)) {
		return error_set(
			err, error,
			"cannot count '%s': this machine shows no hardware counters (is it a "
			"virtual machine without a PMU?); count software events (task-clock, "
			"page-faults, context-switches), or give the machine a PMU",
			counter->event);
	}
	if (error == -EINVAL)
		return error_set(err, error,
				 "this CPU's PMU does not accept '%s' as it is written (%s): check "
				 "its modifiers and code; see 'opprobe list'",
				 counter->event, error_reason(error));
	return error_set(
		err, error,
		"'%s' is a known event, but this CPU does not count it: see 'opprobe list' for "
		"those that it counts",
		counter->event);
}

int refusal(struct error *err, int error, const struct counter *counter, pid_t tid,
	    const struct permissions *p)
{
	struct rlimit files = {};

	switch (-error) {
	case EACCES:
	case EPERM:
		return refused_permission(err, error, counter, tid, p);
	case ENOSYS:
		if (p->seccomp)
			return refused_permission(err, error, counter, tid, p);
		return error_set(err, error,
				 "cannot count '%s': this kernel is built without perf events "
				 "(CONFIG_PERF_EVENTS); count task-faults, context-switches "
				 "and task-migrations, which need none",
				 counter->event);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EINVAL:
	case EOPNOTSUPP:
		return refused_event(err, error, counter, p);
	case EBUSY:
		return error_set(
			err, error,
			"cannot count '%s': another user of the PMU holds the counter that it "
			"needs; %s",
			counter->event,
			p->nmi_watchdog ? "one is held by the NMI watchdog: sysctl -w "
					  "kernel.nmi_watchdog=0"
					: "look for another perf or profiler on this machine");
	case EMFILE:
		getrlimit(RLIMIT_NOFILE, &files);
		return error_set(err, error,
				 "cannot count '%s': opprobe has all %ju files open that it may; "
				 "raise the limit (ulimit -n) or count fewer events",
				 counter->event, (uintmax_t)files.rlim_cur);
	case ENFILE:
		return error_set(err, error,
				 "cannot count '%s': this machine has all files open that it may; "
				 "raise it: sysctl -w fs.file-max=NUMBER",
				 counter->event);
	case E2BIG:
		return error_set(err, error,
				 "cannot count '%s': it uses a setting that this kernel is too old "
				 "for; leave its modifiers out",
				 counter->event);
	default:
		return error_set(err, error, "cannot count '%s': perf_event_open fails (%s); %s",
				 counter->event, error_reason(error),
				 "see the kernel's log (dmesg), or leave the event out");
	}
}

const char *refusal_brief(int error, const struct counter *counter, const struct permissions *p)
{
	switch (-error) {
	case EACCES:
	case EPERM:
		return "not permitted; see opprobe doctor";
	case EBUSY:
		return "its counter is held by somebody else";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENOSYS:
		return p->seccomp ? "not permitted; see opprobe doctor" : "no perf events";
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EINVAL:
	case EOPNOTSUPP:
		if (counter->source == COUNTER_PERF_SOFTWARE)
			return "not counted by this kernel";
		if (counter->attr.type >= PERF_TYPE_MAX && sysfs_pmu_is_uncore(counter->attr.type))
			return "serves all cores together, not counted per thread";
		if (permissions_no_pmu(p) && counter->attr.type < PERF_TYPE_MAX)
			return "no hardware counters on this machine";
		return "not counted by this CPU";
	default:
		return error_reason(error);
	}
}

int counter_open(const struct counter *counter, struct error *err)
{
	struct permissions permissions;
	int fd = 0;

	if (counter_is_sched(counter->source) && !sched_times_readable())
		return error_set(
			err, -EOPNOTSUPP,
			"this kernel does not tell programs of '%s': it needs Linux 5.11 or "
			"newer with CONFIG_SCHED_INFO; leave it out",
			counter->event);
	if (counter_uses_perf(counter))
		fd = perf_open(&counter->attr, 0, -1);
	if (fd > 0)
		close(fd);
	if (fd >= 0)
		return 0;
	if (!err)
		return fd;
	permissions_read(&permissions);
	return refusal(err, fd, counter, 0, &permissions);
}
