// SPDX-License-Identifier: GPL-2.0-only
#include "remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"

#define SINGLE_TIME   UINT64_C(3000000000) /* ns, for one operator once names are known */
#define STRETCHES_MAX 64		   /* of names, some 6 MiB */
#define DESCRIBE_TIME INSPECTOR_TIME	   /* for some beside it as well */
/* ns, beyond INSPECTOR_TIME for all: sessions that end meanwhile make thousands of them vain. */
#define SIGHT_TIME UINT64_C(20000000)

/* What both are to their runtime. */
struct remote {
	const struct located *located;
	const struct runtime *runtime;
	struct opprobe_bpf *bpf;
	unsigned int instance;
};

static struct remote remote_of(const struct located *located, struct opprobe_bpf *bpf,
			       unsigned int instance)
{
	return (struct remote){located, located->location.runtime, bpf, instance};
}

static int ask(const struct remote *remote, enum question question, const void *data, size_t size,
	       size_t wanted, const void **back, struct error *err)
{
	return inspector_ask(remote->located->inspector, question, data, size, wanted, back, err);
}

/* -- names ----------------------------------------------------------------------- */

/*
 * Names that came with those of @asked, and were not wanted yet. Good as long as no session is
 * destroyed, which the kernel counts in generations.
 */
struct stretch {
	struct identity asked;
	struct describe_answer described;
};

struct remote_naming {
	struct naming naming;
	struct remote remote;
	bool settled;
	struct stretch *stretches[STRETCHES_MAX]; /* in no order, NULL between them */
	unsigned int next;			  /* to be replaced where there are so many */
};

static int sight(struct naming *naming, const struct sighting_record *sighting, struct error *err)
{
	struct remote_naming *names = (struct remote_naming *)naming;
	const struct remote *remote = &names->remote;
	const struct sight_question question = {.location = remote->located->number,
						.sighting = *sighting};
	const void *words;
	int error;

	inspector_allow_more(remote->located->inspector, SIGHT_TIME);
	error = ask(remote, ASK_SIGHT, &question, sizeof(question), sizeof(struct words), &words,
		    err);
	if (error)
		return error;
	if (!remote->runtime->share_names(remote->bpf, remote->instance, words))
		return error_set(err, -EBADMSG,
				 "where the names of operators lie, as opprobe's inspector of this "
				 "process tells it, cannot be");
	names->settled = true;
	return 0;
}

static bool settled(const struct naming *naming)
{
	return ((const struct remote_naming *)naming)->settled;
}

static uint64_t bit_of(const struct identity *identity)
{
	return UINT64_C(1) << described_place(&identity->key);
}

/* The one that has the names of @identity; NULL if none has. */
static struct stretch **find_stretch(struct remote_naming *names, const struct identity *identity)
{
	const struct operator_key *key = &identity->key;

	for (size_t i = 0; i < STRETCHES_MAX; i++) {
		const struct stretch *stretch = names->stretches[i];

		if (stretch && stretch->asked.key.session == key->session &&
		    stretch->asked.key.index / DESCRIBED_TOGETHER ==
			    key->index / DESCRIBED_TOGETHER &&
		    stretch->asked.generation == identity->generation &&
		    stretch->described.known & bit_of(identity))
			return &names->stretches[i];
	}
	return NULL;
}

/* Where another one may be; what was there is given up. */
static struct stretch **make_room(struct remote_naming *names)
{
	struct stretch **place = NULL;

	for (size_t i = 0; i < STRETCHES_MAX && !place; i++)
		if (!names->stretches[i])
			place = &names->stretches[i];
	if (!place)
		place = &names->stretches[names->next++ % STRETCHES_MAX];
	free(*place);
	*place = malloc(sizeof(**place));
	return place;
}

/* Where they are; NULL with *@error, a negative errno. */
static struct stretch **ask_names(struct remote_naming *names, const struct identity *identity,
				  int *error)
{
	const struct remote *remote = &names->remote;
	const struct describe_question question = {.location = remote->located->number,
						   .identity = *identity};
	struct stretch **place;
	const void *answer;

	inspector_allow(remote->located->inspector, DESCRIBE_TIME);
	*error = ask(remote, ASK_DESCRIBE, &question, sizeof(question),
		     sizeof(struct describe_answer), &answer, NULL);
	if (!*error && !(((const struct describe_answer *)answer)->known & bit_of(identity)))
		*error = -EBADMSG;
	if (*error)
		return NULL;
	place = make_room(names);
	if (!*place) {
		*error = -ENOMEM;
		return NULL;
	}
	(*place)->asked = *identity;
	memcpy(&(*place)->described, answer, sizeof((*place)->described));
	return place;
}

static int describe(struct naming *naming, const struct identity *identity,
		    struct strings_record *strings)
{
	struct remote_naming *names = (struct remote_naming *)naming;
	struct stretch **place = find_stretch(names, identity);
	int error = 0;

	if (!place)
		place = ask_names(names, identity, &error);
	if (!place)
		return error;
	*strings = (*place)->described.strings[described_place(&identity->key)];
	/* Each is wanted once. */
	(*place)->described.known &= ~bit_of(identity);
	if (!(*place)->described.known) {
		free(*place);
		*place = NULL;
	}
	/* Whose they are is known here. */
	strings->type = RECORD_STRINGS;
	strings->identity = *identity;
	strings->instance = identity->key.instance;
	return 0;
}

/* Give one question its time, which may come before names are known. */
static void allow_one(struct naming *naming)
{
	const struct remote *remote = &((struct remote_naming *)naming)->remote;

	/* Then the search for them has a time that this is not to cut short. */
	if (settled(naming))
		inspector_allow(remote->located->inspector, SINGLE_TIME);
	else
		inspector_allow_more(remote->located->inspector, SIGHT_TIME);
}

static int session(struct naming *naming, uint64_t owner, uint64_t root, bool memory,
		   struct session_facts *facts)
{
	const struct remote *remote = &((struct remote_naming *)naming)->remote;
	const struct session_question question = {.location = remote->located->number,
						  .owner = owner,
						  .root = root,
						  .memory = memory};
	const void *answer;
	int error;

	allow_one(naming);
	error = ask(remote, ASK_SESSION, &question, sizeof(question), sizeof(*facts), &answer,
		    NULL);
	if (error)
		return error < 0 ? error : -EBADMSG;
	return answers_session(answer, facts) ? 0 : -EBADMSG;
}

static int attributes(struct naming *naming, const struct operator_key *key,
		      struct attribute_list *list)
{
	const struct remote *remote = &((struct remote_naming *)naming)->remote;
	const struct attributes_question question = {.location = remote->located->number,
						     .key = *key};
	const void *answer;
	int error;

	inspector_allow(remote->located->inspector, SINGLE_TIME);
	error = ask(remote, ASK_ATTRIBUTES, &question, sizeof(question), 0, &answer, NULL);
	if (error)
		return error < 0 ? error : -EBADMSG;
	return answers_attributes(answer, inspector_answered(remote->located->inspector), list);
}

static int in_use_at(struct naming *naming, uint64_t address)
{
	const struct remote *remote = &((struct remote_naming *)naming)->remote;
	const struct arena_question question = {.location = remote->located->number,
						.address = address};
	int at;

	allow_one(naming);
	at = ask(remote, ASK_IN_USE_AT, &question, sizeof(question), 0, NULL, NULL);
	return !at || at >= IN_USE_AT_MAX || at % 8 ? -EBADMSG : at;
}

static int whose(struct naming *naming, const struct stack_record *stack, uint64_t *owner)
{
	const struct remote *remote = &((struct remote_naming *)naming)->remote;
	const struct whose_question question = {.location = remote->located->number,
						.stack = *stack};
	const void *answer;
	int place;

	allow_one(naming);
	place = ask(remote, ASK_WHOSE, &question, sizeof(question), sizeof(struct whose_answer),
		    &answer, NULL);
	if (place < 0)
		return place;
	*owner = ((const struct whose_answer *)answer)->owner;
	return place < stack->n_sessions ? place : -EBADMSG;
}

static void free_naming(struct naming *naming)
{
	struct remote_naming *names = (struct remote_naming *)naming;

	for (size_t i = 0; i < STRETCHES_MAX; i++)
		free(names->stretches[i]);
	free(names);
}

static const struct naming_ops naming_ops = {
	.sight = sight,
	.settled = settled,
	.describe = describe,
	.session = session,
	.attributes = attributes,
	.in_use_at = in_use_at,
	.whose = whose,
	.free = free_naming,
};

struct naming *remote_naming_new(const struct located *located, struct opprobe_bpf *bpf,
				 unsigned int instance)
{
	struct remote_naming *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->naming.ops = &naming_ops;
	names->remote = remote_of(located, bpf, instance);
	inspector_allow(located->inspector, INSPECTOR_TIME);
	return &names->naming;
}

/* -- all sessions ----------------------------------------------------------------- */

static int ask_sessions(const struct located *located, const struct process *process,
			struct sessions_question *question, const void **told, struct error *err)
{
	question->location = located->number;
	question->code = located->file.start;
	question->n_ranges = process_heaps(process, question->ranges, SESSION_RANGES_MAX);
	inspector_allow(located->inspector, INSPECTOR_TIME);
	return inspector_ask(located->inspector, ASK_SESSIONS, question, sizeof(*question),
			     sizeof(struct sessions_answer), told, err);
}

static int take_sessions(const struct sessions_answer *told, struct sessions_answer *answer)
{
	if (told->n > SESSIONS_MAX)
		return -EBADMSG;
	answer->n = told->n;
	answer->whole = told->whole;
	for (uint32_t i = 0; i < told->n; i++)
		if (!answers_session(&told->facts[i], &answer->facts[i]))
			return -EBADMSG;
	return 0;
}

int remote_sessions(const struct located *located, const struct process *process,
		    struct sessions_answer *answer, struct error *err)
{
	const struct runtime *runtime = located->location.runtime;
	struct sessions_question *question;
	const void *told;
	int error;

	if (!runtime->reader || !runtime->reader->sessions)
		return -ENOENT;
	question = calloc(1, sizeof(*question));
	if (!question)
		return error_set(err, -ENOMEM, "out of memory");
	error = ask_sessions(located, process, question, &told, err);
	free(question);
	if (error < 0)
		return error;
	if (error || take_sessions(told, answer))
		return error_set(err, -EBADMSG,
				 "opprobe's inspector of this process tells what cannot be");
	return 0;
}

/* -- shapes ------------------------------------------------------------------------ */

struct remote_shapes {
	struct shapes shapes;
	struct remote remote;
	uint32_t epoch;		    /* of the words that the programs have */
	struct shapes_answer first; /* for the classes of elements */
};

static struct remote_shapes *shapes_of(const struct shapes *shapes)
{
	return (struct remote_shapes *)shapes;
}

/* Ask about @record, of which just the values that it has are there. */
static int ask_about(const struct remote_shapes *shapes, enum question question,
		     const struct shapes_record *record, size_t wanted, const void **back)
{
	struct record_question about = {.location = shapes->remote.located->number};

	if (record->n_values > SHAPE_VALUES)
		return -EINVAL;
	memcpy(&about.record, record,
	       offsetof(struct shapes_record, values) +
		       record->n_values * sizeof(record->values[0]));
	return ask(&shapes->remote, question, &about, sizeof(about), wanted, back, NULL);
}

static int prove(struct shapes *base, const struct shapes_record *record)
{
	struct remote_shapes *shapes = shapes_of(base);
	const struct remote *remote = &shapes->remote;
	const void *words;
	int answer;

	/* Read by a guess that was given up since. */
	if (record->epoch != shapes->epoch)
		return 0;
	inspector_allow(remote->located->inspector, SINGLE_TIME);
	answer = ask_about(shapes, ASK_PROVE, record, sizeof(struct words), &words);
	if (answer < 0 || answer > 1)
		return -ENOEXEC;
	shapes->epoch = remote->runtime->shapes_epoch(words);
	if (!remote->runtime->share_shapes(remote->bpf, remote->instance, words))
		return -ENOEXEC;
	return answer;
}

static void refuse(struct shapes *base)
{
	const struct remote *remote = &shapes_of(base)->remote;

	remote->runtime->share_shapes(remote->bpf, remote->instance, NULL);
}

static bool verify(const struct shapes *base, const struct shapes_record *record)
{
	struct remote_shapes *shapes = shapes_of(base);

	if (record->epoch != shapes->epoch)
		return false;
	if (record->verified)
		return true;
	inspector_allow(shapes->remote.located->inspector, SINGLE_TIME);
	return ask_about(shapes, ASK_VERIFY, record, 0, NULL) == 1;
}

static const struct element *element(const struct shapes *base, uint64_t class)
{
	const struct shapes_answer *first = &shapes_of(base)->first;

	for (uint32_t i = 0; i < first->n_elements; i++)
		if (first->elements[i].class == class)
			return &first->elements[i].element;
	return NULL;
}

static void free_shapes(struct shapes *shapes)
{
	free(shapes);
}

static const struct shapes_ops shapes_ops = {
	.prove = prove,
	.refuse = refuse,
	.verify = verify,
	.element = element,
	.free = free_shapes,
};

/* Ask for a guess, from @file: the runtime's own, or @another. */
static int ask_for_guess(const struct remote_shapes *shapes, const struct mapped_file *file,
			 bool another, const void **answer, struct error *err)
{
	const struct remote *remote = &shapes->remote;
	const struct shapes_question question = {
		.location = remote->located->number,
		.another = another,
		.start = file->start,
		.end = file->end,
		.offset = file->offset,
	};

	return ask(remote, ASK_SHAPES, &question, sizeof(question), sizeof(shapes->first), answer,
		   err);
}

/*
 * A part of what it takes is in another file that @process maps: which one is, is not
 * known before it is looked into. What cannot be opened is passed over.
 */
static int look_into_others(const struct remote_shapes *shapes, const struct process *process,
			    const void **answer)
{
	const struct located *located = shapes->remote.located;
	struct mapped_file *files = NULL;
	ssize_t n = process_mapped_files(process, &files, NULL);
	int error = n < 0 ? (int)n : -EAGAIN;

	for (ssize_t i = 0; i < n && error < 0; i++) {
		const struct wanted_file wanted = {.mapped = &files[i]};

		if (files[i].start == located->file.start)
			continue;
		error = inspector_hand_over(located->inspector, &wanted, NULL)
				?: ask_for_guess(shapes, &files[i], true, answer, NULL);
		if (error == -ENOTRECOVERABLE || error == -EINTR)
			break;
	}
	free(files);
	return error;
}

static int begin(struct remote_shapes *shapes, const struct process *process, struct error *err)
{
	const struct remote *remote = &shapes->remote;
	const void *answer;
	int error;

	inspector_allow(remote->located->inspector, INSPECTOR_TIME);
	error = ask_for_guess(shapes, &remote->located->file, false, &answer, err);
	if (error == -EAGAIN)
		error = look_into_others(shapes, process, &answer);
	if (error)
		return error < 0 ? error : error_set(err, -EBADMSG, "no shapes can be read");
	memcpy(&shapes->first, answer, sizeof(shapes->first));
	shapes->epoch = remote->runtime->shapes_epoch(&shapes->first.words);
	if (shapes->first.n_elements > ELEMENTS_MAX ||
	    !remote->runtime->share_shapes(remote->bpf, remote->instance, &shapes->first.words))
		return error_set(err, -EBADMSG,
				 "where shapes lie, as opprobe's inspector of this "
				 "process tells it, cannot be");
	return 0;
}

struct shapes *remote_shapes_new(const struct located *located, const struct process *process,
				 struct opprobe_bpf *bpf, unsigned int instance, struct error *err)
{
	struct remote_shapes *shapes = calloc(1, sizeof(*shapes));

	if (!shapes) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	shapes->shapes.ops = &shapes_ops;
	shapes->remote = remote_of(located, bpf, instance);
	if (begin(shapes, process, err)) {
		free(shapes);
		return NULL;
	}
	return &shapes->shapes;
}

/* -- functions -------------------------------------------------------------------- */

int remote_function(const struct located *located, const struct mapped_file *file, uint32_t *number,
		    uint64_t offset, enum function_kind what, struct function_answer *answer)
{
	const struct function_question question = {.file = *number, .what = what, .offset = offset};
	const struct wanted_file wanted = {.mapped = file};
	const void *data;
	int error = 0;

	if (!located->inspector)
		return -ENOENT;
	/* All stubs of a file are named at once. */
	inspector_allow(located->inspector, what != FUNCTION_CODE ? INSPECTOR_TIME : SINGLE_TIME);
	if (*number == FILE_HANDED_OVER)
		error = inspector_hand_over(located->inspector, &wanted, NULL);
	error = error
			?: inspector_ask(located->inspector, ASK_FUNCTION, &question,
					 sizeof(question), sizeof(*answer), &data, NULL);
	if (error)
		return error < 0 ? error : -EBADMSG;
	if (!answers_function(data, offset, answer) ||
	    (*number != FILE_HANDED_OVER && answer->file != *number))
		return -EBADMSG;
	*number = answer->file;
	return 0;
}

int remote_kernel_name(const struct located *located, uint64_t handle, struct kernel_answer *answer)
{
	const struct kernel_question question = {.location = located->number, .handle = handle};
	const void *data;
	int error;

	if (!located->inspector)
		return -ENOENT;
	inspector_allow(located->inspector, SINGLE_TIME);
	error = inspector_ask(located->inspector, ASK_KERNEL, &question, sizeof(question),
			      sizeof(*answer), &data, NULL);
	if (error)
		return error < 0 ? error : -EBADMSG;
	memcpy(answer, data, sizeof(*answer));
	return memchr(answer->name, '\0', sizeof(answer->name)) && *answer->name ? 0 : -EBADMSG;
}
