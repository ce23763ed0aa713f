// SPDX-License-Identifier: GPL-2.0-only
#include "recording_state.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/info.h"

/* -- captures ----------------------------------------------------------------- */

/* "run.opp" and 2 → "run.2.opp" */
static void name_capture(const struct recording *recording, unsigned int cycle, char name[PATH_MAX])
{
	const char *path = recording->options->capture;
	int stem = output_stem(path);

	if (!recording->options->per_cycle || !strcmp(path, "-"))
		snprintf(name, PATH_MAX, "%s", path);
	else
		snprintf(name, PATH_MAX, "%.*s.%u%s", stem, path, cycle, path + stem);
}

static int write_record(struct recording *recording, const struct capture_record *record,
			struct error *err)
{
	int error = sink_take(recording_sink(recording), record);

	return error ? error_set(err, error, "cannot write the capture: %s", error_reason(error))
		     : 0;
}

void recording_add_notes(const struct recording *recording, struct capture_info *info)
{
	char note[CAPTURE_NOTE_SIZE];
	size_t n, next = 0;
	const struct collector_target *targets = following_targets(recording->following, &n);

	for (size_t i = 0; i < n; i++)
		for (const struct located *it = targets[i].located; it; it = it->next)
			for (size_t k = 0; k < it->location.n_notes; k++) {
				info_say_whose(note, n > 1, targets[i].process->pid,
					       it->location.notes[k]);
				info_add_note(info, note);
			}
	while (collector_note(recording->collector, false, &next, note))
		info_add_note(info, note);
}

int recording_write_info(struct recording *recording, struct error *err)
{
	const struct collector_target *first = recording->first;
	struct capture_info info;

	/* The first process speaks for all, but for the notes. */
	info_gather(&info, first->process, &first->located->location, &first->located->file,
		    &recording->counters);
	info.roofs = recording->roofs;
	recording_add_notes(recording, &info);
	return write_record(recording, &(struct capture_record){CAPTURE_INFO, .info = &info}, err);
}

/* -- what the probes add --------------------------------------------------------- */

static void add_overhead_note(struct recording *recording, const char *format, ...)
{
	struct capture_note *note = array_push(&recording->overhead_notes);
	va_list args;

	if (!note)
		return;
	va_start(args, format);
	vsnprintf(note->text, sizeof(note->text), format, args);
	va_end(args);
	recording_say(recording->options, "%s", note->text);
}

/* Reading shapes is timed where it happens, but not counted: of what is counted in the kernel. */
static void note_shapes(struct recording *recording)
{
	const struct counter_set *set = &recording->counters;

	for (size_t i = 0; recording->options->shapes && i < set->n; i++) {
		const struct counter *counter = &set->counters[i];

		if (counter->source == COUNTER_PERF && !counter->attr.exclude_kernel &&
		    counter->attr.type != PERF_TYPE_TRACEPOINT && strcmp(counter->unit, "ns"))
			add_overhead_note(
				recording,
				"what reading shapes adds to %s in the kernel is not "
				"subtracted from runs, nor from operators with others inside",
				counter->name);
	}
}

/* Blocks are not counted by the reckoning of the probes, and each has three of its own. */
static void note_memory(struct recording *recording)
{
	if (counters_of_memory(&recording->counters))
		add_overhead_note(recording, "what the probes of memory add to operators and runs, "
					     "some microseconds for each block, is not "
					     "subtracted");
}

void recording_know_overhead(struct recording *recording)
{
	struct self_kind kind = {true, true};
	struct error err = {};
	size_t n;
	const struct collector_target *targets = following_targets(recording->following, &n);
	uint32_t unsettled;

	for (size_t i = 0; i < n; i++)
		for (const struct located *it = targets[i].located; it; it = it->next) {
			struct self_kind needed = overhead_kind(&it->location);

			kind.enter_emulated &= needed.enter_emulated;
			kind.exit_emulated &= needed.exit_emulated;
		}
	if (recording->overhead && (!kind.enter_emulated || !kind.exit_emulated)) {
		overhead_free(recording->overhead);
		recording->overhead = overhead_start(kind, &recording->counters);
	}
	if (!recording->overhead)
		error_set(&err, -ENOMEM, "it could not be measured");
	recording->overhead_known =
		recording->overhead && !overhead_wait(recording->overhead, &recording->added, &err);
	if (!recording->overhead_known) {
		add_overhead_note(recording, "what the probes add is not subtracted: %s", err.text);
		return;
	}
	note_shapes(recording);
	note_memory(recording);
	unsettled = overhead_unsettled(recording->overhead);
	for (; unsettled; unsettled &= unsettled - 1)
		add_overhead_note(recording, "what the probes add to %s is not subtracted: %s",
				  recording->counters.counters[__builtin_ctz(unsettled)].name,
				  OVERHEAD_DIFFERS);
}

int recording_write_overhead(struct recording *recording, struct error *err)
{
	struct capture_record record = {.type = CAPTURE_NOTE};
	int error = 0;

	for (size_t i = 0; i < recording->overhead_notes.n && !error; i++) {
		record.note = recording->overhead_notes.items[i];
		error = write_record(recording, &record, err);
	}
	if (error || !recording->overhead_known)
		return error;
	record = (struct capture_record){.type = CAPTURE_OVERHEAD, .overhead = recording->added};
	return write_record(recording, &record, err);
}

/* -- captures that are complete --------------------------------------------------- */

void recording_call_back(struct recording *recording, char *path)
{
	char command[8192];
	char *const argv[] = {"sh", "-c", command, "sh", path, NULL};
	pid_t child, *place;
	int error;

	if (!recording->options->on_capture)
		return;
	recording_reap(recording, false);
	place = array_push(&recording->commands);
	snprintf(command, sizeof(command), "%s \"$1\"", recording->options->on_capture);
	recording_slow_down(recording);
	error = place ? posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ) : ENOMEM;
	if (error)
		recording_say(recording->options, "cannot run %s: %s",
			      recording->options->on_capture, error_reason(-error));
	else
		*place = child;
	if (error && place)
		recording->commands.n--;
	recording_hurry(recording);
}

void recording_reap(struct recording *recording, bool wait)
{
	size_t left = 0;

	for (size_t i = 0; i < recording->commands.n; i++) {
		pid_t pid = recording->commands.items[i];

		if (!waitpid(pid, NULL, wait ? 0 : WNOHANG))
			recording->commands.items[left++] = pid;
	}
	recording->commands.n = left;
}

int recording_open_capture(struct recording *recording, unsigned int cycle, struct error *err)
{
	char path[PATH_MAX];

	name_capture(recording, cycle, path);
	recording->writer = capture_writer_open(path, recording->options->naming, err);
	if (!recording->writer)
		return -EIO;
	capture_writer_be_impatient(recording->writer, recording->options->stop);
	return 0;
}

int recording_change_capture(struct recording *recording, unsigned int cycle, struct error *err)
{
	struct capture_writer *complete = recording->writer;
	char *path;
	int error, closed;

	error = recording_open_capture(recording, cycle, err);
	if (error) {
		recording->writer = complete;
		return error;
	}
	error = recording_write_info(recording, err) ?: recording_write_overhead(recording, err);
	if (!error)
		error = collector_change(recording->collector,
					 capture_writer_sink(recording->writer), err);
	closed = capture_writer_close(complete, &path, error ? NULL : err);
	if (!error)
		error = closed;
	if (!error && path)
		recording_call_back(recording, path);
	free(path);
	return error;
}
