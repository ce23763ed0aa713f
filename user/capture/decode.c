// SPDX-License-Identifier: GPL-2.0-only
/* A function for each kind of record in FORMAT.md; kinds of many parts have files of their own. */
#include "decode.h"

#include <errno.h>

#include "attributes.h"
#include "launch.h"
#include "parts.h"
#include "sample.h"
#include "sums.h"
#include "texts.h"
#include "values.h"

static int intern(struct decoder *decoder, struct cursor *c, const char **string)
{
	struct cursor bytes = texts_bytes(c);

	*string = strings_intern(&decoder->strings, (const char *)bytes.at, cursor_left(&bytes));
	return *string ? 0 : -ENOMEM;
}

/* -- definitions ----------------------------------------------------------- */

/* Returns NULL, or what is wrong; @error is -ENOMEM if that is all that is. */
static const char *define(struct ids *ids, uint32_t id, bool again, int *error)
{
	if (!again && ids_has(ids, id))
		return "a number that is defined twice";
	*error = ids_add(ids, id);
	return *error ? "a number out of range" : NULL;
}

/* The number of a process at the end of a record, 0 where there is none. */
static uint32_t get_process(struct cursor *c)
{
	return cursor_left(c) ? format_get_u32(c) : 0;
}

/* The first is the one of the info. */
static bool is_process(const struct decoder *decoder, uint32_t process)
{
	return !process || ids_has(&decoder->processes, process);
}

static const char *decode_process(struct decoder *decoder, struct cursor *c,
				  struct capture_process *process, int *error)
{
	uint64_t flags = cursor_uleb(c);

	process->process = format_get_u32(c);
	process->pid = format_get_u32(c);
	process->parent = flags & PROCESS_HAS_PARENT ? format_get_u32(c) : CAPTURE_UNKNOWN;
	if (intern(decoder, c, &process->command) || intern(decoder, c, &process->library) ||
	    intern(decoder, c, &process->runtime) || intern(decoder, c, &process->version) ||
	    intern(decoder, c, &process->build_id))
		*error = -ENOMEM;
	if (c->failed || *error)
		return NULL;
	if (!process->process)
		return "a process with the number of the first";
	if (flags & PROCESS_HAS_PARENT && !is_process(decoder, process->parent))
		return "a child of a process that was not defined";
	return define(&decoder->processes, process->process, false, error);
}

static const char *decode_thread(struct decoder *decoder, struct cursor *c,
				 struct capture_thread *thread, int *error)
{
	thread->thread = format_get_u32(c);
	thread->tid = format_get_u32(c);
	texts_copy_bytes(c, thread->comm, sizeof(thread->comm));
	thread->process = get_process(c);
	if (!is_process(decoder, thread->process))
		return "a thread of a process that was not defined";
	return c->failed ? NULL : define(&decoder->threads, thread->thread, true, error);
}

static const char *decode_session(struct decoder *decoder, struct cursor *c,
				  struct capture_session *session, int *error)
{
	session->session = format_get_u32(c);
	session->address = cursor_uleb(c);
	session->process = get_process(c);
	if (!is_process(decoder, session->process))
		return "a session of a process that was not defined";
	return c->failed ? NULL : define(&decoder->sessions, session->session, false, error);
}

static const char *decode_model(struct decoder *decoder, struct cursor *c,
				struct capture_model *model, int *error)
{
	const char **const texts[MODEL_TEXTS] = {&model->path, &model->graph, &model->producer,
						 &model->providers};
	uint8_t *const answers[MODEL_ANSWERS] = {&model->parallel, &model->intra_spins,
						 &model->inter_spins, &model->memory_pattern,
						 &model->arena};
	uint64_t flags = cursor_uleb(c);
	bool too_long = false;

	model->session = format_get_u32(c);
	for (int i = 0; i < MODEL_TEXTS; i++) {
		*texts[i] = NULL;
		if (flags >> i & 1 && intern(decoder, c, texts[i]))
			*error = -ENOMEM;
		too_long |= *texts[i] && strlen(*texts[i]) > MODEL_TEXT_MAX(i);
	}
	model->graph_hash = cursor_uleb(c);
	model->intra_threads = format_get_u32(c);
	model->inter_threads = format_get_u32(c);
	for (int i = 0; i < MODEL_ANSWERS; i++)
		*answers[i] = format_get_below(c, NOT_KNOWN + 1);
	model->has_memory = flags & MODEL_HAS_MEMORY;
	model->memory_in_use = model->has_memory ? cursor_uleb(c) : 0;
	model->memory_most = model->has_memory ? cursor_uleb(c) : 0;
	model->memory_total = model->has_memory ? cursor_uleb(c) : 0;
	if (c->failed || *error)
		return NULL;
	if (!ids_has(&decoder->sessions, model->session))
		return "a model of a session that was not defined";
	if (model->memory_in_use > model->memory_most || model->memory_most > model->memory_total)
		return "a model whose memory contradicts itself";
	return too_long ? "a model with a text that is too long" : NULL;
}

static const char *decode_operator(struct decoder *decoder, struct cursor *c,
				   struct capture_operator *op, int *error)
{
	uint64_t flags = cursor_uleb(c);

	op->op = format_get_u32(c);
	op->session = flags & OPERATOR_HAS_SESSION ? format_get_u32(c) : CAPTURE_UNKNOWN;
	op->node_index = flags & OPERATOR_HAS_INDEX ? format_get_u32(c) : CAPTURE_UNKNOWN;
	op->name_truncated = flags & OPERATOR_NAME_TRUNCATED;
	if (intern(decoder, c, &op->name) || intern(decoder, c, &op->op_type) ||
	    intern(decoder, c, &op->domain) || intern(decoder, c, &op->provider))
		*error = -ENOMEM;
	if (c->failed || *error)
		return NULL;
	if (flags & OPERATOR_HAS_SESSION && !ids_has(&decoder->sessions, op->session))
		return "an operator of a session that was not defined";
	return define(&decoder->operators, op->op, false, error);
}

static const char *decode_attributes(struct decoder *decoder, struct cursor *c,
				     struct capture_attributes *attributes)
{
	attributes->op = format_get_u32(c);
	attributes->attributes = decoder->attributes;
	attributes->n = attributes_get(c, decoder->attributes);
	return c->failed || ids_has(&decoder->operators, attributes->op)
		       ? NULL
		       : "attributes of an operator that was not defined";
}

static const char *decode_shapes(struct decoder *decoder, struct cursor *c,
				 struct capture_shapes *shapes, int *error)
{
	shapes->shapes = format_get_u32(c);
	shapes->inputs = values_get(c, decoder->values[0], decoder->dims[0]);
	shapes->outputs = values_get(c, decoder->values[1], decoder->dims[1]);
	return c->failed ? NULL : define(&decoder->shapes, shapes->shapes, false, error);
}

/* -- executions and runs --------------------------------------------------- */

static void get_counters(struct cursor *c, uint32_t counted, uint64_t *counters)
{
	for (; counted; counted &= counted - 1)
		counters[__builtin_ctz(counted)] = cursor_uleb(c);
}

static uint32_t get_counted(struct decoder *decoder, struct cursor *c)
{
	uint32_t counted = format_get_u32(c);

	if (counted >> decoder->n_events) {
		cursor_fail(c);
		return 0;
	}
	return counted;
}

static void get_sampled(struct cursor *c, uint32_t sampled, uint64_t *enabled, uint64_t *counters,
			uint64_t *running)
{
	*enabled = cursor_uleb(c);
	for (; sampled; sampled &= sampled - 1) {
		int i = __builtin_ctz(sampled);

		counters[i] = cursor_uleb(c);
		running[i] = cursor_uleb(c);
		if (running[i] > *enabled)
			cursor_fail(c);
	}
}

static void get_turns(struct decoder *decoder, struct cursor *c, uint32_t counted,
		      struct capture_turns *turns, uint64_t *counters)
{
	turns->sampled = get_counted(decoder, c);
	if (turns->sampled & counted)
		cursor_fail(c);
	get_sampled(c, turns->sampled, &turns->enabled, counters, turns->running);
}

static uint32_t get_run(struct decoder *decoder, struct cursor *c)
{
	int64_t run = format_unzigzag(cursor_uleb(c));

	if (run > UINT32_MAX || run < -(int64_t)UINT32_MAX)
		cursor_fail(c);
	else
		run += decoder->state.run;
	if (run < 0 || run >= CAPTURE_UNKNOWN)
		cursor_fail(c);
	if (!c->failed)
		decoder->state.run = run;
	return decoder->state.run;
}

static const char *decode_exec(struct decoder *decoder, struct cursor *c, struct capture_exec *exec)
{
	const char *problem = NULL;
	uint64_t fields = cursor_uleb(c);

	exec->flags = fields & EXEC_FLAGS;
	exec->op = format_get_u32(c);
	exec->thread = format_get_u32(c);
	exec->depth = format_get_u32(c);
	exec->cpu = format_get_u32(c);
	exec->run = fields & EXEC_HAS_RUN ? get_run(decoder, c) : CAPTURE_UNKNOWN;
	exec->parent = fields & EXEC_HAS_PARENT ? format_get_u32(c) : CAPTURE_UNKNOWN;
	exec->shapes = fields & EXEC_HAS_SHAPES ? format_get_u32(c) : CAPTURE_UNKNOWN;
	format_get_times(c, &decoder->state.time, &exec->start, &exec->end);
	exec->counted = get_counted(decoder, c);
	get_counters(c, exec->counted, exec->counters);
	exec->work_ns = 0;
	if (fields & EXEC_WORK) {
		exec->work_ns = cursor_uleb(c);
		get_counters(c, exec->counted, exec->work_counters);
	}
	exec->turns.sampled = 0;
	if (fields & EXEC_TURNS)
		get_turns(decoder, c, exec->counted, &exec->turns, exec->counters);
	if (fields & EXEC_TURNS && fields & EXEC_WORK)
		get_sampled(c, exec->turns.sampled, &exec->turns.work_enabled, exec->work_counters,
			    exec->turns.work_running);
	exec->shapes_ns = fields & EXEC_HAS_SHAPES_NS ? format_get_u32(c) : 0;
	exec->peak = fields & EXEC_HAS_PEAK ? cursor_uleb(c) : 0;
	exec->n_parts = 0;
	if (fields & EXEC_PARTS && !c->failed)
		problem = parts_get(c, &decoder->threads, exec, decoder->parts);
	if (c->failed || problem)
		return problem;
	if (!ids_has(&decoder->operators, exec->op) ||
	    (fields & EXEC_HAS_PARENT && !ids_has(&decoder->operators, exec->parent)))
		return "an execution of an operator that was not defined";
	if (!ids_has(&decoder->threads, exec->thread))
		return "an execution on a thread that was not defined";
	if (fields & EXEC_HAS_SHAPES && !ids_has(&decoder->shapes, exec->shapes))
		return "an execution with shapes that were not defined";
	if (exec->depth >= CAPTURE_DEPTH_MAX)
		return "an execution at an impossible depth";
	if (exec->flags & EXEC_THREW && exec->start != exec->end)
		return "an execution that threw, and yet has an end";
	if (exec->flags & EXEC_PARTS && !(exec->flags & EXEC_WORK))
		return "an execution with parts of no work";
	return NULL;
}

static const char *decode_tag(struct cursor *c, struct capture_tag *tag)
{
	tag->run = format_get_u32(c);
	texts_copy(c, tag->text, sizeof(tag->text));
	return c->failed || (tag->run != CAPTURE_UNKNOWN && tag->text[0])
		       ? NULL
		       : "a tag of no run, or none of one";
}

static const char *decode_failure(struct decoder *decoder, struct cursor *c,
				  struct capture_failure *failure, int *error)
{
	uint64_t flags = cursor_uleb(c);

	failure->failure = format_get_u32(c);
	failure->session = flags & FAILURE_HAS_SESSION ? format_get_u32(c) : CAPTURE_UNKNOWN;
	failure->code = format_get_u32(c);
	if (intern(decoder, c, &failure->name) || intern(decoder, c, &failure->message))
		*error = -ENOMEM;
	if (c->failed || *error)
		return NULL;
	if (flags & FAILURE_HAS_SESSION && !ids_has(&decoder->sessions, failure->session))
		return "a failure of a session that was not defined";
	if (!failure->code)
		return "a failure that is none";
	return define(&decoder->failures, failure->failure, false, error);
}

static const char *decode_setup(struct decoder *decoder, struct cursor *c,
				struct capture_setup *setup)
{
	uint64_t flags = cursor_uleb(c), duration;

	setup->session = format_get_u32(c);
	setup->thread = format_get_u32(c);
	setup->kind = format_get_u32(c);
	setup->end = cursor_uleb(c);
	duration = cursor_uleb(c);
	if (duration > setup->end)
		cursor_fail(c);
	setup->start = setup->end - duration;
	texts_copy(c, setup->name, sizeof(setup->name));
	setup->has_status = flags & SETUP_HAS_STATUS;
	setup->failure = (setup->has_status ? format_get_u32(c) : 0) - 1;
	if (c->failed)
		return NULL;
	if (!ids_has(&decoder->sessions, setup->session))
		return "a setup of a session that was not defined";
	if (!ids_has(&decoder->threads, setup->thread))
		return "a setup on a thread that was not defined";
	if (!setup->kind || setup->kind >= CAPTURE_SETUP_KINDS)
		return "a setup of a kind that there is not";
	if (setup->failure != CAPTURE_UNKNOWN && !ids_has(&decoder->failures, setup->failure))
		return "a setup that failed in a way that was not defined";
	return NULL;
}

static const char *decode_run(struct decoder *decoder, struct cursor *c, struct capture_run *run)
{
	uint64_t flags = cursor_uleb(c);

	run->threw = flags & RUN_THREW;
	run->run = format_get_u32(c);
	run->session = flags & RUN_HAS_SESSION ? format_get_u32(c) : CAPTURE_UNKNOWN;
	run->step = format_get_u32(c);
	run->thread = format_get_u32(c);
	format_get_times(c, &decoder->state.time, &run->start, &run->end);
	run->counted = get_counted(decoder, c);
	get_counters(c, run->counted, run->counters);
	run->has_turns = flags & RUN_HAS_TURNS;
	run->turns.sampled = 0;
	if (run->has_turns)
		get_turns(decoder, c, run->counted, &run->turns, run->counters);
	run->has_operators = !(flags & RUN_RESERVED) && !cursor_end(c);
	run->operators = run->has_operators ? format_get_u32(c) : 0;
	run->has_status = flags & RUN_HAS_STATUS;
	run->failure = (run->has_status ? format_get_u32(c) : 0) - 1;
	run->has_peak = flags & RUN_HAS_PEAK;
	run->peak = run->has_peak ? cursor_uleb(c) : 0;
	if (c->failed)
		return NULL;
	if (run->run == CAPTURE_UNKNOWN)
		return "a run without a number";
	if (flags & RUN_HAS_SESSION && !ids_has(&decoder->sessions, run->session))
		return "a run of a session that was not defined";
	if (!ids_has(&decoder->threads, run->thread))
		return "a run on a thread that was not defined";
	if (run->failure != CAPTURE_UNKNOWN && !ids_has(&decoder->failures, run->failure))
		return "a run that failed in a way that was not defined";
	if (run->has_status && run->threw)
		return "a run that threw, and yet returned";
	return NULL;
}

static const char *decode_sum(struct decoder *decoder, struct cursor *c, struct capture_sum *sum)
{
	sum_get(c, sum, decoder->n_events, &decoder->state, decoder->buckets);
	if (c->failed)
		return NULL;
	if (sum->session != CAPTURE_UNKNOWN && !ids_has(&decoder->sessions, sum->session))
		return "a sum of a session that was not defined";
	if (!sum->of_runs &&
	    (!ids_has(&decoder->operators, sum->op) ||
	     (sum->parent != CAPTURE_UNKNOWN && !ids_has(&decoder->operators, sum->parent))))
		return "a sum of an operator that was not defined";
	return NULL;
}

static void decode_loss(struct cursor *c, struct capture_loss *loss)
{
	loss->ring_full = cursor_uleb(c);
	loss->too_deep = cursor_uleb(c);
	loss->unnamed = cursor_uleb(c);
	loss->missed = cursor_uleb(c);
	loss->threads_full = cursor_uleb(c);
	loss->work_lost = cursor_uleb(c);
	loss->runs_full = cursor_end(c) ? 0 : cursor_uleb(c);
	loss->unfinished = cursor_end(c) ? 0 : cursor_uleb(c);
	loss->parts_lost = cursor_end(c) ? 0 : cursor_uleb(c);
}

static void decode_overhead(const struct decoder *decoder, struct cursor *c,
			    struct capture_overhead *overhead)
{
	*overhead = (struct capture_overhead){};
	overhead->own_ns = cursor_uleb(c);
	overhead->nested_ns = cursor_uleb(c);
	for (uint32_t i = 0; i < decoder->n_events; i++) {
		overhead->own[i] = cursor_uleb(c);
		overhead->nested[i] = cursor_uleb(c);
	}
}

static const char *decode_pool(const struct decoder *decoder, struct cursor *c,
			       struct capture_pool *pool)
{
	pool->thread = format_get_u32(c);
	pool->work_ns = cursor_uleb(c);
	pool->cpu_ns = cursor_uleb(c);
	return c->failed || ids_has(&decoder->threads, pool->thread)
		       ? NULL
		       : "a thread of the pool that was not defined";
}

static const char *decode_cost(const struct decoder *decoder, struct cursor *c,
			       struct capture_cost *cost)
{
	uint32_t flags = format_get_u32(c);

	cost->probed = flags & COST_PROBED;
	cost->session = flags & COST_HAS_SESSION ? format_get_u32(c) : CAPTURE_UNKNOWN;
	cost->pair = format_get_u32(c);
	cost->ns = cursor_uleb(c);
	return c->failed || !(flags & COST_HAS_SESSION) ||
			       ids_has(&decoder->sessions, cost->session)
		       ? NULL
		       : "the cost of a session that was not defined";
}

static void decode_budget(struct cursor *c, struct capture_budget *budget)
{
	budget->all_seen = format_get_u32(c) & BUDGET_ALL_SEEN;
	budget->share_ppm = format_get_u32(c);
	budget->cpu_ns = cursor_uleb(c);
	budget->charged_ns = cursor_uleb(c);
	budget->windows = cursor_uleb(c);
	if (!budget->share_ppm || budget->charged_ns > budget->cpu_ns)
		cursor_fail(c);
}

static const char *decode_rest(const struct decoder *decoder, struct cursor *c,
			       struct capture_rest *rest)
{
	bool has_session = format_get_u32(c) & REST_HAS_SESSION;

	rest->session = has_session ? format_get_u32(c) : CAPTURE_UNKNOWN;
	rest->runs = cursor_uleb(c);
	rest->ns = cursor_uleb(c);
	return c->failed || !has_session || ids_has(&decoder->sessions, rest->session)
		       ? NULL
		       : "runs of a session that was not defined";
}

static const char *decode_sample(struct decoder *decoder, struct cursor *c,
				 struct capture_sample *sample)
{
	sample_get(c, sample, &decoder->state);
	if (c->failed)
		return NULL;
	if (!ids_has(&decoder->threads, sample->thread))
		return "a sample of a thread that was not defined";
	if (seen_in_operator(sample->seen) &&
	    (!ids_has(&decoder->operators, sample->op) ||
	     (sample->parent != CAPTURE_UNKNOWN && !ids_has(&decoder->operators, sample->parent))))
		return "a sample of an operator that was not defined";
	if (sample->function != CAPTURE_UNKNOWN && !ids_has(&decoder->functions, sample->function))
		return "a sample of a function that was not defined";
	return NULL;
}

static const char *decode_file(struct decoder *decoder, struct cursor *c, struct capture_file *file,
			       int *error)
{
	file->file = format_get_u32(c);
	if (intern(decoder, c, &file->path) || intern(decoder, c, &file->build_id))
		*error = -ENOMEM;
	if (c->failed || *error)
		return NULL;
	return define(&decoder->files, file->file, false, error);
}

static const char *decode_function(struct decoder *decoder, struct cursor *c,
				   struct capture_function *function, int *error)
{
	function_get(c, function);
	if (intern(decoder, c, &function->symbol))
		*error = -ENOMEM;
	if (c->failed || *error)
		return NULL;
	if (function->file != CAPTURE_UNKNOWN && !ids_has(&decoder->files, function->file))
		return "a function of a file that was not defined";
	return define(&decoder->functions, function->function, false, error);
}

static const char *decode_begin(struct decoder *decoder, struct cursor *c,
				struct capture_begin *begin)
{
	bool again = decoder->begun;

	begin->begin = cursor_uleb(c);
	decoder->begun = true;
	return again ? "a recording that begins twice" : NULL;
}

static const char *decode_launch(struct decoder *decoder, struct cursor *c,
				 struct capture_launch *launch)
{
	launch_get(c, launch, &decoder->state);
	if (c->failed)
		return NULL;
	if (!ids_has(&decoder->threads, launch->thread))
		return "a launch by a thread that was not defined";
	if (launch->op != CAPTURE_UNKNOWN && !ids_has(&decoder->operators, launch->op))
		return "a launch of an operator that was not defined";
	if (launch->function != CAPTURE_UNKNOWN && !ids_has(&decoder->functions, launch->function))
		return "a launch of a function that was not defined";
	return NULL;
}

int decode_record(struct decoder *decoder, uint8_t type, struct cursor c,
		  struct capture_record *record, const char **wrong)
{
	const char *problem = NULL;
	int error = 0;

	switch (type) {
	case CAPTURE_PROCESS:
		problem = decode_process(decoder, &c, &record->process, &error);
		break;
	case CAPTURE_THREAD:
		problem = decode_thread(decoder, &c, &record->thread, &error);
		break;
	case CAPTURE_SESSION:
		problem = decode_session(decoder, &c, &record->session, &error);
		break;
	case CAPTURE_MODEL:
		problem = decode_model(decoder, &c, &record->model, &error);
		break;
	case CAPTURE_OPERATOR:
		problem = decode_operator(decoder, &c, &record->op, &error);
		break;
	case CAPTURE_ATTRIBUTES:
		problem = decode_attributes(decoder, &c, &record->attributes);
		break;
	case CAPTURE_SHAPES:
		problem = decode_shapes(decoder, &c, &record->shapes, &error);
		break;
	case CAPTURE_EXEC:
		problem = decode_exec(decoder, &c, &record->exec);
		break;
	case CAPTURE_TAG:
		problem = decode_tag(&c, &record->tag);
		break;
	case CAPTURE_FAILURE:
		problem = decode_failure(decoder, &c, &record->failure, &error);
		break;
	case CAPTURE_SETUP:
		problem = decode_setup(decoder, &c, &record->setup);
		break;
	case CAPTURE_RUN:
		problem = decode_run(decoder, &c, &record->run);
		break;
	case CAPTURE_SUM:
		problem = decode_sum(decoder, &c, &record->sum);
		break;
	case CAPTURE_LOSS:
		decode_loss(&c, &record->loss);
		break;
	case CAPTURE_BEGIN:
		problem = decode_begin(decoder, &c, &record->begin);
		break;
	case CAPTURE_END:
		record->end.end = cursor_uleb(&c);
		texts_copy(&c, record->end.reason, sizeof(record->end.reason));
		break;
	case CAPTURE_OVERHEAD:
		decode_overhead(decoder, &c, &record->overhead);
		break;
	case CAPTURE_POOL:
		problem = decode_pool(decoder, &c, &record->pool);
		break;
	case CAPTURE_COST:
		problem = decode_cost(decoder, &c, &record->cost);
		break;
	case CAPTURE_BUDGET:
		decode_budget(&c, &record->budget);
		break;
	case CAPTURE_REST:
		problem = decode_rest(decoder, &c, &record->rest);
		break;
	case CAPTURE_SAMPLING:
		sampling_get(&c, &record->sampling);
		break;
	case CAPTURE_SAMPLE:
		problem = decode_sample(decoder, &c, &record->sample);
		break;
	case CAPTURE_FILE:
		problem = decode_file(decoder, &c, &record->file, &error);
		break;
	case CAPTURE_FUNCTION:
		problem = decode_function(decoder, &c, &record->function, &error);
		break;
	case CAPTURE_LAUNCH:
		problem = decode_launch(decoder, &c, &record->launch);
		break;
	case CAPTURE_NOTE:
		texts_copy(&c, record->note.text, sizeof(record->note.text));
		break;
	case CAPTURE_INFO:
		problem = "facts about the recording in its middle";
		break;
	default:
		return 0;
	}
	if (error == -ENOMEM)
		return error;
	*wrong = c.failed ? "a record that does not fit its length" : problem;
	if (*wrong)
		return -EBADMSG;
	record->type = type;
	return 1;
}

void decoder_free(struct decoder *decoder)
{
	ids_free(&decoder->operators);
	ids_free(&decoder->threads);
	ids_free(&decoder->sessions);
	ids_free(&decoder->shapes);
	ids_free(&decoder->processes);
	ids_free(&decoder->failures);
	ids_free(&decoder->files);
	ids_free(&decoder->functions);
	strings_free(&decoder->strings);
}
