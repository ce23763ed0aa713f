// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel does not let opprobe do, told by who has which rights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cap-ng.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/denied.h"
#include "needs.h"

#define NONE (-1)

/* In a process that has these capabilities and no other, @expected is said of @error. */
static void says(int first, int second, int error, const char *expected)
{
	struct error err;
	int status;
	pid_t pid;

	/* With those of a user namespace another thing is said. */
	if (geteuid() || denied_in_user_namespace())
		leave_out(NEEDS_ROOT);
	pid = fork();
	if (!pid) {
		capng_clear(CAPNG_SELECT_CAPS);
		for (int i = 0; i < 2; i++)
			if ((i ? second : first) != NONE)
				capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
					     (unsigned int)(i ? second : first));
		if (capng_apply(CAPNG_SELECT_CAPS) ||
		    denied(&err, error, "cannot %s", "do") != error)
			_exit(2);
		if (strcmp(err.text, expected) != 0)
			fprintf(stderr, "'%s' is not '%s'\n", err.text, expected);
		_exit(strcmp(err.text, expected) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define GET "; run opprobe as root (sudo), or with CAP_BPF and CAP_PERFMON"
#define FILTER                                                                                     \
	": a seccomp filter, as containers have it, or a security module forbids it; run it with " \
	"seccomp unconfined"

static void who_lacks_rights_is_told_to_get_them(void **state)
{
	(void)state;
	says(NONE, NONE, -EPERM, "cannot do: Operation not permitted" GET);
	says(NONE, NONE, -EACCES, "cannot do: Permission denied" GET);
	says(CAP_BPF, NONE, -EPERM, "cannot do: Operation not permitted" GET);
	says(CAP_PERFMON, CAP_SYS_PTRACE, -EPERM, "cannot do: Operation not permitted" GET);
}

static void who_has_them_is_told_what_else_forbids_it(void **state)
{
	(void)state;
	says(CAP_BPF, CAP_PERFMON, -EPERM,
	     "cannot do: Operation not permitted, although opprobe has CAP_BPF and "
	     "CAP_PERFMON" FILTER);
	says(CAP_SYS_ADMIN, NONE, -EPERM,
	     "cannot do: Operation not permitted, although opprobe has CAP_SYS_ADMIN" FILTER);
	says(CAP_SYS_ADMIN, NONE, -EACCES,
	     "cannot do: Permission denied, although opprobe has CAP_SYS_ADMIN" FILTER);
}

static void what_is_no_matter_of_rights_is_not_explained_by_them(void **state)
{
	(void)state;
	says(NONE, NONE, -ENOSYS, "cannot do: Function not implemented; see `opprobe doctor`");
	says(CAP_BPF, CAP_PERFMON, -ENOMEM,
	     "cannot do: Cannot allocate memory; see `opprobe doctor`");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_lacks_rights_is_told_to_get_them),
		cmocka_unit_test(who_has_them_is_told_what_else_forbids_it),
		cmocka_unit_test(what_is_no_matter_of_rights_is_not_explained_by_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
