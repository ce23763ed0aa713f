// SPDX-License-Identifier: GPL-2.0-only
#include "following_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define LOOK_INTERVAL 1000000000ULL  /* ns between looks at what a process maps */
#define RETIRE_DELAY  10000000000ULL /* ns behind the end of a process */
#define CHILD_DELAY   100000000ULL   /* ns: many children execute another program at once */

void following_say(const struct following *following, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	following->options->say(following->options->context, text);
}

/* -- entries ---------------------------------------------------------------------- */

static void free_entry(struct entry *entry)
{
	if (!entry)
		return;
	located_free(entry->located);
	inspector_free(entry->inspector);
	process_close(&entry->process);
	array_free(&entry->seen);
	free(entry);
}

/* Open process @pid as one more; NULL with @err set if it cannot be. */
struct entry *following_add(struct following *following, pid_t pid, pid_t parent, struct error *err)
{
	struct entry *entry = calloc(1, sizeof(*entry)), **added;

	if (!entry) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (process_open(&entry->process, pid, err)) {
		free(entry);
		return NULL;
	}
	entry->parent = parent;
	entry->born = clock_ns();
	added = array_push(&following->entries);
	if (!added) {
		free_entry(entry);
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	*added = entry;
	return entry;
}

static bool has_layer(const struct located *found)
{
	for (; found; found = found->next)
		if (found->location.runtime->is_layer)
			return true;
	return false;
}

/* The runtimes in @entry, as runtime_find(); its inspector comes with the first question. */
int following_runtimes(const struct following *following, struct entry *entry,
		       struct located **found, struct error *err)
{
	int error;

	if (!entry->inspector)
		entry->inspector = inspector_new(&entry->process, following->options->stop, err);
	*found = NULL;
	error = entry->inspector ? runtime_find(&entry->process, entry->inspector, found, err)
				 : -EAGAIN;
	if (error || !following->options->layers)
		return error;
	error = runtime_find_layers(&entry->process, entry->inspector, found, err);
	if (!error && !has_layer(*found))
		location_note(&(*found)->location,
			      "what operators have GPUs do is not told: no library of a GPU was "
			      "mapped when the recording began");
	if (!error)
		return 0;
	located_free(*found);
	*found = NULL;
	return error;
}

/* The one of @pid that is not over; NULL if there is none. */
struct entry *following_entry(const struct following *following, pid_t pid)
{
	for (size_t i = following->entries.n; i-- > 0;)
		if (following->entries.items[i]->process.pid == pid &&
		    !following->entries.items[i]->over)
			return following->entries.items[i];
	return NULL;
}

static bool has_file(const struct entry *entry, const struct mapped_file *file)
{
	for (size_t i = 0; i < entry->seen.n; i++)
		if (entry->seen.items[i].inode == file->inode &&
		    entry->seen.items[i].device == file->device)
			return true;
	return false;
}

/* Has it mapped files since it was looked at last? Those it maps now are remembered. */
bool following_maps_others(struct entry *entry)
{
	struct mapped_file *files = NULL;
	ssize_t n = process_mapped_files(&entry->process, &files, NULL);
	bool others = false;

	for (ssize_t i = 0; i < n; i++) {
		struct seen_file *seen;

		if (has_file(entry, &files[i]))
			continue;
		others = true;
		seen = array_push(&entry->seen);
		if (seen)
			*seen = (struct seen_file){files[i].device, files[i].inode};
	}
	free(files);
	return others;
}

/* Is @file one of @located? */
static bool is_located(const struct located *located, const struct mapped_file *file)
{
	for (; located; located = located->next)
		if (located->file.inode == file->inode && located->file.device == file->device)
			return true;
	return false;
}

/* Does @child map a file that has probes in @parent? */
static bool shares_runtime(const struct entry *child, const struct entry *parent)
{
	struct mapped_file *files = NULL;
	ssize_t n = process_mapped_files(&child->process, &files, NULL);
	bool shares = false;

	for (ssize_t i = 0; i < n && !shares; i++)
		shares = is_located(parent->located, &files[i]);
	free(files);
	return shares;
}

/* -- the start ------------------------------------------------------------------------ */

void following_leave_out(const struct following *following, pid_t pid, const struct error *why)
{
	following_say(following, "process %d is not recorded: %s", pid, why->text);
}

struct following *following_open(const struct following_options *options, struct error *err)
{
	struct following *following = calloc(1, sizeof(*following));
	struct error why = {};

	if (!following) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	following->options = options;
	for (size_t i = 0; i < options->n_pids; i++) {
		/* The last one is refused for all, where none is there. */
		bool enough = options->some && (following->entries.n || i + 1 < options->n_pids);

		if (following_add(following, options->pids[i], 0, &why))
			continue;
		if (enough) {
			following_leave_out(following, options->pids[i], &why);
			continue;
		}
		if (err)
			*err = why;
		following_free(following);
		return NULL;
	}
	return following;
}

/* Did following_runtimes() find none, in what is there or in what is gone? */
bool following_is_none(int error)
{
	return error == -ENOENT || error == -ESRCH;
}

static int find_one(struct following *following, struct entry *entry, struct error *err)
{
	const struct following_options *options = following->options;
	const struct timespec pause = {.tv_nsec = WAIT_INTERVAL};
	bool told = false;

	for (;;) {
		int error = following_runtimes(following, entry, &entry->located, err);

		if (!following_is_none(error) || !options->wait)
			return error;
		if (!process_alive(&entry->process))
			return error_set(err, -ESRCH,
					 "process %d exited before it loaded a runtime",
					 entry->process.pid);
		if (*options->stop)
			return error_set(err, -EINTR,
					 "interrupted before process %d loaded a runtime",
					 entry->process.pid);
		if (!told)
			following_say(following, "waiting for process %d to load a runtime",
				      entry->process.pid);
		told = true;
		nanosleep(&pause, NULL);
	}
}

/* May @entry, of which @error says that it has no runtime, be left out? Others have one or may. */
static bool may_leave_out(const struct following *following, size_t i, int error)
{
	return following->options->some && (following_is_none(error) || error == -ENOEXEC) &&
	       (following->targets.n || i + 1 < following->entries.n);
}

int following_add_target(struct following *following, struct entry *entry, struct error *err)
{
	struct collector_target *target = array_push(&following->targets);

	if (!target)
		return error_set(err, -ENOMEM, "out of memory");
	*target = (struct collector_target){.process = &entry->process, .located = entry->located};
	entry->joined = true;
	following_maps_others(entry);
	entry->looked = clock_ns();
	return 0;
}

int following_find(struct following *following, struct error *err)
{
	if (following->options->command)
		return following_find_in_command(following, err);
	for (size_t i = 0; i < following->entries.n; i++) {
		struct entry *entry = following->entries.items[i];
		struct error why = {};
		int error = find_one(following, entry, &why);

		if (error && may_leave_out(following, i, error)) {
			following_leave_out(following, entry->process.pid, &why);
			entry->over = true;
			continue;
		}
		if (error && err)
			*err = why;
		if (error)
			return error;
		error = following_add_target(following, entry, err);
		if (error)
			return error;
	}
	return 0;
}

const struct collector_target *following_targets(const struct following *following, size_t *n)
{
	*n = following->targets.n;
	return following->targets.items;
}

void following_free(struct following *following)
{
	if (!following)
		return;
	gate_free(following->gate);
	for (size_t i = 0; i < following->entries.n; i++)
		free_entry(following->entries.items[i]);
	array_free(&following->entries);
	array_free(&following->targets);
	free(following);
}

/* -- while it goes on --------------------------------------------------------------------- */

/* Of the runtimes @found, those in files that are not probed in @entry yet; the others go. */
static struct located *take_new(const struct entry *entry, struct located *found)
{
	struct located *taken = NULL, **end = &taken;

	while (found) {
		struct located *next = found->next;

		found->next = NULL;
		if (is_located(entry->located, &found->file)) {
			located_free(found);
		} else {
			*end = found;
			end = &found->next;
		}
		found = next;
	}
	return taken;
}

/* Whether @entry, or what it has loaded, is recorded from now on; @why not, else NULL. */
static void say_joined(const struct following *following, const struct entry *entry,
		       const struct located *added, const char *why)
{
	pid_t pid = entry->process.pid;
	char title[RUNTIME_TITLE], forked[32] = "";

	location_title(&added->location, title);
	if (entry->parent && entry->parent != pid)
		snprintf(forked, sizeof(forked), ", forked by %d,", entry->parent);
	if (entry->joined)
		following_say(following, "process %d has loaded %s from %s, which is %s%s", pid,
			      title, added->file.path,
			      why ? "not recorded: " : "recorded from now on", why ?: "");
	else
		following_say(following, "process %d (%s)%s is %s%s%s", pid, title, forked,
			      why ? "not recorded: " : "recorded ",
			      !why && entry->parent == pid ? "again " : "", why ?: "from now on");
}

/* Record what was found new in @entry. */
static void join(struct following *following, struct collector *collector, struct entry *entry,
		 struct located *added)
{
	struct located **end = &entry->located;
	struct collector_target target;
	struct error err;
	bool failed;

	while (*end)
		end = &(*end)->next;
	*end = added;
	target = (struct collector_target){
		.process = &entry->process,
		.located = entry->located,
		.parent = entry->parent == entry->process.pid ? 0 : entry->parent,
	};
	failed = collector_add(collector, &target, &err);
	say_joined(following, entry, added, failed ? err.text : NULL);
	/* What it did so far is recorded, and what it does is. */
	entry->over = failed && !entry->joined;
	entry->joined |= !failed;
}

/*
 * Look whether @entry has a runtime that is not recorded yet, if it maps other files than
 * before. Returns whether there is one, recorded or refused.
 */
bool following_look_for(struct following *following, struct collector *collector,
			struct entry *entry)
{
	struct located *found = NULL, *added;
	struct error err;
	int error;

	if (!following_maps_others(entry))
		return false;
	error = following_runtimes(following, entry, &found, &err);
	if (error && !following_is_none(error) && error != -EINTR && !entry->told) {
		following_say(following, "%s", err.text);
		entry->told = true;
	}
	added = take_new(entry, found);
	if (added)
		join(following, collector, entry, added);
	return added || (error && !following_is_none(error));
}

/* Children of the thread of @pid that were not seen before. */
static void add_children(struct following *following, struct collector *collector, pid_t pid,
			 pid_t tid)
{
	pid_t children[64];
	size_t n = process_children(pid, tid, children, sizeof(children) / sizeof(children[0]));

	for (size_t i = 0; i < n; i++) {
		struct entry *entry;

		if (following_entry(following, children[i]))
			continue;
		entry = following_add(following, children[i], pid, NULL);
		/* What it forks and executes itself is to be known, too. */
		if (entry && following->options->follow)
			collector_watch(collector, children[i]);
	}
}

static void execute(struct following *following, struct collector *collector, pid_t pid)
{
	struct entry *entry = following_entry(following, pid), *next;
	bool follow = following->options->follow;

	if (!entry)
		return;
	if (entry->joined)
		following_say(following,
			      "process %d executes another program now: what it did until then is "
			      "kept%s",
			      pid, follow ? "" : ", and --follow would record on");
	collector_drop(collector, pid);
	entry->over = true;
	if (!follow)
		return;
	next = following_add(following, pid, pid, NULL);
	if (next)
		collector_watch(collector, pid);
}

static void take_news(struct following *following, struct collector *collector,
		      const struct collector_news *news)
{
	struct entry *entry = following_entry(following, news->pid);

	switch (news->kind) {
	case COLLECTOR_FORKED:
		add_children(following, collector, news->pid, news->tid);
		break;
	case COLLECTOR_EXECUTED:
		execute(following, collector, news->pid);
		break;
	case COLLECTOR_GONE:
		if (entry && entry->joined && following->entries.n > 1)
			following_say(following, "process %d exited", news->pid);
		if (entry) {
			entry->over = true;
			entry->looked = clock_ns();
		}
		break;
	}
}

/* Nobody asks about one that is gone, once all that it did has been taken. */
static void retire(struct entry *entry)
{
	if (entry->retired || !entry->inspector || clock_ns() - entry->looked < RETIRE_DELAY)
		return;
	inspector_retire(entry->inspector);
	entry->retired = true;
}

/* A child that is not to be recorded is told of, and left without breakpoints. */
static void leave(struct following *following, struct collector *collector, struct entry *child)
{
	const struct entry *parent = following_entry(following, child->parent);

	child->over = true;
	if (!parent || !shares_runtime(child, parent))
		return;
	collector_shed(collector, child->parent);
	following_say(following,
		      "process %d has forked process %d, which is not recorded: record it with "
		      "--follow, or with -p %d,%d",
		      child->parent, child->process.pid, child->parent, child->process.pid);
}

static void look_at(struct following *following, struct collector *collector, struct entry *entry)
{
	uint64_t now = clock_ns();

	if (!entry->joined && now - entry->born < CHILD_DELAY)
		return;
	if (!entry->joined && !process_alive(&entry->process)) {
		entry->over = true;
		collector_drop(collector, entry->process.pid);
		return;
	}
	if (!entry->joined && !following->options->follow) {
		leave(following, collector, entry);
		return;
	}
	if (now - entry->looked < LOOK_INTERVAL)
		return;
	entry->looked = now;
	following_look_for(following, collector, entry);
}

void following_hurry(const struct following *following)
{
	for (size_t i = 0; i < following->entries.n; i++)
		if (following->entries.items[i]->inspector)
			inspector_hurry(following->entries.items[i]->inspector);
}

/* Of a process that was never recorded and is none to be, nothing is kept: there may be many. */
static void forget_others(struct following *following)
{
	size_t kept = 0;

	for (size_t i = 0; i < following->entries.n; i++) {
		struct entry *entry = following->entries.items[i];

		if (entry->over && !entry->joined && !entry->located)
			free_entry(entry);
		else
			following->entries.items[kept++] = entry;
	}
	following->entries.n = kept;
}

/* Those that came, and have a runtime by now. One that is watched already was forked by another. */
static void add_arrived(struct following *following, struct collector *collector)
{
	pid_t pids[64];
	size_t n = following->options->arrived(following->options->context, collector, pids,
					       sizeof(pids) / sizeof(pids[0]));

	for (size_t i = 0; i < n; i++) {
		struct entry *entry = following_entry(following, pids[i]);

		if (entry) {
			entry->looked = 0;
			continue;
		}
		entry = following_add(following, pids[i], 0, NULL);
		if (!entry)
			continue;
		entry->born = 0;
		collector_watch(collector, pids[i]);
	}
}

bool following_look(struct following *following, struct collector *collector,
		    const struct collector_news *news, size_t n_news)
{
	bool more = false;

	for (size_t i = 0; i < n_news; i++)
		take_news(following, collector, &news[i]);
	if (following->options->arrived)
		add_arrived(following, collector);
	if (following->gate)
		following_answer(following, collector);
	if (following->options->command && command_ended(following->options->command)) {
		following_leave_rest(following, collector);
		return false;
	}
	/* Those that come to be known meanwhile are looked at, too. */
	for (size_t i = 0; i < following->entries.n; i++) {
		struct entry *entry = following->entries.items[i];

		if (entry->over)
			retire(entry);
		else
			look_at(following, collector, entry);
		more |= following->options->follow && !entry->over && !entry->joined;
	}
	forget_others(following);
	return more || following->options->command;
}
