// SPDX-License-Identifier: GPL-2.0-only
#include "following_state.h"

#include <errno.h>

#include "base/clock.h"

/* -- until one of its processes has a runtime --------------------------------------------- */

/* The process @pid of the command, which opened a file with a runtime; NULL if it is gone. */
static struct entry *command_entry(struct following *following, pid_t pid)
{
	return following_entry(following, pid) ?: following_add(following, pid, 0, NULL);
}

/* Has @entry a runtime by now? 0, -ENOENT, or what is wrong with it, with @err set. */
static int look_before(struct following *following, struct entry *entry, struct error *err)
{
	int error;

	entry->looked = clock_ns();
	if (!following_maps_others(entry))
		return -ENOENT;
	/* It may have executed another program since. */
	process_close(&entry->process);
	error = process_open(&entry->process, entry->process.pid, err)
			?: following_runtimes(following, entry, &entry->located, err);
	if (error && !following_is_none(error) && error != -EINTR)
		following_leave_out(following, entry->process.pid, err);
	return following_is_none(error) ? -ENOENT : error;
}

/* Look at who asks. 0 if a runtime was found, else -ENOENT or what else is wrong. */
static int answer_first(struct following *following, struct error *refusal)
{
	pid_t pid;
	int error;

	gate_turn(following->gate);
	while ((pid = gate_next(following->gate))) {
		struct entry *entry = command_entry(following, pid);

		error = entry ? look_before(following, entry, refusal) : -ESRCH;
		if (!error) {
			following->held = pid;
			return following_add_target(following, entry, refusal);
		}
		gate_answer(following->gate, pid, error != -ENOENT);
	}
	return -ENOENT;
}

/* Those who ask for nothing have a runtime, too, if they mapped one before they were held. */
static int look_at_others(struct following *following, struct error *refusal)
{
	for (size_t i = 0; i < following->entries.n; i++) {
		struct entry *entry = following->entries.items[i];

		if (entry->over || clock_ns() - entry->looked < WAIT_INTERVAL)
			continue;
		if (!process_alive(&entry->process))
			entry->over = true;
		else if (!look_before(following, entry, refusal))
			return following_add_target(following, entry, refusal);
	}
	return -ENOENT;
}

static int say_none(const struct following *following, const struct error *refusal,
		    struct error *err)
{
	const struct command *command = following->options->command;

	if (*refusal->text)
		return error_set(err, -ENOEXEC, "%s", refusal->text);
	return error_set(err, -ENOENT,
			 "'%s' ended with status %d, and none of its processes had loaded a "
			 "runtime: nothing was recorded",
			 command_name(command), command_status(command));
}

int following_find_in_command(struct following *following, struct error *err)
{
	const struct following_options *options = following->options;
	struct error refusal = {};
	int error;

	following->gate = gate_new(command_pid(options->command), options->stop, err);
	if (!following->gate)
		return -EPERM;
	error = command_go(options->command, err);
	if (error)
		return error;
	do {
		bool ended = command_ended(options->command);

		gate_asked(following->gate, WAIT_INTERVAL / 1000000 / 5);
		error = answer_first(following, &refusal);
		if (error == -ENOENT)
			error = look_at_others(following, &refusal);
		if (!error || error == -ENOMEM)
			return error ? error_set(err, error, "out of memory") : 0;
		if (*options->stop)
			return error_set(err, -EINTR,
					 "interrupted before '%s' loaded a runtime: it goes on "
					 "unrecorded",
					 command_name(options->command));
		if (ended)
			return say_none(following, &refusal, err);
	} while (true);
}

void following_let(struct following *following)
{
	if (following->held)
		gate_answer(following->gate, following->held, true);
	following->held = 0;
}

bool following_asked(const struct following *following)
{
	return following->gate && gate_asked(following->gate, 0);
}

/* -- while it is recorded ------------------------------------------------------------------ */

/* Look at who of the command is held. What it did until then is known. */
void following_answer(struct following *following, struct collector *collector)
{
	pid_t pid;

	while ((pid = gate_next(following->gate))) {
		struct entry *entry = following_entry(following, pid);
		bool settled = true;

		if (!entry) {
			entry = following_add(following, pid, 0, NULL);
			if (entry)
				collector_watch(collector, pid);
		}
		if (entry)
			settled = following_look_for(following, collector, entry);
		gate_answer(following->gate, pid, settled);
	}
	gate_turn(following->gate);
}

/* The command has ended: what it leaves behind is not recorded on. */
void following_leave_rest(struct following *following, struct collector *collector)
{
	for (size_t i = 0; i < following->entries.n; i++) {
		struct entry *entry = following->entries.items[i];

		if (!entry->over && entry->joined && process_alive(&entry->process))
			following_say(
				following,
				"'%s' has ended, and process %d, which it left behind, goes on "
				"unrecorded",
				command_name(following->options->command), entry->process.pid);
		collector_drop(collector, entry->process.pid);
		entry->over = true;
	}
}
