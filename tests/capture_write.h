/* SPDX-License-Identifier: GPL-2.0-only */
/* Records for the sink of a writer, a function per type: for programs that make captures up. */
#ifndef OPPROBE_TEST_CAPTURE_WRITE_H
#define OPPROBE_TEST_CAPTURE_WRITE_H

#include "capture/capture.h"

static inline int capture_write_info(struct capture_writer *writer, const struct capture_info *info)
{
	return sink_take(capture_writer_sink(writer),
			 &(struct capture_record){CAPTURE_INFO, .info = info});
}

#define CAPTURE_WRITE(function, record_type, member, kind)                                         \
	static inline int capture_write_##function(struct capture_writer *writer,                  \
						   const struct capture_##kind *it)                \
	{                                                                                          \
		return sink_take(capture_writer_sink(writer),                                      \
				 &(struct capture_record){record_type, .member = *it});            \
	}

CAPTURE_WRITE(process, CAPTURE_PROCESS, process, process)
CAPTURE_WRITE(thread, CAPTURE_THREAD, thread, thread)
CAPTURE_WRITE(session, CAPTURE_SESSION, session, session)
CAPTURE_WRITE(model, CAPTURE_MODEL, model, model)
CAPTURE_WRITE(operator, CAPTURE_OPERATOR, op, operator)
CAPTURE_WRITE(attributes, CAPTURE_ATTRIBUTES, attributes, attributes)
CAPTURE_WRITE(shapes, CAPTURE_SHAPES, shapes, shapes)
CAPTURE_WRITE(exec, CAPTURE_EXEC, exec, exec)
CAPTURE_WRITE(tag, CAPTURE_TAG, tag, tag)
CAPTURE_WRITE(failure, CAPTURE_FAILURE, failure, failure)
CAPTURE_WRITE(setup, CAPTURE_SETUP, setup, setup)
CAPTURE_WRITE(run, CAPTURE_RUN, run, run)
CAPTURE_WRITE(sum, CAPTURE_SUM, sum, sum)
CAPTURE_WRITE(loss, CAPTURE_LOSS, loss, loss)
CAPTURE_WRITE(begin, CAPTURE_BEGIN, begin, begin)
CAPTURE_WRITE(end, CAPTURE_END, end, end)
CAPTURE_WRITE(overhead, CAPTURE_OVERHEAD, overhead, overhead)
CAPTURE_WRITE(pool, CAPTURE_POOL, pool, pool)
CAPTURE_WRITE(note, CAPTURE_NOTE, note, note)
CAPTURE_WRITE(cost, CAPTURE_COST, cost, cost)
CAPTURE_WRITE(budget, CAPTURE_BUDGET, budget, budget)
CAPTURE_WRITE(rest, CAPTURE_REST, rest, rest)
CAPTURE_WRITE(sampling, CAPTURE_SAMPLING, sampling, sampling)
CAPTURE_WRITE(sample, CAPTURE_SAMPLE, sample, sample)
CAPTURE_WRITE(file, CAPTURE_FILE, file, file)
CAPTURE_WRITE(function, CAPTURE_FUNCTION, function, function)
CAPTURE_WRITE(launch, CAPTURE_LAUNCH, launch, launch)

#endif
