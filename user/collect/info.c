// SPDX-License-Identifier: GPL-2.0-only
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../base/clock.h"

/* Values behind "model name : " (x86) or "CPU part : " (arm64) of /proc/cpuinfo. */
static void read_cpu(char *cpu, size_t size)
{
	char *line = NULL, *value;
	size_t capacity = 0;
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && !cpu[0] && getline(&line, &capacity, file) > 0) {
		if (strncmp(line, "model name", 10) && strncmp(line, "CPU part", 8))
			continue;
		value = strchr(line, ':');
		if (!value)
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = '\0';
		snprintf(cpu, size, "%s", value);
	}
	free(line);
	if (file)
		fclose(file);
}

void info_say_whose(char note[CAPTURE_NOTE_SIZE], bool several, pid_t pid, const char *text)
{
	if (several)
		snprintf(note, CAPTURE_NOTE_SIZE, "process %d: %s", pid, text);
	else
		snprintf(note, CAPTURE_NOTE_SIZE, "%s", text);
}

void info_add_note(struct capture_info *info, const char *text)
{
	for (size_t i = 0; i < info->n_notes; i++)
		if (!strcmp(info->notes[i], text))
			return;
	if (info->n_notes < CAPTURE_NOTES)
		snprintf(info->notes[info->n_notes++], CAPTURE_NOTE_SIZE, "%s", text);
}

static void add_events(struct capture_info *info, const struct counter_set *counters)
{
	for (size_t i = 0; i < counters->n; i++) {
		const struct counter *counter = &counters->counters[i];
		struct capture_event *event = &info->events[info->n_events++];

		snprintf(event->name, sizeof(event->name), "%s", counter->name);
		snprintf(event->event, sizeof(event->event), "%s", counter->event);
		snprintf(event->unit, sizeof(event->unit), "%s", counter->unit);
		event->group = counter->group;
		event->multiplexed = counter->multiplexed;
	}
	for (size_t i = 0; i < counters->n_notes; i++)
		info_add_note(info, counters->notes[i]);
}

void info_describe_machine(struct capture_info *info)
{
	struct utsname machine;

	info->n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (!uname(&machine)) {
		snprintf(info->kernel, sizeof(info->kernel), "%s", machine.release);
		snprintf(info->machine, sizeof(info->machine), "%.31s", machine.machine);
		snprintf(info->host, sizeof(info->host), "%s", machine.nodename);
	}
	read_cpu(info->cpu, sizeof(info->cpu));
}

/* CLOCK_BOOTTIME is CLOCK_MONOTONIC that goes on in sleep: without any, it is the same. */
static void describe_sleep(struct capture_info *info)
{
	const int64_t before = (int64_t)clock_ns();
	struct timespec boottime;
	int64_t at, after;

	if (clock_gettime(CLOCK_BOOTTIME, &boottime))
		return;
	after = (int64_t)clock_ns();
	at = boottime.tv_sec * 1000000000LL + boottime.tv_nsec;
	info->boottime_offset = at >= before && at <= after ? 0 : at - (before + after) / 2;
	info->has_boottime = true;
}

void info_gather(struct capture_info *info, const struct process *process,
		 const struct location *location, const struct mapped_file *file,
		 const struct counter_set *counters)
{
	struct timespec realtime;

	*info = (struct capture_info){};
	info->start = clock_ns();
	clock_gettime(CLOCK_REALTIME, &realtime);
	info->realtime_offset =
		realtime.tv_sec * 1000000000LL + realtime.tv_nsec - (int64_t)info->start;
	describe_sleep(info);
	info->pid = process->pid;
	snprintf(info->command, sizeof(info->command), "%s", process->command);
	snprintf(info->library, sizeof(info->library), "%s", file->path);
	snprintf(info->runtime, sizeof(info->runtime), "%s", location->runtime->name);
	snprintf(info->version, sizeof(info->version), "%.31s", location->version);
	snprintf(info->build_id, sizeof(info->build_id), "%s", location->build_id);
	snprintf(info->opprobe_version, sizeof(info->opprobe_version), "%s", OPPROBE_VERSION);
	info_describe_machine(info);
	add_events(info, counters);
}
