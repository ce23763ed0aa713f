// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records are encoded straight into the buffer that is written: no
 * allocation and no system call per record. The room for the largest record
 * is always there, so encoding has no bounds to check.
 */
#include "writer_state.h"

#include <errno.h>
#include <string.h>

#include "attributes.h"
#include "encode_info.h"
#include "launch.h"
#include "parts.h"
#include "sample.h"
#include "sums.h"
#include "values.h"

/* The payload of the record in the making; its head goes in front of it when
 * its length is known. */
static uint8_t *begin(struct capture_writer *writer)
{
	return writer->next + 2;
}

static int finish(struct capture_writer *writer, enum capture_type type, uint8_t *end)
{
	uint8_t *payload = begin(writer);
	size_t length = end - payload;
	uint8_t head[1 + FORMAT_VARINT_MAX];
	size_t head_size;

	head[0] = type;
	head_size = format_put_varint(head + 1, length) - head;
	if (head_size != 2)
		memmove(writer->next + head_size, payload, length);
	memcpy(writer->next, head, head_size);
	writer->next += head_size + length;
	writer->n_records++;
	if (writer->next - writer->buffer >= FORMAT_CHUNK_HEADER + FORMAT_CHUNK_TARGET)
		return capture_writer_flush(writer);
	return writer->error;
}

static bool string_fits(const char *string)
{
	return strnlen(string, FORMAT_STRING_MAX + 1) <= FORMAT_STRING_MAX;
}

static uint8_t *put_counters(uint8_t *p, uint32_t counted, const uint64_t *counters)
{
	for (; counted; counted &= counted - 1)
		p = format_put_varint(p, counters[__builtin_ctz(counted)]);
	return p;
}

/* Of each event that took turns: what it counted, and for how long. */
static uint8_t *put_sampled(uint8_t *p, uint32_t sampled, uint64_t enabled,
			    const uint64_t *counters, const uint64_t *running)
{
	p = format_put_varint(p, enabled);
	for (; sampled; sampled &= sampled - 1) {
		p = format_put_varint(p, counters[__builtin_ctz(sampled)]);
		p = format_put_varint(p, running[__builtin_ctz(sampled)]);
	}
	return p;
}

static uint8_t *put_turns(uint8_t *p, const struct capture_turns *turns, const uint64_t *counters)
{
	p = format_put_varint(p, turns->sampled);
	return put_sampled(p, turns->sampled, turns->enabled, counters, turns->running);
}

static bool turns_are_sound(const struct capture_writer *writer, const struct capture_turns *turns,
			    uint32_t counted, bool has_work)
{
	if (turns->sampled >> writer->n_events || turns->sampled & counted)
		return false;
	for (uint32_t bits = turns->sampled; bits; bits &= bits - 1) {
		int i = __builtin_ctz(bits);

		if (turns->running[i] > turns->enabled ||
		    (has_work && turns->work_running[i] > turns->work_enabled))
			return false;
	}
	return true;
}

static int write_info(struct capture_writer *writer, const struct capture_info *info)
{
	uint8_t *p = begin(writer);

	if (writer->has_info || info->n_events > CAPTURE_COUNTERS || info->n_notes > CAPTURE_NOTES)
		return -EINVAL;
	p = encode_info(p, info);
	writer->has_info = true;
	writer->n_events = info->n_events;
	return finish(writer, CAPTURE_INFO, p);
}

/* Define @id in @ids, once. */
static int define(struct capture_writer *writer, struct ids *ids, uint32_t id)
{
	return !writer->has_info || ids_has(ids, id) ? -EINVAL : ids_add(ids, id);
}

/* The first is the one of the info. */
static bool is_process(const struct capture_writer *writer, uint32_t process)
{
	return !process || ids_has(&writer->processes, process);
}

static int write_process(struct capture_writer *writer, const struct capture_process *process)
{
	const char *const strings[] = {process->command, process->library, process->runtime,
				       process->version, process->build_id};
	const size_t n = sizeof(strings) / sizeof(strings[0]);
	bool has_parent = process->parent != CAPTURE_UNKNOWN;
	uint8_t *p = begin(writer);
	int error;

	for (size_t i = 0; i < n; i++)
		if (!string_fits(strings[i]))
			return -E2BIG;
	if (!process->process || (has_parent && !is_process(writer, process->parent)))
		return -EINVAL;
	error = define(writer, &writer->processes, process->process);
	if (error)
		return error;
	*p++ = has_parent ? PROCESS_HAS_PARENT : 0;
	p = format_put_varint(p, process->process);
	p = format_put_varint(p, process->pid);
	if (has_parent)
		p = format_put_varint(p, process->parent);
	for (size_t i = 0; i < n; i++)
		p = format_put_string(p, strings[i]);
	return finish(writer, CAPTURE_PROCESS, p);
}

static int write_thread(struct capture_writer *writer, const struct capture_thread *thread)
{
	bool sound = writer->has_info && is_process(writer, thread->process);
	int error = sound ? ids_add(&writer->threads, thread->thread) : -EINVAL;
	uint8_t *p = begin(writer);

	if (error)
		return error;
	p = format_put_varint(p, thread->thread);
	p = format_put_varint(p, thread->tid);
	p = format_put_bytes(p, thread->comm, strnlen(thread->comm, sizeof(thread->comm)));
	p = format_put_varint(p, thread->process);
	return finish(writer, CAPTURE_THREAD, p);
}

static int write_session(struct capture_writer *writer, const struct capture_session *session)
{
	uint8_t *p = begin(writer);
	int error = is_process(writer, session->process)
			    ? define(writer, &writer->sessions, session->session)
			    : -EINVAL;

	if (error)
		return error;
	p = format_put_varint(p, session->session);
	p = format_put_varint(p, session->address);
	p = format_put_varint(p, session->process);
	return finish(writer, CAPTURE_SESSION, p);
}

static int write_model(struct capture_writer *writer, const struct capture_model *model)
{
	const char *const texts[MODEL_TEXTS] = {model->path, model->graph, model->producer,
						model->providers};
	const uint8_t answers[MODEL_ANSWERS] = {model->parallel, model->intra_spins,
						model->inter_spins, model->memory_pattern,
						model->arena};
	uint8_t *p = begin(writer), flags = 0;

	for (int i = 0; i < MODEL_TEXTS; i++) {
		if (texts[i] && strnlen(texts[i], MODEL_TEXT_MAX(i) + 1) > MODEL_TEXT_MAX(i))
			return -E2BIG;
		flags |= texts[i] ? 1 << i : 0;
	}
	for (int i = 0; i < MODEL_ANSWERS; i++)
		if (answers[i] > NOT_KNOWN)
			return -EINVAL;
	if (!ids_has(&writer->sessions, model->session) ||
	    model->memory_in_use > model->memory_most || model->memory_most > model->memory_total)
		return -EINVAL;
	flags |= model->has_memory ? MODEL_HAS_MEMORY : 0;
	*p++ = flags;
	p = format_put_varint(p, model->session);
	for (int i = 0; i < MODEL_TEXTS; i++)
		p = texts[i] ? format_put_string(p, texts[i]) : p;
	p = format_put_varint(p, model->graph_hash);
	p = format_put_varint(p, model->intra_threads);
	p = format_put_varint(p, model->inter_threads);
	p = mempcpy(p, answers, sizeof(answers));
	if (model->has_memory) {
		p = format_put_varint(p, model->memory_in_use);
		p = format_put_varint(p, model->memory_most);
		p = format_put_varint(p, model->memory_total);
	}
	return finish(writer, CAPTURE_MODEL, p);
}

static bool defined_or_unknown(const struct ids *ids, uint32_t id)
{
	return id == CAPTURE_UNKNOWN || ids_has(ids, id);
}

static int write_operator(struct capture_writer *writer, const struct capture_operator *op)
{
	uint8_t *p = begin(writer);
	uint8_t flags = 0;
	int error;

	if (!string_fits(op->name) || !string_fits(op->op_type) || !string_fits(op->domain) ||
	    !string_fits(op->provider))
		return -E2BIG;
	if (!defined_or_unknown(&writer->sessions, op->session))
		return -EINVAL;
	error = define(writer, &writer->operators, op->op);
	if (error)
		return error;
	flags |= op->name_truncated ? OPERATOR_NAME_TRUNCATED : 0;
	flags |= op->session != CAPTURE_UNKNOWN ? OPERATOR_HAS_SESSION : 0;
	flags |= op->node_index != CAPTURE_UNKNOWN ? OPERATOR_HAS_INDEX : 0;
	*p++ = flags;
	p = format_put_varint(p, op->op);
	if (flags & OPERATOR_HAS_SESSION)
		p = format_put_varint(p, op->session);
	if (flags & OPERATOR_HAS_INDEX)
		p = format_put_varint(p, op->node_index);
	p = format_put_string(p, op->name);
	p = format_put_string(p, op->op_type);
	p = format_put_string(p, op->domain);
	p = format_put_string(p, op->provider);
	return finish(writer, CAPTURE_OPERATOR, p);
}

static int write_attributes(struct capture_writer *writer,
			    const struct capture_attributes *attributes)
{
	uint8_t *p = begin(writer);

	if (!ids_has(&writer->operators, attributes->op) || !attributes_are_sound(attributes))
		return -EINVAL;
	p = format_put_varint(p, attributes->op);
	p = attributes_put(p, attributes);
	return finish(writer, CAPTURE_ATTRIBUTES, p);
}

static int write_shapes(struct capture_writer *writer, const struct capture_shapes *shapes)
{
	uint8_t *p = begin(writer);
	int error;

	if (!values_are_sound(&shapes->inputs) || !values_are_sound(&shapes->outputs))
		return -EINVAL;
	error = define(writer, &writer->shapes, shapes->shapes);
	if (error)
		return error;
	p = format_put_varint(p, shapes->shapes);
	p = values_put(p, &shapes->inputs);
	p = values_put(p, &shapes->outputs);
	return finish(writer, CAPTURE_SHAPES, p);
}

static bool exec_is_sound(const struct capture_writer *writer, const struct capture_exec *exec)
{
	return ids_has(&writer->operators, exec->op) && ids_has(&writer->threads, exec->thread) &&
	       defined_or_unknown(&writer->operators, exec->parent) &&
	       defined_or_unknown(&writer->shapes, exec->shapes) && exec->end >= exec->start &&
	       exec->depth < CAPTURE_DEPTH_MAX && !(exec->counted >> writer->n_events) &&
	       !(exec->flags & ~EXEC_FLAGS) &&
	       (!(exec->flags & EXEC_PARTS) || parts_are_sound(exec, &writer->threads)) &&
	       (!(exec->flags & EXEC_TURNS) ||
		turns_are_sound(writer, &exec->turns, exec->counted, exec->flags & EXEC_WORK));
}

static int write_exec(struct capture_writer *writer, const struct capture_exec *exec)
{
	struct format_state *state = &writer->state;
	uint64_t end = exec->flags & EXEC_THREW ? exec->start : exec->end;
	uint8_t *p = begin(writer);
	uint32_t fields = exec->flags;

	if (!exec_is_sound(writer, exec))
		return -EINVAL;
	fields |= exec->run != CAPTURE_UNKNOWN ? EXEC_HAS_RUN : 0;
	fields |= exec->parent != CAPTURE_UNKNOWN ? EXEC_HAS_PARENT : 0;
	fields |= exec->shapes != CAPTURE_UNKNOWN ? EXEC_HAS_SHAPES : 0;
	fields |= exec->shapes_ns ? EXEC_HAS_SHAPES_NS : 0;
	fields |= exec->peak ? EXEC_HAS_PEAK : 0;
	p = format_put_varint(p, fields);
	p = format_put_varint(p, exec->op);
	p = format_put_varint(p, exec->thread);
	*p++ = exec->depth;
	p = format_put_varint(p, exec->cpu);
	if (fields & EXEC_HAS_RUN) {
		p = format_put_varint(p, format_zigzag((int64_t)exec->run - state->run));
		state->run = exec->run;
	}
	if (fields & EXEC_HAS_PARENT)
		p = format_put_varint(p, exec->parent);
	if (fields & EXEC_HAS_SHAPES)
		p = format_put_varint(p, exec->shapes);
	p = format_put_times(p, &state->time, exec->start, end);
	writer->has_exec = true;
	p = format_put_varint(p, exec->counted);
	p = put_counters(p, exec->counted, exec->counters);
	if (fields & EXEC_WORK) {
		p = format_put_varint(p, exec->work_ns);
		p = put_counters(p, exec->counted, exec->work_counters);
	}
	if (fields & EXEC_TURNS)
		p = put_turns(p, &exec->turns, exec->counters);
	if (fields & EXEC_TURNS && fields & EXEC_WORK)
		p = put_sampled(p, exec->turns.sampled, exec->turns.work_enabled,
				exec->work_counters, exec->turns.work_running);
	if (fields & EXEC_HAS_SHAPES_NS)
		p = format_put_varint(p, exec->shapes_ns);
	if (fields & EXEC_HAS_PEAK)
		p = format_put_varint(p, exec->peak);
	if (fields & EXEC_PARTS)
		p = parts_put(p, exec);
	return finish(writer, CAPTURE_EXEC, p);
}

static int write_tag(struct capture_writer *writer, const struct capture_tag *tag)
{
	uint8_t *p = begin(writer);

	if (!writer->has_info || tag->run == CAPTURE_UNKNOWN || !tag->text[0])
		return -EINVAL;
	p = format_put_varint(p, tag->run);
	p = format_put_bytes(p, tag->text, strnlen(tag->text, sizeof(tag->text) - 1));
	return finish(writer, CAPTURE_TAG, p);
}

static int write_failure(struct capture_writer *writer, const struct capture_failure *failure)
{
	bool has_session = failure->session != CAPTURE_UNKNOWN;
	uint8_t *p = begin(writer);
	int error;

	if (!string_fits(failure->name) || !string_fits(failure->message))
		return -E2BIG;
	if (!defined_or_unknown(&writer->sessions, failure->session) || !failure->code)
		return -EINVAL;
	error = define(writer, &writer->failures, failure->failure);
	if (error)
		return error;
	*p++ = has_session ? FAILURE_HAS_SESSION : 0;
	p = format_put_varint(p, failure->failure);
	if (has_session)
		p = format_put_varint(p, failure->session);
	p = format_put_varint(p, failure->code);
	p = format_put_string(p, failure->name);
	p = format_put_string(p, failure->message);
	return finish(writer, CAPTURE_FAILURE, p);
}

static int write_setup(struct capture_writer *writer, const struct capture_setup *setup)
{
	uint8_t *p = begin(writer);

	if (!ids_has(&writer->sessions, setup->session) ||
	    !ids_has(&writer->threads, setup->thread) || setup->end < setup->start ||
	    !setup->kind || setup->kind >= CAPTURE_SETUP_KINDS ||
	    (setup->has_status && !defined_or_unknown(&writer->failures, setup->failure)))
		return -EINVAL;
	*p++ = setup->has_status ? SETUP_HAS_STATUS : 0;
	p = format_put_varint(p, setup->session);
	p = format_put_varint(p, setup->thread);
	p = format_put_varint(p, setup->kind);
	/* Readers that do not know this record skip it: nothing may be relative to it. */
	p = format_put_varint(p, setup->end);
	p = format_put_varint(p, setup->end - setup->start);
	p = format_put_bytes(p, setup->name, strnlen(setup->name, sizeof(setup->name) - 1));
	/* CAPTURE_UNKNOWN, which is none, is 0 then. */
	if (setup->has_status)
		p = format_put_varint(p, setup->failure + 1);
	return finish(writer, CAPTURE_SETUP, p);
}

/* Can @run have returned what it says, and can that be written? It stands behind the operators. */
static bool status_is_sound(const struct capture_writer *writer, const struct capture_run *run)
{
	return !run->has_status || (run->has_operators && !run->threw &&
				    defined_or_unknown(&writer->failures, run->failure));
}

static int write_run(struct capture_writer *writer, const struct capture_run *run)
{
	struct format_state *state = &writer->state;
	uint64_t end = run->threw ? run->start : run->end;
	uint8_t *p = begin(writer);
	uint8_t flags = 0;

	if (run->run == CAPTURE_UNKNOWN || !ids_has(&writer->threads, run->thread) ||
	    !defined_or_unknown(&writer->sessions, run->session) || end < run->start ||
	    run->counted >> writer->n_events || !status_is_sound(writer, run) ||
	    (run->has_turns && !turns_are_sound(writer, &run->turns, run->counted, false)) ||
	    (run->has_peak && !run->has_operators))
		return -EINVAL;
	flags |= run->threw ? RUN_THREW : 0;
	flags |= run->session != CAPTURE_UNKNOWN ? RUN_HAS_SESSION : 0;
	flags |= run->has_turns ? RUN_HAS_TURNS : 0;
	flags |= run->has_status ? RUN_HAS_STATUS : 0;
	flags |= run->has_peak ? RUN_HAS_PEAK : 0;
	*p++ = flags;
	p = format_put_varint(p, run->run);
	if (flags & RUN_HAS_SESSION)
		p = format_put_varint(p, run->session);
	p = format_put_varint(p, run->step);
	p = format_put_varint(p, run->thread);
	p = format_put_times(p, &state->time, run->start, end);
	p = format_put_varint(p, run->counted);
	p = put_counters(p, run->counted, run->counters);
	if (run->has_turns)
		p = put_turns(p, &run->turns, run->counters);
	if (run->has_operators)
		p = format_put_varint(p, run->operators);
	/* CAPTURE_UNKNOWN, which is none, is 0 then. */
	if (run->has_status)
		p = format_put_varint(p, run->failure + 1);
	if (run->has_peak)
		p = format_put_varint(p, run->peak);
	return finish(writer, CAPTURE_RUN, p);
}

static int write_sum(struct capture_writer *writer, const struct capture_sum *sum)
{
	bool defined = sum->of_runs ? defined_or_unknown(&writer->sessions, sum->session)
				    : ids_has(&writer->operators, sum->op) &&
					      defined_or_unknown(&writer->operators, sum->parent);
	uint8_t *p = begin(writer);

	if (!writer->has_info || !defined || !sum_is_sound(sum, writer->n_events))
		return -EINVAL;
	p = sum_put(p, sum, writer->n_events, &writer->state);
	writer->has_exec = true;
	return finish(writer, CAPTURE_SUM, p);
}

static int write_loss(struct capture_writer *writer, const struct capture_loss *loss)
{
	uint8_t *p = begin(writer);

	if (!writer->has_info)
		return -EINVAL;
	p = format_put_varint(p, loss->ring_full);
	p = format_put_varint(p, loss->too_deep);
	p = format_put_varint(p, loss->unnamed);
	p = format_put_varint(p, loss->missed);
	p = format_put_varint(p, loss->threads_full);
	p = format_put_varint(p, loss->work_lost);
	p = format_put_varint(p, loss->runs_full);
	p = format_put_varint(p, loss->unfinished);
	p = format_put_varint(p, loss->parts_lost);
	return finish(writer, CAPTURE_LOSS, p);
}

static int write_overhead(struct capture_writer *writer, const struct capture_overhead *overhead)
{
	uint8_t *p = begin(writer);

	if (!writer->has_info || writer->has_exec)
		return -EINVAL;
	p = format_put_varint(p, overhead->own_ns);
	p = format_put_varint(p, overhead->nested_ns);
	for (uint32_t i = 0; i < writer->n_events; i++) {
		p = format_put_varint(p, overhead->own[i]);
		p = format_put_varint(p, overhead->nested[i]);
	}
	return finish(writer, CAPTURE_OVERHEAD, p);
}

static int write_pool(struct capture_writer *writer, const struct capture_pool *pool)
{
	uint8_t *p = begin(writer);

	if (!ids_has(&writer->threads, pool->thread))
		return -EINVAL;
	p = format_put_varint(p, pool->thread);
	p = format_put_varint(p, pool->work_ns);
	p = format_put_varint(p, pool->cpu_ns);
	return finish(writer, CAPTURE_POOL, p);
}

static int write_cost(struct capture_writer *writer, const struct capture_cost *cost)
{
	bool has_session = cost->session != CAPTURE_UNKNOWN;
	uint8_t *p = begin(writer);

	if (!writer->has_info || (has_session && !ids_has(&writer->sessions, cost->session)))
		return -EINVAL;
	p = format_put_varint(p, (cost->probed ? COST_PROBED : 0) |
					 (has_session ? COST_HAS_SESSION : 0));
	if (has_session)
		p = format_put_varint(p, cost->session);
	p = format_put_varint(p, cost->pair);
	p = format_put_varint(p, cost->ns);
	return finish(writer, CAPTURE_COST, p);
}

static int write_budget(struct capture_writer *writer, const struct capture_budget *budget)
{
	uint8_t *p = begin(writer);

	if (!writer->has_info || !budget->share_ppm || budget->charged_ns > budget->cpu_ns)
		return -EINVAL;
	p = format_put_varint(p, budget->all_seen ? BUDGET_ALL_SEEN : 0);
	p = format_put_varint(p, budget->share_ppm);
	p = format_put_varint(p, budget->cpu_ns);
	p = format_put_varint(p, budget->charged_ns);
	p = format_put_varint(p, budget->windows);
	return finish(writer, CAPTURE_BUDGET, p);
}

static int write_rest(struct capture_writer *writer, const struct capture_rest *rest)
{
	bool has_session = rest->session != CAPTURE_UNKNOWN;
	uint8_t *p = begin(writer);

	if (!writer->has_info || (has_session && !ids_has(&writer->sessions, rest->session)))
		return -EINVAL;
	p = format_put_varint(p, has_session ? REST_HAS_SESSION : 0);
	if (has_session)
		p = format_put_varint(p, rest->session);
	p = format_put_varint(p, rest->runs);
	p = format_put_varint(p, rest->ns);
	return finish(writer, CAPTURE_REST, p);
}

static int write_sampling(struct capture_writer *writer, const struct capture_sampling *sampling)
{
	uint8_t *p = begin(writer);

	if (!writer->has_info || !sampling_is_sound(sampling))
		return -EINVAL;
	return finish(writer, CAPTURE_SAMPLING, sampling_put(p, sampling));
}

static int write_sample(struct capture_writer *writer, const struct capture_sample *sample)
{
	bool defined = !seen_in_operator(sample->seen) ||
		       (ids_has(&writer->operators, sample->op) &&
			defined_or_unknown(&writer->operators, sample->parent));
	uint8_t *p = begin(writer);

	defined = defined && defined_or_unknown(&writer->functions, sample->function);
	if (!writer->has_info || !defined || !ids_has(&writer->threads, sample->thread) ||
	    !sample_is_sound(sample))
		return -EINVAL;
	return finish(writer, CAPTURE_SAMPLE, sample_put(p, sample, &writer->state));
}

static int write_file(struct capture_writer *writer, const struct capture_file *file)
{
	uint8_t *p = begin(writer);
	int error;

	if (!string_fits(file->path) || !string_fits(file->build_id))
		return -E2BIG;
	error = writer->has_info ? define(writer, &writer->files, file->file) : -EINVAL;
	if (error)
		return error;
	p = format_put_varint(p, file->file);
	p = format_put_string(p, file->path);
	p = format_put_string(p, file->build_id);
	return finish(writer, CAPTURE_FILE, p);
}

static int write_function(struct capture_writer *writer, const struct capture_function *function)
{
	uint8_t *p = begin(writer);
	int error;

	if (!string_fits(function->symbol))
		return -E2BIG;
	if (!defined_or_unknown(&writer->files, function->file) || !function_is_sound(function))
		return -EINVAL;
	error = define(writer, &writer->functions, function->function);
	if (error)
		return error;
	p = function_put(p, function);
	p = format_put_string(p, function->symbol);
	return finish(writer, CAPTURE_FUNCTION, p);
}

static int write_launch(struct capture_writer *writer, const struct capture_launch *launch)
{
	uint8_t *p = begin(writer);

	if (!writer->has_info || !ids_has(&writer->threads, launch->thread) ||
	    !defined_or_unknown(&writer->operators, launch->op) ||
	    !defined_or_unknown(&writer->functions, launch->function) || !launch_is_sound(launch))
		return -EINVAL;
	return finish(writer, CAPTURE_LAUNCH, launch_put(p, launch, &writer->state));
}

static int write_note(struct capture_writer *writer, const struct capture_note *note)
{
	uint8_t *p = begin(writer);

	if (!writer->has_info)
		return -EINVAL;
	p = format_put_bytes(p, note->text, strnlen(note->text, sizeof(note->text)));
	return finish(writer, CAPTURE_NOTE, p);
}

static int write_begin(struct capture_writer *writer, const struct capture_begin *beginning)
{
	if (!writer->has_info)
		return -EINVAL;
	return finish(writer, CAPTURE_BEGIN, format_put_varint(begin(writer), beginning->begin));
}

static int write_end(struct capture_writer *writer, const struct capture_end *end)
{
	uint8_t *p = begin(writer);

	if (!writer->has_info)
		return -EINVAL;
	p = format_put_varint(p, end->end);
	p = format_put_bytes(p, end->reason, strnlen(end->reason, sizeof(end->reason)));
	return finish(writer, CAPTURE_END, p);
}

int writer_take(struct record_sink *sink, const struct capture_record *record)
{
	struct capture_writer *writer = (struct capture_writer *)sink;

	/* It has failed for good. Nothing would empty the buffer any more. */
	if (writer->error)
		return writer->error;
	switch (record->type) {
	case CAPTURE_INFO:
		return write_info(writer, record->info);
	case CAPTURE_PROCESS:
		return write_process(writer, &record->process);
	case CAPTURE_THREAD:
		return write_thread(writer, &record->thread);
	case CAPTURE_SESSION:
		return write_session(writer, &record->session);
	case CAPTURE_MODEL:
		return write_model(writer, &record->model);
	case CAPTURE_OPERATOR:
		return write_operator(writer, &record->op);
	case CAPTURE_ATTRIBUTES:
		return write_attributes(writer, &record->attributes);
	case CAPTURE_SHAPES:
		return write_shapes(writer, &record->shapes);
	case CAPTURE_EXEC:
		return write_exec(writer, &record->exec);
	case CAPTURE_TAG:
		return write_tag(writer, &record->tag);
	case CAPTURE_FAILURE:
		return write_failure(writer, &record->failure);
	case CAPTURE_SETUP:
		return write_setup(writer, &record->setup);
	case CAPTURE_RUN:
		return write_run(writer, &record->run);
	case CAPTURE_SUM:
		return write_sum(writer, &record->sum);
	case CAPTURE_LOSS:
		return write_loss(writer, &record->loss);
	case CAPTURE_OVERHEAD:
		return write_overhead(writer, &record->overhead);
	case CAPTURE_POOL:
		return write_pool(writer, &record->pool);
	case CAPTURE_COST:
		return write_cost(writer, &record->cost);
	case CAPTURE_BUDGET:
		return write_budget(writer, &record->budget);
	case CAPTURE_REST:
		return write_rest(writer, &record->rest);
	case CAPTURE_SAMPLING:
		return write_sampling(writer, &record->sampling);
	case CAPTURE_SAMPLE:
		return write_sample(writer, &record->sample);
	case CAPTURE_FILE:
		return write_file(writer, &record->file);
	case CAPTURE_LAUNCH:
		return write_launch(writer, &record->launch);
	case CAPTURE_FUNCTION:
		return write_function(writer, &record->function);
	case CAPTURE_NOTE:
		return write_note(writer, &record->note);
	case CAPTURE_BEGIN:
		return write_begin(writer, &record->begin);
	case CAPTURE_END:
		return write_end(writer, &record->end);
	}
	return -EINVAL;
}
