// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the memory of a process: the places of names are searched in it
 * from a sighting, operators described, shapes proven. What is believed must
 * hold when it is looked at again.
 */
#include <errno.h>

#include "require.h"
#include "runtime/ort/calibrate.h"
#include "runtime/ort/shapes.h"

#define BASE 0x100000 /* where the input lies */

static const uint8_t *memory_data;
static size_t memory_size;
static unsigned long reads;

static int read_input(void *unused, uint64_t address, void *buffer, size_t size)
{
	(void)unused;
	reads++;
	if (address < BASE || address - BASE > memory_size || size > memory_size - (address - BASE))
		return -EFAULT;
	memcpy(buffer, memory_data + (address - BASE), size);
	return 0;
}

static const struct memory memory = {.read = read_input};

static void check_names(const struct ort_layout *layout, const struct identity *identity)
{
	struct strings_record strings;

	require(layout->proven && layout->string_abi <= STRING_LIBCXX);
	require(layout->provider < 0x1000 && layout->kernels < 0x1000);
	/* It was proven on all kernels of the session, this one included. */
	require(!ort_describe(&memory, layout, identity, &strings));
	require(strings.type == RECORD_STRINGS && strings.op_type_length &&
		strings.op_type_length <= WORD_BYTES && strings.provider_length < WORD_BYTES);
}

static void check_shapes(const struct ort_layout *layout, struct shapes_record *record)
{
	struct ort_shapes shapes = {.memory = &memory, .layout = layout, .n_elements = 1};

	for (unsigned int i = 0; i < CLASSES; i++)
		shapes.classes[i] = BASE + 0x40 * (uint64_t)i;
	shapes.elements[0] = (struct element_class){BASE, {ELEMENT_FLOAT, 32}, "float"};
	shapes.guess = (struct ort_shape_layout){.epoch = 1,
						 .info = 8,
						 .node = 8,
						 .constants = 32,
						 .stride = 24,
						 .dims = 24,
						 .element = 0x58};
	record->n_values %= SHAPE_VALUES + 1;
	record->n_inputs %= record->n_values + 1;
	for (unsigned int i = 0; i < 8; i++) {
		record->epoch = shapes.guess.epoch;
		if (ort_shapes_prove(&shapes, record))
			break;
	}
	ort_shapes_verify(&shapes, record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sighting_record sighting = {.type = RECORD_SIGHTING};
	struct shapes_record record = {};
	struct ort_layout layout;

	if (size < sizeof(sighting.memory) + 16)
		return 0;
	memory_data = data;
	memory_size = size;
	reads = 0;
	/* The first bytes say what was sighted. */
	memcpy(&sighting.identity.key.session, data, 8);
	memcpy(&sighting.identity.key.index, data + 8, 8);
	sighting.context = BASE;
	memcpy(sighting.memory, data + 16, sizeof(sighting.memory));
	if (!ort_calibrate(&memory, &sighting, &layout) && sighting.identity.key.session)
		require(layout.proven);
	if (layout.proven && !sighting.identity.key.session)
		check_names(&layout, &sighting.identity);
	memcpy(&record, data, size < sizeof(record) ? size : sizeof(record));
	check_shapes(&layout, &record);
	return 0;
}
