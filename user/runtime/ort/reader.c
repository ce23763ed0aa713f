// SPDX-License-Identifier: GPL-2.0-only
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "arena.h"
#include "attributes.h"
#include "calibrate.h"
#include "session.h"
#include "shapes.h"

struct reader {
	const struct memory *memory;
	const struct location *location;
	struct ort_layout layout;
	struct ort_attribute_layout attributes;
	struct ort_shapes *shapes; /* NULL: not wanted, or not to be had */
};

static struct reader *new_reader(const struct reader_target *target, struct error *err)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	reader->memory = target->memory;
	reader->location = target->location;
	return reader;
}

static void free_reader(struct reader *reader)
{
	free(reader->shapes);
	free(reader);
}

/* -- names ----------------------------------------------------------------------- */

static int sight(struct reader *reader, const struct sighting_record *sighting)
{
	struct ort_layout found;
	int error = ort_calibrate(reader->memory, sighting, &found);

	if (!error)
		reader->layout = found;
	return error;
}

static const void *names(const struct reader *reader)
{
	return &reader->layout;
}

static int describe(const struct reader *reader, const struct identity *identity,
		    struct strings_record *strings)
{
	return ort_describe(reader->memory, &reader->layout, identity, strings);
}

/* -- sessions -------------------------------------------------------------------- */

static int session(const struct reader *reader, uint64_t owner, uint64_t root, bool memory,
		   struct session_facts *facts)
{
	int error = owner ? ort_read_session(reader->memory, owner, facts) : -ENOENT;

	if (!error && memory)
		ort_read_session_memory(reader->memory, owner, facts);
	/* Else its path tells which one it is. */
	if (!error && (!facts->has_path || !facts->path[0]))
		facts->graph_hash = ort_graph_hash(reader->memory, &reader->layout, root);
	return error;
}

static size_t sessions(const struct reader *reader, uint64_t code,
		       const struct memory_range *ranges, size_t n, struct session_facts *facts,
		       size_t max, bool *whole)
{
	return ort_find_sessions(reader->memory, code, ranges, n, facts, max, whole);
}

/* -- attributes ------------------------------------------------------------------ */

static int attributes(struct reader *reader, const struct operator_key *key,
		      struct attribute_list *list)
{
	return ort_read_attributes(reader->memory, &reader->layout, key, &reader->attributes, list);
}

/* -- memory ---------------------------------------------------------------------- */

static int in_use_at(const struct reader *reader, uint64_t address)
{
	return arena_in_use_at(reader->memory, address);
}

/* -- samples ------------------------------------------------------------------------ */

static int whose(const struct reader *reader, const struct stack_record *stack, uint64_t *owner)
{
	return ort_owner_of(reader->memory, stack, owner);
}

/* -- shapes ---------------------------------------------------------------------- */

static int begin_shapes(struct reader *reader, struct elf_image *image,
			const struct mapped_file *file, struct error *err)
{
	if (!reader->shapes)
		reader->shapes = ort_shapes_new(reader->memory, &reader->layout, reader->location);
	if (!reader->shapes)
		return error_set(err, -ENOMEM, "out of memory");
	return ort_shapes_begin(reader->shapes, image, file, err);
}

static const void *shapes(const struct reader *reader)
{
	return &reader->shapes->guess;
}

static int prove(struct reader *reader, const struct shapes_record *record)
{
	return ort_shapes_prove(reader->shapes, record);
}

static bool verify(const struct reader *reader, const struct shapes_record *record)
{
	return ort_shapes_verify(reader->shapes, record);
}

static bool element(const struct reader *reader, size_t i, uint64_t *class, struct element *element)
{
	if (i >= reader->shapes->n_elements)
		return false;
	*class = reader->shapes->elements[i].class;
	*element = reader->shapes->elements[i].element;
	return true;
}

const struct reader_ops ort_reader = {
	.new = new_reader,
	.sight = sight,
	.names = names,
	.describe = describe,
	.session = session,
	.sessions = sessions,
	.attributes = attributes,
	.in_use_at = in_use_at,
	.whose = whose,
	.begin_shapes = begin_shapes,
	.shapes = shapes,
	.prove = prove,
	.verify = verify,
	.element = element,
	.free = free_reader,
};
