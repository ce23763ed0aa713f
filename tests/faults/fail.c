// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program, makes its n-th call of a kind fail, once:
 *
 *	FAULT_KIND  memory, write, map, open, kernel, start
 *	FAULT_AT    n, from 1 on
 *	FAULT_SEEN  a file of one byte, which becomes 1 when that has happened
 *
 * What it starts in turn gets the same. The file is mapped at the start, as a
 * process may give up the right to open any.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, MEMORY, WRITE, MAP, OPEN, KERNEL, START };

static const char *const names[] = {
	[MEMORY] = "memory", [WRITE] = "write",	  [MAP] = "map",
	[OPEN] = "open",     [KERNEL] = "kernel", [START] = "start",
};

static enum kind chosen;
static long at, calls;
static volatile char *seen;

__attribute__((constructor)) static void begin(void)
{
	const char *kind = getenv("FAULT_KIND"), *n = getenv("FAULT_AT"),
		   *file = getenv("FAULT_SEEN");
	int fd = file ? (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC) : -1;
	void *page =
		(void *)syscall(SYS_mmap, 0L, 4096L, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);

	if (fd < 0 || !kind || !n || page == MAP_FAILED)
		return;
	close(fd);
	seen = page;
	at = atol(n);
	for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], kind))
			chosen = (enum kind)i;
}

/* Is this call of @kind the one that fails? */
static bool fails(enum kind kind, int error)
{
	if (kind != chosen || __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != at)
		return false;
	*seen = 1;
	errno = error;
	return true;
}

/* The function that this one stands before. */
#define NEXT(name)                                                                                 \
	static typeof(&name) next;                                                                 \
	if (!next)                                                                                 \
	next = (typeof(next))dlsym(RTLD_NEXT, #name)

/* dlsym() allocates; and it is asked for the allocator. */
static char early[65536] __attribute__((aligned(16)));
static size_t early_used;
static __thread bool looking;

static void *take_early(size_t size)
{
	void *memory = early + early_used;

	early_used += (size + 15) & ~15UL;
	return early_used <= sizeof(early) ? memory : NULL;
}

static bool is_early(const void *memory)
{
	return (const char *)memory >= early && (const char *)memory < early + sizeof(early);
}

void *calloc(size_t n, size_t size)
{
	static void *(*next)(size_t, size_t);

	if (!next && !looking) {
		looking = true;
		next = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
		looking = false;
	}
	if (!next)
		return take_early(n * size);
	return fails(MEMORY, ENOMEM) ? NULL : next(n, size);
}

void *malloc(size_t size)
{
	static void *(*next)(size_t);

	if (!next && !looking) {
		looking = true;
		next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
		looking = false;
	}
	if (!next)
		return take_early(size);
	return fails(MEMORY, ENOMEM) ? NULL : next(size);
}

void *realloc(void *memory, size_t size)
{
	NEXT(realloc);

	if (is_early(memory)) {
		void *moved = malloc(size);

		return moved ? memcpy(moved, memory, size) : NULL;
	}
	return fails(MEMORY, ENOMEM) ? NULL : next(memory, size);
}

void free(void *memory)
{
	NEXT(free);

	if (!is_early(memory))
		next(memory);
}

ssize_t write(int fd, const void *data, size_t size)
{
	NEXT(write);

	return fails(WRITE, ENOSPC) ? -1 : next(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *io, int n)
{
	NEXT(writev);

	return fails(WRITE, ENOSPC) ? -1 : next(fd, io, n);
}

int rename(const char *from, const char *to)
{
	NEXT(rename);

	return fails(WRITE, EIO) ? -1 : next(from, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	NEXT(renameat2);

	return fails(WRITE, EIO) ? -1 : next(from_fd, from, to_fd, to, flags);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	NEXT(mmap);

	return fails(MAP, ENOMEM) ? MAP_FAILED : next(address, size, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;
	NEXT(open);

	va_start(arguments, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return fails(OPEN, EMFILE) ? -1 : next(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;
	NEXT(openat);

	va_start(arguments, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return fails(OPEN, EMFILE) ? -1 : next(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

FILE *fopen(const char *path, const char *mode)
{
	NEXT(fopen);

	return fails(OPEN, EMFILE) ? NULL : next(path, mode);
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

int socketpair(int domain, int type, int protocol, int pair[2])
{
	NEXT(socketpair);

	return fails(OPEN, EMFILE) ? -1 : next(domain, type, protocol, pair);
}

/* bpf(), perf_event_open(): there are no functions for them. */
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	va_list arguments;
	long a[6];

	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if ((number == SYS_bpf || number == SYS_perf_event_open) && fails(KERNEL, ENOMEM))
		return -1;
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	NEXT(posix_spawn);

	return fails(START, EAGAIN) ? EAGAIN
				    : next(pid, path, actions, attributes, argv, environment);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
		   void *argument)
{
	NEXT(pthread_create);

	return fails(START, EAGAIN) ? EAGAIN : next(thread, attributes, start, argument);
}

/* Without what it takes to make a thread: nobody here asks for that. */
int clone(int (*start)(void *), void *stack, int flags, void *argument, ...)
{
	NEXT(clone);

	if (fails(START, EAGAIN))
		return -1;
	return next(start, stack, flags, argument);
}
