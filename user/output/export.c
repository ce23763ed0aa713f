// SPDX-License-Identifier: GPL-2.0-only
#include "export.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../analyze/titles.h"
#include "header.h"
#include "attributes.h"
#include "folded.h"
#include "shapes.h"

int prepare(struct prepared *prepared, const char *format, ...)
{
	va_list args;
	int size;

	free(prepared->text);
	va_start(args, format);
	size = vasprintf(&prepared->text, format, args);
	va_end(args);
	if (size < 0) {
		*prepared = (struct prepared){};
		return -ENOMEM;
	}
	prepared->size = size;
	return 0;
}

char *put_since_start(const struct export_state *e, char *p, uint64_t time)
{
	if (time >= e->info.start)
		return put_us(p, time - e->info.start);
	*p++ = '-';
	return put_us(p, e->info.start - time);
}

void export_metric_variables(const struct nested_exec *nested, double *values)
{
	for (uint32_t i = 0; i < CAPTURE_COUNTERS; i++)
		values[i] = nested->counted >> i & 1 ? (double)nested->total[i] : NAN;
	values[METRIC_NS] = nested->ns;
	values[METRIC_SELF_NS] = nested->self_known ? (double)nested->self_ns : NAN;
	values[METRIC_BUSY_NS] = nested->ns + nested->work_ns;
	values[METRIC_COUNT] = 1;
}

/* -- definitions ------------------------------------------------------------- */

static int define_operator(struct export_state *e, const struct capture_operator *op)
{
	struct export_operator *new = calloc(1, sizeof(*new));
	int size;

	if (!new || array_extend(&e->ops, op->op + 1)) {
		free(new);
		return -ENOMEM;
	}
	e->ops.items[op->op] = new;
	new->op = *op;
	if (op->name[0] || op->node_index == CAPTURE_UNKNOWN)
		size = asprintf(&new->label, "%s", op->name[0] ? op->name : op->op_type);
	else
		size = asprintf(&new->label, "%s_%u", op->op_type, op->node_index);
	if (size < 0) {
		new->label = NULL;
		return -ENOMEM;
	}
	return e->format->operator_defined(e, new);
}

static int define_attributes(struct export_state *e, const struct capture_attributes *attributes)
{
	char *text;
	int error;

	if (!e->format->attributes_defined)
		return 0;
	text = attributes_text(attributes->attributes, attributes->n);
	error = text ? e->format->attributes_defined(e->ops.items[attributes->op], text) : -ENOMEM;
	free(text);
	return error;
}

static int define_process(struct export_state *e, const struct capture_process *process)
{
	int error = process ? processes_add(&e->processes, process)
			    : processes_begin(&e->processes, &e->info);
	struct analyze_process *last;

	if (error)
		return error;
	last = e->processes.items[e->processes.n - 1];
	return last->shown && e->format->process_defined ? e->format->process_defined(e, last) : 0;
}

static int define_thread(struct export_state *e, const struct capture_thread *thread)
{
	struct export_thread **place;

	if (array_extend(&e->threads, thread->thread + 1))
		return -ENOMEM;
	place = &e->threads.items[thread->thread];
	if (!*place)
		*place = calloc(1, sizeof(**place));
	if (!*place)
		return -ENOMEM;
	(*place)->thread = *thread;
	(*place)->process = processes_get(&e->processes, thread->process);
	return (*place)->process->shown ? e->format->thread_defined(e, *place) : 0;
}

static int define_shapes(struct export_state *e, const struct capture_shapes *shapes)
{
	struct export_shapes *new = calloc(1, sizeof(*new));

	if (!new || array_extend(&e->shapes, shapes->shapes + 1)) {
		free(new);
		return -ENOMEM;
	}
	e->shapes.items[shapes->shapes] = new;
	tensors_sizes(shapes, new->sizes);
	if (shapes_text(&shapes->inputs, &new->inputs) ||
	    shapes_text(&shapes->outputs, &new->outputs))
		return -ENOMEM;
	e->shapes_seen = true;
	return e->format->shapes_defined(e, new);
}

static int define_failure(struct export_state *e, const struct capture_failure *failure)
{
	if (!e->format->failure_defined)
		return 0;
	if (array_extend(&e->failures, failure->failure + 1))
		return -ENOMEM;
	return e->format->failure_defined(e, failure, &e->failures.items[failure->failure]);
}

static int define_session(struct export_state *e, const struct capture_session *session)
{
	return sessions_add(&e->sessions, session, processes_get(&e->processes, session->process));
}

static int define_model(struct export_state *e, const struct capture_model *model)
{
	const struct analyze_session *session = sessions_get(&e->sessions, model->session);
	int error;

	if (!e->format->model_defined || !session->process->shown)
		return 0;
	error = sessions_tell(&e->sessions, model);
	if (error || !session->is_named)
		return error;
	if (array_extend(&e->models, (size_t)model->session + 1))
		return -ENOMEM;
	return e->format->model_defined(e, session, &e->models.items[model->session]);
}

/* -- executions and runs ------------------------------------------------------- */

/* The open run of that number; NULL if out of memory. */
static struct open_run *open_run(struct export_state *e, uint32_t number)
{
	struct open_run *run = open_runs_get(&e->open_runs, number), *endless;

	endless = run ? open_runs_take_endless(&e->open_runs) : NULL;
	if (endless)
		open_runs_put(&e->open_runs, endless);
	return run;
}

static int add_to_run(struct export_state *e, const struct capture_exec *exec)
{
	struct open_run *run = open_run(e, exec->run);

	if (!run)
		return -ENOMEM;
	run->count++;
	run->first = exec->start < run->first ? exec->start : run->first;
	run->last = exec->end > run->last ? exec->end : run->last;
	return 0;
}

static int add_tag(struct export_state *e, const struct capture_tag *tag)
{
	struct open_run *run;

	if (!e->format->run)
		return 0;
	run = open_run(e, tag->run);
	if (run)
		run->tag = strings_intern(&e->tags, tag->text, strlen(tag->text));
	return run && run->tag ? 0 : -ENOMEM;
}

static int close_nesting(struct export_state *e, const struct capture_exec *exec,
			 struct nested_exec *nested)
{
	struct nesting *nesting = &e->threads.items[exec->thread]->nesting;
	struct cover below, orphans;

	nesting_close(nesting, exec, NULL, nested, &below, &orphans);
	below.ended = 0;
	return exec->depth ? nesting_hand_up(nesting, exec, nested, &below, &orphans) : 0;
}

static int export_exec(struct export_state *e, const struct capture_exec *exec)
{
	const struct export_ops *format = e->format;
	struct nested_exec nested;
	int error = 0;

	if (!e->threads.items[exec->thread]->process->shown)
		return 0;
	if (format->nested)
		error = close_nesting(e, exec, &nested);
	if (!error && format->run && !exec->depth && exec->run != CAPTURE_UNKNOWN)
		error = add_to_run(e, exec);
	e->threw += exec->flags & EXEC_THREW ? 1 : 0;
	return error ? error : format->exec(e, exec, format->nested ? &nested : NULL);
}

static int export_run(struct export_state *e, const struct capture_run *run)
{
	struct open_run *open;
	int error;

	if (!e->threads.items[run->thread]->process->shown)
		return 0;
	e->runs_threw += run->threw;
	if (!e->format->run)
		return 0;
	open = open_runs_take(&e->open_runs, run->run);
	error = e->format->run(e, run, open);
	if (open)
		open_runs_put(&e->open_runs, open);
	return error;
}

static int export_setup(struct export_state *e, const struct capture_setup *setup)
{
	const char *name =
		setup->kind == CAPTURE_SETUP_LOADING ? "model_loading" : "session_initialization";

	if (!e->format->setup || !e->threads.items[setup->thread]->process->shown)
		return 0;
	return e->format->setup(e, setup, setup->name[0] ? setup->name : name);
}

static int export_activities(struct export_state *e, const struct capture_launch *launch,
			     const struct profile_call *call)
{
	struct export_activity activity;
	bool new;
	int error = 0;

	for (uint32_t i = 0; call && i < call->n && !error; i++) {
		error = export_gpu_activity(&e->gpu, call, i, &activity, &new);
		if (!error && new)
			error = e->format->lane_defined(e, activity.lane);
		if (!error)
			error = e->format->activity(e, launch, &activity);
		free(activity.name);
	}
	return error;
}

static int export_launch(struct export_state *e, const struct capture_launch *launch)
{
	const struct profile_call *call = NULL;
	int error;

	/* A profile's calls are of launches alone. */
	if (launch->kind != CAPTURE_LAUNCH_WAIT)
		call = export_gpu_next(&e->gpu);
	if (!e->format->launch || !e->threads.items[launch->thread]->process->shown)
		return 0;
	error = e->format->launch(e, launch, export_gpu_name(&e->gpu, launch), call ? call->n : 0);
	return error ? error : export_activities(e, launch, call);
}

static int begin(struct export_state *e, const struct capture_info *info)
{
	struct analyze_options options = {};
	int n_metrics, error;

	e->info = *info;
	e->began = info->start;
	titles_make(info, e->titles);
	n_metrics = titles_metrics(info, (const char(*)[160])e->titles, &options, e->metrics, NULL);
	if (n_metrics < 0)
		return n_metrics;
	e->n_metrics = n_metrics;
	error = e->format->begin(e);
	return error ? error : define_process(e, NULL);
}

static int export_record(struct export_state *e, const struct capture_record *record)
{
	switch (record->type) {
	case CAPTURE_INFO:
		return begin(e, record->info);
	case CAPTURE_BEGIN:
		e->began = record->begin.begin;
		return 0;
	case CAPTURE_PROCESS:
		return define_process(e, &record->process);
	case CAPTURE_SESSION:
		return define_session(e, &record->session);
	case CAPTURE_MODEL:
		return define_model(e, &record->model);
	case CAPTURE_OPERATOR:
		return define_operator(e, &record->op);
	case CAPTURE_THREAD:
		return define_thread(e, &record->thread);
	case CAPTURE_ATTRIBUTES:
		return define_attributes(e, &record->attributes);
	case CAPTURE_SHAPES:
		return define_shapes(e, &record->shapes);
	case CAPTURE_TAG:
		return add_tag(e, &record->tag);
	case CAPTURE_FAILURE:
		return define_failure(e, &record->failure);
	case CAPTURE_EXEC:
		return export_exec(e, &record->exec);
	case CAPTURE_SUM:
		return -EOPNOTSUPP;
	case CAPTURE_SAMPLING:
		e->sampled = true;
		return -EOPNOTSUPP;
	case CAPTURE_SETUP:
		return export_setup(e, &record->setup);
	case CAPTURE_RUN:
		return export_run(e, &record->run);
	case CAPTURE_FUNCTION:
		return e->format->launch ? export_gpu_define(&e->gpu, &record->function) : 0;
	case CAPTURE_LAUNCH:
		return export_launch(e, &record->launch);
	case CAPTURE_LOSS:
		e->loss = record->loss;
		return 0;
	case CAPTURE_END:
		e->complete = true;
		e->end = record->end;
		return 0;
	default:
		return 0;
	}
}

/* Fed by a reader, which has checked what records refer to. */
static int take(struct record_sink *sink, const struct capture_record *record)
{
	struct export_state *e = (struct export_state *)sink;

	if (!e->error)
		e->error = export_record(e, record);
	/* What could not be written is the stream's to tell. */
	return e->error ? e->error : stream_error(e->out);
}

/* -- the whole -------------------------------------------------------------------- */

static void free_state(struct export_state *e)
{
	if (e->format && e->format->free)
		e->format->free(e);
	for (size_t i = 0; i < e->ops.n; i++) {
		if (!e->ops.items[i])
			continue;
		free(e->ops.items[i]->label);
		free(e->ops.items[i]->head.text);
		free(e->ops.items[i]->detail.text);
		free(e->ops.items[i]);
	}
	for (size_t i = 0; i < e->threads.n; i++) {
		if (!e->threads.items[i])
			continue;
		nesting_free(&e->threads.items[i]->nesting);
		free(e->threads.items[i]->detail.text);
		free(e->threads.items[i]->private);
		free(e->threads.items[i]);
	}
	for (size_t i = 0; i < e->shapes.n; i++) {
		if (!e->shapes.items[i])
			continue;
		free(e->shapes.items[i]->inputs);
		free(e->shapes.items[i]->outputs);
		free(e->shapes.items[i]->detail.text);
		free(e->shapes.items[i]);
	}
	for (int i = 0; i < CAPTURE_COUNTERS; i++)
		free(e->keys[i].text);
	for (size_t i = 0; i < e->n_metrics; i++) {
		free(e->metric_keys[i].text);
		metric_free(e->metrics[i]);
	}
	for (size_t i = 0; i < e->failures.n; i++)
		free(e->failures.items[i].text);
	for (size_t i = 0; i < e->models.n; i++)
		free(e->models.items[i].text);
	array_free(&e->failures);
	array_free(&e->models);
	array_free(&e->ops);
	array_free(&e->threads);
	array_free(&e->shapes);
	free(e->private);
	sessions_free(&e->sessions);
	processes_free(&e->processes);
	open_runs_free(&e->open_runs);
	strings_free(&e->tags);
	export_gpu_free(&e->gpu);
}

/*
 * All records, and what closes the file, also behind damage: a whole file of
 * its format then holds what precedes that. Returns the failure of exporting, or
 * -ENOMEM; that of reading is put into *@damage.
 */
static int export_all(struct export_state *e, struct capture_reader *reader, int *damage,
		      struct error *err)
{
	int error = capture_replay(reader, &e->sink, err);

	if (e->error || stream_error(e->out))
		return e->error;
	if (error == -ENOMEM)
		return error;
	*damage = error;
	return e->format->end(e);
}

static void print_notes(const struct capture_loss *loss, bool empty, struct capture_reader *reader,
			FILE *out)
{
	struct loss_line lines[LOSS_LINES];

	header_losses(loss, lines);
	for (int i = 0; i < LOSS_LINES; i++)
		if (lines[i].n)
			fprintf(out, "lost: %llu %s\n", (unsigned long long)lines[i].n,
				lines[i].what);
	if (empty)
		fprintf(out, "No operators were recorded; opprobe report says why that may be.\n");
	if (capture_reader_cut(reader))
		fprintf(out, "%s\n", capture_reader_cut(reader));
}

/* A file that is read while it is replaced by itself is gone. */
bool output_is_capture(const char *out_path, const char *capture_path)
{
	struct stat x, y;

	return strcmp(out_path, "-") != 0 && strcmp(capture_path, "-") != 0 &&
	       !stat(out_path, &x) && !stat(capture_path, &y) && S_ISREG(x.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Each record as it comes, to @out, which is closed. Returns what export_capture() does. */
static int export_records(struct export_state *e, struct capture_reader *reader,
			  const char *capture_path, char **where, FILE *notes, struct error *err)
{
	int damage = 0, error = export_all(e, reader, &damage, err), closed;

	if (error == -ENOMEM)
		error_set(err, error, "cannot export %s: out of memory", capture_path);
	if (error == -EOPNOTSUPP)
		error_set(err, error,
			  "%s was recorded with %s: there are no executions to draw; use --format "
			  "folded or pprof, or record without it",
			  capture_path,
			  e->sampled ? "--sample, which sees what runs now and then"
				     : "--aggregate, which adds executions up");
	if (!error && !damage)
		error = processes_require(&e->processes, err);
	closed = stream_close(e->out, !error, where, error || damage < 0 ? NULL : err);
	if (notes && !error && !closed) {
		if (e->format->notes)
			e->format->notes(e, notes);
		print_notes(&e->loss, !e->lines, reader, notes);
	}
	return error ? error : damage < 0 ? damage : closed;
}

/* The same from the rows of an analysis, by nodes and what is around them. */
static int export_rows(const struct format *format, struct stream *out,
		       struct capture_reader *reader, const struct export_options *options,
		       FILE *notes, struct error *err)
{
	const struct analyze_options by_stack = {.group = GROUP_NODE,
						 .tree = true,
						 .threads_apart = format->threads,
						 .hot = options->hot,
						 .compensate = true,
						 .one_process = options->one_process,
						 .pid = options->pid};
	struct analysis *a = NULL;
	struct folded_told told;
	int error = analyze(reader, &by_stack, &a, err), closed;

	if (!error && !a->damaged)
		error = processes_require(&a->processes, err);
	if (!error)
		error = format->fold(a, options->weight, out, &told, err);
	closed = stream_close(out, !error, options->where, error || a->damaged ? NULL : err);
	if (notes && !error && !closed) {
		folded_notes(a, &told, notes);
		print_notes(&a->loss, !a->n_rows, reader, notes);
	}
	if (!error && a->damaged) {
		*err = a->damage;
		error = -EBADMSG;
	}
	analysis_free(a);
	return error ? error : closed;
}

static int require_weighted(const struct format *format, const struct export_options *options,
			    struct error *err)
{
	if (options->weight && format->ops)
		return error_set(err, -EINVAL,
				 "%s has no weights: --weight is for --format folded and pprof",
				 format->name);
	if (options->hot && format->ops)
		return error_set(err, -EINVAL,
				 "%s has no stacks of samples: --hot is for --format folded and "
				 "pprof",
				 format->name);
	if (options->profile && (!format->ops || !format->ops->activity))
		return error_set(err, -EINVAL,
				 "%s has no GPUs: --join is for --format chrome and perfetto",
				 format->name);
	return 0;
}

int export_capture(const char *capture_path, const struct export_options *options,
		   const char *out_path, FILE *notes, struct error *err)
{
	const struct format *found = format_find(export_formats, options->format, err);
	struct capture_reader *reader;
	struct export_state e = {.sink.take = take,
				 .processes.one = options->one_process,
				 .processes.pid = options->pid};
	int error = found ? require_weighted(found, options, err) : -EINVAL;

	if (error)
		return error;
	reader = capture_reader_open(capture_path, err);
	if (!reader)
		return -EIO;
	e.format = found->ops;
	if (options->profile)
		error = export_gpu_join(&e.gpu, reader, options->profile, err);
	if (error)
		e.out = NULL;
	else if (output_is_capture(out_path, capture_path))
		error = error_set(err, -EINVAL,
				  "%s is the capture itself: name another file for the export",
				  out_path);
	else
		e.out = stream_open(out_path, options->naming, err);
	if (e.out && found->ops && found->ops->binary && stream_is_terminal(e.out)) {
		error = error_set(err, -EINVAL, "a trace is no text: name a file, with -o FILE");
		stream_close(e.out, false, NULL, NULL);
	} else if (e.out)
		error = found->ops ? export_records(&e, reader, capture_path, options->where, notes,
						    err)
				   : export_rows(found, e.out, reader, options, notes, err);
	else if (!error)
		error = -EIO;
	free_state(&e);
	capture_reader_close(reader);
	return error;
}
