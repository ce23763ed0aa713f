// SPDX-License-Identifier: GPL-2.0-only
#include "followed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/clock.h"

#define LOOK_NS UINT64_C(1000000000) /* between looks at a file */

static ssize_t fail(const struct followed *file, int error, const char *reason, struct error *err)
{
	return error_set(err, error, "cannot read %s from %s: %s", file->what, file->path, reason);
}

/* Up to @size bytes of what can be read. Their number, or a negative errno. */
static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, text + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

ssize_t followed_read(struct followed *file, char *text, size_t size, struct error *err)
{
	const bool again = file->looked;
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (again ? O_NONBLOCK : 0);
	int fd = open(file->path, flags);
	struct stat it = {};
	ssize_t n = fd < 0 || fstat(fd, &it) ? -errno : 0;

	file->looked = clock_ns();
	if (!n && again && !S_ISREG(it.st_mode)) {
		close(fd);
		return fail(file, -EINVAL, "it is no regular file any more", err);
	}
	if (!n)
		n = read_all(fd, text, size);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return fail(file, (int)n, error_reason((int)n), err);
	if (!n)
		return fail(file, -ENODATA, "the file is empty", err);
	file->regular = S_ISREG(it.st_mode);
	return n;
}

bool followed_due(const struct followed *file)
{
	return file->regular && clock_ns() - file->looked >= LOOK_NS;
}
