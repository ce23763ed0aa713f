// SPDX-License-Identifier: GPL-2.0-only
/* What counting depends on, checked by doing it: rows of `opprobe doctor`. */
#include "counters.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "event.h"
#include "groups.h"
#include "open.h"
#include "refusal.h"

struct findings {
	struct finding *rows;
	size_t n, max;
};

__attribute__((format(printf, 4, 5))) static void found(struct findings *findings, const char *name,
							enum finding_verdict verdict,
							const char *format, ...)
{
	struct finding *row;
	va_list args;

	if (findings->n == findings->max)
		return;
	row = &findings->rows[findings->n++];
	row->name = name;
	row->verdict = verdict;
	va_start(args, format);
	vsnprintf(row->text, sizeof(row->text), format, args);
	va_end(args);
}

/* Try @event on @tid (0: this thread); returns 0 or an errno with a sentence. */
static int try_event(const char *event, pid_t tid, const struct permissions *permissions,
		     struct error *err)
{
	struct counter counter;
	int error = event_find(event, &counter, NULL, err);
	int fd = error ? error : perf_open(&counter.attr, tid, -1);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	return error ? error : refusal(err, fd, &counter, tid, permissions);
}

static void check_permission(struct findings *findings, const struct permissions *p)
{
	static const char name[] = "perf permission";

	if (p->paranoid == PARANOID_UNKNOWN)
		found(findings, name, FINDING_FAIL,
		      "there is no kernel.perf_event_paranoid: the kernel is built without perf "
		      "events, or /proc/sys is hidden; run opprobe outside the container");
	else if (permissions_lift_paranoid(p))
		found(findings, name, FINDING_OK,
		      "%s, which kernel.perf_event_paranoid (%d) does not bind",
		      p->sys_admin ? "CAP_SYS_ADMIN" : "CAP_PERFMON", p->paranoid);
	else if (p->user_namespace)
		found(findings, name, FINDING_WARN,
		      "kernel.perf_event_paranoid is %d and capabilities of a user namespace do "
		      "not lift it; run opprobe outside the container",
		      p->paranoid);
	else
		found(findings, name, p->paranoid > 2 ? FINDING_FAIL : FINDING_WARN,
		      "kernel.perf_event_paranoid is %d and opprobe lacks %s; run it as root",
		      p->paranoid, p->paranoid > 2 ? "CAP_SYS_ADMIN" : "CAP_PERFMON");
}

static void check_system_call(struct findings *findings, const struct permissions *p)
{
	struct error err;
	int error = try_event("task-clock", 0, p, &err);

	found(findings, "perf events", error ? FINDING_FAIL : FINDING_OK, "%s",
	      error ? err.text : "software events can be opened");
	if (!p->seccomp)
		found(findings, "seccomp", FINDING_OK, "no seccomp filter is in the way");
	else if (!error)
		found(findings, "seccomp", FINDING_OK,
		      "a seccomp filter is installed and lets perf_event_open pass");
	else
		found(findings, "seccomp", FINDING_WARN,
		      "a seccomp filter is installed, as containers have it; run opprobe outside, "
		      "or the container with a profile that allows perf_event_open");
}

static void check_hardware(struct findings *findings, const struct permissions *p)
{
	static const char name[] = "hardware counters";
	struct error err;
	int width;

	if (try_event("cycles", 0, p, &err)) {
		found(findings, name, FINDING_WARN, "%s", err.text);
		return;
	}
	width = groups_width();
	if (width > 0)
		found(findings, name, FINDING_OK,
		      "%d%s events are counted at the same time; more take turns", width,
		      width == COUNTERS_MAX ? " or more" : "");
	else
		found(findings, name, FINDING_WARN,
		      "they can be opened but all are held by someone else: stop other profilers%s",
		      p->nmi_watchdog ? ", or: sysctl -w kernel.nmi_watchdog=0" : "");
	if (p->nmi_watchdog)
		found(findings, "NMI watchdog", FINDING_WARN,
		      "it holds one hardware counter; to have it: sysctl -w kernel.nmi_watchdog=0");
	else
		found(findings, "NMI watchdog", FINDING_OK, "it holds no hardware counter");
	if (sysfs_core_pmus() > 1)
		found(findings, "kinds of cores", FINDING_WARN,
		      "the CPU has %u kinds of cores: a hardware event counts on one kind; keep "
		      "the target there with taskset",
		      sysfs_core_pmus());
}

static void check_tracepoints(struct findings *findings)
{
	int fd = tracefs_events();

	if (fd >= 0)
		found(findings, "tracepoints", FINDING_OK, "they can be looked up");
	else
		found(findings, "tracepoints", FINDING_WARN,
		      "tracefs cannot be read (%s): run opprobe as root to count tracepoints",
		      strerror(-fd));
}

static unsigned int count_threads(pid_t pid)
{
	char path[64];
	const struct dirent *entry;
	unsigned int n = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		n += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return n;
}

static void check_files(struct findings *findings, unsigned int threads)
{
	struct rlimit limit = {};
	uintmax_t can, wanted = threads ? threads : 64;

	getrlimit(RLIMIT_NOFILE, &limit);
	/* 4 events are the default; some files are opprobe's own. */
	can = limit.rlim_max > 256 ? (limit.rlim_max - 256) / 4 : 0;
	if (can >= wanted)
		found(findings, "open files", FINDING_OK,
		      "up to %ju: 4 events on %ju threads, 16 on %ju", (uintmax_t)limit.rlim_max,
		      can, can / 4);
	else
		found(findings, "open files", FINDING_WARN,
		      "only %ju, which is too few for 4 perf events on %ju threads; raise the hard "
		      "limit: ulimit -Hn %ju",
		      (uintmax_t)limit.rlim_max, wanted, wanted * 16 + 256);
}

static void check_target(struct findings *findings, pid_t pid, bool several,
			 const struct permissions *p)
{
	char of[32] = "";
	struct error err;
	int error = try_event("task-clock", pid, p, &err);

	if (several)
		snprintf(of, sizeof(of), "of %d: ", pid);
	if (error == -ESRCH)
		found(findings, "target's threads", FINDING_FAIL,
		      "there is no process %d: check the pid", pid);
	else
		found(findings, "target's threads", error ? FINDING_FAIL : FINDING_OK, "%s%s", of,
		      error ? err.text : "they may be counted");
}

size_t counters_diagnose(const pid_t *pids, size_t n, struct finding *rows, size_t max)
{
	struct findings findings = {.rows = rows, .max = max};
	struct permissions permissions;
	unsigned int threads = 0;

	for (size_t i = 0; i < n; i++)
		threads += count_threads(pids[i]);
	permissions_read(&permissions);
	check_permission(&findings, &permissions);
	check_system_call(&findings, &permissions);
	check_hardware(&findings, &permissions);
	check_tracepoints(&findings);
	check_files(&findings, threads);
	for (size_t i = 0; i < n; i++)
		check_target(&findings, pids[i], n > 1, &permissions);
	return findings.n;
}
