/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes of this machine that have a runtime mapped: for `opprobe ps`,
 * and to choose by something else than a number which ones to record.
 *
 *	find ─▶ { choose } ─▶ free
 *
 * Nothing is probed. Each file is looked into once, whatever number of
 * processes map it; what is mapped by nobody else is looked into by an
 * inspector of that process alone, so that one that withholds its files is no
 * harm to the rest.
 */
#ifndef OPPROBE_RUNNING_H
#define OPPROBE_RUNNING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/error.h"
#include "runtime/runtime.h"
#include "target/cgroup.h"
#include "target/pod.h"
#include "target/process.h"

/* All texts may hold any bytes. */
struct running_process {
	pid_t pid;
	uint32_t threads; /* 0 if not known */
	int32_t sessions; /* -1 if not known */
	const struct runtime *runtime;
	char version[32];   /* "" if not known */
	char path[1024];    /* of the runtime's file, as the process knows it */
	char command[256];  /* its command line */
	char names[3][64];  /* by which people know it: see below; "" where there is none */
	char cgroups[4096]; /* /proc/PID/cgroup */
	char container[CGROUP_ID + 1]; /* its id; "" if it is in none that is known */
	struct pod pod;		       /* of Kubernetes, in which that is */
};

/* What people call a process; which of the names above. */
enum running_name {
	RUNNING_COMM,	  /* the kernel's, of 15 bytes at most; programs change it */
	RUNNING_ARGUMENT, /* the last part of its first argument */
	RUNNING_PROGRAM,  /* the last part of its program's path */
};

#define HIDDEN_TOLD 8

struct running {
	ARRAY_OF(struct running_process) list; /* in the order of their numbers */
	size_t hidden;			       /* processes that could not be looked into, */
	pid_t hidden_pids[HIDDEN_TOLD];	       /* the first of which are these */
	size_t unproven;      /* that have a runtime, in which no place for probes can be proven */
	struct error refusal; /* why, of the first of these */
};

/* Files that were looked into: whoever looks again keeps them, so that each is looked into once. */
struct running_files;

struct running_files *running_files_new(void); /* NULL without memory */
void running_files_free(struct running_files *files);
/* Was the file looked into, of late, and is nothing in it that could be recorded? */
bool running_is_without(const struct running_files *files, uint64_t device, uint64_t inode);

struct running_options {
	bool sessions;			   /* count them: up to some seconds per process */
	struct running_files *files;	   /* that are kept; NULL: of this look alone */
	uint64_t patience;		   /* ns for the files of one process; 0: six seconds */
	const volatile sig_atomic_t *stop; /* NULL: a signal ends the program */
};

/*
 * Look at all processes but this one. One that exits meanwhile is none. 0, or a
 * negative errno with @err set; @running is to be freed in any case.
 */
int running_find(struct running *running, const struct running_options *options, struct error *err);
/* Look at process @pid alone: it is in @running, which was zeroed, if it has a runtime. Likewise.
 */
int running_find_one(struct running *running, const struct running_options *options, pid_t pid,
		     struct error *err);
void running_free(struct running *running);
/* What can be told of a process without looking into it: its names, command line and groups. */
void running_describe(struct running_process *it, const struct process *process);

/*
 * What people call its container: as its pod does, where that is certain, else the beginning of its
 * id; "" if it is in none. Stored in @name.
 */
void running_container(const struct running_process *it, char name[POD_CONTAINER + 1]);

#define RUNNING_ID_MIN 4 /* digits of a container's id that choose it */

/* Which ones: those that all that is said holds of. Zeroed: all. */
struct running_choice {
	const char *comm;      /* a glob that one of its names matches, or NULL */
	const char *container; /* the beginning of its container's id, or the name, or NULL */
	const char *pod;    /* a glob that its pod's name matches, NAMESPACE/NAME if it has '/' */
	const char *cgroup; /* the path of a group that it is in, or below, or NULL */
};

bool running_fits(const struct running_process *process, const struct running_choice *choice);
/*
 * Store the numbers of up to @max that fit in @pids. Returns how many; -ENOENT
 * with a sentence if none does, that tells what there is; -E2BIG if more do.
 */
int running_choose(const struct running *running, const struct running_choice *choice, pid_t *pids,
		   size_t max, struct error *err);

#endif
