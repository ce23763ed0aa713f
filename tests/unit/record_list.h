/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that keeps all records for tests to look at, and can fail when told to. */
#ifndef OPPROBE_TEST_RECORD_LIST_H
#define OPPROBE_TEST_RECORD_LIST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "capture/records.h"

struct record_list {
	struct record_sink sink;
	ARRAY_OF(struct capture_record) all;
	ARRAY_OF(void *) owned;
	int failure; /* what the next records get */
};

static inline void *record_list_own(struct record_list *list, const void *bytes, size_t size)
{
	void **owned = array_push(&list->owned);

	assert_non_null(owned);
	*owned = malloc(size);
	assert_non_null(*owned);
	return size ? memcpy(*owned, bytes, size) : *owned;
}

static inline const char *record_list_string(struct record_list *list, const char *string)
{
	return record_list_own(list, string, strlen(string) + 1);
}

static inline void record_list_values(struct record_list *list, struct capture_values *values)
{
	values->values = record_list_own(list, values->values, values->n * sizeof(*values->values));
	values->dims = record_list_own(list, values->dims, values->n_dims * sizeof(*values->dims));
}

static inline int record_list_take(struct record_sink *sink, const struct capture_record *record)
{
	struct record_list *list = (struct record_list *)sink;
	struct capture_record *copy;

	if (list->failure)
		return list->failure;
	copy = array_push(&list->all);
	assert_non_null(copy);
	*copy = *record;
	switch (record->type) {
	case CAPTURE_INFO:
		copy->info = record_list_own(list, record->info, sizeof(*record->info));
		break;
	case CAPTURE_PROCESS:
		copy->process.command = record_list_string(list, record->process.command);
		copy->process.library = record_list_string(list, record->process.library);
		copy->process.runtime = record_list_string(list, record->process.runtime);
		copy->process.version = record_list_string(list, record->process.version);
		copy->process.build_id = record_list_string(list, record->process.build_id);
		break;
	case CAPTURE_ATTRIBUTES:
		copy->attributes.attributes =
			record_list_own(list, record->attributes.attributes,
					record->attributes.n * sizeof(struct attribute));
		break;
	case CAPTURE_OPERATOR:
		copy->op.name = record_list_string(list, record->op.name);
		copy->op.op_type = record_list_string(list, record->op.op_type);
		copy->op.domain = record_list_string(list, record->op.domain);
		copy->op.provider = record_list_string(list, record->op.provider);
		break;
	case CAPTURE_EXEC:
		if (record->exec.n_parts)
			copy->exec.parts =
				record_list_own(list, record->exec.parts,
						record->exec.n_parts * sizeof(struct capture_part));
		break;
	case CAPTURE_SHAPES:
		record_list_values(list, &copy->shapes.inputs);
		record_list_values(list, &copy->shapes.outputs);
		break;
	default:
		break;
	}
	return 0;
}

static inline struct record_list record_list(void)
{
	return (struct record_list){.sink.take = record_list_take};
}

/* How many records of @type there are. */
static inline size_t record_list_count(const struct record_list *list, enum capture_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < list->all.n; i++)
		n += list->all.items[i].type == type;
	return n;
}

/* The record number @number of @type, which must be there. */
static inline const struct capture_record *record_list_get(const struct record_list *list,
							   enum capture_type type, size_t number)
{
	for (size_t i = 0; i < list->all.n; i++)
		if (list->all.items[i].type == type && !number--)
			return &list->all.items[i];
	fail_msg("there is no such record of type %d", type);
	return NULL;
}

static inline void record_list_free(struct record_list *list)
{
	for (size_t i = 0; i < list->owned.n; i++)
		free(list->owned.items[i]);
	array_free(&list->owned);
	array_free(&list->all);
}

#endif
