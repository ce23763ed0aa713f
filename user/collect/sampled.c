// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold: a sample counts for the operator that it was in when it was taken, or for
 * none. Its id is of one generation, so that an address that comes back is another operator;
 * of which session that is part is believed of an owner that has it, found on the very stack.
 */
#include "sampled.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hot.h"
#include "state.h"

/* A session that samples have come across. */
struct found_session {
	struct hash_node node;
	uint64_t session, root, owner; /* SessionState, of the whole, InferenceSession */
	uint32_t instance, generation;
};

/* Where the operator of an id is. */
struct place {
	uint32_t parent; /* of the capture, or CAPTURE_UNKNOWN */
	uint32_t depth;
};

struct sampled {
	struct collector *collector;
	struct hash sessions;
	struct hot *hot;
	ARRAY_OF(struct place) places; /* by the kernel's id */
};

struct sampled *sampled_new(struct collector *collector)
{
	struct sampled *sampled = calloc(1, sizeof(*sampled));

	if (!sampled)
		return NULL;
	sampled->collector = collector;
	sampled->hot = hot_new(collector);
	if (!sampled->hot) {
		free(sampled);
		return NULL;
	}
	return sampled;
}

void sampled_free(struct sampled *sampled)
{
	struct found_session *found;

	if (!sampled)
		return;
	hash_for_each(found, &sampled->sessions, node)
		free(found);
	hash_free(&sampled->sessions);
	array_free(&sampled->places);
	hot_free(sampled->hot);
	free(sampled);
}

/* -- landmarks ----------------------------------------------------------------------------- */

_Static_assert((int)LANDMARK_OPERATOR == SAMPLED_OPERATOR && (int)LANDMARK_TASK == SAMPLED_TASK,
	       "the programs call them by the same numbers");

/* What has to be added to the addresses of @instance's file, to be those in its process. */
static bool bias_of(const struct instance_state *instance, uint64_t *bias)
{
	const struct mapped_file *file = instance->file;
	const struct site *site;

	if (!instance->location->sites.n)
		return false;
	site = &instance->location->sites.items[0];
	*bias = file->start + (site->offset - file->offset) - site->address;
	return true;
}

static int add_landmarks(struct sampled_process *process, const struct instance_state *instance)
{
	const struct location *location = instance->location;
	uint64_t bias;

	/* Where sessions are not seen to end, an address may be another operator's by now. */
	if (!location_can_sample(location, LANDMARK_OPERATOR) ||
	    !location_has(location, SITE_SESSION_END) || !bias_of(instance, &bias))
		return -ENOTSUP;
	for (size_t i = 0; i < location->n_landmarks; i++) {
		const struct landmark *landmark = &location->landmarks[i];
		struct sampled_landmark *to = &process->landmarks[process->n];

		if (process->n >= SAMPLED_LANDMARKS)
			return -ENOSPC;
		*to = (struct sampled_landmark){
			.address = landmark->address + bias,
			.object = landmark->object + bias,
			.distance = landmark->distance,
			.kind = landmark->kind,
			.instance = instance->number,
		};
		process->n++;
	}
	return 0;
}

/* All of them lie between the lowest and the highest, which is how others are passed over. */
static void bound(struct sampled_process *process)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < process->n; i++) {
		uint64_t address = process->landmarks[i].address;

		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	process->low = low;
	process->span = high - low + 1;
}

static int refuse(const struct instance_state *instance, int error, struct error *err)
{
	if (error == -ENOTSUP)
		return error_set(
			err, error,
			"%s in %s cannot be sampled: what tells its operators on a stack is "
			"not known, or could not be proven in this build; record with probes, "
			"--max-overhead bounds what they cost",
			instance->location->runtime->title, instance->file->path);
	return error_set(err, error, "process %d has more runtimes than can be sampled at once",
			 instance->member->process->pid);
}

int sampled_add(struct sampled *sampled, const struct member *member, struct error *err)
{
	struct collector *collector = sampled->collector;
	struct sampled_process process = {};
	uint32_t pid = (uint32_t)member->process->pid;

	for (size_t i = 0; i < collector->instances.n; i++) {
		const struct instance_state *instance = collector->instances.items[i];
		int error;

		if (instance->member != member)
			continue;
		if (!process.n) {
			process.instance = instance->number;
			process.code_low = instance->file->start;
			process.code_span = instance->file->end - instance->file->start;
		}
		error = add_landmarks(&process, instance);
		if (error)
			return refuse(instance, error, err);
	}
	bound(&process);
	if (bpf_map_update_elem(bpf_map__fd(collector->bpf->maps.sampled), &pid, &process, BPF_ANY))
		return error_set(err, -errno, "cannot tell the sampler of process %u: %s", pid,
				 error_reason(-errno));
	return 0;
}

void sampled_drop(struct sampled *sampled, const struct member *member)
{
	uint32_t pid = (uint32_t)member->process->pid;

	bpf_map_delete_elem(bpf_map__fd(sampled->collector->bpf->maps.sampled), &pid);
	hot_forget(sampled->hot, member);
}

/* -- sessions ------------------------------------------------------------------------------ */

static uint64_t hash_session(uint32_t instance, uint32_t generation, uint64_t session)
{
	return hash_word(hash_word(instance, generation), session);
}

static struct found_session *find_session(struct sampled *sampled, uint32_t instance,
					  uint32_t generation, uint64_t session)
{
	struct found_session *found;

	hash_for_each_possible(found, &sampled->sessions,
			       hash_session(instance, generation, session), node)
		if (found->instance == instance && found->generation == generation &&
		    found->session == session)
			return found;
	return NULL;
}

/* Those of former generations are found by nobody. */
static void forget_sessions(struct sampled *sampled, uint32_t instance, uint32_t generation)
{
	struct found_session *found;

	hash_for_each(found, &sampled->sessions, node)
		if (found->instance == instance && found->generation != generation) {
			hash_remove(&sampled->sessions, &found->node);
			free(found);
		}
}

/* Session number @i of @record is a part of @root, or that itself. */
static void add_session(struct sampled *sampled, const struct stack_record *record, int i,
			uint64_t root, uint64_t owner)
{
	uint64_t session = record->sessions[i];
	struct found_session *found;

	found = find_session(sampled, record->instance, record->generation, session);
	/* It was taken for a whole one, as long as nothing was known of it. */
	if (found && !found->owner) {
		found->root = root;
		found->owner = owner;
	}
	if (found)
		return;
	found = calloc(1, sizeof(*found));
	if (!found)
		return;
	found->session = session;
	found->root = root;
	found->owner = owner;
	found->instance = record->instance;
	found->generation = record->generation;
	if (hash_add(&sampled->sessions, &found->node,
		     hash_session(record->instance, record->generation, session)))
		free(found);
}

/* Nobody need ask for the owner of session number @i of @record any more. */
static void know_session(struct collector *collector, const struct stack_record *record, int i)
{
	const struct sampled_session session = {
		.root = record->sessions[i],
		.instance = record->instance,
		.generation = record->generation,
	};
	uint8_t told = 1;

	bpf_map_update_elem(bpf_map__fd(collector->bpf->maps.sessions_told), &session, &told,
			    BPF_ANY);
}

void sampled_take_stack(struct sampled *sampled, const struct instance_state *instance,
			const struct stack_record *record)
{
	struct collector *collector = sampled->collector;
	struct naming *naming = instance->naming;
	uint64_t owner = 0;
	int place = -ENOENT;

	forget_sessions(sampled, record->instance, record->generation);
	if (!record->n_sessions || record->n_sessions > SAMPLE_AROUND_MAX)
		return;
	if (naming && naming->ops->whose)
		place = naming->ops->whose(naming, record, &owner);
	/* Nor has one been destroyed while it was looked for. */
	if (collector_generation(collector, record->instance) != record->generation)
		return;
	/* Without an owner, one that is in no other is taken for a whole one. */
	if (place < 0 && record->n_sessions == 1)
		place = 0;
	for (int i = 0; i <= place; i++)
		add_session(sampled, record, i, record->sessions[place], owner);
	for (int i = 0; owner && i <= place; i++)
		know_session(collector, record, i);
}

void sampled_place(struct sampled *sampled, struct strings_record *strings)
{
	struct identity *identity = &strings->identity;
	const struct found_session *found =
		find_session(sampled, identity->key.instance, identity->generation, identity->root);

	/* What seems to be around one of a whole session was left there by another call. */
	if (found && found->root == identity->root)
		identity->parent = NO_ID;
	identity->owner = found ? found->owner : 0;
	identity->root = found ? found->root : 0;
}

/* -- operators ----------------------------------------------------------------------------- */

void sampled_defined(struct sampled *sampled, const struct identity *identity)
{
	const struct place nowhere = {.parent = CAPTURE_UNKNOWN};
	size_t before = sampled->places.n;
	struct place *place, *around;

	if (identity->id == NO_ID || array_extend(&sampled->places, (size_t)identity->id + 1))
		return;
	for (; before < sampled->places.n; before++)
		sampled->places.items[before] = nowhere;
	if (identity->parent >= sampled->places.n)
		return;
	place = &sampled->places.items[identity->id];
	around = &sampled->places.items[identity->parent];
	place->parent = collector_operator(sampled->collector, identity->parent);
	if (place->parent != CAPTURE_UNKNOWN && around->depth + 1 < CAPTURE_DEPTH_MAX)
		place->depth = around->depth + 1;
}

/* -- samples ------------------------------------------------------------------------------- */

static uint32_t kind_of(const struct sample_record *record)
{
	switch (record->kind) {
	case SAMPLE_OWN:
		return CAPTURE_SEEN_OWN;
	case SAMPLE_POOL:
		return CAPTURE_SEEN_POOL;
	case SAMPLE_NOTHING:
		return record->flags & SAMPLE_IN_RUNTIME ? CAPTURE_SEEN_RUNTIME
							 : CAPTURE_SEEN_ELSEWHERE;
	case SAMPLE_UNNAMED:
		return CAPTURE_SEEN_UNNAMED;
	default:
		return CAPTURE_SEEN_UNKNOWN;
	}
}

void sampled_take(struct sampled *sampled, const struct sample_record *record)
{
	struct collector *collector = sampled->collector;
	const struct member *member = collector_member_with(collector, record->pid);
	struct capture_record told = {.type = CAPTURE_SAMPLE};
	struct capture_sample *sample = &told.sample;

	if (!member)
		return;
	*sample = (struct capture_sample){
		.seen = kind_of(record),
		.op = CAPTURE_UNKNOWN,
		.parent = CAPTURE_UNKNOWN,
		.thread = collector_thread(collector, record->tid, member),
		.in_kernel = record->flags & SAMPLE_IN_KERNEL,
		.time = record->time,
		.amount = record->period,
		.ready = record->ready <= record->period ? record->ready : 0,
		.function = CAPTURE_UNKNOWN,
	};
	if (seen_in_operator(sample->seen))
		sample->op = collector_operator(collector, record->id);
	if (sample->op == CAPTURE_UNKNOWN && seen_in_operator(sample->seen))
		sample->seen = CAPTURE_SEEN_UNNAMED;
	if (sample->op != CAPTURE_UNKNOWN && record->id < sampled->places.n) {
		sample->parent = sampled->places.items[record->id].parent;
		sample->depth = sampled->places.items[record->id].depth;
	}
	if (seen_in_operator(sample->seen))
		sample->function = hot_function(sampled->hot, member, record->ip, record->mapped,
						false, &sample->at);
	collector_send(collector, &told);
	collector->operators += sample->op != CAPTURE_UNKNOWN;
}
