/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target process, seen from outside: what it maps, its threads, its
 * memory. Nothing here stops it, signals it or writes to it.
 */
#ifndef OPPROBE_PROCESS_H
#define OPPROBE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/array.h"
#include "../base/error.h"
#include "memory.h"

struct process {
	pid_t pid;
	int fd;		   /* pidfd, or -1 where the kernel has none (< 5.3) */
	char command[256]; /* its command line, arguments separated by spaces */
};

/* A file mapped executable into the process; one entry per file. */
struct mapped_file {
	uint64_t start, end; /* the first executable mapping of it */
	uint64_t offset;     /* in the file, of `start` */
	uint64_t device, inode;
	char path[1024]; /* as the process knows it; " (deleted)" cut off */
	bool deleted;
	char open_path[1024 + 64]; /* where opprobe can open it, once that is known, else "" */
};

/*
 * Open process @pid. Refuses with a sentence: no such process, a thread of
 * another process, a kernel thread, a zombie, a 32-bit program, no permission.
 */
int process_open(struct process *process, pid_t pid, struct error *err);
void process_close(struct process *process);
/* Is it still running? A zombie is not. */
bool process_alive(const struct process *process);
/* Likewise, but wait for its end for up to @ms: it takes a while from where it cannot be probed
 * any more. */
bool process_outlives(const struct process *process, int ms);

/* The CPU time of all its threads, ended or not, in ns; 0, or a negative errno if it is gone. */
int process_cpu(const struct process *process, uint64_t *ns);

#define MAPPED_FILES_MAX 4096 /* that are looked at: no server has a tenth of that */

/*
 * List the files it maps executable, in address order; of more than
 * MAPPED_FILES_MAX, the first of them. Returns their number and an array in
 * *@files, which the caller frees; or a negative errno with @err set, -ESRCH if
 * the process is gone.
 */
ssize_t process_mapped_files(const struct process *process, struct mapped_file **files,
			     struct error *err);

/* One @line of /proc/PID/maps, which is cut up: is it an executable file's, then @file's? */
bool process_parse_mapping(char *line, struct mapped_file *file);

/*
 * The anonymous memory that it may write: its heaps, and whatever else, but for
 * pages that are not there (yet). Up to @max ranges, the smallest first; returns
 * how many, 0 if that cannot be told.
 */
size_t process_heaps(const struct process *process, struct memory_range *ranges, size_t max);

/*
 * Read up to @size bytes at @address of its memory, as many as there are in one
 * piece. Returns their number, or -EFAULT if there is nothing at @address,
 * -ESRCH if the process is gone, -EPERM. A page that its owner withholds
 * (FUSE, userfaultfd) holds the caller, which only SIGKILL ends.
 */
ssize_t process_read(const struct process *process, uint64_t address, void *buffer, size_t size);

struct thread_list {
	ARRAY_OF(pid_t); /* ascending */
};

/* Fill @list, which starts zeroed and is reused from call to call. */
int process_threads(const struct process *process, struct thread_list *list);
void thread_list_free(struct thread_list *list);
/*
 * The children that thread @tid of process @pid has forked and that live, up
 * to @max of them; returns how many. None where the kernel does not tell
 * (CONFIG_PROC_CHILDREN).
 */
size_t process_children(pid_t pid, pid_t tid, pid_t *children, size_t max);
/* The name of thread @tid; "" if it is gone. */
void process_thread_name(const struct process *process, pid_t tid, char name[16]);
/* How long @tid has been on a CPU, in ns (schedstat); 0 if gone or not known. */
uint64_t process_thread_cpu(const struct process *process, pid_t tid);
/* When @tid was born, in clock ticks since boot: tells reused numbers apart. 0 if gone. */
uint64_t process_thread_birth(const struct process *process, pid_t tid);

#endif
