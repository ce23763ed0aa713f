// SPDX-License-Identifier: GPL-2.0-only
#include "kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contents.h"

static int open_file(const char *path, uint64_t *size, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status)) {
		*size = (uint64_t)status.st_size;
		return fd;
	}
	error_set(err, -errno, "cannot read the capture %s: %s", path, error_reason(-errno));
	if (fd >= 0)
		close(fd);
	return -EIO;
}

/* The view of the capture @path that is called @name. */
static int open_view(const char *path, const char *name, uint64_t *size, struct error *err)
{
	const struct content *kind = contents_kinds;
	struct contents *contents = contents_open(path, err);
	int fd;

	if (!contents)
		return -EIO;
	while (strcmp(kind->name, name) != 0)
		kind++;
	fd = contents_get(contents, kind, size, err);
	contents_remove(contents);
	contents_free(contents);
	return fd;
}

int kept_open(struct live *live, const char *kind, const struct part_of *part, uint64_t *size,
	      struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	char path[256], *where = NULL;
	const struct live_writing writing = {.path = path, .who = "opprobe serve", .of = *part};
	int fd, error;

	snprintf(path, sizeof(path), "%s/opprobe-serve-XXXXXX",
		 temporary && *temporary ? temporary : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return error_set(err, -errno,
				 "cannot make a file as %s: %s: set TMPDIR to a "
				 "folder with room",
				 path, error_reason(-errno));
	close(fd);
	error = live_write(live, &writing, &where, err);
	free(where);
	if (!error)
		error = strcmp(kind, KEPT_CAPTURE) ? open_view(path, kind, size, err)
						   : open_file(path, size, err);
	unlink(path);
	return error;
}
