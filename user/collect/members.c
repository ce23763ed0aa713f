// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes of a recording and the runtimes in them: they come, have their
 * probes put in place and taken away, and go, while the recording goes on.
 */
#include "state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "hot.h"

/* From where a process cannot be probed any more, as it is about to exit, to where it has. */
#define EXITS_WITHIN_MS 2000

static struct member *find_member(const struct collector *collector, pid_t pid)
{
	for (size_t i = collector->members.n; i-- > 0;) {
		struct member *member = collector->members.items[i];

		if (member->process->pid == pid && !member->gone)
			return member;
	}
	return NULL;
}

static void free_member(struct member *member)
{
	if (!member)
		return;
	kernels_free(&member->kernels);
	free(member);
}

void collector_free_members(struct collector *collector)
{
	for (size_t i = 0; i < collector->instances.n; i++)
		instance_free(collector->instances.items[i]);
	for (size_t i = 0; i < collector->members.n; i++)
		free_member(collector->members.items[i]);
	array_free(&collector->instances);
	array_free(&collector->members);
}

static struct member *add_member(struct collector *collector, const struct collector_target *target)
{
	const struct member *parent =
		target->parent ? find_member(collector, target->parent) : NULL;
	struct member *member = calloc(1, sizeof(*member)), **added;

	if (!member)
		return NULL;
	member->process = target->process;
	member->located = target->located;
	member->number = collector->members.n;
	member->parent = parent ? parent->number : CAPTURE_UNKNOWN;
	member->told = !member->number; /* by the info */
	added = !collector->threads || !thread_slots_add(collector->threads, target->process)
			? array_push(&collector->members)
			: NULL;
	if (!added) {
		free_member(member);
		return NULL;
	}
	*added = member;
	return member;
}

/* Has @member an instance of the runtime in this very file? */
static bool has_instance(const struct collector *collector, const struct member *member,
			 const struct located *located)
{
	for (size_t i = 0; i < collector->instances.n; i++)
		if (collector->instances.items[i]->member == member &&
		    collector->instances.items[i]->location == &located->location)
			return true;
	return false;
}

static int add_instance(struct collector *collector, struct member *member,
			const struct located *located, struct error *err)
{
	struct instance_state *instance, **added;
	unsigned int number = collector->instances.n;

	if (number >= INSTANCES_MAX)
		return error_set(err, -ENOSPC,
				 "cannot record process %d as well: %d runtimes in processes are "
				 "as many as one recording takes, start another one",
				 member->process->pid, INSTANCES_MAX);
	instance = instance_new(number, member, located);
	added = instance ? array_push(&collector->instances) : NULL;
	if (!added || identity_locate(collector->identities, number, member->number)) {
		collector->instances.n = number;
		instance_free(instance);
		return error_set(err, -ENOMEM, "out of memory");
	}
	*added = instance;
	instance->first_operator = STATIC_IDS + collector->n_names;
	collector->n_names += located->location.names.n;
	instance->hidden = collector_hidden_counters(collector, instance->location);
	collector_share_code(collector, instance);
	collector->bpf->bss->instances[number].forget_each_run =
		!location_has(&located->location, SITE_SESSION_END);
	return instance_begin(instance, collector->bpf, collector->options.shapes,
			      &collector->n_shapes, err);
}

int collector_watch(struct collector *collector, pid_t pid)
{
	uint8_t on = 1;

	return bpf_map_update_elem(bpf_map__fd(collector->bpf->maps.targets), &pid, &on, BPF_ANY)
		       ? -errno
		       : 0;
}

int collector_add_target(struct collector *collector, const struct collector_target *target,
			 struct error *err)
{
	struct member *member = find_member(collector, target->process->pid);
	int error = 0;

	if (!member)
		member = add_member(collector, target);
	if (!member)
		return error_set(err, -ENOMEM, "out of memory");
	for (const struct located *it = target->located; it && !error; it = it->next)
		if (!has_instance(collector, member, it))
			error = add_instance(collector, member, it, err);
	if (error)
		return error;
	/* Unless it is known from its first instruction on: after the probes, if these are there.
	 */
	collector_know_gpu(collector, member, target->located,
			   collector->operators_attached ? UINT64_MAX : 0);
	error = collector_watch(collector, target->process->pid);
	if (error)
		return error_set(err, error, "cannot tell the probes of process %d: %s",
				 target->process->pid, error_reason(error));
	return collector->threads ? thread_slots_update(collector->threads, err) : 0;
}

void collector_tell_members(struct collector *collector)
{
	for (size_t i = 0; i < collector->members.n; i++) {
		struct member *member = collector->members.items[i];
		const struct located *located = member->located;
		const struct capture_record record = {
			.type = CAPTURE_PROCESS,
			.process = {member->number, member->process->pid, member->parent,
				    member->process->command, located->file.path,
				    located->location.runtime->name, located->location.version,
				    located->location.build_id},
		};

		if (!member->told)
			collector_send(collector, &record);
		member->told = true;
	}
}

static struct probes_target probes_target_of(const struct collector *collector,
					     const struct instance_state *instance)
{
	return (struct probes_target){
		.location = instance->location,
		.file = instance->file,
		.pid = instance->member->process->pid,
		.instance = instance->number,
		.first_operator = instance->first_operator,
		.multi = collector->features.multi,
		.cookies = collector->features.cookies,
		.memory = collector->with_memory,
	};
}

static bool other_lives(const struct collector *collector, const struct member *than)
{
	for (size_t i = 0; i < collector->members.n; i++) {
		const struct member *member = collector->members.items[i];

		if (member != than && !member->gone && process_alive(member->process))
			return true;
	}
	return false;
}

static int attach_part(struct collector *collector, struct instance_state *instance,
		       enum probes_part part, struct error *err)
{
	struct probes **probes = &instance->probes[part];
	const struct probes_target target = probes_target_of(collector, instance);
	const struct process *only = collector->only[part];

	if (*probes || instance->given_up || instance->member->gone)
		return 0;
	if (only && only != instance->member->process)
		return 0;
	*probes = probes_attach(collector->bpf, &target, part, err);
	if (*probes)
		return 0;
	/* Where probes come anew, or others live: that it has exited meanwhile is news, and no
	 * failure. */
	if ((collector->sessions_attached || other_lives(collector, instance->member)) &&
	    !process_outlives(instance->member->process, EXITS_WITHIN_MS))
		return 0;
	return -EINVAL;
}

/* The probes of all instances from number @first on. */
static int attach_from(struct collector *collector, size_t first, enum probes_part part,
		       struct error *err)
{
	int error = 0;

	collector_tell_members(collector);
	for (size_t i = first; i < collector->instances.n && !error; i++)
		error = attach_part(collector, collector->instances.items[i], part, err);
	return error;
}

static int put_in_runs(struct collector *collector, struct error *err)
{
	return attach_from(collector, 0, PROBES_OF_RUNS, err)
		       ?: attach_from(collector, 0, PROBES_OF_SESSIONS, err);
}

/* The recording begins, if it has not yet: whoever is recorded has its probes. */
static void begin_recording(struct collector *collector)
{
	const struct capture_record begin = {.type = CAPTURE_BEGIN, .begin.begin = clock_ns()};

	if (!collector->sessions_attached) {
		collector_send(collector, &begin);
		collector_begin_pool(collector, 0);
	}
	collector->sessions_attached = true;
}

static void begin_runs(struct collector *collector)
{
	begin_recording(collector);
	collector->runs_attached = true;
	collector->all_along = collector->operators_attached;
	__atomic_store_n(&collector->bpf->bss->runs_since, clock_ns(), __ATOMIC_RELEASE);
	windows_see(&collector->windows, collector_runs_started(collector));
	windows_bare(&collector->windows, collector_runs_started(collector), clock_ns());
	/* Entries count from now on: an entry without its exit cannot be. */
	__atomic_store_n(&collector->bpf->bss->counting_runs, 1, __ATOMIC_RELEASE);
}

static int put_in_operators(struct collector *collector, struct error *err)
{
	/* Blocks of before may have been given back meanwhile. */
	collector->bpf->bss->memory_attached++;
	return attach_from(collector, 0, PROBES_OF_OPERATORS, err);
}

static void begin_operators(struct collector *collector)
{
	collector->operators_attached = true;
	__atomic_store_n(&collector->bpf->bss->operators_since, clock_ns(), __ATOMIC_RELEASE);
	__atomic_store_n(&collector->bpf->bss->recording, 1, __ATOMIC_RELEASE);
}

int collector_attach_runs(struct collector *collector, const struct process *process,
			  struct error *err)
{
	int error;

	collector->only[PROBES_OF_RUNS] = process;
	error = put_in_runs(collector, err);
	if (!error)
		begin_runs(collector);
	return error;
}

int collector_attach_operators(struct collector *collector, struct error *err)
{
	int error = put_in_operators(collector, err);

	if (!error)
		begin_operators(collector);
	return error;
}

int collector_attach(struct collector *collector, struct error *err)
{
	int error = put_in_operators(collector, err) ?: put_in_runs(collector, err);

	if (error)
		return error;
	begin_recording(collector);
	/* In this order: a run that is seen to begin has all of its operators. And not before all
	 * are in place, as nobody takes records meanwhile. */
	begin_operators(collector);
	begin_runs(collector);
	return 0;
}

int collector_attach_samples(struct collector *collector, struct error *err)
{
	struct capture_record record = {.type = CAPTURE_SAMPLING};
	int error = 0;

	for (size_t i = 0; i < collector->members.n && !error; i++)
		error = sampled_add(collector->sampled, collector->members.items[i], err);
	if (!error)
		error = collector->options.sampling_runs
				? collector_attach_runs(collector, NULL, err)
				: attach_from(collector, 0, PROBES_OF_SESSIONS, err);
	if (error)
		return error;
	sampler_describe(collector->sampler, &record.sampling);
	collector_send(collector, &record);
	begin_recording(collector);
	__atomic_store_n(&collector->bpf->bss->recording, 1, __ATOMIC_RELEASE);
	return sampler_start(collector->sampler, err);
}

void collector_detach(struct collector *collector, const struct member *member,
		      enum probes_part first)
{
	ARRAY_OF(struct probes *) going = {};
	const size_t parts = PROBES_PARTS - first;

	for (size_t i = 0; i < collector->instances.n; i++) {
		struct instance_state *instance = collector->instances.items[i];
		struct probes **probes = &instance->probes[first];
		size_t n = going.n;

		if (member && instance->member != member)
			continue;
		/* Without memory for the list, one after the other. */
		if (array_extend(&going, n + parts)) {
			probes_detach(probes, parts);
			continue;
		}
		memcpy(going.items + n, probes, parts * sizeof(*probes));
		memset(probes, 0, parts * sizeof(*probes));
	}
	probes_detach(going.items, going.n);
	array_free(&going);
}

/* No operator counts, and nothing of what is open will where exits are seen again before entries.
 */
static void stop_operators(struct collector *collector)
{
	__atomic_store_n(&collector->bpf->bss->recording, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&collector->bpf->bss->operators_since, UINT64_MAX, __ATOMIC_RELEASE);
}

void collector_detach_operators(struct collector *collector)
{
	stop_operators(collector);
	collector->operators_attached = false;
	collector_detach(collector, NULL, PROBES_OF_OPERATORS);
}

void collector_detach_runs(struct collector *collector)
{
	__atomic_store_n(&collector->bpf->bss->counting_runs, 0, __ATOMIC_RELEASE);
	stop_operators(collector);
	collector->runs_attached = collector->operators_attached = false;
	collector_detach(collector, NULL, PROBES_OF_RUNS);
}

static void give_up(struct instance_state *instance)
{
	struct probes *probes[PROBES_PARTS];

	memcpy(probes, instance->probes, sizeof(probes));
	memset(instance->probes, 0, sizeof(instance->probes));
	instance->given_up = true;
	probes_detach(probes, PROBES_PARTS);
}

/* What of GPUs was about to be known is known from now on. */
static void settle_since(struct collector *collector)
{
	for (size_t i = 0; i < collector->members.n; i++)
		if (collector->members.items[i]->gpu_since == UINT64_MAX)
			collector->members.items[i]->gpu_since = clock_ns();
}

int collector_add(struct collector *collector, const struct collector_target *target,
		  struct error *err)
{
	bool was_member = find_member(collector, target->process->pid);
	size_t first = collector->instances.n, first_member = collector->members.n;
	int error = collector_add_target(collector, target, err);

	/* As collector_attach() does. */
	if (error >= 0 && collector->operators_attached)
		error = attach_from(collector, first, PROBES_OF_OPERATORS, err);
	if (error >= 0 && collector->runs_attached)
		error = attach_from(collector, first, PROBES_OF_RUNS, err);
	if (error >= 0 && collector->sessions_attached)
		error = attach_from(collector, first, PROBES_OF_SESSIONS, err);
	if (error >= 0 && collector->sampled)
		error = sampled_add(collector->sampled,
				    find_member(collector, target->process->pid), err);
	if (error >= 0) {
		collector_begin_pool(collector, first_member);
		settle_since(collector);
		return 0;
	}
	if (!was_member)
		collector_drop(collector, target->process->pid);
	for (; first < collector->instances.n; first++)
		give_up(collector->instances.items[first]);
	return error;
}

void collector_drop(struct collector *collector, pid_t pid)
{
	struct member *member = find_member(collector, pid);

	bpf_map_delete_elem(bpf_map__fd(collector->bpf->maps.targets), &pid);
	if (!member)
		return;
	collector_leave_launches(collector, member);
	member->gone = true;
	if (collector->sampled)
		sampled_drop(collector->sampled, member);
	if (collector->hot)
		hot_forget(collector->hot, member);
	kernels_free(&member->kernels);
	collector_detach(collector, member, PROBES_OF_SESSIONS);
	if (collector->threads)
		thread_slots_drop(collector->threads, member->process);
}

void collector_shed(struct collector *collector, pid_t pid)
{
	for (size_t i = 0; i < collector->instances.n; i++) {
		const struct instance_state *instance = collector->instances.items[i];
		const struct probes_target target = probes_target_of(collector, instance);

		if (instance->member->process->pid == pid)
			probes_shed(collector->bpf, &target);
	}
}

bool collector_look_for_living(struct collector *collector)
{
	bool alive = false;

	for (size_t i = 0; i < collector->members.n; i++) {
		struct member *member = collector->members.items[i];
		struct collector_news *news;

		if (member->gone || member->exited)
			continue;
		if (process_alive(member->process)) {
			alive = true;
			continue;
		}
		member->exited = true;
		news = array_push(&collector->news);
		if (news)
			*news = (struct collector_news){.kind = COLLECTOR_GONE,
							.pid = member->process->pid};
	}
	return alive;
}

void collector_drop_dead(struct collector *collector)
{
	for (size_t i = 0; i < collector->members.n; i++) {
		const struct member *member = collector->members.items[i];

		if (member->exited && !member->gone)
			collector_drop(collector, member->process->pid);
	}
}

const struct member *collector_member_with(const struct collector *collector, uint32_t pid)
{
	for (size_t i = collector->members.n; i-- > 0;)
		if ((uint32_t)collector->members.items[i]->process->pid == pid)
			return collector->members.items[i];
	return NULL;
}

struct member *collector_member_of(struct collector *collector, pid_t tid)
{
	for (size_t i = 0; i < collector->members.n; i++)
		if (process_thread_birth(collector->members.items[i]->process, tid))
			return collector->members.items[i];
	return NULL;
}
