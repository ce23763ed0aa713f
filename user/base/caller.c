// SPDX-License-Identifier: GPL-2.0-only
#include "caller.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool parse_id(const char *name, unsigned int *id)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text || !*text)
		return false;
	value = strtoul(text, &end, 10);
	*id = value;
	return !*end && value < UINT_MAX;
}

bool caller_of_sudo(unsigned int *user, unsigned int *group)
{
	return !geteuid() && parse_id("SUDO_UID", user) && parse_id("SUDO_GID", group);
}

int caller_become(struct error *err)
{
	unsigned int user, group;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (geteuid())
		return 0;
	if (caller_of_sudo(&user, &group)) {
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
