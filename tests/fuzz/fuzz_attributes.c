// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a session's kernels and nodes, and as what an inspector says of
 * them: what is told of attributes must be fit for whoever asked. The first byte
 * chooses how texts lie; the session is behind the first 16.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/answers.h"
#include "output/attributes.h"
#include "require.h"
#include "runtime/ort/attributes.h"

#define BASE	0x100000 /* where the input lies, and in it: */
#define SESSION (BASE + 16)

static const uint8_t *memory_data;
static size_t memory_size;

static int read_input(void *unused, uint64_t address, void *buffer, size_t size)
{
	(void)unused;
	if (address < BASE || address - BASE > memory_size || size > memory_size - (address - BASE))
		return -EFAULT;
	memcpy(buffer, memory_data + (address - BASE), size);
	return 0;
}

static const struct memory memory = {.read = read_input};

static void check(const struct attribute_list *list)
{
	for (size_t i = 0; i < list->operators.n; i++) {
		const struct operator_attributes *told = &list->operators.items[i];
		const struct attribute *first =
			told->n ? &list->attributes.items[told->first] : NULL;
		char *text;

		require(told->n <= ATTRIBUTES_MAX && told->first + told->n <= list->attributes.n);
		require(!i || told->index > told[-1].index);
		for (uint32_t k = 0; k < told->n; k++)
			require(attribute_is_sound(&first[k]));
		text = attributes_text(first, told->n);
		require(text && text[strlen(text) - 1] == '}');
		free(text);
	}
}

static void free_list(struct attribute_list *list)
{
	array_free(&list->operators);
	array_free(&list->attributes);
	*list = (struct attribute_list){};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t sizes[] = {32, 8, 24};
	struct ort_layout layout = {.proven = 1, .info = 8, .node = 8, .name = 8};
	struct ort_attribute_layout found = {};
	struct attribute_list list = {};
	struct operator_key key = {.session = SESSION};

	if (!size)
		return 0;
	memory_data = data;
	memory_size = size;
	layout.string_abi = data[0] % 3;
	layout.op_type = layout.name + sizes[layout.string_abi];
	layout.domain = layout.op_type + sizes[layout.string_abi];
	ort_read_attributes(&memory, &layout, &key, &found, &list);
	check(&list);
	free_list(&list);
	key = (struct operator_key){.index = SESSION};
	ort_read_attributes(&memory, &layout, &key, &found, &list);
	check(&list);
	free_list(&list);
	if (!answers_attributes(data, size, &list))
		check(&list);
	free_list(&list);
	return 0;
}
