// SPDX-License-Identifier: GPL-2.0-only
#include "answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cursor.h"
#include "../base/utf8.h"
#include "../target/arch.h"

static bool is_ended(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

static bool is_plain(const char *text)
{
	return !text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_~")];
}

static bool are_landmarks(const struct landmark *landmarks, uint32_t n)
{
	if (n > LANDMARKS_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if ((uint32_t)landmarks[i].kind >= LANDMARK_KINDS ||
		    landmarks[i].distance > LANDMARK_DISTANCE_MAX ||
		    landmarks[i].distance < -LANDMARK_DISTANCE_MAX || landmarks[i].distance % 8)
			return false;
	return true;
}

static bool is_head(struct located_head *head)
{
	if (!runtime_at(head->runtime) || head->n_sites > SITES_MAX || head->n_names > NAMES_MAX ||
	    head->n_notes > LOCATION_NOTES || !are_landmarks(head->landmarks, head->n_landmarks) ||
	    !is_ended(head->version, sizeof(head->version)) ||
	    !is_ended(head->build_id, sizeof(head->build_id)) ||
	    !is_ended(head->architecture, sizeof(head->architecture)) || !is_plain(head->version) ||
	    !is_plain(head->build_id))
		return false;
	for (size_t i = 0; i < head->n_notes; i++) {
		if (!is_ended(head->notes[i], sizeof(head->notes[i])))
			return false;
		utf8_clean(head->notes[i]);
	}
	return true;
}

static bool is_site(const struct located_site *site, const struct runtime *runtime)
{
	return site->role < SITE_ROLES && runtime_program_at(runtime, site->program) &&
	       site->function < SITES_MAX && site->length <= UINT8_MAX && site->stack_depth >= -1 &&
	       site->emulated <= 1 && is_ended(site->instruction, sizeof(site->instruction));
}

static int take_sites(struct cursor *cursor, uint32_t n, struct location *location)
{
	for (uint32_t i = 0; i < n; i++) {
		struct located_site in;
		struct site *site;

		cursor_read(cursor, &in, sizeof(in));
		if (cursor->failed || !is_site(&in, location->runtime))
			return -EBADMSG;
		site = array_push(&location->sites);
		if (!site)
			return -ENOMEM;
		*site = (struct site){
			.role = in.role,
			.program = runtime_program_at(location->runtime, in.program),
			.value = in.value,
			.offset = in.offset,
			.address = in.address,
			.length = in.length,
			.emulated = in.emulated,
			.routes = in.routes,
			.stack_depth = in.stack_depth,
			.function = in.function,
		};
		memcpy(site->instruction, in.instruction, sizeof(site->instruction));
		utf8_clean(site->instruction);
	}
	return 0;
}

static int take_names(struct cursor *cursor, uint32_t n, struct location *location)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *name = cursor_string(cursor), *op_type = cursor_string(cursor);
		struct static_name *added;

		if (!name || !op_type)
			return -EBADMSG;
		added = array_push(&location->names);
		if (!added)
			return -ENOMEM;
		added->name = strndup(name, NAME_BYTES);
		added->op_type = strndup(op_type, WORD_BYTES - 1);
		if (!added->name || !added->op_type)
			return -ENOMEM;
	}
	return 0;
}

/* The value of a site that stands for a name must be one of those. */
static bool name_their_operators(const struct location *location)
{
	for (size_t i = 0; location->names.n && i < location->sites.n; i++)
		if (location->sites.items[i].role == SITE_OP_ENTER &&
		    location->sites.items[i].value >= location->names.n)
			return false;
	return true;
}

int answers_location(const void *data, size_t size, struct location *location, uint32_t *number)
{
	struct located_head head;
	struct cursor cursor;
	int error;

	memset(location, 0, sizeof(*location));
	cursor_init(&cursor, data, size, 0);
	cursor_read(&cursor, &head, sizeof(head));
	if (cursor.failed || !is_head(&head))
		return -EBADMSG;
	location->runtime = runtime_at(head.runtime);
	location->architecture = arch_known_name(head.architecture);
	if (!location->architecture)
		return -EBADMSG;
	memcpy(location->version, head.version, sizeof(location->version));
	memcpy(location->build_id, head.build_id, sizeof(location->build_id));
	location->n_landmarks = head.n_landmarks;
	memcpy(location->landmarks, head.landmarks, sizeof(location->landmarks));
	location->n_notes = head.n_notes;
	memcpy(location->notes, head.notes, sizeof(location->notes));
	error = take_sites(&cursor, head.n_sites, location);
	error = error ?: take_names(&cursor, head.n_names, location);
	if (!error && (!cursor_end(&cursor) || !name_their_operators(location)))
		error = -EBADMSG;
	if (error)
		location_free(location);
	*number = head.number;
	return error;
}

/* -- sessions ------------------------------------------------------------------------ */

#define SESSION_THREADS_MAX (1 << 20)

/* A text that is not known is empty. */
static bool is_text(uint8_t known, const char *text, size_t size)
{
	return known <= 1 && is_ended(text, size) && (known || !text[0]);
}

bool answers_session(const void *data, struct session_facts *facts)
{
	memcpy(facts, data, sizeof(*facts));
	return is_text(facts->has_path, facts->path, sizeof(facts->path)) &&
	       is_text(facts->has_graph, facts->graph, sizeof(facts->graph)) &&
	       is_text(facts->has_producer, facts->producer, sizeof(facts->producer)) &&
	       is_text(facts->has_providers, facts->providers, sizeof(facts->providers)) &&
	       facts->parallel <= NOT_KNOWN && facts->intra_spins <= NOT_KNOWN &&
	       facts->inter_spins <= NOT_KNOWN && facts->memory_pattern <= NOT_KNOWN &&
	       facts->arena <= NOT_KNOWN && facts->intra_threads <= SESSION_THREADS_MAX &&
	       facts->inter_threads <= SESSION_THREADS_MAX && facts->has_memory <= 1 &&
	       facts->memory_in_use <= facts->memory_most &&
	       facts->memory_most <= facts->memory_total &&
	       (facts->has_memory || !facts->memory_total);
}

/* -- attributes ---------------------------------------------------------------------- */

/* Do operators come in order, each with attributes that are there? */
static bool are_operators(const struct attribute_list *list)
{
	for (size_t i = 0; i < list->operators.n; i++) {
		const struct operator_attributes *told = &list->operators.items[i];

		if (told->n > ATTRIBUTES_MAX || told->first > list->attributes.n ||
		    told->n > list->attributes.n - told->first ||
		    (i && told->index <= told[-1].index))
			return false;
	}
	return true;
}

int answers_attributes(const void *data, size_t size, struct attribute_list *list)
{
	struct attributes_head head;
	struct cursor cursor;

	cursor_init(&cursor, data, size, 0);
	cursor_read(&cursor, &head, sizeof(head));
	if (cursor.failed || head.n_operators > ATTRIBUTED_MAX ||
	    head.n_attributes > ATTRIBUTED_MAX * ATTRIBUTES_MAX ||
	    cursor_left(&cursor) != head.n_operators * sizeof(struct operator_attributes) +
					    (uint64_t)head.n_attributes * sizeof(struct attribute))
		return -EBADMSG;
	if (array_extend(&list->operators, head.n_operators) ||
	    array_extend(&list->attributes, head.n_attributes))
		return -ENOMEM;
	if (head.n_operators)
		cursor_read(&cursor, list->operators.items,
			    head.n_operators * sizeof(struct operator_attributes));
	if (head.n_attributes)
		cursor_read(&cursor, list->attributes.items,
			    head.n_attributes * sizeof(struct attribute));
	for (size_t i = 0; i < list->attributes.n; i++)
		if (!attribute_is_sound(&list->attributes.items[i]))
			return -EBADMSG;
	return are_operators(list) ? 0 : -EBADMSG;
}

/* -- functions ----------------------------------------------------------------------- */

bool answers_function(const void *data, uint64_t offset, struct function_answer *answer)
{
	const struct function_at *function = &answer->function;
	uint8_t bounded;

	memcpy(answer, data, sizeof(*answer));
	memcpy(&bounded, &function->bounded, sizeof(bounded));
	return answer->file < FUNCTION_FILES_MAX &&
	       is_ended(answer->build_id, sizeof(answer->build_id)) && bounded <= 1 &&
	       is_ended(function->symbol, sizeof(function->symbol)) && function->size &&
	       function->size <= FUNCTION_SIZE_MAX && offset - function->offset < function->size &&
	       function->offset <= UINT64_MAX - function->size &&
	       function->address <= UINT64_MAX - function->size;
}
