/* SPDX-License-Identifier: GPL-2.0-only */
/* The system call itself. Internal to counters/. */
#ifndef OPPROBE_COUNTERS_OPEN_H
#define OPPROBE_COUNTERS_OPEN_H

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Open @attr on thread @tid (0: this one), on whatever CPU it runs, as a
 * member of the group of @leader or, with -1, as a leader. Returns an fd, to
 * be closed by the caller, or a negative errno.
 */
static inline int perf_open(const struct perf_event_attr *attr, pid_t tid, int leader)
{
	int fd = syscall(SYS_perf_event_open, attr, tid, -1, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static inline void close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_fd_ __attribute__((cleanup(close_fd)))

#endif
