// SPDX-License-Identifier: GPL-2.0-only
#include "places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/demangle.h"

/* -- definitions --------------------------------------------------------------------------- */

/* Have @string, of a record, outlive it: equal ones are one pointer. */
static int keep(struct places *places, const char **string)
{
	*string = strings_intern(places->strings, *string, strlen(*string));
	return *string ? 0 : -ENOMEM;
}

int places_add_file(struct places *places, const struct capture_file *file)
{
	struct capture_file kept = *file;
	int error = keep(places, &kept.path) ?: keep(places, &kept.build_id);

	error = error ?: array_extend(&places->files, (size_t)file->file + 1);
	if (!error)
		places->files.items[file->file] = kept;
	return error;
}

int places_add_function(struct places *places, const struct capture_function *function)
{
	struct capture_function kept = *function;
	int error;

	if (function->file != CAPTURE_UNKNOWN &&
	    (function->file >= places->files.n || !places->files.items[function->file].path))
		return -EINVAL;
	error = keep(places, &kept.symbol);
	error = error ?: array_extend(&places->functions, (size_t)function->function + 1);
	if (!error)
		places->functions.items[function->function] = kept;
	return error;
}

/* -- places -------------------------------------------------------------------------------- */

static const char *intern(struct places *places, const char *label)
{
	return strings_intern(places->strings, label, strlen(label));
}

/* By its symbol as C++ has it: the function, or an address in it. */
static const char *named_label(struct places *places, const struct analyze_place *place)
{
	char *name = demangle(place->symbol), *label = name;
	const char *kept;

	if (name && place->is_address && asprintf(&label, "%s+0x%x", name, place->at) < 0)
		label = NULL;
	kept = label ? intern(places, label) : NULL;
	if (label != name)
		free(label);
	free(name);
	return kept;
}

static const char *label_of(struct places *places, const struct analyze_place *place)
{
	char label[64];

	if (*place->symbol && (place->bounded || !place->is_address))
		return named_label(places, place);
	if (!place->size && !place->is_address)
		return "(not known)";
	if (place->is_address)
		snprintf(label, sizeof(label), "+0x%" PRIx64, place->offset + place->at);
	else if (place->bounded)
		snprintf(label, sizeof(label), "+0x%" PRIx64, place->offset);
	else
		snprintf(label, sizeof(label), "+0x%" PRIx64 "..0x%" PRIx64, place->offset,
			 place->offset + place->size);
	return intern(places, label);
}

static uint64_t hash_of(const struct analyze_place *place)
{
	uint64_t hash = hash_word(0, (uintptr_t)place->path);

	hash = hash_word(hash, (uintptr_t)place->build_id);
	hash = hash_word(hash, (uintptr_t)place->symbol);
	hash = hash_word(hash, place->offset);
	hash = hash_word(hash, place->size);
	return hash_word(hash, place->at);
}

static bool is_same(const struct analyze_place *a, const struct analyze_place *b)
{
	return a->path == b->path && a->build_id == b->build_id && a->symbol == b->symbol &&
	       a->offset == b->offset && a->address == b->address && a->size == b->size &&
	       a->bounded == b->bounded && a->is_address == b->is_address && a->at == b->at;
}

static const struct analyze_place *get(struct places *places, const struct analyze_place *wanted)
{
	uint64_t hash = hash_of(wanted);
	struct analyze_place *place;

	hash_for_each_possible(place, &places->table, hash, node)
		if (is_same(place, wanted))
			return place;
	place = malloc(sizeof(*place));
	if (!place)
		return NULL;
	*place = *wanted;
	place->label = label_of(places, place);
	if (!place->label || hash_add(&places->table, &place->node, hash)) {
		free(place);
		return NULL;
	}
	return place;
}

const struct analyze_place *places_get(struct places *places, const struct capture_sample *sample,
				       bool addresses, int *error)
{
	static const struct capture_file none = {.path = "", .build_id = ""};
	const struct capture_function *function = NULL;
	const struct analyze_place *place;
	const struct capture_file *file;

	if (sample->function < places->functions.n)
		function = &places->functions.items[sample->function];
	*error = -EINVAL;
	if (!function || !function->symbol)
		return NULL;
	file = function->file == CAPTURE_UNKNOWN ? &none : &places->files.items[function->file];
	place = get(places, &(struct analyze_place){
				    .path = file->path,
				    .build_id = file->build_id,
				    .symbol = function->symbol,
				    .offset = function->offset,
				    .address = function->address,
				    .size = function->size,
				    .bounded = function->bounded,
				    .is_address = addresses,
				    .at = addresses ? sample->at : 0,
			    });
	*error = place ? 0 : -ENOMEM;
	return place;
}

void places_free(struct places *places)
{
	struct analyze_place *place;

	hash_for_each(place, &places->table, node)
		free(place);
	hash_free(&places->table);
	array_free(&places->files);
	array_free(&places->functions);
}

const char *place_file(const struct analyze_place *place)
{
	const char *slash = strrchr(place->path, '/');

	return slash && slash[1] ? slash + 1 : place->path;
}

const char *place_title(const struct analyze_place *place, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s", *place->symbol ? "" : place_file(place),
		 place->size || *place->symbol ? "" : " ", place->label);
	return text;
}
