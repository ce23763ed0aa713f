// SPDX-License-Identifier: GPL-2.0-only
#include "debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

int open_regular(const char *path)
{
	struct stat status;
	/* Opening anything else may do something, or wait: it is looked at first. */
	int place = open(path, O_PATH | O_CLOEXEC), file;
	char link[64];

	if (place < 0)
		return -errno;
	if (fstat(place, &status) || !S_ISREG(status.st_mode)) {
		close(place);
		return -EINVAL;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	file = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		file = -errno;
	close(place);
	return file;
}

static int by_build_id(const char *name, unsigned int candidate)
{
	char path[PATH_MAX];

	if (candidate)
		return -ERANGE;
	if (strlen(name) < 4 || name[strspn(name, "0123456789abcdef")])
		return -EINVAL;
	snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", name, name + 2);
	return open_regular(path);
}

static int by_link(const char *library, const char *name, unsigned int candidate)
{
	static const char *const formats[] = {"%s/%s", "%s/.debug/%s", DEBUG_ROOT "%s/%s"};
	char folder[PATH_MAX], path[2 * PATH_MAX];
	char *slash;

	if (candidate >= sizeof(formats) / sizeof(*formats))
		return -ERANGE;
	if (!*name || strchr(name, '/') || !strcmp(name, "..") || !strcmp(name, "."))
		return -EINVAL;
	if (!realpath(library, folder))
		return -errno;
	slash = strrchr(folder, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	snprintf(path, sizeof(path), formats[candidate], folder, name);
	return open_regular(path);
}

int debug_file_open(const char *library, enum debug_name kind, const char *name,
		    unsigned int candidate)
{
	switch (kind) {
	case DEBUG_BUILD_ID:
		return by_build_id(name, candidate);
	case DEBUG_LINK:
		return by_link(library, name, candidate);
	}
	return -ERANGE;
}
