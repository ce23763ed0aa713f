// SPDX-License-Identifier: GPL-2.0-only
#include "running.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "inspect/find.h"
#include "inspect/remote.h"
#include "target/process.h"

#define LOOK_TIME UINT64_C(6000000000) /* ns, for the files of one process */
#define KTHREAD	  0x00200000	       /* PF_KTHREAD of include/linux/sched.h */

/*
 * Numbers of files come back, for others: of what has no runtime it is believed for so long. What
 * has one is looked into by whoever records it.
 */
#define BELIEVED UINT64_C(3600000000000) /* ns */
#define KEPT_MAX 65536			 /* files, behind which all are looked into again */

/* A file that has been looked into. */
struct known_file {
	struct hash_node node;
	uint64_t device, inode;
	uint64_t looked;	       /* clock_ns() */
	const struct runtime *runtime; /* NULL: none is in it that can be probed */
	bool unproven;
	char version[32];
};

struct running_files {
	struct hash table;
};

struct look {
	const struct running_options *options;
	struct running *running;
	struct running_files *files;
};

/* -- /proc ------------------------------------------------------------------------ */

/* Read /proc/@pid/@name, as much as there is room for; its length, or a negative errno. */
static ssize_t read_of(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n, total = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	text[0] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((size_t)total < size - 1 && (n = read(fd, text + total, size - 1 - total)) > 0)
		total += n;
	close(fd);
	text[total] = '\0';
	return total;
}

/* Is it a thread of the kernel's own, dead, or gone? Told without any right over it. */
static bool has_no_memory(pid_t pid)
{
	unsigned int flags;
	char text[1024], state, *behind;

	if (read_of(pid, "stat", text, sizeof(text)) <= 0)
		return true;
	/* The name may hold anything. */
	behind = strrchr(text, ')');
	return !behind || sscanf(behind + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 ||
	       flags & KTHREAD || state == 'Z' || state == 'X';
}

static void keep_last_part(char *name, size_t size, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(name, size, "%s", slash ? slash + 1 : path);
}

static void know_names(struct running_process *it)
{
	static const char deleted[] = " (deleted)";
	char text[4096], path[64];
	ssize_t n;

	if (read_of(it->pid, "comm", text, 64) > 0)
		snprintf(it->names[RUNNING_COMM], sizeof(it->names[0]), "%.*s",
			 (int)strlen(text) - 1, text);
	/* Up to the first NUL. */
	if (read_of(it->pid, "cmdline", text, sizeof(text)) > 0)
		keep_last_part(it->names[RUNNING_ARGUMENT], sizeof(it->names[0]), text);
	snprintf(path, sizeof(path), "/proc/%d/exe", it->pid);
	n = readlink(path, text, sizeof(text) - 1);
	if (n <= 0)
		return;
	text[n] = '\0';
	if ((size_t)n > strlen(deleted) && !strcmp(text + n - strlen(deleted), deleted))
		text[n - strlen(deleted)] = '\0';
	keep_last_part(it->names[RUNNING_PROGRAM], sizeof(it->names[0]), text);
}

void running_describe(struct running_process *it, const struct process *process)
{
	struct thread_list threads = {};
	char uid[CGROUP_POD + 1];

	it->pid = process->pid;
	snprintf(it->command, sizeof(it->command), "%s", process->command);
	know_names(it);
	if (!process_threads(process, &threads))
		it->threads = threads.n;
	thread_list_free(&threads);
	read_of(it->pid, "cgroup", it->cgroups, sizeof(it->cgroups));
	cgroup_container(it->cgroups, it->container);
	if (cgroup_pod(it->cgroups, uid))
		pod_find(&it->pod, it->pid, uid);
}

void running_container(const struct running_process *it, char name[POD_CONTAINER + 1])
{
	if (*it->pod.container)
		strcpy(name, it->pod.container);
	else
		sprintf(name, "%.*s", CGROUP_SHORT, it->container);
}

/* -- files ------------------------------------------------------------------------ */

static uint64_t hash_of(uint64_t device, uint64_t inode)
{
	return hash_word(hash_word(0, device), inode);
}

/* What is known of it; NULL if nothing is that is to be believed. */
static struct known_file *find_file(const struct running_files *files, uint64_t device,
				    uint64_t inode)
{
	struct known_file *file;

	hash_for_each_possible(file, &files->table, hash_of(device, inode), node)
		if (file->inode == inode && file->device == device &&
		    (file->runtime || clock_ns() - file->looked < BELIEVED))
			return file;
	return NULL;
}

static void forget_all(struct running_files *files)
{
	struct known_file *file;

	hash_for_each(file, &files->table, node)
		free(file);
	hash_free(&files->table);
}

/* The one of these numbers, of which nothing is known yet; NULL without memory. */
static struct known_file *add_file(struct running_files *files, uint64_t device, uint64_t inode)
{
	uint64_t hash = hash_of(device, inode);
	struct known_file *file;

	if (files->table.n >= KEPT_MAX)
		forget_all(files);
	hash_for_each_possible(file, &files->table, hash, node)
		if (file->inode == inode && file->device == device)
			break;
	if (!file) {
		file = calloc(1, sizeof(*file));
		if (!file || hash_add(&files->table, &file->node, hash)) {
			free(file);
			return NULL;
		}
	}
	file->device = device;
	file->inode = inode;
	file->looked = clock_ns();
	file->runtime = NULL;
	file->unproven = false;
	file->version[0] = '\0';
	return file;
}

/* opprobe's own program holds what it looks for. */
static int know_own_program(struct running_files *files)
{
	struct stat it;

	if (stat("/proc/self/exe", &it))
		return 0;
	return add_file(files, (uint64_t)major(it.st_dev) << 32 | minor(it.st_dev), it.st_ino)
		       ? 0
		       : -ENOMEM;
}

struct running_files *running_files_new(void)
{
	return calloc(1, sizeof(struct running_files));
}

void running_files_free(struct running_files *files)
{
	if (!files)
		return;
	forget_all(files);
	free(files);
}

bool running_is_without(const struct running_files *files, uint64_t device, uint64_t inode)
{
	const struct known_file *file = find_file(files, device, inode);

	return file && !file->runtime;
}

/* One process as it is looked at. */
struct one {
	struct process process;
	struct inspector *inspector; /* from the first file on that nobody mapped before */
	struct located *located;     /* its runtimes, with the inspector; if they were looked for */
};

/* Another opprobe holds what is looked for, too. */
static bool is_opprobe(const struct process *process)
{
	struct running_process it = {.pid = process->pid};

	know_names(&it);
	return !strcmp(it.names[RUNNING_PROGRAM], "opprobe");
}

/* Look into @file, which was not seen before. 0 if it is known now, or -errno. */
static int look_into(struct look *look, struct one *one, const struct mapped_file *file)
{
	const struct wanted_file wanted = {.mapped = file};
	struct known_file *known;
	struct location location;
	struct error why = {};
	const char *path;
	uint32_t number;
	int error;

	if (!one->inspector) {
		one->inspector = inspector_new(&one->process, look->options->stop, &why);
		if (!one->inspector)
			return -EAGAIN;
		inspector_allow(one->inspector, look->options->patience ?: LOOK_TIME);
	}
	error = inspector_locate(one->inspector, &wanted, file->path, NULL, &location, &number,
				 &path, &why);
	if (error && error != -ENOENT && error != -ENOEXEC)
		return error;
	known = add_file(look->files, file->device, file->inode);
	if (known && error == -ENOEXEC) {
		known->unproven = true;
		if (!*look->running->refusal.text && !is_opprobe(&one->process))
			look->running->refusal = why;
	}
	if (known && !error) {
		known->runtime = location.runtime;
		memcpy(known->version, location.version, sizeof(known->version));
	}
	if (!error)
		location_free(&location);
	return known ? 0 : -ENOMEM;
}

/*
 * What is among @n @files: the first with a runtime is *@found, which is known by
 * *@known then. Returns whether one could not be looked into.
 */
static bool look_at_files(struct look *look, struct one *one, const struct mapped_file *files,
			  ssize_t n, const struct mapped_file **found, bool *unproven)
{
	bool hidden = false;

	*found = NULL;
	*unproven = false;
	for (ssize_t i = 0; files && i < n && !*found; i++) {
		const struct known_file *known =
			find_file(look->files, files[i].device, files[i].inode);

		if (!known) {
			hidden |= look_into(look, one, &files[i]) != 0;
			known = find_file(look->files, files[i].device, files[i].inode);
		}
		if (known && known->runtime)
			*found = &files[i];
		*unproven |= known && known->unproven;
	}
	return hidden;
}

/* How many sessions there are in @one, -1 if that cannot be told. */
static int32_t count_sessions(const struct look *look, struct one *one)
{
	struct sessions_answer *answer = malloc(sizeof(*answer));
	struct located *located = NULL;
	int32_t n = 0;

	inspector_free(one->inspector);
	one->inspector = inspector_new(&one->process, look->options->stop, NULL);
	if (!answer || !one->inspector ||
	    runtime_find(&one->process, one->inspector, &located, NULL))
		n = -1;
	for (const struct located *it = located; it && n >= 0; it = it->next)
		n = remote_sessions(it, &one->process, answer, NULL) || !answer->whole
			    ? -1
			    : n + (int32_t)answer->n;
	located_free(located);
	free(answer);
	/* There may be some that were made in a way that is not known. */
	return n ?: -1;
}

static int add_process(struct look *look, struct one *one, const struct mapped_file *found)
{
	const struct known_file *known = find_file(look->files, found->device, found->inode);
	struct running_process *it = array_push(&look->running->list);

	if (!it)
		return -ENOMEM;
	running_describe(it, &one->process);
	it->runtime = known->runtime;
	memcpy(it->version, known->version, sizeof(it->version));
	snprintf(it->path, sizeof(it->path), "%s", found->path);
	it->sessions = look->options->sessions ? count_sessions(look, one) : -1;
	return 0;
}

/* Process @pid may have a runtime or not. */
static void hide(struct running *running, pid_t pid)
{
	if (running->hidden < HIDDEN_TOLD)
		running->hidden_pids[running->hidden] = pid;
	running->hidden++;
}

static int look_at_open(struct look *look, struct one *one)
{
	struct running *running = look->running;
	struct mapped_file *files = NULL;
	const struct mapped_file *found;
	ssize_t n = process_mapped_files(&one->process, &files, NULL);
	bool hidden, unproven;
	int error = 0;

	if (n < 0)
		return n == -ENOMEM ? -ENOMEM : 0;
	hidden = look_at_files(look, one, files, n, &found, &unproven);
	if (found)
		error = add_process(look, one, found);
	else if (unproven && !is_opprobe(&one->process))
		running->unproven++;
	else if (hidden && process_alive(&one->process))
		hide(running, one->process.pid);
	free(files);
	return error;
}

/* Look at process @pid. Only running out of memory is a failure. */
static int look_at(struct look *look, pid_t pid)
{
	struct one one = {};
	int error;

	if (pid == getpid() || has_no_memory(pid))
		return 0;
	error = process_open(&one.process, pid, NULL);
	if (error) {
		/* Programs of other kinds have no runtime, and neither has what is gone. */
		if (error != -EINVAL && error != -ESRCH)
			hide(look->running, pid);
		return 0;
	}
	error = look_at_open(look, &one);
	inspector_free(one.inspector);
	process_close(&one.process);
	return error;
}

/* -- all -------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const struct running_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Look at @pid, or at all processes if it is 0. */
static int look_at_some(struct look *look, pid_t pid, struct error *err)
{
	struct dirent *entry;
	int error = know_own_program(look->files);
	DIR *dir;

	if (error || pid)
		return error ?: look_at(look, pid);
	dir = opendir("/proc");
	if (!dir)
		return error_set(err, -errno, "cannot list the processes in /proc: %s",
				 error_reason(-errno));
	while (!error && (entry = readdir(dir))) {
		pid_t number = atoi(entry->d_name);

		if (look->options->stop && *look->options->stop)
			error = -EINTR;
		else if (number > 0)
			error = look_at(look, number);
	}
	closedir(dir);
	return error;
}

static int find(struct running *running, const struct running_options *options, pid_t pid,
		struct error *err)
{
	struct running_files own = {};
	struct look look = {
		.options = options,
		.running = running,
		.files = options->files ?: &own,
	};
	int error;

	*running = (struct running){};
	error = look_at_some(&look, pid, err);
	forget_all(&own);
	if (running->list.n)
		qsort(running->list.items, running->list.n, sizeof(running->list.items[0]),
		      by_number);
	if (error == -EINTR)
		return error_set(err, error, "interrupted while looking for processes");
	return error == -ENOMEM ? error_set(err, error, "out of memory") : error;
}

int running_find(struct running *running, const struct running_options *options, struct error *err)
{
	return find(running, options, 0, err);
}

int running_find_one(struct running *running, const struct running_options *options, pid_t pid,
		     struct error *err)
{
	return find(running, options, pid, err);
}

void running_free(struct running *running)
{
	array_free(&running->list);
}

/* -- which ones ------------------------------------------------------------------- */

/* A name is told whole, of an id enough of it to mean one. */
static bool in_container(const struct running_process *process, const char *said)
{
	size_t length = strlen(said);

	return (length >= RUNNING_ID_MIN && !strncmp(process->container, said, length)) ||
	       (length && !strcmp(process->pod.container, said));
}

/* The namespace may be a glob as well: no name has a '/'. */
static bool in_pod(const struct pod *pod, const char *glob)
{
	char whole[POD_WHOLE + 1];

	pod_whole_name(pod, whole);
	return *whole && !fnmatch(glob, strchr(glob, '/') ? whole : pod->name, 0);
}

bool running_fits(const struct running_process *process, const struct running_choice *choice)
{
	bool fits = !choice->comm;

	for (size_t i = 0; i < 3 && !fits; i++)
		fits = *process->names[i] && !fnmatch(choice->comm, process->names[i], 0);
	if (choice->container)
		fits &= in_container(process, choice->container);
	if (choice->pod)
		fits &= in_pod(&process->pod, choice->pod);
	if (choice->cgroup)
		fits &= cgroup_within(process->cgroups, choice->cgroup);
	return fits;
}

/* " in container 1b2c", " named 'node'" */
static void say_choice(const struct running_choice *choice, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s%s%s%s%s%s%s", choice->comm ? " named '" : "",
		 choice->comm ?: "", choice->comm ? "'" : "",
		 choice->container ? " in container " : "", choice->container ?: "",
		 choice->pod ? " in pod " : "", choice->pod ?: "",
		 choice->cgroup ? " in the control group " : "", choice->cgroup ?: "");
}

/* "4711 (node), 4712 (python3) and 3 more" */
static void list_processes(const struct running *running, char *text, size_t size)
{
	size_t used = 0, shown = 0;

	text[0] = '\0';
	for (; shown < running->list.n && shown < 6; shown++) {
		const struct running_process *it = &running->list.items[shown];

		used += snprintf(text + used, size - used, "%s%d (%s)", shown ? ", " : "", it->pid,
				 *it->names[RUNNING_PROGRAM] ? it->names[RUNNING_PROGRAM]
							     : it->names[RUNNING_COMM]);
	}
	if (shown < running->list.n)
		snprintf(text + used, size - used, " and %zu more", running->list.n - shown);
}

static int refuse(const struct running *running, const struct running_choice *choice,
		  struct error *err)
{
	char chosen[300], there[600], hidden[128] = "";

	say_choice(choice, chosen, sizeof(chosen));
	list_processes(running, there, sizeof(there));
	if (running->hidden)
		snprintf(hidden, sizeof(hidden), " (%zu could not be looked into%s)",
			 running->hidden, geteuid() ? ": run opprobe as root, with sudo" : "");
	if (running->list.n)
		return error_set(err, -ENOENT,
				 "no process%s has a runtime mapped; `opprobe ps` lists those that "
				 "do: %s%s",
				 chosen, there, hidden);
	return error_set(err, -ENOENT,
			 "no process%s has a runtime mapped, and no other either%s: is the server "
			 "running, and has it loaded the runtime?",
			 chosen, hidden);
}

int running_choose(const struct running *running, const struct running_choice *choice, pid_t *pids,
		   size_t max, struct error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < running->list.n; i++) {
		if (!running_fits(&running->list.items[i], choice))
			continue;
		if (n < max)
			pids[n] = running->list.items[i].pid;
		n++;
	}
	if (n > max)
		return error_set(err, -E2BIG,
				 "%zu processes with a runtime fit, and a recording is of %zu at "
				 "most: choose fewer, with --comm, --container, --pod or --cgroup",
				 n, max);
	return n ? (int)n : refuse(running, choice, err);
}
