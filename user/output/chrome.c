// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Trace Event Format of chrome://tracing, which Perfetto reads too
 * ("Trace Event Format", the Catapult project). Slices of runs and nodes, the
 * nodes by their plain names, with the args that ONNX Runtime's own profiler gives
 * them and the counters as numbers; a track per counter and thread. What pool threads worked
 * are slices on their tracks, by the names of the nodes, with an arrow from each. What GPUs are
 * told is a point; with a profile, what they did is on a track of each stream, with an arrow from
 * there.
 */
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "chrome.h"
#include "formats.h"
#include "header.h"
#include "text.h"

/* A track has at most one value per this many ns. */
#define TRACK_STEP 1000000u
/* What a line needs beside prepared text. */
#define NUMBER_ROOM 24

/* Events per time of the operators of a thread that ended in one step. */
struct tracks {
	uint64_t step; /* its number, since the start of the recording */
	bool used;
	uint64_t first;	  /* when the first of these operators started */
	uint64_t last_ts; /* of the values written before */
	uint64_t count[CAPTURE_COUNTERS], ns[CAPTURE_COUNTERS];
};

/* ,"NAME": unless one of the usual args has this name already. */
static int prepare_key(struct prepared *key, const char *name)
{
	static const char *const taken[] = {"op_name",
					    "provider",
					    "node_index",
					    "attributes",
					    "run",
					    "session",
					    "model",
					    "input_type_shape",
					    "output_type_shape",
					    "other_threads_us",
					    "migrated",
					    "threw",
					    "failed",
					    "code",
					    "error",
					    "message",
					    "tag",
					    "step"};
	char *text, prefixed[200];
	int error;

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcmp(name, taken[i])) {
			snprintf(prefixed, sizeof(prefixed), "event %s", name);
			name = prefixed;
			break;
		}
	text = text_json(name);
	error = text ? prepare(key, ",%s:", text) : -ENOMEM;
	free(text);
	return error;
}

static int prepare_keys(struct export_state *e)
{
	int error = 0;

	for (uint32_t i = 0; i < e->info.n_events && !error; i++)
		error = prepare_key(&e->keys[i], e->titles[i]);
	for (size_t i = 0; i < e->n_metrics && !error; i++)
		error = prepare_key(&e->metric_keys[i], metric_name(e->metrics[i]));
	return error;
}

static int chrome_begin(struct export_state *e)
{
	stream_put(e->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	return prepare_keys(e);
}

/* The first line is of a process: all else belongs to one that precedes it. */
static int chrome_process(struct export_state *e, struct analyze_process *process)
{
	char *name = text_json(process->command[0] ? process->command : "process");
	struct prepared line = {};
	int error = -ENOMEM;

	if (name)
		error = prepare(&line,
				"%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,"
				"\"args\":{\"name\":%s}}",
				e->processes.n_shown > 1 ? ",\n" : "", process->pid, name);
	if (!error)
		stream_put(e->out, line.text);
	free(line.text);
	free(name);
	return error;
}

static int chrome_thread(struct export_state *e, struct export_thread *thread)
{
	char comm[sizeof(thread->thread.comm) + 1], *name;
	struct prepared line = {};
	int error;

	snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(thread->thread.comm), thread->thread.comm);
	name = text_json(comm);
	if (!name)
		return -ENOMEM;
	error = prepare(&line,
			",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,"
			"\"args\":{\"name\":%s}}",
			thread->process->pid, thread->thread.tid, name);
	if (!error)
		error = prepare(&thread->detail, "%u,\"tid\":%u", thread->process->pid,
				thread->thread.tid);
	if (!error)
		stream_put(e->out, line.text);
	free(line.text);
	free(name);
	return error;
}

static int chrome_operator(struct export_state *e, struct export_operator *op)
{
	char *label = text_json(op->label);
	char *type = text_json(op->op.op_type), *provider = text_json(op->op.provider);
	char index[48] = "";
	int error = -ENOMEM;

	if (op->op.node_index != CAPTURE_UNKNOWN)
		snprintf(index, sizeof(index), ",\"node_index\":\"%u\"", op->op.node_index);
	if (label && type && provider) {
		error = prepare(&op->head, ",\n{\"name\":%s,\"cat\":", label);
		if (!error)
			error = prepare(&op->detail, ",\"args\":{\"op_name\":%s%s%s%s", type,
					op->op.provider[0] ? ",\"provider\":" : "",
					op->op.provider[0] ? provider : "", index);
	}
	free(label);
	free(type);
	free(provider);
	return error;
}

/* Behind what is told of it so far. */
static int chrome_attributes(struct export_operator *op, const char *text)
{
	struct prepared detail = {};
	int error = prepare(&detail, "%s,\"attributes\":%s", op->detail.text, text);

	if (error)
		return error;
	free(op->detail.text);
	op->detail = detail;
	return 0;
}

static int chrome_shapes(struct export_state *e, struct export_shapes *shapes)
{
	return prepare(&shapes->detail, "%s%s%s%s", shapes->inputs ? ",\"input_type_shape\":" : "",
		       shapes->inputs ? shapes->inputs : "",
		       shapes->outputs ? ",\"output_type_shape\":" : "",
		       shapes->outputs ? shapes->outputs : "");
}

/* -- counters ------------------------------------------------------------------- */

/* @value with three decimals; nothing beyond what a u64 of thousandths holds. */
static char *put_thousandths(char *p, double value)
{
	if (value < 0) {
		*p++ = '-';
		value = -value;
	}
	return put_us(p, value < 1e15 ? value * 1000 + 0.5 : 0);
}

static char *put_metrics(const struct export_state *e, char *p, const struct nested_exec *nested)
{
	double values[METRIC_VARIABLES];

	export_metric_variables(nested, values);
	for (size_t i = 0; i < e->n_metrics; i++) {
		double value = metric_value(e->metrics[i], values);

		if (isnan(value) || fabs(value) >= 1e15)
			continue;
		p = put_prepared(p, &e->metric_keys[i]);
		p = put_thousandths(p, value);
	}
	return p;
}

static char *put_counters(const struct export_state *e, char *p, uint32_t counted,
			  const uint64_t *counters)
{
	for (; counted; counted &= counted - 1) {
		int i = __builtin_ctz(counted);

		p = put_prepared(p, &e->keys[i]);
		p = put_u64(p, counters[i]);
	}
	return p;
}

static size_t counters_room(const struct export_state *e)
{
	size_t room = 0;

	for (uint32_t i = 0; i < e->info.n_events; i++)
		room += e->keys[i].size + NUMBER_ROOM;
	for (size_t i = 0; i < e->n_metrics; i++)
		room += e->metric_keys[i].size + NUMBER_ROOM;
	return room;
}

/* The rates of the step that is over, as of its first start. A counter is of a process, and an id
 * tells those of its threads apart. */
static int write_tracks(struct export_state *e, const struct export_thread *thread)
{
	struct tracks *tracks = thread->private;
	uint64_t ts = tracks->first > tracks->last_ts ? tracks->first : tracks->last_ts;

	for (uint32_t i = 0; i < e->info.n_events; i++) {
		char *p;

		if (!tracks->ns[i])
			continue;
		p = stream_reserve(e->out, e->keys[i].size + thread->detail.size + 192);
		if (!p)
			return -ENOMEM;
		p = PUT_LITERAL(p, ",\n{\"name\"");
		/* The key is ,"NAME": with its colon behind. */
		*p++ = ':';
		p = put_text(p, e->keys[i].text + 1, e->keys[i].size - 3);
		p = PUT_LITERAL(p, " per \xc2\xb5s\",\"ph\":\"C\",\"id\":\"thread ");
		p = put_u64(p, thread->thread.tid);
		p = PUT_LITERAL(p, "\",\"pid\":");
		p = put_prepared(p, &thread->detail);
		p = PUT_LITERAL(p, ",\"ts\":");
		p = put_since_start(e, p, ts);
		p = PUT_LITERAL(p, ",\"args\":{\"value\":");
		p = put_thousandths(p, 1000.0 * tracks->count[i] / tracks->ns[i]);
		stream_advance(e->out, PUT_LITERAL(p, "}}"));
		tracks->count[i] = tracks->ns[i] = 0;
	}
	tracks->last_ts = ts;
	tracks->used = false;
	return 0;
}

/* Rates are of what was counted, over the time of what was counted. */
static int add_to_tracks(struct export_state *e, const struct capture_exec *exec,
			 const struct nested_exec *nested)
{
	struct export_thread *thread = e->threads.items[exec->thread];
	struct tracks *tracks;
	uint64_t since = exec->end > e->info.start ? exec->end - e->info.start : 0;
	int error = 0;

	thread->private = tracks = thread->private ?: calloc(1, sizeof(*tracks));
	if (!tracks)
		return -ENOMEM;
	if (tracks->used && since / TRACK_STEP > tracks->step)
		error = write_tracks(e, thread);
	if (!tracks->used) {
		tracks->used = true;
		tracks->step = since / TRACK_STEP;
		tracks->first = exec->start;
	}
	for (uint32_t bits = nested->counted; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		tracks->count[i] += nested->total[i];
		tracks->ns[i] += nested->ns;
	}
	return error;
}

/* -- slices ------------------------------------------------------------------- */

static char *put_times(const struct export_state *e, char *p, const struct export_thread *thread,
		       uint64_t start, uint64_t end, bool ended)
{
	p = put_prepared(p, &thread->detail);
	/* Without an end it is a point: "i", of its thread. */
	p = ended ? PUT_LITERAL(p, ",\"ph\":\"X\",\"ts\":")
		  : PUT_LITERAL(p, ",\"ph\":\"i\",\"s\":\"t\",\"ts\":");
	p = put_since_start(e, p, start);
	if (ended) {
		p = PUT_LITERAL(p, ",\"dur\":");
		p = put_us(p, end - start);
	}
	return p;
}

/* What the arena had given out at most, if that is known. */
static char *put_peak(char *p, uint64_t peak)
{
	return peak ? put_u64(PUT_LITERAL(p, ",\"peak_bytes\":"), peak) : p;
}

/* One end of the arrow to a part that begins at @ts: "s" where it starts, "f" where it ends. */
static char *put_flow(const struct export_state *e, char *p, const char *end,
		      const struct export_thread *thread, uint64_t ts)
{
	p = PUT_LITERAL(p, ",\n{\"name\":\"part\",\"cat\":\"pool\",\"ph\":");
	p = put_text(p, end, strlen(end));
	p = PUT_LITERAL(p, ",\"id\":");
	p = put_u64(p, e->flows);
	p = PUT_LITERAL(p, ",\"pid\":");
	p = put_prepared(p, &thread->detail);
	p = PUT_LITERAL(p, ",\"ts\":");
	p = put_since_start(e, p, ts);
	*p++ = '}';
	return p;
}

/* What a pool thread worked, and an arrow to it from the operator, at its start. */
static int write_part(struct export_state *e, const struct capture_exec *exec,
		      const struct capture_part *part)
{
	const struct export_thread *thread = export_part_thread(e, part);
	const struct export_operator *op = e->ops.items[exec->op];
	char *p;

	if (!thread)
		return 0;
	p = stream_reserve(e->out, op->head.size + 640);
	if (!p)
		return -ENOMEM;
	p = put_prepared(p, &op->head);
	p = PUT_LITERAL(p, "\"pool\",\"pid\":");
	p = put_times(e, p, thread, part->start, part->end, true);
	p = part->migrated ? PUT_LITERAL(p, ",\"args\":{\"migrated\":true}}") : PUT_LITERAL(p, "}");
	e->flows++;
	p = put_flow(e, p, "\"s\"", e->threads.items[exec->thread], part->start);
	p = put_flow(e, p, "\"f\",\"bp\":\"e\"", thread, part->start);
	stream_advance(e->out, p);
	return 0;
}

static int chrome_exec(struct export_state *e, const struct capture_exec *exec,
		       const struct nested_exec *nested)
{
	const struct export_operator *op = e->ops.items[exec->op];
	const struct export_shapes *shapes =
		exec->shapes == CAPTURE_UNKNOWN ? NULL : e->shapes.items[exec->shapes];
	bool ended = !(exec->flags & EXEC_THREW);
	int error = 0;
	char *p = stream_reserve(e->out, op->head.size + op->detail.size + counters_room(e) +
						 (shapes ? shapes->detail.size : 0) + 320);

	if (!p)
		return -ENOMEM;
	p = put_prepared(p, &op->head);
	p = PUT_LITERAL(p, "\"Node\",\"pid\":");
	p = put_times(e, p, e->threads.items[exec->thread], exec->start, exec->end, ended);
	p = put_prepared(p, &op->detail);
	p = put_counters(e, p, nested->counted, nested->total);
	if (nested->counted)
		p = put_metrics(e, p, nested);
	if (nested->work_ns) {
		p = PUT_LITERAL(p, ",\"other_threads_us\":");
		p = put_us(p, nested->work_ns);
	}
	p = put_peak(p, exec->peak);
	if (exec->run != CAPTURE_UNKNOWN) {
		p = PUT_LITERAL(p, ",\"run\":");
		p = put_u64(p, exec->run);
	}
	if (exec->flags & EXEC_MIGRATED)
		p = PUT_LITERAL(p, ",\"migrated\":true");
	if (!ended)
		p = PUT_LITERAL(p, ",\"threw\":true");
	if (shapes)
		p = put_prepared(p, &shapes->detail);
	stream_advance(e->out, PUT_LITERAL(p, "}}"));
	e->lines++;
	for (uint32_t i = 0; i < exec->n_parts && !error; i++)
		error = write_part(e, exec, &exec->parts[i]);
	if (!error && !exec->depth && nested->counted)
		error = add_to_tracks(e, exec, nested);
	return error;
}

static int chrome_failure(struct export_state *e, const struct capture_failure *failure,
			  struct prepared *detail)
{
	char *name = text_json(failure->name), *message = text_json(failure->message);
	int error = -ENOMEM;

	if (name && message)
		error = prepare(detail, ",\"failed\":true,\"code\":%" PRIu32 "%s%s%s%s",
				failure->code, failure->name[0] ? ",\"error\":" : "",
				failure->name[0] ? name : "",
				failure->message[0] ? ",\"message\":" : "",
				failure->message[0] ? message : "");
	free(name);
	free(message);
	return error;
}

/* Its number stands beside it, which tells those of one name apart. */
static int chrome_model(struct export_state *e, const struct analyze_session *session,
			struct prepared *detail)
{
	char *title = text_json(session->base->text);
	int error = title ? prepare(detail, ",\"model\":%s", title) : -ENOMEM;

	free(title);
	return error;
}

/* What is known of the model of @session, or NULL. */
static const struct prepared *model_of(const struct export_state *e, uint32_t session)
{
	bool known = session < e->models.n && e->models.items[session].text;

	return known ? &e->models.items[session] : NULL;
}

/* A viewer adds up what has one name: runs of a model, if that is known. */
static char *put_run_name(char *p, const struct prepared *model)
{
	static const char key[] = ",\"model\":";

	p = PUT_LITERAL(p, ",\n{\"name\":");
	if (!model)
		return PUT_LITERAL(p, "\"model_run\"");
	return put_text(p, model->text + sizeof(key) - 1, model->size - (sizeof(key) - 1));
}

static int chrome_run(struct export_state *e, const struct capture_run *run,
		      const struct open_run *ops)
{
	const struct prepared *failure = run_failed(run) ? &e->failures.items[run->failure] : NULL;
	const struct prepared *model = model_of(e, run->session);
	char *tag = ops && ops->tag ? text_json(ops->tag) : NULL;
	char *p = stream_reserve(e->out, counters_room(e) + 448 + (failure ? failure->size : 0) +
						 (model ? 2 * model->size : 0) +
						 (tag ? strlen(tag) : 0));

	if (!p || (ops && ops->tag && !tag)) {
		free(tag);
		return -ENOMEM;
	}
	p = put_run_name(p, model);
	p = PUT_LITERAL(p, ",\"cat\":\"Session\",\"pid\":");
	p = put_times(e, p, e->threads.items[run->thread], run->start, run->end, !run->threw);
	p = PUT_LITERAL(p, ",\"args\":{\"run\":");
	p = put_u64(p, run->run);
	p = PUT_LITERAL(p, ",\"step\":");
	p = put_u64(p, run->step);
	if (run->session != CAPTURE_UNKNOWN) {
		p = PUT_LITERAL(p, ",\"session\":");
		p = put_u64(p, run->session);
	}
	if (model)
		p = put_prepared(p, model);
	if (run->threw)
		p = PUT_LITERAL(p, ",\"threw\":true");
	if (failure)
		p = put_prepared(p, failure);
	if (tag) {
		p = PUT_LITERAL(p, ",\"tag\":");
		p = put_text(p, tag, strlen(tag));
	}
	free(tag);
	p = put_counters(e, p, run->counted, run->counters);
	p = put_peak(p, run->has_peak ? run->peak : 0);
	stream_advance(e->out, PUT_LITERAL(p, "}}"));
	return 0;
}

static int chrome_setup(struct export_state *e, const struct capture_setup *setup, const char *name)
{
	const struct prepared *failure =
		setup_failed(setup) ? &e->failures.items[setup->failure] : NULL;
	const struct prepared *model = model_of(e, setup->session);
	char *json = text_json(name);
	char *p = json ? stream_reserve(e->out, 384 + strlen(json) + (failure ? failure->size : 0) +
							(model ? model->size : 0))
		       : NULL;

	if (!p) {
		free(json);
		return -ENOMEM;
	}
	p = PUT_LITERAL(p, ",\n{\"name\":");
	p = put_text(p, json, strlen(json));
	p = PUT_LITERAL(p, ",\"cat\":\"Session\",\"pid\":");
	p = put_times(e, p, e->threads.items[setup->thread], setup->start, setup->end, true);
	p = PUT_LITERAL(p, ",\"args\":{\"session\":");
	p = put_u64(p, setup->session);
	if (model)
		p = put_prepared(p, model);
	if (failure)
		p = put_prepared(p, failure);
	stream_advance(e->out, PUT_LITERAL(p, "}}"));
	free(json);
	return 0;
}

/* -- the end --------------------------------------------------------------------- */

/* Of the runtime: each process has its own, and most of them the same. */
static int put_runtime(struct export_state *e, const struct analyze_process *process,
		       const char *before, const char *behind)
{
	char *version = text_json(process->version), *build_id = text_json(process->build_id);
	char *runtime = text_json(process->runtime), *library = text_json(process->library);
	struct prepared text = {};
	int error = -ENOMEM;

	if (version && build_id && runtime && library)
		error = prepare(&text,
				"%s\"runtime\":%s,\"version\":%s,\"build_id\":%s,\"library\":%s%s",
				before, runtime, version, build_id, library, behind);
	if (!error)
		stream_put(e->out, text.text);
	free(text.text);
	free(version);
	free(build_id);
	free(runtime);
	free(library);
	return error;
}

/* The first that is shown; the others, as an array that is there if there are any. */
static int put_runtimes(struct export_state *e)
{
	uint32_t n = 0;
	int error = 0;

	for (size_t i = 0; i < e->processes.n && !error; i++) {
		const struct analyze_process *process = e->processes.items[i];
		char before[64];

		if (!process->shown)
			continue;
		snprintf(before, sizeof(before), "%s{\"pid\":\"%u\",",
			 n == 1 ? "\"others\":[" : ",", process->pid);
		error = put_runtime(e, process, n ? before : "", n ? "}" : ",");
		n++;
	}
	stream_put(e->out, n > 1 ? "]," : "");
	return error;
}

static int chrome_end(struct export_state *e)
{
	const struct capture_info *info = &e->info;
	struct prepared text = {};
	uint64_t lost = loss_total(&e->loss);
	int error = 0;

	for (size_t i = 0; i < e->threads.n && !error; i++)
		if (e->threads.items[i] && e->threads.items[i]->private)
			error = write_tracks(e, e->threads.items[i]);
	stream_put(e->out, "\n],\n\"otherData\":{");
	if (!error)
		error = put_runtimes(e);
	if (!error)
		error = prepare(
			&text,
			"\"clock\":\"CLOCK_MONOTONIC\",\"start_ns\":\"%llu\","
			"\"realtime_offset_ns\":\"%lld\",\"lost\":\"%llu\",\"complete\":%s}}\n",
			(unsigned long long)info->start, (long long)info->realtime_offset,
			(unsigned long long)lost, e->complete ? "true" : "false");
	if (!error)
		stream_put(e->out, text.text);
	free(text.text);
	return error;
}

const struct export_ops chrome_ops = {
	.begin = chrome_begin,
	.process_defined = chrome_process,
	.operator_defined = chrome_operator,
	.thread_defined = chrome_thread,
	.attributes_defined = chrome_attributes,
	.shapes_defined = chrome_shapes,
	.failure_defined = chrome_failure,
	.model_defined = chrome_model,
	.nested = true,
	.exec = chrome_exec,
	.run = chrome_run,
	.setup = chrome_setup,
	.launch = chrome_launch,
	.lane_defined = chrome_lane,
	.activity = chrome_activity,
	.end = chrome_end,
};
