// SPDX-License-Identifier: GPL-2.0-only
#include "contents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../output/output.h"

const struct content contents_kinds[] = {
	{"", "text/html; charset=utf-8", .report = "html"},
	{"trace.perfetto-trace", "application/octet-stream", .export = "perfetto",
	 .for_perfetto = true},
	{"report.json", "application/json", .report = "json"},
	{"report.csv", "text/csv; charset=utf-8", .report = "csv"},
	{"trace.json", "application/json", .export = "chrome"},
	{"speedscope.json", "application/json", .export = "speedscope"},
	{"profile.pb", "application/octet-stream", .export = "pprof"},
	{"stacks.folded", "text/plain; charset=utf-8", .export = "folded"},
	{},
};

_Static_assert(sizeof(contents_kinds) / sizeof(contents_kinds[0]) == CONTENTS_MAX + 1,
	       "a descriptor of each");

struct contents {
	const char *capture;
	char folder[PATH_MAX - NAME_MAX];
	int fds[CONTENTS_MAX]; /* -1: not asked for yet */
};

struct contents *contents_open(const char *capture, struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	struct contents *c = calloc(1, sizeof(*c));

	if (!c) {
		error_set(err, -ENOMEM, "cannot show %s: out of memory", capture);
		return NULL;
	}
	c->capture = capture;
	for (size_t i = 0; i < CONTENTS_MAX; i++)
		c->fds[i] = -1;
	snprintf(c->folder, sizeof(c->folder), "%s/opprobe-XXXXXX",
		 temporary && *temporary ? temporary : "/tmp");
	if (mkdtemp(c->folder))
		return c;
	error_set(err, -errno, "cannot make a folder as %s: %s: set TMPDIR to one with room",
		  c->folder, error_reason(-errno));
	free(c);
	return NULL;
}

/* The page has no name. */
static void path_of(const struct contents *c, const struct content *kind, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", c->folder, *kind->name ? kind->name : "page.html");
}

static int write_view(struct contents *c, const struct content *kind, const char *path,
		      struct error *err)
{
	const struct report_options report = {.format = kind->report, .analyze.compensate = true};
	const struct export_options export = {.format = kind->export};
	int error = kind->report ? report_write(c->capture, &report, path, err)
				 : export_capture(c->capture, &export, path, NULL, err);

	return error == -EBADMSG ? 0 : error;
}

int contents_get(struct contents *c, const struct content *kind, uint64_t *size, struct error *err)
{
	int *fd = &c->fds[kind - contents_kinds], got, error;
	char path[PATH_MAX];
	struct stat status;

	if (*fd < 0) {
		path_of(c, kind, path, sizeof(path));
		error = write_view(c, kind, path, err);
		if (error)
			return error;
		*fd = open(path, O_RDONLY | O_CLOEXEC);
		unlink(path);
	}
	/* One of its own: whoever sends it moves no place that another one reads at. */
	got = *fd < 0 ? -1 : fcntl(*fd, F_DUPFD_CLOEXEC, 0);
	if (got < 0 || fstat(got, &status))
		return error_set(err, -errno, "cannot read what was written of %s: %s", c->capture,
				 error_reason(-errno));
	*size = status.st_size;
	return got;
}

void contents_remove(struct contents *c)
{
	char path[PATH_MAX];

	for (const struct content *kind = contents_kinds; kind->name; kind++) {
		path_of(c, kind, path, sizeof(path));
		unlink(path);
	}
	rmdir(c->folder);
}

void contents_free(struct contents *c)
{
	for (size_t i = 0; i < CONTENTS_MAX; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	free(c);
}
