/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of the kernel, as /proc/sys shows them. */
#ifndef OPPROBE_SETTING_H
#define OPPROBE_SETTING_H

#define SETTING_PARANOID "/proc/sys/kernel/perf_event_paranoid"
/*
 * CAP_PERFMON does at this level. Those above are Debian's and Ubuntu's own: they take
 * CAP_SYS_ADMIN
 * ("security,perf: Allow further restriction of perf_event_open", Debian's default until 6.1).
 */
#define PARANOID_PERFMON 2

/* The number in the file @path; @unknown if there is none. */
int setting_read(const char *path, int unknown);

#endif
