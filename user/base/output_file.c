// SPDX-License-Identifier: GPL-2.0-only
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sudo.h"

#define LINKS_MAX 8	/* that lead from one to the next */
#define NAMES_MAX 10000 /* that are tried before there is no free one */

/* A place: a folder that stays the same whatever its path leads to later, and a name in it. */
struct place {
	int dir;
	char name[NAME_MAX + 1];
};

static int find_place(int from, const char *path, struct place *place)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder;

	if (!*name || strlen(name) > NAME_MAX)
		return *name ? -ENAMETOOLONG : -EISDIR;
	folder = slash ? strndup(path, slash == path ? 1 : slash - path) : strdup(".");
	if (!folder)
		return -ENOMEM;
	place->dir = openat(from, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	snprintf(place->name, sizeof(place->name), "%s", name);
	return place->dir < 0 ? -errno : 0;
}

bool output_is_trusted(uid_t owner)
{
	unsigned int user, group;

	return !owner || owner == geteuid() || (sudo_user(&user, &group) && owner == user);
}

/* Under sudo, what is made is its user's: reports need no root. */
static void give_to_user(int fd)
{
	unsigned int user, group;

	if (sudo_user(&user, &group) && fchown(fd, user, group))
		return; /* it stays root's */
}

/* Returns the new file's descriptor, or a negative errno. */
static int make(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	give_to_user(fd);
	flock(fd, LOCK_EX | LOCK_NB); /* see is_being_written() */
	return fd;
}

static bool is_being_written(const struct place *place)
{
	int fd = openat(place->dir, place->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool written = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return written;
}

int output_stem(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	return dot && dot > (slash ? slash + 1 : path) ? dot - path : (int)strlen(path);
}

/* "run.opp" and 2 → "run.2.opp"; 1 is the name itself. */
static void number_name(char numbered[NAME_MAX + 16], const char *name, int number)
{
	int stem = output_stem(name);

	if (number == 1)
		snprintf(numbered, NAME_MAX + 16, "%s", name);
	else
		snprintf(numbered, NAME_MAX + 16, "%.*s.%d%s", stem, name, number, name + stem);
}

/* Make a file at @place: of its name with @suffix, or of the first free one of @names like it. */
static int make_file(struct output_file *file, const struct place *place, const char *suffix,
		     int names)
{
	char name[NAME_MAX + 8], numbered[NAME_MAX + 16];
	int fd = -EEXIST;

	snprintf(name, sizeof(name), "%s%s", place->name, suffix);
	for (int number = 1; fd == -EEXIST && number <= names; number++) {
		number_name(numbered, name, number);
		fd = make(place->dir, numbered);
	}
	if (fd < 0)
		return fd;
	file->fd = fd;
	file->made = strdup(numbered);
	return file->made ? 0 : -ENOMEM;
}

/* Something that is no regular file. A FIFO that nobody reads is refused instead of waited for. */
static int open_in_place(struct output_file *file, const struct place *place)
{
	struct stat st;

	file->fd = openat(place->dir, place->name,
			  O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file->fd < 0)
		return -errno;
	/* Another one by now? */
	if (fstat(file->fd, &st) || S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
		return -ENOTSUP;
	return 0;
}

/* A link in /proc leads to what is open, not to a path: /dev/stdout, /dev/fd/3. */
static bool leads_to_open_file(const struct place *place)
{
	struct statfs fs;

	return !fstatfs(place->dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

static int open_place(struct output_file *file, int from, const char *path,
		      enum output_naming naming, int links);

static int follow(struct output_file *file, const struct place *place, const struct stat *st,
		  int links)
{
	char target[PATH_MAX];
	ssize_t n;

	if (links == LINKS_MAX)
		return -ELOOP;
	if (leads_to_open_file(place)) {
		file->fd = openat(place->dir, place->name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		return file->fd < 0 ? -errno : 0;
	}
	if (!output_is_trusted(st->st_uid))
		return -ELOOP;
	n = readlinkat(place->dir, place->name, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	return open_place(file, place->dir, target, OUTPUT_NAMED, links + 1);
}

/* What stands at @place is of the user's choice. */
static int open_named(struct output_file *file, const struct place *place, const struct stat *st,
		      int links)
{
	if (S_ISLNK(st->st_mode))
		return follow(file, place, st, links);
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	/* Devices are made by root alone. */
	if ((S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode)) && !output_is_trusted(st->st_uid))
		return -ELOOP;
	if (!S_ISREG(st->st_mode))
		return open_in_place(file, place);
	if (is_being_written(place))
		return -EBUSY;
	return make_file(file, place, ".new", NAMES_MAX);
}

static int open_place(struct output_file *file, int from, const char *path,
		      enum output_naming naming, int links)
{
	struct place place;
	struct stat st;
	int error = find_place(from, path, &place);

	if (error)
		return error;
	if (naming == OUTPUT_FREE) {
		error = make_file(file, &place, "", NAMES_MAX);
	} else if (!fstatat(place.dir, place.name, &st, AT_SYMLINK_NOFOLLOW)) {
		error = open_named(file, &place, &st, links);
	} else {
		error = errno == ENOENT ? make_file(file, &place, "", 1) : -errno;
	}
	/* What was made behind a link is in a folder of its own. */
	if (file->made && file->dir < 0) {
		file->dir = place.dir;
		file->name = strdup(naming == OUTPUT_FREE ? file->made : place.name);
		return file->name ? error : -ENOMEM;
	}
	close(place.dir);
	return error;
}

/* @path with @name instead of its last part. */
static char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	char *other;

	return asprintf(&other, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name) < 0
		       ? NULL
		       : other;
}

static const char *remedy(int error)
{
	switch (error) {
	case -EBUSY:
		return "another opprobe is writing it; wait for that, or choose another place";
	case -ELOOP:
		return "it is a link or a pipe of another user, or one of too many links; choose "
		       "another place";
	case -ENXIO:
		return "nobody reads it; start the reader first";
	case -ENOTSUP:
		return "it is a block device, or has changed meanwhile; choose another place";
	default:
		return NULL;
	}
}

static void forget(struct output_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->dir >= 0)
		close(file->dir);
	free(file->path);
	free(file->made);
	free(file->name);
	*file = (struct output_file){.fd = -1, .dir = -1};
}

int output_file_open(struct output_file *file, const char *path, enum output_naming naming,
		     struct error *err)
{
	struct stat st;
	int error = 0;

	*file = (struct output_file){.fd = -1, .dir = -1};
	if (!strcmp(path, "-")) {
		file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		error = file->fd < 0 ? -errno : 0;
		file->path = strdup("standard output");
	} else {
		error = open_place(file, AT_FDCWD, path, naming, 0);
		file->path = naming == OUTPUT_FREE && file->name ? beside(path, file->name)
								 : strdup(path);
	}
	if (!error && !file->path)
		error = -ENOMEM;
	if (!error) {
		file->regular = !fstat(file->fd, &st) && S_ISREG(st.st_mode);
		return 0;
	}
	output_file_drop(file);
	if (remedy(error))
		return error_set(err, error, "cannot write to %s: %s", path, remedy(error));
	return error_set(err, error, "cannot write to %s: %s; choose another place", path,
			 error_reason(error));
}

/* -- writing ---------------------------------------------------------------------- */

#define LOOK_MS		100  /* between looks at stop */
#define PATIENCE_AT_END 1000 /* of one who has been told to stop */

/*
 * Wait until a reader takes something. A pipe is not made non-blocking, as
 * others may have it, too: it takes PIPE_BUF bytes without waiting when it says
 * that there is room (pipe(7)).
 */
static int wait_for_reader(const struct output_file *file)
{
	struct pollfd room = {.fd = file->fd, .events = POLLOUT};

	for (int waited = 0; poll(&room, 1, LOOK_MS) <= 0; waited += LOOK_MS) {
		bool ends = file->stop && *file->stop;

		if ((file->patience && waited >= file->patience) ||
		    (ends && waited >= PATIENCE_AT_END))
			return -ETIMEDOUT;
	}
	return 0;
}

int output_file_write(struct output_file *file, const void *data, size_t size)
{
	const char *next = data;

	while (size) {
		int error = file->regular ? 0 : wait_for_reader(file);
		size_t most = file->regular || size < PIPE_BUF ? size : PIPE_BUF;
		ssize_t n;

		if (error)
			return error;
		n = write(file->fd, next, most);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0) {
			next += n;
			size -= n;
		}
	}
	return 0;
}

/* -- closing ---------------------------------------------------------------------- */

int output_file_close(struct output_file *file, bool whole, char **where)
{
	const char *name = file->made;
	int error = close(file->fd) ? -errno : 0;

	file->fd = -1;
	if (!error && whole && name && strcmp(name, file->name)) {
		error = renameat(file->dir, name, file->dir, file->name) ? -errno : 0;
		name = error ? name : file->name;
	}
	if (where)
		*where = name ? beside(file->path, name) : NULL;
	forget(file);
	return error;
}

void output_file_drop(struct output_file *file)
{
	struct stat ours, there;

	/* Whoever may write in this folder may have put another one there. */
	if (file->dir >= 0 && !fstat(file->fd, &ours) &&
	    !fstatat(file->dir, file->made, &there, AT_SYMLINK_NOFOLLOW) &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
		unlinkat(file->dir, file->made, 0);
	forget(file);
}

int output_file_check(const char *path, enum output_naming naming, struct error *err)
{
	struct output_file file;
	struct stat st;
	int error;

	/* Opening a pipe is not without consequences. */
	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode)))
		return 0;
	error = output_file_open(&file, path, naming, err);
	if (!error)
		output_file_drop(&file);
	return error;
}
