// SPDX-License-Identifier: GPL-2.0-only
#include "caller.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sudo.h"

int caller_become(struct error *err)
{
	uid_t user;
	gid_t group;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (geteuid())
		return 0;
	if (sudo_user(&user, &group)) {
		if (setgroups(0, NULL) || setresgid(group, group, group) ||
		    setresuid(user, user, user))
			return error_set(err, -errno, "cannot become user %u, who called sudo: %s",
					 user, error_reason(-errno));
		return 0;
	}
	capng_clear(CAPNG_SELECT_CAPS);
	capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_DAC_READ_SEARCH);
	if (capng_apply(CAPNG_SELECT_CAPS)) {
		capng_clear(CAPNG_SELECT_CAPS);
		if (capng_apply(CAPNG_SELECT_CAPS))
			return error_set(err, -EPERM, "cannot give up the rights of root");
	}
	return 0;
}
