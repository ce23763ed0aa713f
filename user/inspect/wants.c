// SPDX-License-Identifier: GPL-2.0-only
#include "wants.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../target/debug_file.h"
#include "message.h"

#define END_PATIENCE 200000000L /* ns */
#define PROBED_BYTES 64		/* that other probes may have changed in a page of code */

struct wants {
	pthread_t thread;
	int fd;
	bool has_process;
	struct process process;
	/* Written between questions, read while one is open: the sockets order that. */
	struct mapped_file mapped;
	bool is_mapped;
	char path[1024 + 64];
	char opened[1024 + 64];
	uint8_t memory[MEMORY_BLOCKS * MEMORY_BLOCK];
};

/* -- files ------------------------------------------------------------------------- */

/* Does the process run what is in @file? Compared is the first page of its code. */
static bool has_its_code(const struct wants *wants, int file)
{
	uint8_t code[MEMORY_BLOCK], mapped[MEMORY_BLOCK];
	ssize_t n = process_read(&wants->process, wants->mapped.start, mapped, sizeof(mapped));
	size_t others = 0;

	if (n != sizeof(mapped) ||
	    pread(file, code, sizeof(code), (off_t)wants->mapped.offset) != sizeof(code))
		return false;
	for (size_t i = 0; i < sizeof(code); i++)
		others += code[i] != mapped[i];
	return others <= PROBED_BYTES;
}

/* Is @file what is mapped? Overlays show other numbers to stat() than to the memory map. */
static bool is_that_file(const struct wants *wants, int file)
{
	const struct mapped_file *mapped = &wants->mapped;
	struct stat status;

	if (fstat(file, &status))
		return false;
	return (status.st_ino == mapped->inode && major(status.st_dev) == mapped->device >> 32 &&
		minor(status.st_dev) == (uint32_t)mapped->device) ||
	       has_its_code(wants, file);
}

static int open_by_name(struct wants *wants, const char *root)
{
	int file;

	snprintf(wants->opened, sizeof(wants->opened), "%s%s", root, wants->mapped.path);
	file = open_regular(wants->opened);
	if (file < 0 || is_that_file(wants, file))
		return file;
	close(file);
	return -ENOENT;
}

/*
 * The links of map_files are the file itself, even if it was deleted, but
 * belong to root. With single capabilities, it is looked for by its name:
 * where the process has its root, or, as the map tells the names of a chroot,
 * where opprobe has its own.
 */
static int open_mapped(struct wants *wants)
{
	const struct mapped_file *mapped = &wants->mapped;
	char root[64];
	int file, other;

	snprintf(wants->opened, sizeof(wants->opened), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 wants->process.pid, mapped->start, mapped->end);
	file = open_regular(wants->opened);
	if (file >= 0 || mapped->deleted || (file != -EPERM && file != -EACCES))
		return file;
	snprintf(root, sizeof(root), "/proc/%d/root", wants->process.pid);
	other = open_by_name(wants, root);
	if (other < 0)
		other = open_by_name(wants, "");
	return other < 0 && other != -EACCES ? file : other;
}

static int open_wanted(struct wants *wants)
{
	int file;

	if (wants->is_mapped) {
		file = open_mapped(wants);
	} else {
		snprintf(wants->opened, sizeof(wants->opened), "%s", wants->path);
		file = open_regular(wants->path);
	}
	if (file < 0)
		*wants->opened = '\0';
	return file;
}

/* -- the thread ---------------------------------------------------------------------- */

/* Hand over @file, or say by the type why there is none. */
static int answer_file(const struct wants *wants, int file)
{
	int error = message_send(wants->fd, file < 0 ? -file : 0, NULL, 0, file, NULL, NULL);

	if (file >= 0)
		close(file);
	return error;
}

static int answer_debug_file(const struct wants *wants, const struct debug_want *want)
{
	if (!*wants->opened || !memchr(want->name, '\0', sizeof(want->name)))
		return answer_file(wants, -ERANGE);
	return answer_file(wants,
			   debug_file_open(wants->opened, want->kind, want->name, want->candidate));
}

static int answer_memory(struct wants *wants, const struct memory_want *want)
{
	ssize_t n = !wants->has_process || want->address % MEMORY_BLOCK
			    ? -EFAULT
			    : process_read(&wants->process, want->address, wants->memory,
					   sizeof(wants->memory));
	size_t whole = n < 0 ? 0 : (size_t)n - (size_t)n % MEMORY_BLOCK;

	return message_send(wants->fd, 0, wants->memory, whole, -1, NULL, NULL);
}

static int serve_one(struct wants *wants)
{
	union {
		struct debug_want debug;
		struct memory_want memory;
	} want;
	struct message head;
	int error = message_receive(wants->fd, &head, NULL, NULL, NULL);

	if (error)
		return error;
	if (head.type == WANT_FILE && !head.size)
		return answer_file(wants, open_wanted(wants));
	if (head.size > sizeof(want))
		return -EBADMSG;
	error = message_receive_data(wants->fd, &want, head.size, NULL, NULL);
	if (error)
		return error;
	if (head.type == WANT_DEBUG_FILE && head.size == sizeof(want.debug))
		return answer_debug_file(wants, &want.debug);
	if (head.type == WANT_MEMORY && head.size == sizeof(want.memory))
		return answer_memory(wants, &want.memory);
	return -EBADMSG;
}

static void *serve(void *context)
{
	struct wants *wants = context;

	while (!serve_one(wants))
		;
	/* Whoever still waits for an answer is told that there will be none. */
	shutdown(wants->fd, SHUT_RDWR);
	return NULL;
}

/* Signals are the main thread's: it must not miss the one that it waits for. */
static int start(struct wants *wants)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&wants->thread, NULL, serve, wants);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

struct wants *wants_serve(int fd, const struct process *process, struct error *err)
{
	struct wants *wants = calloc(1, sizeof(*wants));
	int error = -ENOMEM;

	if (wants) {
		wants->fd = fd;
		wants->has_process = process;
		if (process)
			wants->process = *process;
		error = start(wants);
	}
	if (!error)
		return wants;
	error_set(err, error, "cannot start a thread: %s", strerror(-error));
	free(wants);
	close(fd);
	return NULL;
}

void wants_choose(struct wants *wants, const struct wanted_file *file)
{
	*wants->opened = '\0';
	wants->is_mapped = file->mapped;
	if (file->mapped)
		wants->mapped = *file->mapped;
	else
		snprintf(wants->path, sizeof(wants->path), "%s", file->path);
}

const char *wants_opened(const struct wants *wants)
{
	return wants->opened;
}

void wants_end(struct wants *wants)
{
	struct timespec until;

	if (!wants)
		return;
	shutdown(wants->fd, SHUT_RDWR);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += END_PATIENCE;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	if (pthread_timedjoin_np(wants->thread, NULL, &until)) {
		pthread_detach(wants->thread);
		return;
	}
	close(wants->fd);
	free(wants);
}
