// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's own trace, a stream of packets in protobuf's wire format: a track per thread with
 * slices of runs, nodes, setups and what pool threads worked of nodes, to which a flow leads from
 * these; a track per thread and event with what was counted.
 *
 * Packets are written as records come, which is in the order of ends: readers sort them by time
 * (see begins.h for those of the same). What GPUs do is in perfetto_gpu.c. What is said again and
 * again is interned: the names of nodes, and those of annotations.
 */
#include "export.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "begins.h"
#include "formats.h"
#include "perfetto_parts.h"

static const char *const categories[] = {[CATEGORY_NODE] = "Node",
					 [CATEGORY_SESSION] = "Session",
					 [CATEGORY_POOL] = "pool",
					 [CATEGORY_GPU] = "gpu"};

/* Of a thread. */
struct counted {
	struct begins begins;
	uint32_t defined;		   /* bit i: event i has its track */
	uint64_t counts[CAPTURE_COUNTERS]; /* so far, inside of its operators */
};

/* -- packets ---------------------------------------------------------------------- */

/* @packet, which is emptied, becomes one of @to. */
static void put_packet(struct message *to, struct message *packet)
{
	message_add_number(packet, PACKET_SEQUENCE, 1);
	message_add_number(packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
	message_add(to, TRACE_PACKET, packet);
}

int perfetto_write(struct export_state *e, enum packet_field field, struct message *inner)
{
	struct perfetto *p = e->private;
	struct message packet = {};
	int error;

	message_add(&packet, field, inner);
	put_packet(&p->end, &packet);
	error = begins_write(&p->end, e->out);
	message_free(&packet);
	message_free(inner);
	return error;
}

void perfetto_put(struct perfetto *p, struct message *to, uint64_t time)
{
	struct message packet = {};

	message_add_number(&packet, PACKET_TIMESTAMP, time);
	message_add(&packet, PACKET_EVENT, &p->event);
	put_packet(to, &packet);
	message_free(&packet);
}

uint64_t perfetto_uuid(const struct export_state *e, enum track_kind kind, uint64_t number)
{
	uint64_t recording = hash_word(e->info.start, (uint64_t)e->info.realtime_offset);

	return hash_word(recording, number << 3 | kind);
}

static uint64_t counter_uuid(const struct export_state *e, uint32_t thread, uint32_t event)
{
	return perfetto_uuid(e, KIND_COUNTER, (uint64_t)thread * CAPTURE_COUNTERS + event);
}

/* -- what is told of slices ---------------------------------------------------- */

static void annotate_counters(struct message *event, uint32_t counted, const uint64_t *counters)
{
	for (; counted; counted &= counted - 1) {
		int i = __builtin_ctz(counted);

		annotate(event, A_EVENTS + i, counters[i]);
	}
}

static void annotate_metrics(const struct export_state *e, struct message *event,
			     const struct nested_exec *nested)
{
	double values[METRIC_VARIABLES];

	export_metric_variables(nested, values);
	for (size_t i = 0; i < e->n_metrics; i++) {
		double value = metric_value(e->metrics[i], values);

		if (isfinite(value))
			annotate_double(event, A_METRICS + i, value);
	}
}

/* Put what @message has, which is freed, into @prepared, behind what is there. */
static int keep_prepared(struct prepared *prepared, struct message *message)
{
	char *text =
		message->failed ? NULL : realloc(prepared->text, prepared->size + message->n + 1);

	if (text) {
		if (message->n)
			memcpy(text + prepared->size, message->items, message->n);
		prepared->text = text;
		prepared->size += message->n;
	}
	message_free(message);
	return text ? 0 : -ENOMEM;
}

static void append_prepared(struct message *event, const struct prepared *prepared)
{
	message_append(event, prepared->text, prepared->size);
}

/* -- definitions ------------------------------------------------------------------ */

static void add_clock(struct message *clocks, enum clock id, uint64_t time)
{
	struct message clock = {};

	message_add_number(&clock, CLOCK_FIELD_ID, id);
	message_add_number(&clock, CLOCK_FIELD_TIMESTAMP, time);
	message_add(clocks, CLOCKS_CLOCK, &clock);
	message_free(&clock);
}

/* All times are of the monotonic clock, by which the trace goes; when that was, too. */
static void put_clocks(struct export_state *e, struct message *to)
{
	const uint64_t start = e->info.start;
	struct message packet = {}, clocks = {};

	add_clock(&clocks, CLOCK_ID_MONOTONIC, start);
	if (e->info.realtime_offset)
		add_clock(&clocks, CLOCK_ID_REALTIME, start + (uint64_t)e->info.realtime_offset);
	message_add_number(&clocks, CLOCKS_PRIMARY, CLOCK_ID_MONOTONIC);
	message_add_number(&packet, PACKET_TIMESTAMP, start);
	message_add(&packet, PACKET_CLOCKS, &clocks);
	message_add_number(&packet, PACKET_SEQUENCE, 1);
	message_add(to, TRACE_PACKET, &packet);
	message_free(&clocks);
	message_free(&packet);
}

static int perfetto_begin(struct export_state *e)
{
	struct perfetto *p = e->private = calloc(1, sizeof(*p));
	struct message packet = {}, interned = {}, defaults = {};

	if (!p)
		return -ENOMEM;
	for (uint32_t i = CATEGORY_NODE; i <= CATEGORY_GPU; i++)
		intern(&interned, INTERNED_CATEGORY, i, categories[i]);
	for (uint32_t i = A_OP_TYPE; i < A_EVENTS; i++)
		intern(&interned, INTERNED_ANNOTATION, i, perfetto_annotations[i]);
	for (uint32_t i = 0; i < e->info.n_events; i++)
		intern(&interned, INTERNED_ANNOTATION, A_EVENTS + i, e->titles[i]);
	for (size_t i = 0; i < e->n_metrics; i++)
		intern(&interned, INTERNED_ANNOTATION, A_METRICS + i, metric_name(e->metrics[i]));
	message_add_number(&defaults, DEFAULTS_CLOCK, CLOCK_ID_MONOTONIC);
	message_add(&packet, PACKET_DEFAULTS, &defaults);
	message_add(&packet, PACKET_INTERNED, &interned);
	message_add_number(&packet, PACKET_SEQUENCE, 1);
	message_add_number(&packet, PACKET_FLAGS, FLAG_CLEARED);
	message_add_number(&packet, PACKET_FIRST, 1);
	put_clocks(e, &p->begin);
	message_add(&p->begin, TRACE_PACKET, &packet);
	message_free(&packet);
	message_free(&interned);
	message_free(&defaults);
	return begins_write(&p->begin, e->out);
}

static int perfetto_process(struct export_state *e, struct analyze_process *process)
{
	struct message track = {}, inner = {};

	message_add_number(&inner, PROCESS_PID, process->pid);
	message_add_text(&inner, PROCESS_NAME, process->command[0] ? process->command : "process");
	message_add_number(&track, TRACK_UUID, perfetto_uuid(e, KIND_PROCESS, process->process));
	message_add(&track, TRACK_PROCESS, &inner);
	message_free(&inner);
	return perfetto_write(e, PACKET_TRACK, &track);
}

static int perfetto_thread(struct export_state *e, struct export_thread *thread)
{
	char comm[sizeof(thread->thread.comm) + 1];
	struct message track = {}, inner = {};

	if (!thread->private)
		thread->private = calloc(1, sizeof(struct counted));
	if (!thread->private)
		return -ENOMEM;
	snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(thread->thread.comm), thread->thread.comm);
	message_add_number(&inner, THREAD_PID, thread->process->pid);
	message_add_number(&inner, THREAD_TID, thread->thread.tid);
	message_add_text(&inner, THREAD_NAME, comm);
	message_add_number(&track, TRACK_UUID,
			   perfetto_uuid(e, KIND_THREAD, thread->thread.thread));
	message_add_number(&track, TRACK_PARENT,
			   perfetto_uuid(e, KIND_PROCESS, thread->process->process));
	message_add(&track, TRACK_THREAD, &inner);
	message_free(&inner);
	return perfetto_write(e, PACKET_TRACK, &track);
}

static enum counter_unit unit_of(const struct capture_event *event)
{
	return !strcmp(event->unit, "ns")      ? UNIT_NS
	       : !strcmp(event->unit, "bytes") ? UNIT_BYTES
					       : UNIT_COUNT;
}

/* Of a thread that executes operators: not all do. */
static int define_counter(struct export_state *e, uint32_t thread, uint32_t event)
{
	struct message track = {}, inner = {};

	message_add_number(&inner, COUNTER_UNIT, unit_of(&e->info.events[event]));
	message_add_number(&track, TRACK_UUID, counter_uuid(e, thread, event));
	message_add_text(&track, TRACK_NAME, e->titles[event]);
	message_add_number(&track, TRACK_PARENT, perfetto_uuid(e, KIND_THREAD, thread));
	message_add(&track, TRACK_COUNTER, &inner);
	message_free(&inner);
	return perfetto_write(e, PACKET_TRACK, &track);
}

/* detail: what is told of each of its slices. */
static int perfetto_operator(struct export_state *e, struct export_operator *op)
{
	struct message interned = {}, detail = {};
	int error;

	message_add_number(&detail, EVENT_CATEGORY, CATEGORY_NODE);
	message_add_number(&detail, EVENT_NAME_IID, (uint64_t)op->op.op + 1);
	annotate_text(&detail, A_OP_TYPE, op->op.op_type);
	annotate_text(&detail, A_PROVIDER, op->op.provider);
	if (op->op.node_index != CAPTURE_UNKNOWN)
		annotate(&detail, A_NODE_INDEX, op->op.node_index);
	error = keep_prepared(&op->detail, &detail);
	if (error)
		return error;
	intern(&interned, INTERNED_NAME, (uint64_t)op->op.op + 1, op->label);
	return perfetto_write(e, PACKET_INTERNED, &interned);
}

static int perfetto_attributes(struct export_operator *op, const char *text)
{
	struct message detail = {};

	annotate_text(&detail, A_ATTRIBUTES, text);
	return keep_prepared(&op->detail, &detail);
}

static int perfetto_shapes(struct export_state *e, struct export_shapes *shapes)
{
	struct message detail = {};

	annotate_text(&detail, A_INPUTS, shapes->inputs);
	annotate_text(&detail, A_OUTPUTS, shapes->outputs);
	return keep_prepared(&shapes->detail, &detail);
}

static int perfetto_failure(struct export_state *e, const struct capture_failure *failure,
			    struct prepared *prepared)
{
	struct message detail = {};

	annotate_bool(&detail, A_FAILED, true);
	annotate(&detail, A_CODE, failure->code);
	annotate_text(&detail, A_ERROR, failure->name);
	annotate_text(&detail, A_MESSAGE, failure->message);
	return keep_prepared(prepared, &detail);
}

/* The name of its runs, which a viewer adds up by it. */
static int perfetto_model(struct export_state *e, const struct analyze_session *session,
			  struct prepared *prepared)
{
	struct message detail = {};

	prepared->size = 0;
	message_add_text(&detail, EVENT_NAME, session->base->text);
	annotate_text(&detail, A_MODEL, session->base->text);
	return keep_prepared(prepared, &detail);
}

/* -- slices ----------------------------------------------------------------------- */

static void begin_event(const struct export_state *e, struct message *event, enum event_type type,
			uint32_t thread)
{
	message_add_number(event, EVENT_TYPE, type);
	message_add_number(event, EVENT_TRACK, perfetto_uuid(e, KIND_THREAD, thread));
}

/* A slice on a thread. */
struct place {
	uint32_t thread, level;
	uint64_t around; /* see begins.h */
	uint64_t start, end;
};

/* p->begin begins it and is written; one without an end is a point. */
static int write_slice(struct export_state *e, const struct place *place, bool ended)
{
	struct counted *counted = e->threads.items[place->thread]->private;
	struct perfetto *p = e->private;
	int error = 0;

	if (ended) {
		begin_event(e, &p->event, TYPE_END, place->thread);
		perfetto_put(p, &p->end, place->end);
		if (place->end != place->start)
			error = begins_write(&p->end, e->out);
	}
	return error ? error
		     : begins_put(&counted->begins, place->level, place->around, place->start,
				  &p->begin, &p->end, e->out);
}

static int write_count(struct export_state *e, uint32_t thread, uint32_t i, uint64_t time)
{
	const struct counted *counted = e->threads.items[thread]->private;
	struct perfetto *p = e->private;

	message_add_number(&p->event, EVENT_TYPE, TYPE_COUNTER);
	message_add_number(&p->event, EVENT_TRACK, counter_uuid(e, thread, i));
	message_add_number(&p->event, EVENT_COUNTER_VALUE, counted->counts[i]);
	perfetto_put(p, &p->end, time);
	return begins_write(&p->end, e->out);
}

/*
 * What a thread's operators counted so far, at the start of each and at its end: between
 * them nothing is known, and nothing is added. The slope, which viewers show too, is then the
 * rate inside of the operator, and how high it gets is what operators took in all.
 */
static int write_counts(struct export_state *e, const struct capture_exec *exec)
{
	struct counted *counted = e->threads.items[exec->thread]->private;
	int error = 0;

	for (uint32_t bits = exec->counted; bits && !error; bits &= bits - 1) {
		uint32_t i = __builtin_ctz(bits);

		if (!(counted->defined >> i & 1))
			error = define_counter(e, exec->thread, i);
		counted->defined |= 1u << i;
		if (!error)
			error = write_count(e, exec->thread, i, exec->start);
		counted->counts[i] += exec->counters[i];
		if (!error)
			error = write_count(e, exec->thread, i, exec->end);
	}
	return error;
}

/* p->event begins a part on the thread that worked it. */
static void put_part(struct export_state *e, const struct capture_exec *exec,
		     const struct capture_part *part)
{
	struct message *event = &((struct perfetto *)e->private)->event;

	begin_event(e, event, TYPE_BEGIN, part->thread);
	message_add_number(event, EVENT_CATEGORY, CATEGORY_POOL);
	message_add_number(event, EVENT_NAME_IID, (uint64_t)exec->op + 1);
	message_add_fixed(event, EVENT_FLOW_ENDS, perfetto_uuid(e, KIND_FLOW, e->flows++));
	if (exec->run != CAPTURE_UNKNOWN)
		annotate(event, A_RUN, exec->run);
	if (part->migrated)
		annotate_bool(event, A_MIGRATED, true);
}

/*
 * What pool threads worked of it, in slices on their tracks: behind what begins it, which is
 * where their flows come from, also of one nanosecond.
 */
static int put_parts(struct export_state *e, const struct capture_exec *exec)
{
	struct perfetto *p = e->private;
	int error = 0;

	for (uint32_t i = 0; i < exec->n_parts && !error; i++) {
		const struct capture_part *part = &exec->parts[i];
		bool at_once = part->start == exec->start;

		if (!export_part_thread(e, part))
			continue;
		put_part(e, exec, part);
		perfetto_put(p, at_once ? &p->begin : &p->end, part->start);
		begin_event(e, &p->event, TYPE_END, part->thread);
		perfetto_put(p, at_once && part->end == part->start ? &p->begin : &p->end,
			     part->end);
		error = begins_write(&p->end, e->out);
	}
	return error;
}

/* The flows that lead from it, each to one of its parts. */
static void add_flows(struct export_state *e, const struct capture_exec *exec)
{
	struct message *event = &((struct perfetto *)e->private)->event;
	uint64_t flow = e->flows;

	for (uint32_t i = 0; i < exec->n_parts; i++)
		if (export_part_thread(e, &exec->parts[i]))
			message_add_fixed(event, EVENT_FLOW, perfetto_uuid(e, KIND_FLOW, flow++));
}

static int perfetto_exec(struct export_state *e, const struct capture_exec *exec,
			 const struct nested_exec *nested)
{
	const struct place place = {exec->thread, exec->depth + 1,
				    (uint64_t)exec->run << 32 | exec->parent, exec->start,
				    exec->end};
	bool ended = !(exec->flags & EXEC_THREW);
	struct perfetto *p = e->private;
	struct message *event = &p->event;
	int error;

	begin_event(e, event, ended ? TYPE_BEGIN : TYPE_INSTANT, exec->thread);
	append_prepared(event, &e->ops.items[exec->op]->detail);
	annotate_counters(event, nested->counted, nested->total);
	if (nested->counted)
		annotate_metrics(e, event, nested);
	if (nested->work_ns)
		annotate(event, A_OTHERS, nested->work_ns);
	if (exec->peak)
		annotate(event, A_PEAK, exec->peak);
	if (exec->run != CAPTURE_UNKNOWN)
		annotate(event, A_RUN, exec->run);
	if (exec->flags & EXEC_MIGRATED)
		annotate_bool(event, A_MIGRATED, true);
	if (!ended)
		annotate_bool(event, A_THREW, true);
	if (exec->shapes != CAPTURE_UNKNOWN)
		append_prepared(event, &e->shapes.items[exec->shapes]->detail);
	add_flows(e, exec);
	perfetto_put(p, &p->begin, exec->start);
	error = put_parts(e, exec);
	if (!error)
		error = write_slice(e, &place, ended);
	e->lines++;
	return error || exec->depth || !ended ? error : write_counts(e, exec);
}

/* The name and what is known of the model of @session. */
static void put_session(const struct export_state *e, struct message *event, uint32_t session,
			const char *name)
{
	bool known = session < e->models.n && e->models.items[session].text;

	if (name || !known)
		message_add_text(event, EVENT_NAME, name ? name : "model_run");
	else
		append_prepared(event, &e->models.items[session]);
	message_add_number(event, EVENT_CATEGORY, CATEGORY_SESSION);
	if (session != CAPTURE_UNKNOWN)
		annotate(event, A_SESSION, session);
}

static int perfetto_run(struct export_state *e, const struct capture_run *run,
			const struct open_run *ops)
{
	const struct place place = {.thread = run->thread, .start = run->start, .end = run->end};
	struct perfetto *p = e->private;
	struct message *event = &p->event;

	begin_event(e, event, run->threw ? TYPE_INSTANT : TYPE_BEGIN, run->thread);
	put_session(e, event, run->session, NULL);
	annotate(event, A_RUN, run->run);
	annotate(event, A_STEP, run->step);
	annotate_text(event, A_TAG, ops ? ops->tag : NULL);
	if (run->threw)
		annotate_bool(event, A_THREW, true);
	if (run_failed(run))
		append_prepared(event, &e->failures.items[run->failure]);
	annotate_counters(event, run->counted, run->counters);
	if (run->has_peak && run->peak)
		annotate(event, A_PEAK, run->peak);
	perfetto_put(p, &p->begin, run->start);
	return write_slice(e, &place, !run->threw);
}

static int perfetto_setup(struct export_state *e, const struct capture_setup *setup,
			  const char *name)
{
	const struct place place = {
		.thread = setup->thread, .start = setup->start, .end = setup->end};
	struct perfetto *p = e->private;
	struct message *event = &p->event;

	begin_event(e, event, TYPE_BEGIN, setup->thread);
	put_session(e, event, setup->session, name);
	if (setup_failed(setup))
		append_prepared(event, &e->failures.items[setup->failure]);
	perfetto_put(p, &p->begin, setup->start);
	return write_slice(e, &place, true);
}

/* -- the end ---------------------------------------------------------------------- */

/* The whole recording is a slice of each process; one that broke off is a point. */
static int write_recording(struct export_state *e, const struct analyze_process *process)
{
	uint64_t track = perfetto_uuid(e, KIND_PROCESS, process->process),
		 lost = loss_total(&e->loss);
	struct perfetto *p = e->private;
	struct message *event = &p->event;

	message_add_number(event, EVENT_TYPE, e->complete ? TYPE_BEGIN : TYPE_INSTANT);
	message_add_number(event, EVENT_TRACK, track);
	message_add_text(event, EVENT_NAME, "recording");
	annotate_text(event, A_RUNTIME, process->runtime);
	annotate_text(event, A_VERSION, process->version);
	annotate_text(event, A_BUILD_ID, process->build_id);
	annotate_text(event, A_LIBRARY, process->library);
	annotate(event, A_LOST, lost);
	annotate_bool(event, A_COMPLETE, e->complete);
	perfetto_put(p, &p->begin, e->began);
	if (e->complete) {
		message_add_number(event, EVENT_TYPE, TYPE_END);
		message_add_number(event, EVENT_TRACK, track);
		perfetto_put(p, &p->begin, e->end.end);
	}
	return begins_write(&p->begin, e->out);
}

static int perfetto_end(struct export_state *e)
{
	int error = 0;

	for (size_t i = 0; i < e->threads.n && !error; i++) {
		struct counted *counted = e->threads.items[i] ? e->threads.items[i]->private : NULL;

		if (counted)
			error = begins_flush(&counted->begins, e->out);
	}
	for (size_t i = 0; i < e->processes.n && !error; i++)
		if (e->processes.items[i]->shown)
			error = write_recording(e, e->processes.items[i]);
	return error;
}

static void perfetto_free(struct export_state *e)
{
	struct perfetto *p = e->private;

	if (p) {
		message_free(&p->event);
		message_free(&p->begin);
		message_free(&p->end);
	}
	for (size_t i = 0; i < e->threads.n; i++) {
		struct counted *counted = e->threads.items[i] ? e->threads.items[i]->private : NULL;

		if (counted)
			begins_free(&counted->begins);
	}
}

const struct export_ops perfetto_ops = {
	.begin = perfetto_begin,
	.process_defined = perfetto_process,
	.operator_defined = perfetto_operator,
	.thread_defined = perfetto_thread,
	.attributes_defined = perfetto_attributes,
	.shapes_defined = perfetto_shapes,
	.failure_defined = perfetto_failure,
	.model_defined = perfetto_model,
	.binary = true,
	.nested = true,
	.exec = perfetto_exec,
	.run = perfetto_run,
	.setup = perfetto_setup,
	.launch = perfetto_launch,
	.lane_defined = perfetto_lane,
	.activity = perfetto_activity,
	.end = perfetto_end,
	.free = perfetto_free,
};
