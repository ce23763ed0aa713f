// SPDX-License-Identifier: GPL-2.0-only
#include "part.h"

#include <errno.h>

static int note(struct part_flags *flags, uint32_t number, bool wanted)
{
	if (number >= CAPTURE_IDS_MAX || array_extend(flags, (size_t)number + 1))
		return -ENOMEM;
	flags->items[number] = wanted;
	return 0;
}

static bool is_wanted(const struct part_flags *flags, uint32_t number)
{
	return number < flags->n && flags->items[number];
}

/* Of whom is what refers to @record later? */
static int learn(struct part *part, const struct capture_record *record)
{
	switch (record->type) {
	case CAPTURE_INFO:
		return note(&part->processes, 0, record->info->pid == part->of.pid);
	case CAPTURE_PROCESS:
		return note(&part->processes, record->process.process,
			    record->process.pid == part->of.pid);
	case CAPTURE_THREAD:
		return note(&part->threads, record->thread.thread,
			    is_wanted(&part->processes, record->thread.process));
	case CAPTURE_SESSION:
		return note(&part->sessions, record->session.session,
			    is_wanted(&part->processes, record->session.process));
	default:
		return 0;
	}
}

/* What ran: when it began, and whether it is the process's. False for all else. */
static bool ran(const struct part *part, const struct capture_record *record, uint64_t *start,
		bool *wanted)
{
	switch (record->type) {
	case CAPTURE_EXEC:
		*start = record->exec.start;
		*wanted = is_wanted(&part->threads, record->exec.thread);
		return true;
	case CAPTURE_RUN:
		*start = record->run.start;
		*wanted = is_wanted(&part->threads, record->run.thread);
		return true;
	case CAPTURE_SUM:
		*start = record->sum.start;
		*wanted = is_wanted(&part->sessions, record->sum.session);
		return true;
	case CAPTURE_SAMPLE:
		*start = record->sample.time;
		*wanted = is_wanted(&part->threads, record->sample.thread);
		return true;
	case CAPTURE_BEGIN:
		*start = record->begin.begin;
		*wanted = true;
		return true;
	case CAPTURE_LAUNCH:
		*start = record->launch.time;
		*wanted = is_wanted(&part->threads, record->launch.thread);
		return true;
	default:
		return false;
	}
}

static int take_info(const struct part *part, const struct capture_info *whole)
{
	struct capture_info info = *whole;
	const struct capture_record record = {.type = CAPTURE_INFO, .info = &info};

	if (info.start < part->of.since)
		info.start = part->of.since;
	return sink_take(part->to, &record);
}

static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct part *part = (struct part *)sink;
	int error = part->of.pid ? learn(part, record) : 0;
	uint64_t start;
	bool wanted;

	if (error)
		return error;
	if (record->type == CAPTURE_INFO)
		return take_info(part, record->info);
	if (ran(part, record, &start, &wanted) &&
	    (start < part->of.since || (part->of.pid && !wanted)))
		return 0;
	return sink_take(part->to, record);
}

void part_begin(struct part *part, const struct part_of *of, struct record_sink *to)
{
	*part = (struct part){.sink.take = take, .to = to, .of = *of};
}

void part_end(struct part *part)
{
	array_free(&part->processes);
	array_free(&part->threads);
	array_free(&part->sessions);
}
