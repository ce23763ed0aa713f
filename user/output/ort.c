// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of ONNX Runtime's own profiler, in its order (as things ended)
 * and with its spelling, so that scripts made for its files read this one:
 * whole microseconds since the start, args that are strings of digits, shapes
 * as arrays. What it would have known and a recording from outside does not
 * is left out: scheduling of threads, and of sessions that are older than the
 * recording their loading and initialization. input_type_shape and output_type_shape are always
 * there, as scripts rely on them, and empty unless shapes were recorded.
 */
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "text.h"

#define SIZE_ROOM 64

/* What ran so far of a subgraph, once: of an If's branch, of a Loop's pass. */
struct subgraph {
	bool used;
	uint32_t run, parent;
	uint32_t first_op;
	uint64_t start, end;
};

static int ort_begin(struct export_state *e)
{
	stream_put(e->out, "[\n");
	return 0;
}

static int ort_thread(struct export_state *e, struct export_thread *thread)
{
	if (!thread->private)
		thread->private = calloc(CAPTURE_DEPTH_MAX + 1, sizeof(struct subgraph));
	return thread->private ? 0 : -ENOMEM;
}

static int ort_operator(struct export_state *e, struct export_operator *op)
{
	char *label = text_json(op->label);
	char *type = text_json(op->op.op_type), *provider = text_json(op->op.provider);
	char index[48] = "";
	int error = -ENOMEM;

	if (op->op.node_index != CAPTURE_UNKNOWN)
		snprintf(index, sizeof(index), ",\"node_index\" : \"%u\"", op->op.node_index);
	if (label && type && provider) {
		label[strlen(label) - 1] = '\0';
		error = prepare(&op->head,
				",\"ph\" : \"X\",\"name\" :%s_kernel_time\",\"args\" : {", label);
		if (!error)
			error = prepare(&op->detail, "\"op_name\" : %s%s%s%s}}", type,
					op->op.provider[0] ? ",\"provider\" : " : "",
					op->op.provider[0] ? provider : "", index);
	}
	free(label);
	free(type);
	free(provider);
	return error;
}

/* ,"output_size" : "64" if it is known, in @text, of SIZE_ROOM. */
static const char *size_text(char *text, const char *key, uint64_t size)
{
	text[0] = '\0';
	if (size != UINT64_MAX)
		snprintf(text, SIZE_ROOM, "\"%s\" : \"%" PRIu64 "\",", key, size);
	return text;
}

static int ort_shapes(struct export_state *e, struct export_shapes *shapes)
{
	char activation[SIZE_ROOM], parameters[SIZE_ROOM], output[SIZE_ROOM];

	return prepare(
		&shapes->detail, "%s%s%s\"input_type_shape\" : %s,\"output_type_shape\" : %s,",
		size_text(activation, "activation_size", shapes->sizes[SIZE_ACTIVATION]),
		size_text(parameters, "parameter_size", shapes->sizes[SIZE_PARAMETERS]),
		size_text(output, "output_size", shapes->sizes[SIZE_OUTPUT]),
		shapes->inputs ? shapes->inputs : "[]", shapes->outputs ? shapes->outputs : "[]");
}

/* What precedes the name: category, process, thread, duration and start. */
static char *put_start(struct export_state *e, char *p, const char *category,
		       const struct export_thread *thread, uint64_t start, uint64_t end)
{
	uint64_t since = start > e->info.start ? start - e->info.start : 0;

	p = e->lines++ ? PUT_LITERAL(p, ",\n{\"cat\" : \"") : PUT_LITERAL(p, "{\"cat\" : \"");
	p = put_text(p, category, strlen(category));
	p = PUT_LITERAL(p, "\",\"pid\" :");
	p = put_u64(p, thread->process->pid);
	p = PUT_LITERAL(p, ",\"tid\" :");
	p = put_u64(p, thread->thread.tid);
	p = PUT_LITERAL(p, ",\"dur\" :");
	p = put_u64(p, (end - start) / 1000);
	p = PUT_LITERAL(p, ",\"ts\" :");
	return put_u64(p, since / 1000);
}

static int ort_session_record(struct export_state *e, const char *name,
			      const struct export_thread *thread, uint64_t start, uint64_t end)
{
	char *p = stream_reserve(e->out, 384 + strlen(name));

	if (!p)
		return -ENOMEM;
	p = put_start(e, p, "Session", thread, start, end);
	p = PUT_LITERAL(p, ",\"ph\" : \"X\",\"name\" :\"");
	p = put_text(p, name, strlen(name));
	stream_advance(e->out, PUT_LITERAL(p, "\",\"args\" : {}}"));
	return 0;
}

static int close_subgraph(struct export_state *e, const struct export_thread *thread,
			  struct subgraph *subgraph)
{
	if (!subgraph->used)
		return 0;
	subgraph->used = false;
	return ort_session_record(e, "SequentialExecutor::Execute", thread, subgraph->start,
				  subgraph->end);
}

/*
 * The executor runs once per branch and pass, and its record comes before
 * that of the node around it. A graph's nodes run in one order, so that a
 * pass begins where the first node of the one before comes again.
 */
static int follow_subgraphs(struct export_state *e, const struct capture_exec *exec)
{
	struct export_thread *thread = e->threads.items[exec->thread];
	struct subgraph *levels = thread->private, *own = &levels[exec->depth];
	int error = close_subgraph(e, thread, &levels[exec->depth + 1]);

	if (!exec->depth)
		return error;
	if (!error && own->used &&
	    (own->first_op == exec->op || own->run != exec->run || own->parent != exec->parent))
		error = close_subgraph(e, thread, own);
	if (!own->used)
		*own = (struct subgraph){.used = true,
					 .run = exec->run,
					 .parent = exec->parent,
					 .first_op = exec->op,
					 .start = exec->start};
	own->end = exec->end;
	return error;
}

static int ort_exec(struct export_state *e, const struct capture_exec *exec,
		    const struct nested_exec *nested)
{
	const struct export_operator *op = e->ops.items[exec->op];
	const struct export_shapes *shapes =
		exec->shapes == CAPTURE_UNKNOWN ? NULL : e->shapes.items[exec->shapes];
	int error = follow_subgraphs(e, exec);
	char *p;

	if (error)
		return error;
	/* Its duration is not known, and the format has no other way. */
	if (exec->flags & EXEC_THREW)
		return 0;
	p = stream_reserve(e->out, op->head.size + op->detail.size +
					   (shapes ? shapes->detail.size : 0) + 256);
	if (!p)
		return -ENOMEM;
	p = put_start(e, p, "Node", e->threads.items[exec->thread], exec->start, exec->end);
	p = put_prepared(p, &op->head);
	p = shapes ? put_prepared(p, &shapes->detail)
		   : PUT_LITERAL(p, "\"input_type_shape\" : [],\"output_type_shape\" : [],");
	stream_advance(e->out, put_prepared(p, &op->detail));
	return 0;
}

/* The executor's part of a run is from its first operator to its last. */
static int ort_run(struct export_state *e, const struct capture_run *run,
		   const struct open_run *ops)
{
	const struct export_thread *thread = e->threads.items[run->thread];
	int error = 0;

	if (run->threw)
		return 0;
	if (ops && ops->last >= ops->first)
		error = ort_session_record(e, "SequentialExecutor::Execute", thread, ops->first,
					   ops->last);
	return error ? error : ort_session_record(e, "model_run", thread, run->start, run->end);
}

/* Its duration is told whatever came of it, as the profiler does. */
static int ort_setup(struct export_state *e, const struct capture_setup *setup, const char *name)
{
	const struct export_thread *thread = e->threads.items[setup->thread];
	char *json = text_json(name);
	int error = -ENOMEM;

	if (json) {
		json[strlen(json) - 1] = '\0';
		error = ort_session_record(e, json + 1, thread, setup->start, setup->end);
	}
	free(json);
	return error;
}

static int ort_end(struct export_state *e)
{
	stream_put(e->out, "\n]\n");
	return 0;
}

static void ort_notes(const struct export_state *e, FILE *out)
{
	if (!e->shapes_seen)
		fprintf(out, "No shapes were recorded: input_type_shape and output_type_shape are "
			     "empty.\n");
	if (e->threw || e->runs_threw)
		fprintf(out, "Left out, as their end is not known: %llu executions, %llu runs.\n",
			(unsigned long long)e->threw, (unsigned long long)e->runs_threw);
}

const struct export_ops ort_ops = {
	.begin = ort_begin,
	.operator_defined = ort_operator,
	.thread_defined = ort_thread,
	.shapes_defined = ort_shapes,
	.exec = ort_exec,
	.run = ort_run,
	.setup = ort_setup,
	.end = ort_end,
	.notes = ort_notes,
};
