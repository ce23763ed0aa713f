// SPDX-License-Identifier: GPL-2.0-only
#include "sandbox.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spawn.h"

#define NOBODY	      65534	  /* the kernel's own overflow user, /proc/sys/kernel/overflowuid */
#define MEMORY_MAX    (1UL << 30) /* bytes that are its own; files that it maps are not */
#define CPU_TIME_MAX  21600 /* s, of a whole recording: single questions have their deadline */
#define OPEN_MAX_HERE 64

/* To @value, if it was not less before: raising one is a right of its own. */
static int limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return -errno;
	limit.rlim_max = limit.rlim_max < value ? limit.rlim_max : value;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(resource, &limit) ? -errno : 0;
}

static int set_limits(void)
{
	int error = limit(RLIMIT_CORE, 0);

	if (!SANITIZED)
		error = error ?: limit(RLIMIT_DATA, MEMORY_MAX);
	error = error ?: limit(RLIMIT_CPU, CPU_TIME_MAX);
	error = error ?: limit(RLIMIT_FSIZE, 0);
	error = error ?: limit(RLIMIT_NOFILE, OPEN_MAX_HERE);
	return error ?: limit(RLIMIT_MEMLOCK, 0);
}

/* What cannot be had in some containers, and only makes it kinder. */
static void be_modest(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, "1000", 4) != 4)
			errno = 0;
		close(fd);
	}
	spawn_wait_behind();
}

/* The terminal is not its own either; a sanitizer's report is. */
static int close_files(int keep)
{
	struct rlimit limit;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO - SANITIZED; fd++)
		close(fd);
	if (!syscall(SYS_close_range, keep + 1, ~0U, 0))
		return 0;
	/* Before 5.9 there is no such call. */
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	for (rlim_t fd = (rlim_t)keep + 1; fd < limit.rlim_cur && fd < 1 << 20; fd++)
		close((int)fd);
	return 0;
}

/* In a user namespace without a nobody it stays who it is, without any right. */
static int drop_user(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) && errno != EPERM)
		return -errno;
	if (setresgid(NOBODY, NOBODY, NOBODY) && errno != EINVAL && errno != EPERM)
		return -errno;
	if (setresuid(NOBODY, NOBODY, NOBODY) && errno != EINVAL && errno != EPERM)
		return -errno;
	return 0;
}

static int drop_capabilities(void)
{
	capng_clear(CAPNG_SELECT_ALL);
	/* Without CAP_SETPCAP the bounding set stays, which is of use to nobody here: no exec. */
	if (capng_apply(CAPNG_SELECT_CAPS) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return -EPERM;
	capng_get_caps_process();
	return capng_have_capabilities(CAPNG_SELECT_CAPS) == CAPNG_NONE ? 0 : -EPERM;
}

/* sysinfo(): the C library sorts large arrays by how much memory there is. */
static const int calls[] = {
	SCMP_SYS(read),	     SCMP_SYS(recvmsg),	     SCMP_SYS(sendmsg),
	SCMP_SYS(poll),	     SCMP_SYS(ppoll),	     SCMP_SYS(lseek),
	SCMP_SYS(close),     SCMP_SYS(fstat),	     SCMP_SYS(munmap),
	SCMP_SYS(mremap),    SCMP_SYS(madvise),	     SCMP_SYS(brk),
	SCMP_SYS(futex),     SCMP_SYS(getpid),	     SCMP_SYS(clock_gettime),
	SCMP_SYS(getrandom), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
	SCMP_SYS(sysinfo),   SCMP_SYS(exit_group),
};

static int fill_filter(scmp_filter_ctx filter)
{
	/* No code is made here. */
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	/* How the C library spells fstat(). */
	const struct scmp_arg_cmp no_path = SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH);
	const uint32_t allow = SCMP_ACT_ALLOW;
	int error = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls) && !error; i++)
		error = seccomp_rule_add(filter, allow, calls[i], 0);
	error = error ?: seccomp_rule_add(filter, allow, SCMP_SYS(mmap), 1, no_code);
	error = error ?: seccomp_rule_add(filter, allow, SCMP_SYS(mprotect), 1, no_code);
	return error ?: seccomp_rule_add(filter, allow, SCMP_SYS(newfstatat), 1, no_path);
}

static int filter_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int error;

	if (!filter)
		return -ENOMEM;
	error = fill_filter(filter) ?: seccomp_load(filter);
	seccomp_release(filter);
	return error;
}

static int refuse(struct error *err, const char *what, int error)
{
	return error_set(err, error,
			 "opprobe's inspector cannot %s: %s; it does not look at what others made "
			 "with rights that it does not need",
			 what, error_reason(error));
}

int sandbox_enter(int keep, struct error *err)
{
	int error;

	be_modest();
	error = close_files(keep) ?: set_limits();
	if (error)
		return refuse(err, "limit itself", error);
	error = drop_user() ?: drop_capabilities();
	if (error)
		return refuse(err, "give up its rights", error);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL))
		return refuse(err, "give up its rights for good", -errno);
	error = SANITIZED ? 0 : filter_calls();
	return error ? refuse(err,
			      "restrict its system calls (the kernel needs CONFIG_SECCOMP_FILTER)",
			      error)
		     : 0;
}
