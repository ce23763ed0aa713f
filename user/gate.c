// SPDX-License-Identifier: GPL-2.0-only
#include "gate.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "inspect/inspector.h"
#include "inspect/rights.h"

#define FILE_MIN  8192 /* bytes: less is no program with a runtime, as the files of sysfs */
#define LOOKS_MAX 64   /* at a process, until it maps what it has opened */

/* A file that has been looked into. */
struct known_file {
	uint64_t device, inode, size;
	struct timespec changed;
	bool runtime; /* in it, or there may be one */
};

/* A process that may have mapped a runtime since it was looked at. */
struct suspect {
	pid_t pid;
	bool fresh; /* nobody was told yet */
	unsigned int looks;
};

/* A process at an open, which @fd is the event of. */
struct held {
	pid_t pid;
	int fd;
	unsigned int turn; /* in which it came */
	bool taken;	   /* it is being looked at */
};

struct gate {
	const volatile sig_atomic_t *stop;
	int fd, end; /* of fanotify; an eventfd that ends the thread */
	ino_t namespace;
	pthread_t thread;
	bool has_thread;

	/* The thread's own. */
	struct inspector *inspector;
	ARRAY_OF(struct known_file) files;

	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t asked;
	unsigned int turn;
	ARRAY_OF(struct suspect) suspects;
	ARRAY_OF(struct held) held;
};

/* -- answers to the kernel ---------------------------------------------------------- */

static void grant(const struct gate *gate, int fd)
{
	const struct fanotify_response response = {.fd = fd, .response = FAN_ALLOW};

	/* Who is gone needs no leave. */
	if (write(gate->fd, &response, sizeof(response)) < 0 && errno != ENOENT)
		perror("opprobe: cannot let an open of a file go on");
	close(fd);
}

/* -- files -------------------------------------------------------------------------- */

static struct known_file *find_file(struct gate *gate, const struct stat *status)
{
	for (size_t i = 0; i < gate->files.n; i++) {
		struct known_file *file = &gate->files.items[i];

		if (file->inode == status->st_ino && file->device == status->st_dev &&
		    file->size == (uint64_t)status->st_size &&
		    file->changed.tv_sec == status->st_ctim.tv_sec &&
		    file->changed.tv_nsec == status->st_ctim.tv_nsec)
			return file;
	}
	return NULL;
}

/* Is @fd a program, or a library? Nothing is read of what may have effects. */
static bool is_program(int fd, const struct stat *status)
{
	unsigned char head[EI_NIDENT + sizeof(Elf64_Half)];
	struct statfs system;
	Elf64_Half type;

	if (!S_ISREG(status->st_mode) || status->st_size < FILE_MIN || fstatfs(fd, &system) ||
	    system.f_type == SYSFS_MAGIC || system.f_type == PROC_SUPER_MAGIC ||
	    pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(&type, head + EI_NIDENT, sizeof(type));
	return type == ET_EXEC || type == ET_DYN;
}

/* Ask an inspector whether there is a runtime in @fd. What it cannot tell may have one. */
static bool ask_about(struct gate *gate, int fd)
{
	char link[32], name[1024] = "";
	const struct wanted_file wanted = {.path = name, .open = &fd};
	struct location location;
	const char *path;
	uint32_t number;
	ssize_t n;
	int error;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	name[n < 0 ? 0 : n] = '\0';
	if (!gate->inspector)
		gate->inspector = inspector_new(NULL, gate->stop, NULL);
	if (!gate->inspector)
		return true;
	inspector_allow(gate->inspector, INSPECTOR_TIME);
	error = inspector_locate(gate->inspector, &wanted, name, NULL, &location, &number, &path,
				 NULL);
	if (!error)
		location_free(&location);
	if (error && error != -ENOENT && error != -ENOEXEC) {
		inspector_free(gate->inspector);
		gate->inspector = NULL;
	}
	return error != -ENOENT;
}

static bool has_runtime(struct gate *gate, int fd)
{
	struct known_file *file;
	struct stat status;
	bool runtime;

	if (fstat(fd, &status) || !is_program(fd, &status))
		return false;
	file = find_file(gate, &status);
	if (file)
		return file->runtime;
	runtime = ask_about(gate, fd);
	file = array_push(&gate->files);
	if (file)
		*file = (struct known_file){
			.device = status.st_dev,
			.inode = status.st_ino,
			.size = status.st_size,
			.changed = status.st_ctim,
			.runtime = runtime,
		};
	return runtime;
}

/* -- processes ------------------------------------------------------------------------ */

/* Parts of opprobe that look into the command use its mounts as well. */
static bool is_of_command(const struct gate *gate, pid_t pid)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return !stat(path, &status) && status.st_ino == gate->namespace;
}

static struct suspect *find_suspect(struct gate *gate, pid_t pid)
{
	for (size_t i = 0; i < gate->suspects.n; i++)
		if (gate->suspects.items[i].pid == pid)
			return &gate->suspects.items[i];
	return NULL;
}

static void suspect(struct gate *gate, pid_t pid)
{
	struct suspect *it = find_suspect(gate, pid) ?: array_push(&gate->suspects);

	if (it)
		*it = (struct suspect){.pid = pid, .fresh = true, .looks = LOOKS_MAX};
}

static void unsuspect(struct gate *gate, pid_t pid)
{
	struct suspect *it = find_suspect(gate, pid);

	if (it)
		*it = gate->suspects.items[--gate->suspects.n];
}

/* Hold @pid at the open of @fd, unless there is nothing to wait for. */
static bool hold(struct gate *gate, pid_t pid, int fd)
{
	struct held *held = find_suspect(gate, pid) ? array_push(&gate->held) : NULL;

	if (held)
		*held = (struct held){.pid = pid, .fd = fd, .turn = gate->turn};
	return held;
}

/* @pid opens @fd. */
static void take(struct gate *gate, pid_t pid, int fd)
{
	bool runtime = has_runtime(gate, fd) && is_of_command(gate, pid), held;

	pthread_mutex_lock(&gate->mutex);
	/* What it has mapped before this is looked at first. */
	held = hold(gate, pid, fd);
	if (runtime)
		suspect(gate, pid);
	if (held || runtime)
		pthread_cond_signal(&gate->asked);
	pthread_mutex_unlock(&gate->mutex);
	if (!held)
		grant(gate, fd);
}

/* -- the thread ------------------------------------------------------------------------- */

static void take_all(struct gate *gate, const void *events, ssize_t size)
{
	const struct fanotify_event_metadata *event = events;

	for (; FAN_EVENT_OK(event, size); event = FAN_EVENT_NEXT(event, size)) {
		if (event->fd < 0)
			continue;
		if (event->mask & FAN_OPEN_PERM)
			take(gate, event->pid, event->fd);
		else
			close(event->fd);
	}
}

static void *serve(void *context)
{
	struct gate *gate = context;
	struct pollfd ready[2] = {{gate->fd, POLLIN, 0}, {gate->end, POLLIN, 0}};
	_Alignas(struct fanotify_event_metadata) char events[4096];

	/* What it needs is open; what it starts gives up its own. */
	rights_reduce();
	while (poll(ready, 2, -1) >= 0 || errno == EINTR) {
		ssize_t n;

		if (ready[1].revents)
			break;
		n = read(gate->fd, events, sizeof(events));
		if (n > 0)
			take_all(gate, events, n);
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			perror("opprobe: cannot tell which files the command opens");
	}
	return NULL;
}

static int start_thread(struct gate *gate)
{
	sigset_t all, before;
	int error;

	/* Signals are for who looks at *stop. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = -pthread_create(&gate->thread, NULL, serve, gate);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	gate->has_thread = !error;
	return error;
}

/* -- mounts --------------------------------------------------------------------------- */

/*
 * On these, an open may have effects, or takes somebody's answer who would be
 * held himself. proc and sysfs are not among them: what a runtime asks of the
 * CPUs before its first session is there.
 */
static bool is_left_out(const char *type)
{
	static const char *const types[] = {"autofs",	"binfmt_misc", "bpf",	     "cgroup",
					    "cgroup2",	"configfs",    "debugfs",    "devpts",
					    "devtmpfs", "efivarfs",    "mqueue",     "nsfs",
					    "pstore",	"rpc_pipefs",  "securityfs", "tracefs"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return !strncmp(type, "fuse", 4);
}

/* "\040" is a space in mountinfo. */
static void decode(char *path)
{
	char *to = path;

	for (; *path; path++) {
		if (*path == '\\' && strspn(path + 1, "01234567") >= 3) {
			*to++ = (char)((path[1] - '0') << 6 | (path[2] - '0') << 3 |
				       (path[3] - '0'));
			path += 3;
		} else {
			*to++ = *path;
		}
	}
	*to = '\0';
}

/* Watch the mount that @line of mountinfo tells of. Is it the root, and could it be watched? */
static int watch_line(const struct gate *gate, pid_t pid, char *line)
{
	char *point = NULL, *type = strstr(line, " - "), *word = line, *save = NULL;
	char path[5000];

	if (!type)
		return 0;
	*type = '\0';
	type = strtok_r(type + 3, " ", &save);
	for (int i = 0; i < 5; i++, word = NULL)
		point = strtok_r(word, " ", &save);
	if (!type || !point || is_left_out(type))
		return 0;
	decode(point);
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, point);
	if (fanotify_mark(gate->fd, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN_PERM, AT_FDCWD, path))
		return strcmp(point, "/") ? 0 : -errno;
	return 0;
}

static int watch_mounts(const struct gate *gate, pid_t pid)
{
	char path[64], *line = NULL;
	size_t size = 0;
	int error = 0;
	FILE *mounts;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	mounts = fopen(path, "re");
	if (!mounts)
		return -errno;
	while (!error && getline(&line, &size, mounts) > 0)
		error = watch_line(gate, pid, line);
	free(line);
	fclose(mounts);
	return error;
}

static int open_gate(struct gate *gate, pid_t pid)
{
	char path[64];
	struct stat status;
	int error;

	gate->fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK |
					 FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS,
				 O_RDONLY | O_CLOEXEC | O_LARGEFILE);
	if (gate->fd < 0)
		return -errno;
	gate->end = eventfd(0, EFD_CLOEXEC);
	if (gate->end < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	if (stat(path, &status))
		return -errno;
	gate->namespace = status.st_ino;
	/* Who opens something from then on waits for an answer. */
	error = start_thread(gate);
	return error ?: watch_mounts(gate, pid);
}

struct gate *gate_new(pid_t pid, const volatile sig_atomic_t *stop, struct error *err)
{
	struct gate *gate = calloc(1, sizeof(*gate));
	int error;

	if (!gate) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	gate->stop = stop;
	gate->fd = gate->end = -1;
	pthread_mutex_init(&gate->mutex, NULL);
	pthread_cond_init(&gate->asked, NULL);
	error = open_gate(gate, pid);
	if (!error)
		return gate;
	gate_free(gate);
	if (error == -EINVAL || error == -ENOSYS)
		error_set(
			err, error,
			"this kernel cannot hold a command's opens of files "
			"(CONFIG_FANOTIFY_ACCESS_PERMISSIONS), so that its first session would be "
			"missed: start it yourself, and give -p PID with --wait");
	else
		error_set(
			err, error,
			"cannot see which files a command opens, so that its first session would "
			"be missed: %s; run opprobe as root (sudo), or start the command yourself, "
			"and give -p PID with --wait",
			error_reason(error));
	return NULL;
}

/* -- who is held ---------------------------------------------------------------------- */

void gate_turn(struct gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	gate->turn++;
	pthread_mutex_unlock(&gate->mutex);
}

static bool is_asked(const struct gate *gate)
{
	bool asked = gate->held.n;

	for (size_t i = 0; i < gate->suspects.n; i++)
		asked |= gate->suspects.items[i].fresh;
	return asked;
}

bool gate_asked(struct gate *gate, unsigned int ms)
{
	struct timespec until;
	bool asked;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&gate->mutex);
	asked = is_asked(gate);
	if (!asked && ms && !pthread_cond_timedwait(&gate->asked, &gate->mutex, &until))
		asked = is_asked(gate);
	pthread_mutex_unlock(&gate->mutex);
	return asked;
}

/* The first that is held since an earlier turn, and not taken. */
static pid_t first_held(const struct gate *gate)
{
	for (size_t i = 0; i < gate->held.n; i++)
		if (!gate->held.items[i].taken && gate->held.items[i].turn != gate->turn)
			return gate->held.items[i].pid;
	return 0;
}

pid_t gate_next(struct gate *gate)
{
	pid_t pid;

	pthread_mutex_lock(&gate->mutex);
	pid = first_held(gate);
	for (size_t i = 0; i < gate->held.n; i++)
		gate->held.items[i].taken |=
			gate->held.items[i].pid == pid && gate->held.items[i].turn != gate->turn;
	for (size_t i = 0; i < gate->suspects.n; i++) {
		struct suspect *it = &gate->suspects.items[i];

		if (!pid && it->fresh)
			pid = it->pid;
		if (it->pid == pid)
			it->fresh = false;
	}
	pthread_mutex_unlock(&gate->mutex);
	return pid;
}

void gate_answer(struct gate *gate, pid_t pid, bool settled)
{
	struct suspect *it;
	size_t left = 0, n = 0;

	pthread_mutex_lock(&gate->mutex);
	it = find_suspect(gate, pid);
	for (size_t i = 0; i < gate->held.n; i++) {
		struct held *held = &gate->held.items[i];

		if (held->pid == pid && held->taken) {
			grant(gate, held->fd);
			n++;
		} else {
			gate->held.items[left++] = *held;
		}
	}
	gate->held.n = left;
	/* What it opened meanwhile it has yet to map. */
	if (it && !it->fresh && (settled || (n && !--it->looks)))
		unsuspect(gate, pid);
	pthread_mutex_unlock(&gate->mutex);
}

void gate_free(struct gate *gate)
{
	const uint64_t one = 1;

	if (!gate)
		return;
	if (gate->has_thread && write(gate->end, &one, sizeof(one)) == sizeof(one))
		pthread_join(gate->thread, NULL);
	/* The kernel grants all that is not answered. */
	if (gate->fd >= 0)
		close(gate->fd);
	for (size_t i = 0; i < gate->held.n; i++)
		close(gate->held.items[i].fd);
	if (gate->end >= 0)
		close(gate->end);
	inspector_free(gate->inspector);
	array_free(&gate->files);
	array_free(&gate->suspects);
	array_free(&gate->held);
	pthread_cond_destroy(&gate->asked);
	pthread_mutex_destroy(&gate->mutex);
	free(gate);
}
