// SPDX-License-Identifier: GPL-2.0-only
#include "processes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- defining ------------------------------------------------------------------ */

/* The name of the program: titles that programs give themselves have a colon behind it. */
static int program_of(const char *command, const char **name)
{
	int length = strcspn(command, " ");

	*name = command;
	for (int i = 0; i + 1 < length; i++)
		if (command[i] == '/')
			*name = command + i + 1;
	length -= *name - command;
	return length > 1 && (*name)[length - 1] == ':' ? length - 1 : length;
}

static const char *make_label(struct processes *processes, const struct analyze_process *process)
{
	const char *name;
	char label[256];
	int length = program_of(process->command, &name);

	if (!length) {
		name = "process";
		length = strlen(name);
	}
	length = snprintf(label, sizeof(label), "%.*s (%u)", length < 200 ? length : 200, name,
			  process->pid);
	return strings_intern(&processes->strings, label, length);
}

static int keep(struct processes *processes, const char **to, const char *string)
{
	*to = strings_intern(&processes->strings, string, strlen(string));
	return *to ? 0 : -ENOMEM;
}

static int keep_strings(struct processes *processes, struct analyze_process *to,
			const struct capture_process *from)
{
	if (keep(processes, &to->command, from->command) ||
	    keep(processes, &to->library, from->library) ||
	    keep(processes, &to->runtime, from->runtime) ||
	    keep(processes, &to->version, from->version) ||
	    keep(processes, &to->build_id, from->build_id))
		return -ENOMEM;
	to->label = make_label(processes, to);
	return to->label ? 0 : -ENOMEM;
}

int processes_add(struct processes *processes, const struct capture_process *record)
{
	const struct analyze_process *parent = processes_get(processes, record->parent);
	struct analyze_process *process;

	if (record->process >= CAPTURE_IDS_MAX || processes_get(processes, record->process) ||
	    (record->parent != CAPTURE_UNKNOWN && !parent))
		return -EINVAL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	process->process = record->process;
	process->pid = record->pid;
	process->parent = parent;
	process->shown = !processes->one || record->pid == processes->pid;
	if (keep_strings(processes, process, record) ||
	    array_reserve(processes, processes->n + 1) ||
	    array_extend(&processes->by_number, (size_t)record->process + 1)) {
		free(process);
		return -ENOMEM;
	}
	processes->items[processes->n++] = process;
	processes->by_number.items[record->process] = process;
	processes->n_shown += process->shown;
	return 0;
}

int processes_begin(struct processes *processes, const struct capture_info *info)
{
	const struct capture_process first = {.pid = info->pid,
					      .parent = CAPTURE_UNKNOWN,
					      .command = info->command,
					      .library = info->library,
					      .runtime = info->runtime,
					      .version = info->version,
					      .build_id = info->build_id};

	return processes_add(processes, &first);
}

struct analyze_process *processes_get(const struct processes *processes, uint32_t number)
{
	return number < processes->by_number.n ? processes->by_number.items[number] : NULL;
}

void processes_free(struct processes *processes)
{
	for (size_t i = 0; i < processes->n; i++) {
		free(processes->items[i]->private);
		free(processes->items[i]);
	}
	array_free(processes);
	array_free(&processes->by_number);
	strings_free(&processes->strings);
}

/* -- choosing ------------------------------------------------------------------ */

#define PIDS_TOLD 50

static bool has_been_told(const struct processes *processes, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (processes->items[before]->pid == processes->items[i]->pid)
			return true;
	return false;
}

int processes_require(const struct processes *processes, struct error *err)
{
	char pids[PIDS_TOLD * 12] = "";
	size_t n = 0;

	if (processes->n_shown)
		return 0;
	for (size_t i = 0; i < processes->n && i < PIDS_TOLD; i++)
		if (!has_been_told(processes, i))
			n += snprintf(pids + n, sizeof(pids) - n, "%s%u", n ? ", " : "",
				      processes->items[i]->pid);
	return error_set(err, -EINVAL, "there is no process %u in this capture; there %s: %s%s",
			 processes->pid, processes->n == 1 ? "is" : "are", pids,
			 processes->n <= PIDS_TOLD ? "" : ", ...");
}

int process_parse(const char *text, uint32_t *pid, struct error *err)
{
	unsigned long value = 0;
	char *end = NULL;

	errno = 0;
	if (isdigit((unsigned char)*text))
		value = strtoul(text, &end, 10);
	if (!end || *end || errno || value >= UINT32_MAX)
		return error_set(err, -EINVAL, "'%s' is no pid: give the number of a process",
				 text);
	*pid = value;
	return 0;
}
