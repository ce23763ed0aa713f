// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a live view costs: CPU time to take the records of a capture as fast as they come, of each
 * operator; of each frame of 80 x 24; and to group what is kept by something else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "live/live.h"
#include "output/top.h"

#define FRAMES 200
#define KEEP   (64u << 20)

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static int fail(const struct error *err)
{
	fprintf(stderr, "live_cost: %s\n", err->text);
	return 1;
}

static int frames(struct live *live, struct error *err)
{
	int error = 0;

	for (int i = 0; i < FRAMES && !error; i++) {
		struct top_view view = {.report.live = true, .width = 80, .height = 24};
		struct frame frame = {};
		struct live_look look;

		error = live_look(live, &look);
		if (error)
			break;
		error = top_frame(&look, &view, &frame, err);
		live_release(live);
		frame_free(&frame);
	}
	return error;
}

int main(int argc, char **argv)
{
	struct analyze_options options = {.compensate = true, .once = true}, by_op = options;
	struct error err = {};
	struct capture_reader *reader = argc == 2 ? capture_reader_open(argv[1], &err) : NULL;
	struct live *live = live_new(&options, KEEP, &err);
	struct capture_record record;
	struct live_look look;
	double started, taken, read;
	uint64_t n;

	if (argc != 2) {
		fputs("usage: live_cost CAPTURE\n", stderr);
		return 2;
	}
	if (!reader || !live)
		return fail(&err);
	/* Reading alone, to be taken off. */
	started = cpu_seconds();
	while (capture_reader_next(reader, &record, &err) > 0)
		;
	read = cpu_seconds() - started;
	if (capture_reader_rewind(reader, &err))
		return fail(&err);
	started = cpu_seconds();
	if (capture_replay(reader, live_sink(live), &err))
		return fail(&err);
	taken = cpu_seconds() - started - read;
	if (live_look(live, &look))
		return 1;
	n = look.analysis->executions;
	live_release(live);
	printf("%-28s %8.0f ns: %.1f %% of a core at 200,000 a second\n", "an operator",
	       taken / n * 1e9, taken / n * 200000 * 100);
	started = cpu_seconds();
	if (frames(live, &err))
		return fail(&err);
	printf("%-28s %8.2f ms\n", "a frame of 80 x 24", (cpu_seconds() - started) / FRAMES * 1e3);
	by_op.group = GROUP_OP;
	started = cpu_seconds();
	if (live_regroup(live, &by_op, &err))
		return fail(&err);
	printf("%-28s %8.0f ms\n", "other rows, of what is kept", (cpu_seconds() - started) * 1e3);
	live_free(live);
	capture_reader_close(reader);
	return 0;
}
