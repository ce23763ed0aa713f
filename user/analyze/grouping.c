// SPDX-License-Identifier: GPL-2.0-only
/* Which row an execution belongs to, and what the row says of it. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"

/* -- tables ---------------------------------------------------------------- */

void *table_get(const struct table *table, uint32_t number)
{
	return number < table->n ? table->items[number] : NULL;
}

/* The item of @number, of @size bytes and zeroed when new. */
static void *table_make(struct table *table, uint32_t number, size_t size)
{
	if (array_extend(table, (size_t)number + 1))
		return NULL;
	if (!table->items[number])
		table->items[number] = calloc(1, size);
	return table->items[number];
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->items[i]);
	array_free(table);
}

/* -- definitions ----------------------------------------------------------- */

/* A node without a name goes by the one that the runtime's own profiler
 * makes up for it. */
static const char *node_label(struct fold *f, const struct capture_operator *op)
{
	char label[256];
	int length;

	if (op->name[0])
		return op->name;
	if (op->node_index == CAPTURE_UNKNOWN)
		return op->op_type[0] ? op->op_type : "(unknown)";
	length = snprintf(label, sizeof(label), "%.200s_%u", op->op_type, op->node_index);
	return strings_intern(&f->strings, label, length);
}

/* Have @string, of a record, outlive it: equal ones are one pointer, which keys rely on. */
static int keep(struct fold *f, const char **string)
{
	*string = strings_intern(&f->strings, *string, strlen(*string));
	return *string ? 0 : -ENOMEM;
}

int define_operator(struct fold *f, const struct capture_operator *op)
{
	struct op_state *state = table_make(&f->ops, op->op, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->op = *op;
	state->session = sessions_get(&f->a.sessions, op->session);
	if (keep(f, &state->op.name) || keep(f, &state->op.op_type) || keep(f, &state->op.domain) ||
	    keep(f, &state->op.provider))
		return -ENOMEM;
	state->label = node_label(f, &state->op);
	if (!state->label)
		return -ENOMEM;
	state->shown = (!f->a.options.name || !fnmatch(f->a.options.name, state->label, 0)) &&
		       (!f->a.options.op || !fnmatch(f->a.options.op, op->op_type, 0));
	f->a.truncated_names |= op->name_truncated;
	return 0;
}

int define_attributes(struct fold *f, const struct capture_attributes *attributes)
{
	struct op_state *state = table_get(&f->ops, attributes->op);

	if (!state)
		return -EINVAL;
	state->attributes = attribute_set_get(&f->a.attribute_sets, attributes);
	f->a.has_attributes = true;
	return state->attributes ? 0 : -ENOMEM;
}

int define_thread(struct fold *f, const struct capture_thread *thread)
{
	const struct analyze_process *process = processes_get(&f->a.processes, thread->process);
	struct thread_state *state;

	if (!process)
		return -EINVAL;
	state = table_make(&f->threads, thread->thread, sizeof(*state));
	if (!state)
		return -ENOMEM;
	state->thread = *thread;
	state->process = process;
	return 0;
}

int define_session(struct fold *f, const struct capture_session *session)
{
	const struct analyze_process *process = processes_get(&f->a.processes, session->process);
	int error = process ? sessions_add(&f->a.sessions, session, process) : -EINVAL;

	if (error)
		return error;
	f->a.n_sessions += process->shown;
	return 0;
}

int define_model(struct fold *f, const struct capture_model *model)
{
	int error = sessions_tell(&f->a.sessions, model);
	const struct analyze_session *session;

	if (error)
		return error;
	session = sessions_get(&f->a.sessions, model->session);
	f->a.has_models |= session->process->shown && session->is_named;
	return 0;
}

int define_shapes(struct fold *f, const struct capture_shapes *shapes)
{
	struct shapes_state *state = table_make(&f->shapes, shapes->shapes, sizeof(*state));

	if (!state)
		return -ENOMEM;
	state->inputs = tensor_list_get(&f->a.tensor_lists, &shapes->inputs);
	state->outputs = tensor_list_get(&f->a.tensor_lists, &shapes->outputs);
	tensors_sizes(shapes, state->sizes);
	return state->inputs && state->outputs ? 0 : -ENOMEM;
}

int define_failure(struct fold *f, const struct capture_failure *failure)
{
	struct analyze_failure *new;

	if (array_extend(&f->a.failures, (size_t)failure->failure + 1))
		return -ENOMEM;
	new = &f->a.failures.items[failure->failure];
	*new = (struct analyze_failure){.session = failure->session,
					.code = failure->code,
					.name = failure->name,
					.message = failure->message};
	return keep(f, &new->name) ?: keep(f, &new->message);
}

/* -- the row of an execution ------------------------------------------------ */

/* Numbers of threads and runs leave room for "unknown" in a key. */
static uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* The part of the key that differs between executions of one operator on one process. */
static uint64_t varying_part(const struct fold *f, const struct op_state *state,
			     const struct capture_exec *exec)
{
	switch (f->a.options.group) {
	case GROUP_SHAPE:
		return exec->shapes;
	case GROUP_THREAD:
		return exec->thread;
	case GROUP_RUN:
	case GROUP_TAG:
		return exec->run;
	case GROUP_MODEL:
		return state->session ? state->session->changes : 0;
	case GROUP_NODE:
		return pair(f->a.options.tree ? exec->parent : 0,
			    f->a.options.threads_apart ? exec->thread : 0);
	default:
		return 0;
	}
}

/* The tag of the run of @exec, the last one that @thread had an operator of; NULL if none. */
static const char *tag_of(const struct thread_state *thread, const struct capture_exec *exec)
{
	return exec->run == CAPTURE_UNKNOWN ? NULL : thread->run->tag;
}

static const struct analyze_model *model_of(const struct op_state *state)
{
	return state->session ? state->session->model : NULL;
}

/* Where the model is not known, the session stands for it, once named and once not. */
static void set_model_key(struct row_key *key, const struct op_state *state, uint64_t process)
{
	const struct analyze_session *session = state->session;

	key->words[0] = (uintptr_t)model_of(state);
	if (key->words[0])
		return;
	key->words[1] = pair(state->op.session, session && session->is_named);
	key->words[2] = session ? 0 : process;
}

/*
 * Nodes belong to the process that executes them, also where their session is
 * not known. Sessions and runs are numbered over all processes; what belongs
 * to none that is known is kept apart by process.
 */
static struct row_key key_of(const struct fold *f, const struct op_state *state,
			     const struct thread_state *thread, const struct capture_exec *exec)
{
	uint64_t process = thread->process->process;
	const struct capture_operator *op = &state->op;
	const struct shapes_state *shapes = table_get(&f->shapes, exec->shapes);
	struct row_key key = {};

	switch (f->a.options.group) {
	case GROUP_NODE:
		key.words[0] = (uintptr_t)op->name;
		key.words[1] = (uintptr_t)op->op_type;
		key.words[2] = (uintptr_t)op->provider;
		key.words[3] = pair(op->session, op->name[0] ? 0 : op->node_index);
		key.words[4] = f->a.options.tree ? exec->parent : 0;
		key.words[5] = f->a.options.threads_apart ? exec->thread : process;
		break;
	case GROUP_OP:
		key.words[0] = (uintptr_t)op->op_type;
		break;
	case GROUP_SHAPE:
		key.words[0] = (uintptr_t)op->op_type;
		key.words[1] = shapes ? (uintptr_t)shapes->inputs : 0;
		break;
	case GROUP_THREAD:
		key.words[0] = exec->thread;
		break;
	case GROUP_SESSION:
		key.words[0] = op->session;
		key.words[1] = op->session == CAPTURE_UNKNOWN ? process : 0;
		break;
	case GROUP_RUN:
		key.words[0] = exec->run;
		key.words[1] = exec->run == CAPTURE_UNKNOWN ? process : 0;
		break;
	case GROUP_PROCESS:
		key.words[0] = process;
		break;
	case GROUP_TAG:
		key.words[0] = (uintptr_t)tag_of(thread, exec);
		break;
	case GROUP_MODEL:
		set_model_key(&key, state, process);
		break;
	}
	return key;
}

static const char *intern_label(struct fold *f, const char *label)
{
	const char *interned = strings_intern(&f->strings, label, strlen(label));

	return interned ? interned : "";
}

static const char *numbered(struct fold *f, const char *what, uint32_t number)
{
	char label[64];

	if (number == CAPTURE_UNKNOWN)
		snprintf(label, sizeof(label), "%s not known", what);
	else
		snprintf(label, sizeof(label), "%s %u", what, number);
	return intern_label(f, label);
}

static const char *thread_label(struct fold *f, const struct capture_thread *thread)
{
	char label[64];

	snprintf(label, sizeof(label), "%.*s (%u)", (int)sizeof(thread->comm), thread->comm,
		 thread->tid);
	return intern_label(f, label);
}

/* What is called by a session, as it may be any model, or is from memory and may be another. */
static const char *unknown_model_label(struct fold *f, const struct op_state *state)
{
	char label[64];

	if (!state->session)
		return numbered(f, "session", CAPTURE_UNKNOWN);
	if (state->session->is_named)
		return state->session->numbered;
	snprintf(label, sizeof(label), "session %u (model not known)", state->op.session);
	return intern_label(f, label);
}

/* A new row takes what the group has in common from its first execution. */
static void start_row(struct fold *f, struct analyze_row *row, const struct op_state *state,
		      const struct thread_state *thread, const struct capture_exec *exec)
{
	const struct shapes_state *shapes = table_get(&f->shapes, exec->shapes);

	row->op_type = state->op.op_type;
	row->domain = state->op.domain;
	row->provider = state->op.provider;
	row->attributes = state->attributes;
	row->session = state->op.session;
	row->op = exec->op;
	row->thread = exec->thread;
	row->tid = thread->thread.tid;
	row->process = thread->process;
	row->model = model_of(state);
	row->run = exec->run;
	row->tag = tag_of(thread, exec);
	row->inputs = shapes ? shapes->inputs : NULL;
	row->outputs = shapes ? shapes->outputs : NULL;
	switch (f->a.options.group) {
	case GROUP_NODE:
		row->label = row->name = state->label;
		row->node_index = state->op.node_index;
		row->around = f->a.options.tree ? exec->parent : CAPTURE_UNKNOWN;
		if (f->a.options.threads_apart && row->tid != CAPTURE_UNKNOWN)
			row->executor = thread_label(f, &thread->thread);
		break;
	case GROUP_OP:
	case GROUP_SHAPE:
		row->label = row->op_type;
		break;
	case GROUP_THREAD:
		row->label = thread_label(f, &thread->thread);
		break;
	case GROUP_SESSION:
		row->label = numbered(f, "session", row->session);
		break;
	case GROUP_RUN:
		row->label = numbered(f, "run", row->run);
		break;
	case GROUP_PROCESS:
		row->label = row->process->label;
		break;
	case GROUP_TAG:
		row->label = row->tag ? row->tag : "no tag";
		break;
	case GROUP_MODEL:
		row->label = row->model ? row->model->label : unknown_model_label(f, state);
		break;
	}
}

void label_rows(struct fold *f)
{
	enum analyze_group group = f->a.options.group;

	for (size_t i = 0; i < f->rows.n && (group == GROUP_SESSION || group == GROUP_MODEL); i++) {
		struct analyze_row *row = f->rows.items[i];
		const struct analyze_session *session = sessions_get(&f->a.sessions, row->session);

		if (group == GROUP_MODEL && row->model)
			row->label = row->model->label;
		else if (group == GROUP_SESSION && session)
			row->label = session->title;
	}
}

/* Forget what this execution does not share with the row. */
static void keep_common(struct fold *f, struct analyze_row *row, const struct op_state *state,
			const struct thread_state *thread, const struct capture_exec *exec)
{
	const struct capture_operator *op = &state->op;

	if (row->process != thread->process)
		row->process = NULL;
	if (row->model != model_of(state))
		row->model = NULL;
	if (row->thread != exec->thread)
		row->thread = row->tid = CAPTURE_UNKNOWN;
	if (row->run != exec->run)
		row->run = CAPTURE_UNKNOWN;
	if (row->inputs || row->outputs) {
		const struct shapes_state *shapes = table_get(&f->shapes, exec->shapes);

		if (!shapes || shapes->inputs != row->inputs)
			row->inputs = NULL;
		if (!shapes || shapes->outputs != row->outputs)
			row->outputs = NULL;
	}
	if (row->op == exec->op)
		return;
	row->op = CAPTURE_UNKNOWN;
	row->attributes = row->attributes == state->attributes ? row->attributes : NULL;
	row->node_index = row->node_index == op->node_index ? op->node_index : CAPTURE_UNKNOWN;
	row->op_type = row->op_type == op->op_type ? row->op_type : NULL;
	row->domain = row->domain == op->domain ? row->domain : NULL;
	row->provider = row->provider == op->provider ? row->provider : NULL;
	row->session = row->session == op->session ? row->session : CAPTURE_UNKNOWN;
}

struct analyze_row *row_of(struct fold *f, struct op_state *state,
			   const struct thread_state *thread, const struct capture_exec *exec,
			   const struct analyze_place *place)
{
	uint64_t part = varying_part(f, state, exec);
	struct analyze_row *row = state->row;

	if (!row || state->row_part != part || state->row_process != thread->process ||
	    state->row_place != place) {
		struct row_key key = key_of(f, state, thread, exec);

		key.words[ROW_PLACE] = (uintptr_t)place;
		row = rows_get(&f->rows, &key);
		if (!row)
			return NULL;
		state->row = row;
		state->row_part = part;
		state->row_process = thread->process;
		state->row_place = place;
		row->place = place;
	}
	if (!row->count && !row->self_count && !analyze_samples(&row->seen) &&
	    row->op == CAPTURE_UNKNOWN)
		start_row(f, row, state, thread, exec);
	else
		keep_common(f, row, state, thread, exec);
	return row;
}

struct analyze_row *row_of_run(struct fold *f, const struct capture_run *run)
{
	const struct thread_state *thread = table_get(&f->threads, run->thread);
	struct row_key key = {{run->run}};
	struct analyze_row *row = rows_get(&f->rows, &key);

	if (!row)
		return NULL;
	row->run = run->run;
	row->step = run->step;
	row->session = run->session;
	row->thread = run->thread;
	row->process = thread->process;
	row->run_timed = !run->threw;
	row->run_ns = run->end - run->start;
	row->label = numbered(f, "run", run->run);
	return row;
}
