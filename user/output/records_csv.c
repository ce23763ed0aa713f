// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every execution as a line of comma-separated values, as it was recorded:
 * counts of the calling thread and of the others apart, inclusive of what ran
 * inside for the former. What is not known is empty.
 */
#include "export.h"

#include <errno.h>
#include <stdlib.h>

#include "formats.h"
#include "text.h"

static char *field(const struct export_state *e, const char *bytes)
{
	return text_csv(bytes, stream_is_terminal(e->out));
}

static int csv_begin(struct export_state *e)
{
	stream_put(e->out,
		   "run,pid,tid,thread,start_ns,duration_ns,cpu,depth,threw,migrated,name,op_type,"
		   "domain,provider,session,node_index,parent,inputs,outputs");
	for (uint32_t i = 0; i < e->info.n_events; i++) {
		char *title = field(e, e->titles[i]);

		if (!title)
			return -ENOMEM;
		stream_put(e->out, ",");
		stream_put(e->out, title);
		free(title);
	}
	stream_put(e->out, ",other_threads_ns");
	for (uint32_t i = 0; i < e->info.n_events; i++) {
		char key[200], *title;

		snprintf(key, sizeof(key), "other_threads:%s", e->titles[i]);
		title = field(e, key);
		if (!title)
			return -ENOMEM;
		stream_put(e->out, ",");
		stream_put(e->out, title);
		free(title);
	}
	stream_put(e->out, ",peak_bytes\n");
	return 0;
}

static int csv_thread(struct export_state *e, struct export_thread *thread)
{
	char comm[sizeof(thread->thread.comm) + 1], *name;
	int error;

	snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(thread->thread.comm), thread->thread.comm);
	name = field(e, comm);
	error = name ? prepare(&thread->detail, ",%u,%u,%s,", thread->process->pid,
			       thread->thread.tid, name)
		     : -ENOMEM;
	free(name);
	return error;
}

/* head: the fields of the node; detail: its label, for those inside it. */
static int csv_operator(struct export_state *e, struct export_operator *op)
{
	char *label = field(e, op->label), *type = field(e, op->op.op_type);
	char *domain = field(e, op->op.domain), *provider = field(e, op->op.provider);
	char session[16] = "", index[16] = "";
	int error = -ENOMEM;

	if (op->op.session != CAPTURE_UNKNOWN)
		snprintf(session, sizeof(session), "%u", op->op.session);
	if (op->op.node_index != CAPTURE_UNKNOWN)
		snprintf(index, sizeof(index), "%u", op->op.node_index);
	if (label && type && domain && provider) {
		error = prepare(&op->head, ",%s,%s,%s,%s,%s,%s,", label, type, domain, provider,
				session, index);
		if (!error)
			error = prepare(&op->detail, "%s", label);
	}
	free(label);
	free(type);
	free(domain);
	free(provider);
	return error;
}

static int csv_shapes(struct export_state *e, struct export_shapes *shapes)
{
	char *inputs = field(e, shapes->inputs ? shapes->inputs : "");
	char *outputs = field(e, shapes->outputs ? shapes->outputs : "");
	int error =
		inputs && outputs ? prepare(&shapes->detail, ",%s,%s", inputs, outputs) : -ENOMEM;

	free(inputs);
	free(outputs);
	return error;
}

static char *put_counters(const struct export_state *e, char *p, uint32_t counted,
			  const uint64_t *counters)
{
	for (uint32_t i = 0; i < e->info.n_events; i++) {
		*p++ = ',';
		if (counted >> i & 1)
			p = put_u64(p, counters[i]);
	}
	return p;
}

static int csv_exec(struct export_state *e, const struct capture_exec *exec,
		    const struct nested_exec *nested)
{
	const struct export_operator *op = e->ops.items[exec->op];
	const struct export_operator *parent =
		exec->parent == CAPTURE_UNKNOWN ? NULL : e->ops.items[exec->parent];
	const struct export_shapes *shapes =
		exec->shapes == CAPTURE_UNKNOWN ? NULL : e->shapes.items[exec->shapes];
	const struct export_thread *thread = e->threads.items[exec->thread];
	bool threw = exec->flags & EXEC_THREW, work = exec->flags & EXEC_WORK;
	char *p = stream_reserve(
		e->out, thread->detail.size + op->head.size + (parent ? parent->detail.size : 0) +
				(shapes ? shapes->detail.size : 0) + e->info.n_events * 48 + 256);

	if (!p)
		return -ENOMEM;
	if (exec->run != CAPTURE_UNKNOWN)
		p = put_u64(p, exec->run);
	p = put_prepared(p, &thread->detail);
	p = put_u64(p, exec->start);
	*p++ = ',';
	if (!threw)
		p = put_u64(p, exec->end - exec->start);
	*p++ = ',';
	p = put_u64(p, exec->cpu);
	*p++ = ',';
	p = put_u64(p, exec->depth);
	*p++ = ',';
	*p++ = threw ? '1' : '0';
	*p++ = ',';
	*p++ = exec->flags & EXEC_MIGRATED ? '1' : '0';
	p = put_prepared(p, &op->head);
	if (parent)
		p = put_prepared(p, &parent->detail);
	p = shapes ? put_prepared(p, &shapes->detail) : PUT_LITERAL(p, ",,");
	p = put_counters(e, p, exec->counted, exec->counters);
	*p++ = ',';
	if (work)
		p = put_u64(p, exec->work_ns);
	p = put_counters(e, p, work ? exec->counted : 0, exec->work_counters);
	*p++ = ',';
	if (exec->peak)
		p = put_u64(p, exec->peak);
	*p++ = '\n';
	stream_advance(e->out, p);
	e->lines++;
	return 0;
}

static int csv_end(struct export_state *e)
{
	return 0;
}

const struct export_ops records_csv_ops = {
	.begin = csv_begin,
	.operator_defined = csv_operator,
	.thread_defined = csv_thread,
	.shapes_defined = csv_shapes,
	.exec = csv_exec,
	.end = csv_end,
};
