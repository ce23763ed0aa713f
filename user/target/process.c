// SPDX-License-Identifier: GPL-2.0-only
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../base/hash.h"

#define EXEC_TRIES 5 /* looks at a process without memory, a millisecond apart */

/* Read a small file of /proc whole; returns its length or a negative errno. */
static ssize_t read_small(const char *path, char *buffer, size_t size)
{
	ssize_t n, total = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((size_t)total < size - 1) {
		n = read(fd, buffer + total, size - 1 - total);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n < 0 && !total)
				total = -errno;
			break;
		}
		total += n;
	}
	close(fd);
	if (total >= 0)
		buffer[total] = '\0';
	return total;
}

/* The number behind @key in /proc/PID/status, or -1. */
static long status_number(const char *status, const char *key)
{
	const char *line = strstr(status, key);

	return line ? strtol(line + strlen(key), NULL, 10) : -1;
}

/* Why process @pid cannot be looked into, which the kernel answered with @error. */
static int refuse_access(pid_t pid, int error, struct error *err)
{
	if (error == -ENOENT || error == -ESRCH)
		return error_set(err, -ESRCH, "process %d has exited", pid);
	if (error != -EACCES && error != -EPERM)
		return error_set(err, error, "cannot look into process %d: %s", pid,
				 error_reason(error));
	if (geteuid() == 0)
		return error_set(
			err, error,
			"cannot look into process %d: %s, although opprobe is root: it lacks the "
			"right CAP_SYS_PTRACE over this process; run opprobe on the host, or give "
			"its container that capability",
			pid, error_reason(error));
	return error_set(err, error,
			 "cannot look into process %d: %s; run opprobe as root (sudo), or with "
			 "CAP_SYS_PTRACE",
			 pid, error_reason(error));
}

/* Open its memory map: the right to look into a process is asked for here. */
static int open_maps(pid_t pid, FILE **maps, struct error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	*maps = fopen(path, "re");
	return *maps ? 0 : refuse_access(pid, -errno, err);
}

/* The highest address that @pid maps, or one above 4 GiB; 0 if nothing is mapped. */
static int highest_address(pid_t pid, uint64_t *highest, struct error *err)
{
	uint64_t start;
	char line[256];
	FILE *maps;
	int error = open_maps(pid, &maps, err);

	if (error)
		return error;
	*highest = 0;
	while (*highest >> 32 == 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-", &start) == 1 && !strstr(line, "[vsyscall]"))
			*highest = start > *highest ? start : *highest;
	fclose(maps);
	return 0;
}

/*
 * A 64-bit process has its stack above 4 GiB, and a 32-bit one nothing; what
 * has no memory at all is none of either, unless it executes a program at this
 * very moment. The program's file is not opened for that, as it may be in a
 * file system that withholds it.
 */
static int refuse_foreign_class(const struct process *process, struct error *err)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t highest = 0;

	for (int i = 0; !highest && i < EXEC_TRIES; i++) {
		int error;

		if (i)
			nanosleep(&pause, NULL);
		error = highest_address(process->pid, &highest, err);
		if (error)
			return error;
	}
	if (!highest)
		return error_set(
			err, -EINVAL,
			"process %d has no program file: it is a kernel thread or about to exit, "
			"choose the process of the server itself",
			process->pid);
	if (highest >> 32)
		return 0;
	return error_set(
		err, -EINVAL,
		"process %d is a 32-bit program, and opprobe reads 64-bit ones only: use a "
		"64-bit build of the server",
		process->pid);
}

/*
 * Since Linux 6.15 the memory map is shown to whoever has CAP_PERFMON, the
 * memory is not. Asked for is an address that no process has, so that nobody
 * can withhold it.
 */
static int refuse_without_memory(const struct process *process, struct error *err)
{
	char byte;
	ssize_t n = process_read(process, UINT64_MAX - 4095, &byte, 1);

	return n >= 0 || n == -EFAULT ? 0 : refuse_access(process->pid, (int)n, err);
}

int process_open(struct process *process, pid_t pid, struct error *err)
{
	char path[64], status[4096];
	long tgid;
	int error;

	*process = (struct process){.pid = pid, .fd = -1};
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (pid <= 0 || read_small(path, status, sizeof(status)) < 0)
		return error_set(err, -ESRCH,
				 "there is no process %d: `opprobe ps` lists those that have a "
				 "runtime mapped",
				 pid);
	tgid = status_number(status, "\nTgid:");
	if (tgid > 0 && tgid != pid)
		return error_set(err, -EINVAL,
				 "%d is a thread of process %ld: use -p %ld, which covers all of "
				 "its threads",
				 pid, tgid, tgid);
	if (strstr(status, "\nState:\tZ"))
		return error_set(
			err, -ESRCH,
			"process %d has exited already and waits for its parent: choose one that "
			"runs",
			pid);
	error = refuse_foreign_class(process, err) ?: refuse_without_memory(process, err);
	if (error)
		return error;
	process->fd = syscall(SYS_pidfd_open, pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	for (ssize_t n = read_small(path, process->command, sizeof(process->command)), i = 0;
	     i + 1 < n; i++)
		if (!process->command[i])
			process->command[i] = ' ';
	return 0;
}

void process_close(struct process *process)
{
	if (process->fd >= 0)
		close(process->fd);
	process->fd = -1;
}

int process_cpu(const struct process *process, uint64_t *ns)
{
	struct timespec used;
	clockid_t clock;
	int error = clock_getcpuclockid(process->pid, &clock);

	if (error)
		return -error;
	if (clock_gettime(clock, &used))
		return -errno;
	*ns = (uint64_t)used.tv_sec * 1000000000 + used.tv_nsec;
	return 0;
}

bool process_outlives(const struct process *process, int ms)
{
	struct pollfd poll_fd = {.fd = process->fd, .events = POLLIN};

	if (process->fd >= 0)
		return poll(&poll_fd, 1, ms) == 0;
	return !kill(process->pid, 0) || errno == EPERM;
}

bool process_alive(const struct process *process)
{
	return process_outlives(process, 0);
}

bool process_parse_mapping(char *line, struct mapped_file *file)
{
	static const char deleted[] = " (deleted)";
	unsigned int major, minor;
	char permissions[5];
	size_t length;
	int at = 0;

	memset(file, 0, sizeof(*file));
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &file->start, &file->end, permissions, &file->offset, &major, &minor,
		   &file->inode, &at) < 7)
		return false;
	if (permissions[2] != 'x' || !file->inode || line[at] != '/')
		return false;
	line[strcspn(line, "\n")] = '\0';
	length = strlen(line + at);
	if (length > strlen(deleted) && !strcmp(line + at + length - strlen(deleted), deleted)) {
		file->deleted = true;
		line[at + length - strlen(deleted)] = '\0';
	}
	file->device = (uint64_t)major << 32 | minor;
	snprintf(file->path, sizeof(file->path), "%s", line + at);
	return true;
}

/* Which files are in a list already: a map may be made of tens of thousands. */
struct listed {
	struct hash_node node;
	uint64_t device, inode;
};

struct listing {
	struct hash files;
	struct listed *nodes;
	ARRAY_OF(struct mapped_file) list;
};

static bool is_listed(const struct listing *listing, const struct mapped_file *file, uint64_t hash)
{
	const struct listed *it;

	hash_for_each_possible(it, &listing->files, hash, node)
		if (it->inode == file->inode && it->device == file->device)
			return true;
	return false;
}

static int add_file(struct listing *listing, const struct mapped_file *file)
{
	uint64_t hash = hash_word(hash_word(HASH_START, file->device), file->inode);
	struct listed *listed = &listing->nodes[listing->list.n];
	struct mapped_file *place;

	if (is_listed(listing, file, hash))
		return 0;
	place = array_push(&listing->list);
	if (!place)
		return -ENOMEM;
	*place = *file;
	*listed = (struct listed){.device = file->device, .inode = file->inode};
	return hash_add(&listing->files, &listed->node, hash);
}

#define PAGE_PRESENT (UINT64_C(1) << 63) /* Documentation/admin-guide/mm/pagemap.rst */
#define PAGES_ASKED  512

static bool parse_heap(const char *line, struct memory_range *range)
{
	char permissions[5], name[16] = "";
	uint64_t inode;

	return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %" SCNu64 " %15s",
		      &range->start, &range->end, permissions, &inode, name) >= 4 &&
	       permissions[0] == 'r' && permissions[1] == 'w' && permissions[3] == 'p' && !inode &&
	       strncmp(name, "[stack", 6) != 0 && strncmp(name, "[v", 2) != 0;
}

/* Add the pages of @range that are in memory: reading others would bring them there. */
static size_t add_present(int pagemap, const struct memory_range *range, uint64_t page,
			  struct memory_range *ranges, size_t n, size_t max)
{
	uint64_t entries[PAGES_ASKED];
	uint64_t at = range->start;
	size_t first = n;

	while (at < range->end) {
		size_t wanted = (range->end - at) / page;
		ssize_t size;

		wanted = wanted < PAGES_ASKED ? wanted : PAGES_ASKED;
		size = pread(pagemap, entries, wanted * 8, (off_t)(at / page * 8));
		if (size < 8)
			break;
		for (ssize_t i = 0; i < size / 8; i++, at += page) {
			if (!(entries[i] & PAGE_PRESENT))
				continue;
			if (n > first && ranges[n - 1].end == at)
				ranges[n - 1].end += page;
			else if (n < max)
				ranges[n++] = (struct memory_range){at, at + page};
			else
				return n;
		}
	}
	return n;
}

static int by_size(const void *a, const void *b)
{
	const struct memory_range *x = a, *y = b;
	uint64_t left = x->end - x->start, right = y->end - y->start;

	return (left > right) - (left < right);
}

size_t process_heaps(const struct process *process, struct memory_range *ranges, size_t max)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	struct memory_range range;
	char *line = NULL, path[64];
	size_t n = 0, size = 0;
	FILE *maps;
	int pagemap;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", process->pid);
	if (open_maps(process->pid, &maps, NULL))
		return 0;
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	while (pagemap >= 0 && n < max && getline(&line, &size, maps) > 0)
		if (parse_heap(line, &range))
			n = add_present(pagemap, &range, page, ranges, n, max);
	free(line);
	fclose(maps);
	if (pagemap >= 0)
		close(pagemap);
	qsort(ranges, n, sizeof(*ranges), by_size);
	return n;
}

ssize_t process_mapped_files(const struct process *process, struct mapped_file **files,
			     struct error *err)
{
	struct listing listing = {.nodes = calloc(MAPPED_FILES_MAX, sizeof(*listing.nodes))};
	struct mapped_file file;
	size_t size = 0;
	char *line = NULL;
	FILE *maps;
	int error;

	if (!listing.nodes)
		return error_set(err, -ENOMEM, "out of memory");
	error = open_maps(process->pid, &maps, err);
	if (error) {
		free(listing.nodes);
		return error;
	}
	while (!error && listing.list.n < MAPPED_FILES_MAX && getline(&line, &size, maps) > 0)
		if (process_parse_mapping(line, &file))
			error = add_file(&listing, &file);
	free(line);
	fclose(maps);
	hash_free(&listing.files);
	free(listing.nodes);
	if (error) {
		array_free(&listing.list);
		return error_set(err, error, "out of memory");
	}
	*files = listing.list.items;
	return (ssize_t)listing.list.n;
}

ssize_t process_read(const struct process *process, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = {buffer, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};
	ssize_t n = process_vm_readv(process->pid, &local, 1, &remote, 1, 0);

	return n < 0 ? -errno : n;
}

static int compare_tids(const void *a, const void *b)
{
	return *(const pid_t *)a - *(const pid_t *)b;
}

int process_threads(const struct process *process, struct thread_list *list)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	list->n = 0;
	while ((entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name), *place;

		if (tid <= 0)
			continue;
		place = array_push(list);
		if (!place) {
			closedir(dir);
			return -ENOMEM;
		}
		*place = tid;
	}
	closedir(dir);
	if (list->n)
		qsort(list->items, list->n, sizeof(list->items[0]), compare_tids);
	return 0;
}

void thread_list_free(struct thread_list *list)
{
	array_free(list);
}

size_t process_children(pid_t pid, pid_t tid, pid_t *children, size_t max)
{
	char path[64];
	size_t n = 0;
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (n < max && fscanf(file, "%d", &child) == 1)
		children[n++] = child;
	fclose(file);
	return n;
}

void process_thread_name(const struct process *process, pid_t tid, char name[16])
{
	char path[64], text[64];

	name[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", process->pid, tid);
	if (read_small(path, text, sizeof(text)) <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(name, 16, "%.15s", text);
}

uint64_t process_thread_cpu(const struct process *process, pid_t tid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", process->pid, tid);
	return read_small(path, text, sizeof(text)) > 0 ? strtoull(text, NULL, 10) : 0;
}

uint64_t process_thread_birth(const struct process *process, pid_t tid)
{
	char path[64], text[1024], *field;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process->pid, tid);
	if (read_small(path, text, sizeof(text)) <= 0)
		return 0;
	/* The name may hold anything; the 20th field behind it is starttime (proc(5)). */
	field = strrchr(text, ')');
	for (int i = 0; field && i < 20; i++)
		field = strchr(field + 1, ' ');
	return field ? strtoull(field + 1, NULL, 10) : 0;
}
