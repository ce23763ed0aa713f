// SPDX-License-Identifier: GPL-2.0-only
#include "child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../target/elf_image.h"
#include "../target/functions.h"
#include "../target/memory.h"
#include "child_memory.h"
#include "message.h"
#include "sandbox.h"
#include "spawn.h"

/* A file in which a runtime was located, and what is known of it since. */
struct subject {
	struct location location;
	int file;
	struct reader *reader; /* from the first question about the process on */
	bool has_shapes;
};

/* A file whose functions were asked about. */
struct functions_file {
	struct functions *functions;
	bool named; /* those that stand for something are called by that, too */
};

static struct {
	ARRAY_OF(struct subject *) subjects;
	ARRAY_OF(struct functions_file) functions;
	/* The one answer at a time. */
	ARRAY_OF(uint8_t) out;
} child;

/* -- answers ------------------------------------------------------------------------ */

static void *append(const void *data, size_t size)
{
	size_t at = child.out.n;

	if (array_extend(&child.out, at + size))
		exit(EXIT_FAILURE);
	if (size)
		memcpy(child.out.items + at, data, size);
	return child.out.items + at;
}

static void append_text(const char *text)
{
	append(text, strlen(text) + 1);
}

/* Begin an answer; what was to come with it is left out if it is a failure. */
static void begin(int result, const struct error *err)
{
	struct answer answer = {.result = result};

	if (result < 0)
		snprintf(answer.text, sizeof(answer.text), "%.1019s", err->text);
	child.out.n = 0;
	append(&answer, sizeof(answer));
}

static void append_words(const void *words, size_t size)
{
	struct words all = {};

	if (size > sizeof(all.bytes))
		exit(EXIT_FAILURE);
	memcpy(all.bytes, words, size);
	append(&all, sizeof(all));
}

/* -- where probes go -------------------------------------------------------------------- */

static void append_site(const struct runtime *runtime, const struct site *site)
{
	struct located_site out = {
		.role = site->role,
		.program = runtime_program_number(runtime, site->program),
		.value = site->value,
		.routes = site->routes,
		.function = site->function,
		.length = site->length,
		.stack_depth = site->stack_depth,
		.emulated = site->emulated,
		.offset = site->offset,
		.address = site->address,
	};

	memcpy(out.instruction, site->instruction, sizeof(out.instruction));
	append(&out, sizeof(out));
}

static void append_location(const struct location *location, uint32_t number)
{
	struct located_head head = {
		.number = number,
		.runtime = runtime_number(location->runtime),
		.n_sites = location->sites.n,
		.n_names = location->names.n,
		.n_landmarks = location->n_landmarks,
		.n_notes = location->n_notes,
	};

	memcpy(head.version, location->version, sizeof(head.version));
	memcpy(head.build_id, location->build_id, sizeof(head.build_id));
	snprintf(head.architecture, sizeof(head.architecture), "%s", location->architecture);
	memcpy(head.landmarks, location->landmarks, sizeof(head.landmarks));
	memcpy(head.notes, location->notes, sizeof(head.notes));
	append(&head, sizeof(head));
	for (size_t i = 0; i < location->sites.n; i++)
		append_site(location->runtime, &location->sites.items[i]);
	for (size_t i = 0; i < location->names.n; i++) {
		append_text(location->names.items[i].name);
		append_text(location->names.items[i].op_type);
	}
}

/* -- files that are handed over ------------------------------------------------------------ */

static int want_file(uint32_t want, const void *data, size_t size)
{
	struct message head;
	int file, error;

	error = message_send(HELPER_SECOND, want, data, size, -1, NULL, NULL);
	if (!error)
		error = message_receive(HELPER_SECOND, &head, &file, NULL, NULL);
	if (error)
		exit(EXIT_FAILURE);
	/* Without a file, the type is why there is none. */
	return file >= 0 ? file : -(int)head.type;
}

static int open_debug_file(void *context, enum debug_name kind, const char *name,
			   unsigned int candidate)
{
	struct debug_want want = {.kind = kind, .candidate = candidate};

	if (strlen(name) >= sizeof(want.name))
		return -ENAMETOOLONG;
	memcpy(want.name, name, strlen(name));
	return want_file(WANT_DEBUG_FILE, &want, sizeof(want));
}

static const struct elf_opener opener = {.open = open_debug_file};

static int look_into(int file, const struct locate_question *question, struct location *location,
		     struct error *err)
{
	const struct runtime *only = runtime_at(question->runtime);
	struct elf_image *image;
	int error = elf_image_open_file(file, question->name, &opener, &image, err);

	/* Not a program of an architecture that opprobe knows: nothing in it either. */
	if (error == -ENOEXEC)
		return error_set(err, -ENOENT, "%s: no program or library", question->name);
	if (error)
		return error;
	error = runtime_locate(image, only, location, err);
	elf_image_close(image);
	return error;
}

static int add_subject(const struct location *location, int file)
{
	struct subject *subject = calloc(1, sizeof(*subject)),
		       **added = subject ? array_push(&child.subjects) : NULL;

	if (!added) {
		free(subject);
		return -ENOMEM;
	}
	*subject = (struct subject){.location = *location, .file = file};
	*added = subject;
	return 0;
}

static void locate(const struct locate_question *question)
{
	int file = want_file(WANT_FILE, NULL, 0), error;
	struct location location;
	struct error err = {};

	error = file < 0 ? error_set(&err, file, "cannot open %s: %s", question->name,
				     strerror(-file))
			 : look_into(file, question, &location, &err);
	if (!error && add_subject(&location, file))
		error = error_set(&err, -ENOMEM, "out of memory looking into %s", question->name);
	begin(error, &err);
	if (!error)
		append_location(&location, child.subjects.n - 1);
	else if (file >= 0)
		close(file);
}

/* -- names -------------------------------------------------------------------------------- */

static struct subject *subject_of(uint32_t number)
{
	return number < child.subjects.n ? child.subjects.items[number] : NULL;
}

static const struct reader_ops *ops_of(const struct subject *subject)
{
	return subject->location.runtime->reader;
}

static struct reader *reader_of(struct subject *subject, struct error *err)
{
	const struct reader_target target = {.memory = &child_memory,
					     .location = &subject->location};

	if (!subject->reader && ops_of(subject))
		subject->reader = ops_of(subject)->new (&target, err);
	return subject->reader;
}

static void sight(const struct sight_question *question)
{
	struct subject *subject = subject_of(question->location);
	struct error err = {};
	struct reader *reader = subject ? reader_of(subject, &err) : NULL;
	int error = reader ? ops_of(subject)->sight(reader, &question->sighting) : -ENOMEM;

	begin(error, &err);
	if (!error)
		append_words(ops_of(subject)->names(reader), subject->location.runtime->names_size);
}

static void describe_at(const struct subject *subject, struct identity identity, uint64_t place,
			struct describe_answer *answer)
{
	identity.key.index += place - described_place(&identity.key);
	if (!ops_of(subject)->describe(subject->reader, &identity, &answer->strings[place]))
		answer->known |= UINT64_C(1) << place;
}

/* Who asks for one will ask for the others, and each question takes turns of some processes. */
static void describe(const struct describe_question *question)
{
	static struct describe_answer answer;
	const struct subject *subject = subject_of(question->location);
	const struct operator_key *key = &question->identity.key;
	const uint64_t wanted = described_place(key);
	struct error err = {};

	answer.known = 0;
	if (subject && subject->reader)
		describe_at(subject, question->identity, wanted, &answer);
	for (uint64_t i = 0; answer.known && key->session && i < DESCRIBED_TOGETHER; i++)
		if (i != wanted)
			describe_at(subject, question->identity, i, &answer);
	begin(answer.known ? 0 : -ENOENT, &err);
	if (answer.known)
		append(&answer, sizeof(answer));
}

static void session(const struct session_question *question)
{
	struct subject *subject = subject_of(question->location);
	struct session_facts facts;
	struct error err = {};
	/* Perhaps the first question: a session may be made before any operator runs. */
	struct reader *reader = subject ? reader_of(subject, &err) : NULL;
	int error = reader && ops_of(subject)->session
			    ? ops_of(subject)->session(reader, question->owner, question->root,
						       question->memory, &facts)
			    : -ENOENT;

	begin(error, &err);
	if (!error)
		append(&facts, sizeof(facts));
}

static void sessions(const struct sessions_question *question)
{
	static struct sessions_answer answer;
	struct subject *subject = subject_of(question->location);
	struct error err = {};
	struct reader *reader = subject ? reader_of(subject, &err) : NULL;
	bool known =
		reader && ops_of(subject)->sessions && question->n_ranges <= SESSION_RANGES_MAX;
	bool whole = false;

	child_memory_read_ahead(false);
	if (known)
		answer.n = ops_of(subject)->sessions(reader, question->code, question->ranges,
						     question->n_ranges, answer.facts, SESSIONS_MAX,
						     &whole);
	child_memory_read_ahead(true);
	answer.whole = whole && question->n_ranges < SESSION_RANGES_MAX;
	begin(known ? 0 : -ENOENT, &err);
	if (known)
		append(&answer, sizeof(answer));
}

static void append_attributes(const struct attribute_list *list)
{
	const struct attributes_head head = {.n_operators = list->operators.n,
					     .n_attributes = list->attributes.n};

	append(&head, sizeof(head));
	append(list->operators.items, list->operators.n * sizeof(list->operators.items[0]));
	append(list->attributes.items, list->attributes.n * sizeof(list->attributes.items[0]));
}

static void attributes(const struct attributes_question *question)
{
	const struct subject *subject = subject_of(question->location);
	struct attribute_list list = {};
	struct error err = {};
	int error = subject && subject->reader && ops_of(subject)->attributes
			    ? ops_of(subject)->attributes(subject->reader, &question->key, &list)
			    : -ENOENT;

	begin(error, &err);
	if (!error)
		append_attributes(&list);
	array_free(&list.operators);
	array_free(&list.attributes);
}

/* -- shapes -------------------------------------------------------------------------------- */

static int begin_shapes(struct subject *subject, int file, const struct shapes_question *question,
			struct error *err)
{
	const struct mapped_file mapping = {
		.start = question->start, .end = question->end, .offset = question->offset};
	struct reader *reader = reader_of(subject, err);
	struct elf_image *image;
	int error =
		reader ? elf_image_open_file(file, "a file of the process", &opener, &image, err)
		       : -ENOMEM;

	if (error)
		return error;
	error = ops_of(subject)->begin_shapes(reader, image, &mapping, err);
	elf_image_close(image);
	subject->has_shapes = !error;
	return error;
}

/* In a file that is handed over for it. */
static int go_on_with_shapes(struct subject *subject, const struct shapes_question *question,
			     struct error *err)
{
	int file = want_file(WANT_FILE, NULL, 0), error;

	if (file < 0)
		return error_set(err, file, "cannot open a file of the process: %s",
				 strerror(-file));
	error = begin_shapes(subject, file, question, err);
	close(file);
	return error;
}

static void append_shapes(const struct subject *subject)
{
	const struct reader_ops *ops = ops_of(subject);
	struct shapes_answer answer = {};
	uint32_t n = 0;

	memcpy(answer.words.bytes, ops->shapes(subject->reader),
	       subject->location.runtime->shapes_size);
	while (n < ELEMENTS_MAX && ops->element(subject->reader, n, &answer.elements[n].class,
						&answer.elements[n].element))
		n++;
	answer.n_elements = n;
	append(&answer, sizeof(answer));
}

static void shapes(const struct shapes_question *question)
{
	struct subject *subject = subject_of(question->location);
	struct error err = {};
	int error = -EINVAL;

	if (subject && !subject->has_shapes)
		error = question->another ? go_on_with_shapes(subject, question, &err)
					  : begin_shapes(subject, subject->file, question, &err);
	begin(error, &err);
	if (!error)
		append_shapes(subject);
}

static const struct subject *shaped(const struct record_question *question)
{
	const struct subject *subject = subject_of(question->location);

	return subject && subject->has_shapes ? subject : NULL;
}

static void prove(const struct record_question *question)
{
	const struct subject *subject = shaped(question);
	struct error err = {};
	int answer = subject ? ops_of(subject)->prove(subject->reader, &question->record) : -EINVAL;

	begin(answer, &err);
	if (answer >= 0)
		append_words(ops_of(subject)->shapes(subject->reader),
			     subject->location.runtime->shapes_size);
}

static void verify(const struct record_question *question)
{
	const struct subject *subject = shaped(question);
	struct error err = {};

	begin(subject && ops_of(subject)->verify(subject->reader, &question->record), &err);
}

/* -- memory ----------------------------------------------------------------------------------- */

static void in_use_at(const struct arena_question *question)
{
	struct subject *subject = subject_of(question->location);
	struct error err = {};
	struct reader *reader = subject ? reader_of(subject, &err) : NULL;

	begin(reader && ops_of(subject)->in_use_at
		      ? ops_of(subject)->in_use_at(reader, question->address)
		      : -ENOENT,
	      &err);
}

/* -- samples ---------------------------------------------------------------------------------- */

static void whose(const struct whose_question *question)
{
	struct subject *subject = subject_of(question->location);
	struct whose_answer answer = {};
	struct error err = {};
	struct reader *reader = subject ? reader_of(subject, &err) : NULL;
	int place = reader && ops_of(subject)->whose
			    ? ops_of(subject)->whose(reader, &question->stack, &answer.owner)
			    : -ENOENT;

	begin(place, &err);
	if (place >= 0)
		append(&answer, sizeof(answer));
}

/* -- functions -------------------------------------------------------------------------------- */

static struct functions *load_functions(int file, struct error *err)
{
	struct functions *functions = NULL;
	struct elf_image *image;
	int error = elf_image_open_file(file, "a file of the process", &opener, &image, err);

	if (error)
		return NULL;
	error = elf_image_load(image, err);
	if (!error) {
		functions = functions_new(image);
		error = functions ? 0 : error_set(err, -ENOMEM, "out of memory for its symbols");
	}
	if (error)
		elf_image_close(image);
	return functions;
}

/* The file that is handed over, as number *@number. 0, or a negative errno with @err set. */
static int add_functions(uint32_t *number, struct error *err)
{
	int file = want_file(WANT_FILE, NULL, 0);
	struct functions_file *added;
	struct functions *functions;

	if (file < 0)
		return error_set(err, file, "cannot open a file of the process: %s",
				 strerror(-file));
	functions = child.functions.n < FUNCTION_FILES_MAX ? load_functions(file, err) : NULL;
	close(file);
	added = functions ? array_push(&child.functions) : NULL;
	if (!added) {
		functions_free(functions);
		return error_set(err, -ENOEXEC, "the functions of a file cannot be told");
	}
	*added = (struct functions_file){.functions = functions};
	*number = child.functions.n - 1;
	return 0;
}

/* Once, for those of a file who are asked about as stubs: it takes a second of the largest. */
static void name_stubs(struct functions_file *file)
{
	for (size_t i = 0; !file->named && runtimes[i]; i++)
		if (runtimes[i]->name_stubs)
			runtimes[i]->name_stubs(file->functions);
	file->named = true;
}

static void function(const struct function_question *question)
{
	struct function_answer answer = {.file = question->file};
	struct functions_file *file;
	struct error err = {};
	int error = 0;

	if (question->file == FILE_HANDED_OVER)
		error = add_functions(&answer.file, &err);
	else if (question->file >= child.functions.n)
		error = -EINVAL;
	begin(error, &err);
	if (error)
		return;
	file = &child.functions.items[answer.file];
	if (question->what != FUNCTION_CODE)
		name_stubs(file);
	memcpy(answer.build_id, functions_image(file->functions)->build_id,
	       sizeof(answer.build_id));
	if (question->what == FUNCTION_DATA)
		functions_find_data(file->functions, question->offset, &answer.function);
	else
		functions_find(file->functions, question->offset, &answer.function);
	append(&answer, sizeof(answer));
}

static void kernel(const struct kernel_question *question)
{
	const struct subject *subject = subject_of(question->location);
	const struct location *location = subject ? &subject->location : NULL;
	struct kernel_answer answer = {};
	struct error err = {};
	int error = location && location->runtime->kernel_name
			    ? location->runtime->kernel_name(location, &child_memory,
							     question->handle, answer.name)
			    : -ENOENT;

	begin(error, &err);
	if (!error)
		append(&answer, sizeof(answer));
}

/* -- life ------------------------------------------------------------------------------------- */

static union {
	struct locate_question locate;
	struct sight_question sight;
	struct describe_question describe;
	struct session_question session;
	struct sessions_question sessions;
	struct attributes_question attributes;
	struct arena_question arena;
	struct whose_question whose;
	struct shapes_question shapes;
	struct record_question record;
	struct function_question function;
	struct kernel_question kernel;
} question;

static void answer(uint32_t type)
{
	switch (type) {
	case ASK_LOCATE:
		locate(&question.locate);
		break;
	case ASK_SIGHT:
		sight(&question.sight);
		break;
	case ASK_DESCRIBE:
		describe(&question.describe);
		break;
	case ASK_SESSION:
		session(&question.session);
		break;
	case ASK_SESSIONS:
		sessions(&question.sessions);
		break;
	case ASK_ATTRIBUTES:
		attributes(&question.attributes);
		break;
	case ASK_IN_USE_AT:
		in_use_at(&question.arena);
		break;
	case ASK_WHOSE:
		whose(&question.whose);
		break;
	case ASK_SHAPES:
		shapes(&question.shapes);
		break;
	case ASK_PROVE:
		prove(&question.record);
		break;
	case ASK_VERIFY:
		verify(&question.record);
		break;
	case ASK_FUNCTION:
		function(&question.function);
		break;
	case ASK_KERNEL:
		kernel(&question.kernel);
		break;
	default:
		exit(EXIT_FAILURE);
	}
}

static int next_question(struct message *head)
{
	int error = message_receive(HELPER_FIRST, head, NULL, NULL, NULL);

	if (error || head->size > sizeof(question))
		return error ?: -EMSGSIZE;
	return message_receive_data(HELPER_FIRST, &question, head->size, NULL, NULL);
}

int inspector_child(void)
{
	struct message head = {};
	struct error err = {};
	int error = sandbox_enter(HELPER_SECOND, &err);

	/* The first it says is whether it can be trusted to be harmless. */
	begin(error, &err);
	while (!message_send(HELPER_FIRST, head.type, child.out.items, child.out.n, -1, NULL,
			     NULL)) {
		child_memory_forget();
		if (error || next_question(&head))
			break;
		answer(head.type);
	}
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
