// SPDX-License-Identifier: GPL-2.0-only
#include "hands.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../target/debug_file.h"

/* The sockets of the process: who commands it, and who wants something of it. */
#define COMMANDS     HELPER_FIRST
#define WANTS	     HELPER_SECOND
#define PROBED_BYTES 64 /* that other probes may have changed in a page of code */

/* -- as the privileged part sees them ----------------------------------------------- */

enum command {
	COMMAND_TASK,	/* struct hands_task */
	COMMAND_OPENED, /* answered by the path */
};

int hands_start(struct hands *hands, int *wants, struct error *err)
{
	int commands[2], served[2], error;

	*hands = (struct hands){.fd = -1};
	error = spawn_sockets(commands);
	if (error)
		return error_set(err, error, "cannot make a socket: %s", error_reason(error));
	error = spawn_sockets(served);
	if (!error) {
		const int sockets[2] = {commands[1], served[1]};

		error = spawn_helper(HELPER_HANDS, sockets, &hands->pid);
		close(served[1]);
		if (error)
			close(served[0]);
	}
	close(commands[1]);
	if (error) {
		close(commands[0]);
		return error_set(err, error, "cannot start a part of opprobe: %s",
				 error_reason(error));
	}
	hands->fd = commands[0];
	*wants = served[0];
	return 0;
}

int hands_set(struct hands *hands, const struct hands_task *task, int file,
	      message_patience patience, void *context)
{
	return message_send(hands->fd, COMMAND_TASK, task, sizeof(*task), file, patience, context);
}

int hands_opened(struct hands *hands, char path[HANDS_PATH], message_patience patience,
		 void *context)
{
	struct message head;
	int error = message_send(hands->fd, COMMAND_OPENED, NULL, 0, -1, patience, context);

	error = error ?: message_receive(hands->fd, &head, NULL, patience, context);
	if (!error && head.size != HANDS_PATH)
		error = -EBADMSG;
	error = error ?: message_receive_data(hands->fd, path, HANDS_PATH, patience, context);
	if (!error)
		path[HANDS_PATH - 1] = '\0';
	return error;
}

void hands_end(struct hands *hands)
{
	if (hands->fd >= 0)
		close(hands->fd);
	if (hands->pid > 0)
		spawn_end(hands->pid, false);
	*hands = (struct hands){.fd = -1};
}

/* -- the process ---------------------------------------------------------------------- */

struct work {
	struct hands_task task;
	struct process process;
	int file; /* that came with the task, or -1 */
	char opened[HANDS_PATH];
	uint8_t memory[MEMORY_BLOCKS * MEMORY_BLOCK];
};

/* -- files ------------------------------------------------------------------------- */

/* Does the process run what is in @file? Compared is the first page of its code. */
static bool has_its_code(const struct work *work, int file)
{
	uint8_t code[MEMORY_BLOCK], mapped[MEMORY_BLOCK];
	ssize_t n = process_read(&work->process, work->task.mapped.start, mapped, sizeof(mapped));
	size_t others = 0;

	if (n != sizeof(mapped) ||
	    pread(file, code, sizeof(code), (off_t)work->task.mapped.offset) != sizeof(code))
		return false;
	for (size_t i = 0; i < sizeof(code); i++)
		others += code[i] != mapped[i];
	return others <= PROBED_BYTES;
}

/* Is @file what is mapped? Overlays show other numbers to stat() than to the memory map. */
static bool is_that_file(const struct work *work, int file)
{
	const struct mapped_file *mapped = &work->task.mapped;
	struct stat status;

	if (fstat(file, &status))
		return false;
	return (status.st_ino == mapped->inode && major(status.st_dev) == mapped->device >> 32 &&
		minor(status.st_dev) == (uint32_t)mapped->device) ||
	       has_its_code(work, file);
}

static int open_by_name(struct work *work, const char *root, const char *name)
{
	int file;

	snprintf(work->opened, sizeof(work->opened), "%s%s", root, name);
	file = open_regular(work->opened);
	if (file < 0 || is_that_file(work, file))
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
static int open_mapped(struct work *work)
{
	const struct mapped_file *mapped = &work->task.mapped;
	int file, other = -ENOENT;
	char root[64];

	snprintf(work->opened, sizeof(work->opened), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 work->process.pid, mapped->start, mapped->end);
	file = open_regular(work->opened);
	if (file >= 0 || mapped->deleted || (file != -EPERM && file != -EACCES))
		return file;
	snprintf(root, sizeof(root), "/proc/%d/root", work->process.pid);
	/* With a root of its own, the process knows the file by the end of its name. */
	for (const char *name = mapped->path; name && other < 0; name = strchr(name + 1, '/'))
		other = open_by_name(work, root, name);
	if (other < 0)
		other = open_by_name(work, "", mapped->path);
	return other < 0 && other != -EACCES ? file : other;
}

static int open_wanted(struct work *work)
{
	int file;

	if (work->task.is_mapped) {
		file = open_mapped(work);
	} else if (work->task.is_open) {
		/* Its name is where debug files are looked for. */
		snprintf(work->opened, sizeof(work->opened), "%s", work->task.path);
		file = fcntl(work->file, F_DUPFD_CLOEXEC, 0);
		if (file < 0)
			file = -errno;
	} else {
		snprintf(work->opened, sizeof(work->opened), "%s", work->task.path);
		file = open_regular(work->task.path);
	}
	if (file < 0)
		*work->opened = '\0';
	return file;
}

/* -- what is wanted ------------------------------------------------------------------- */

/* Hand over @file, or say by the type why there is none. */
static int answer_file(int file)
{
	int error = message_send(WANTS, file < 0 ? -file : 0, NULL, 0, file, NULL, NULL);

	if (file >= 0)
		close(file);
	return error;
}

static int answer_debug_file(const struct work *work, const struct debug_want *want)
{
	if (!*work->opened || !memchr(want->name, '\0', sizeof(want->name)))
		return answer_file(-ERANGE);
	return answer_file(debug_file_open(work->opened, want->kind, want->name, want->candidate));
}

static int answer_memory(struct work *work, const struct memory_want *want)
{
	bool sound = work->process.pid && want->address % MEMORY_BLOCK == 0 &&
		     want->blocks <= MEMORY_BLOCKS;
	ssize_t n = sound ? process_read(&work->process, want->address, work->memory,
					 (size_t)want->blocks * MEMORY_BLOCK)
			  : -EFAULT;
	size_t whole = n < 0 ? 0 : (size_t)n - (size_t)n % MEMORY_BLOCK;

	return message_send(WANTS, 0, work->memory, whole, -1, NULL, NULL);
}

static int serve_want(struct work *work)
{
	union {
		struct debug_want debug;
		struct memory_want memory;
	} want;
	struct message head;
	int error = message_receive(WANTS, &head, NULL, NULL, NULL);

	if (error)
		return error;
	if (head.type == WANT_FILE && !head.size)
		return answer_file(open_wanted(work));
	if (head.size > sizeof(want))
		return -EBADMSG;
	error = message_receive_data(WANTS, &want, head.size, NULL, NULL);
	if (error)
		return error;
	if (head.type == WANT_DEBUG_FILE && head.size == sizeof(want.debug))
		return answer_debug_file(work, &want.debug);
	if (head.type == WANT_MEMORY && head.size == sizeof(want.memory))
		return answer_memory(work, &want.memory);
	return -EBADMSG;
}

static int obey(struct work *work)
{
	struct message head;
	int file, error = message_receive(COMMANDS, &head, &file, NULL, NULL);

	if (error)
		return error;
	if (head.type == COMMAND_OPENED)
		return message_send(COMMANDS, head.type, work->opened, sizeof(work->opened), -1,
				    NULL, NULL);
	if (work->file >= 0)
		close(work->file);
	work->file = file;
	error = message_receive_data(COMMANDS, &work->task, sizeof(work->task), NULL, NULL);
	work->process = (struct process){.pid = work->task.pid, .fd = -1};
	*work->opened = '\0';
	return error;
}

int hands_child(void)
{
	static struct work work = {.file = -1};
	struct pollfd sockets[2] = {{COMMANDS, POLLIN, 0}, {WANTS, POLLIN, 0}};
	int error = prctl(PR_SET_PDEATHSIG, SIGKILL);

	/* Held by a target, it would keep who reads opprobe's output, or its folder, waiting. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	if (chdir("/"))
		error = -errno;
	spawn_wait_behind();
	while (!error && poll(sockets, 2, -1) > 0) {
		/* A task is sent before the question that leads to a want. */
		if (sockets[0].revents)
			error = obey(&work);
		else
			error = serve_want(&work);
	}
	return EXIT_SUCCESS;
}
