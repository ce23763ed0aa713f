// SPDX-License-Identifier: GPL-2.0-only
#include "sudo.h"

#include <limits.h>
#include <stdlib.h>
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

bool sudo_user(uid_t *user, gid_t *group)
{
	return !geteuid() && parse_id("SUDO_UID", user) && parse_id("SUDO_GID", group);
}
