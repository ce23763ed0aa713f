// SPDX-License-Identifier: GPL-2.0-only
#include "attributes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cxx_string.h"
#include "heap.h"

#define NODE_MIN     0x100
#define NODE_BYTES   0x400 /* in which the map is searched */
#define PROTO_BYTES  0x108 /* of an AttributeProto: what is read of it */
#define NAME_FIRST   0x90  /* where in it the name may be */
#define NAME_LAST    0xb8
#define KERNELS_MAX  1000000	/* of one session */
#define LOAD_FACTOR  0x3f800000 /* 1.0f, of a std::unordered_map */
#define CAPACITY_MAX (1U << 20) /* of a list */

/* In AttributeProto, in bytes from its name: repeated fields are before it, numbers behind. */
#define INTS   (-0x88)
#define TEXT   8
#define NUMBER 0x40
#define REAL   0x48
#define TYPE   0x4c

/* AttributeProto.AttributeType. */
#define PROTO_FLOAT  1
#define PROTO_INT    2
#define PROTO_STRING 3
#define PROTO_INTS   7
#define PROTO_LAST   14

/* Repeated fields of protobuf 30 and later begin with a pointer that has these bits. */
#define SHORT_SIZE  3 /* how many are in place of the pointer's neighbour, unless */
#define IS_LONG	    4
#define POINTER_TAG 7

/* protobuf's pointers to texts: who owns them. Later versions take two bits of these. */
#define TEXT_TAG 7

/* By name, in the order of strcmp(); https://onnx.ai/onnx/operators/ and ContribOperators.md. */
static const struct known_attribute {
	const char *name;
	uint32_t proto_type;
} known_attributes[] = {
	{"K", PROTO_INT},
	{"N", PROTO_INT},
	{"accuracy_level", PROTO_INT},
	{"activation", PROTO_STRING},
	{"align_corners", PROTO_INT},
	{"allowzero", PROTO_INT},
	{"alpha", PROTO_FLOAT},
	{"approximate", PROTO_STRING},
	{"auto_pad", PROTO_STRING},
	{"axes", PROTO_INTS},
	{"axis", PROTO_INT},
	{"batch_axis", PROTO_INT},
	{"batch_dims", PROTO_INT},
	{"beta", PROTO_FLOAT},
	{"bias", PROTO_FLOAT},
	{"bits", PROTO_INT},
	{"block_size", PROTO_INT},
	{"blocksize", PROTO_INT},
	{"ceil_mode", PROTO_INT},
	{"channels_last", PROTO_INT},
	{"coordinate_transformation_mode", PROTO_STRING},
	{"count_include_pad", PROTO_INT},
	{"cubic_coeff_a", PROTO_FLOAT},
	{"dilations", PROTO_INTS},
	{"direction", PROTO_STRING},
	{"do_rotary", PROTO_INT},
	{"end", PROTO_INT},
	{"epsilon", PROTO_FLOAT},
	{"equation", PROTO_STRING},
	{"exclude_outside", PROTO_INT},
	{"exclusive", PROTO_INT},
	{"fmod", PROTO_INT},
	{"gamma", PROTO_FLOAT},
	{"group", PROTO_INT},
	{"hidden_size", PROTO_INT},
	{"inverse", PROTO_INT},
	{"is_causal", PROTO_INT},
	{"keepdims", PROTO_INT},
	{"kernel_shape", PROTO_INTS},
	{"kv_num_heads", PROTO_INT},
	{"lambd", PROTO_FLOAT},
	{"largest", PROTO_INT},
	{"layout", PROTO_INT},
	{"linear_before_reset", PROTO_INT},
	{"local_window_size", PROTO_INT},
	{"mode", PROTO_STRING},
	{"momentum", PROTO_FLOAT},
	{"nearest_mode", PROTO_STRING},
	{"noop_with_empty_axes", PROTO_INT},
	{"num_groups", PROTO_INT},
	{"num_heads", PROTO_INT},
	{"num_outputs", PROTO_INT},
	{"onesided", PROTO_INT},
	{"output_height", PROTO_INT},
	{"output_padding", PROTO_INTS},
	{"output_shape", PROTO_INTS},
	{"output_width", PROTO_INT},
	{"p", PROTO_INT},
	{"pads", PROTO_INTS},
	{"perm", PROTO_INTS},
	{"q_num_heads", PROTO_INT},
	{"reduction", PROTO_STRING},
	{"reverse", PROTO_INT},
	{"rotary_embedding_dim", PROTO_INT},
	{"sampling_ratio", PROTO_INT},
	{"saturate", PROTO_INT},
	{"scale", PROTO_FLOAT},
	{"select_last_index", PROTO_INT},
	{"size", PROTO_INT},
	{"softcap", PROTO_FLOAT},
	{"sorted", PROTO_INT},
	{"spatial_scale", PROTO_FLOAT},
	{"split", PROTO_INTS},
	{"start", PROTO_INT},
	{"stash_type", PROTO_INT},
	{"storage_order", PROTO_INT},
	{"strides", PROTO_INTS},
	{"time_axis", PROTO_INT},
	{"to", PROTO_INT},
	{"transA", PROTO_INT},
	{"transB", PROTO_INT},
	{"transBatchA", PROTO_INT},
	{"transBatchB", PROTO_INT},
	{"unidirectional", PROTO_INT},
	{"upper", PROTO_INT},
};

/* std::unordered_map of libstdc++. */
struct map {
	uint64_t buckets, n_buckets, first, n;
	uint32_t load_factor, pad;
};

/* One list node of it, as it is being read. */
struct entry {
	uint64_t next, proto_at;
	struct cxx_text key;
	uint8_t proto[PROTO_BYTES];
};

struct read {
	const struct memory *memory;
	const struct ort_layout *layout;
	struct ort_attribute_layout *found;
	struct attribute_list *list;
};

static int by_name(const void *key, const void *known)
{
	return strcmp(key, ((const struct known_attribute *)known)->name);
}

static uint64_t word(const struct entry *entry, uint32_t at)
{
	uint64_t value;

	memcpy(&value, entry->proto + at, sizeof(value));
	return value;
}

static uint32_t half(const struct entry *entry, uint32_t at)
{
	uint32_t value;

	memcpy(&value, entry->proto + at, sizeof(value));
	return value;
}

/* -- the map -------------------------------------------------------------------- */

static bool is_key(const struct cxx_text *key)
{
	if (!key->length || key->length >= WORD_BYTES)
		return false;
	for (uint64_t i = 0; i < key->length; i++) {
		char c = key->data[i];

		if (c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(i && c >= '0' && c <= '9'))
			return false;
	}
	return true;
}

/* Does @entry say at @at the name that is its key? */
static bool says_name(const struct read *read, const struct entry *entry, uint32_t at)
{
	uint64_t pointer = word(entry, at) & ~(uint64_t)TEXT_TAG;
	struct cxx_text name;

	return is_pointer(pointer) &&
	       !cxx_string_read(read->memory, read->layout->string_abi, pointer, &name) &&
	       cxx_same_text(&name, &entry->key);
}

static bool read_entry(const struct read *read, uint64_t address, struct entry *entry)
{
	unsigned int abi = read->layout->string_abi;

	entry->proto_at = address + 8 + cxx_string_sizes[abi];
	return is_pointer(address) &&
	       !memory_read(read->memory, address, &entry->next, sizeof(entry->next)) &&
	       !cxx_string_read(read->memory, abi, address + 8, &entry->key) &&
	       is_key(&entry->key) &&
	       !memory_read(read->memory, entry->proto_at, entry->proto, sizeof(entry->proto));
}

/* Where @entry has its name; 0 if nowhere. */
static uint32_t find_name(const struct read *read, const struct entry *entry)
{
	for (uint32_t at = NAME_FIRST; at <= NAME_LAST; at += 8)
		if (says_name(read, entry, at))
			return at;
	return 0;
}

static bool is_map(const struct map *map)
{
	return map->load_factor == LOAD_FACTOR && is_pointer(map->buckets) && map->n_buckets &&
	       map->n_buckets < CAPACITY_MAX && map->n <= ATTRIBUTES_MAX &&
	       (map->n ? is_pointer(map->first) : !map->first);
}

/* May the elements of @map be attributes, whose names are at @name? 0: *@name is found. */
static bool are_attributes(const struct read *read, const struct map *map, uint32_t *name)
{
	uint64_t at = map->first;
	struct entry entry;

	for (uint64_t i = 0; i < map->n; i++, at = entry.next) {
		if (!read_entry(read, at, &entry))
			return false;
		if (!*name)
			*name = find_name(read, &entry);
		if (!*name || !says_name(read, &entry, *name))
			return false;
	}
	return !at;
}

/*
 * Find where the node at @node, which has @size bytes at most, has attributes, if it
 * has any before where that is thought to be. Behind a node may lie another one, so
 * that of several nodes the first place counts.
 */
static void learn(const struct read *read, uint64_t node, size_t size)
{
	uint8_t bytes[NODE_BYTES];
	struct map map;

	while (size > sizeof(map) && memory_read(read->memory, node, bytes, size))
		size /= 2;
	if (read->found->name && size > read->found->map + sizeof(map))
		size = read->found->map + sizeof(map) - 1;
	for (uint32_t at = read->layout->domain; at + sizeof(map) <= size; at += 8) {
		uint32_t name = 0;

		memcpy(&map, bytes + at, sizeof(map));
		if (!is_map(&map) || !map.n || !are_attributes(read, &map, &name))
			continue;
		*read->found = (struct ort_attribute_layout){.map = at, .name = name};
		return;
	}
}

/* -- one attribute -------------------------------------------------------------- */

/* A list of @n numbers at @address. */
static bool take_list(const struct read *read, uint64_t address, uint64_t n,
		      struct attribute *attribute)
{
	if (n > ATTRIBUTE_INTS ||
	    (n && (!is_pointer(address) || memory_read(read->memory, address, attribute->ints,
						       n * sizeof(attribute->ints[0])))))
		return false;
	attribute->n = n;
	return true;
}

/* {size, capacity, pointer}, as repeated fields were up to protobuf 29. */
static bool read_plain_list(const struct read *read, const struct entry *entry, uint32_t at,
			    struct attribute *attribute)
{
	uint32_t size = half(entry, at), capacity = half(entry, at + 4);

	return size <= capacity && capacity <= CAPACITY_MAX &&
	       take_list(read, word(entry, at + 8), size, attribute);
}

/* {tagged pointer, size, capacity}, or {tag with the size, up to one number}. */
static bool read_tagged_list(const struct read *read, const struct entry *entry, uint32_t at,
			     struct attribute *attribute)
{
	uint64_t first = word(entry, at);
	uint32_t size = half(entry, at + 8), capacity = half(entry, at + 12);

	if (first & IS_LONG)
		return size && size <= capacity && capacity <= CAPACITY_MAX &&
		       take_list(read, first & ~(uint64_t)POINTER_TAG, size, attribute);
	if (first & ~(uint64_t)SHORT_SIZE || (first & SHORT_SIZE) > 1)
		return false;
	attribute->n = first & SHORT_SIZE;
	attribute->ints[0] = (int64_t)word(entry, at + 8);
	return true;
}

/* The one way in which the list of @entry can be read; an empty one reads alike in both. */
static bool read_list(const struct read *read, const struct entry *entry,
		      struct attribute *attribute)
{
	uint32_t at = (uint32_t)((int)read->found->name + INTS);
	struct attribute other = *attribute;
	bool plain = read_plain_list(read, entry, at, attribute);
	bool tagged = read_tagged_list(read, entry, at, &other);

	if (plain && tagged)
		return !attribute->n && !other.n;
	if (tagged)
		*attribute = other;
	return plain || tagged;
}

static bool read_text(const struct read *read, const struct entry *entry,
		      struct attribute *attribute)
{
	uint64_t pointer = word(entry, read->found->name + TEXT) & ~(uint64_t)TEXT_TAG;

	return is_pointer(pointer) &&
	       !cxx_string_copy(read->memory, read->layout->string_abi, pointer, attribute->text,
				sizeof(attribute->text));
}

static bool read_value(const struct read *read, const struct entry *entry, uint32_t proto_type,
		       struct attribute *attribute)
{
	uint32_t name = read->found->name;
	float real;

	switch (proto_type) {
	case PROTO_INT:
		attribute->type = ATTRIBUTE_INT;
		attribute->n = 1;
		attribute->ints[0] = (int64_t)word(entry, name + NUMBER);
		return true;
	case PROTO_FLOAT:
		attribute->type = ATTRIBUTE_FLOAT;
		memcpy(&real, entry->proto + name + REAL, sizeof(real));
		attribute->real = (double)real;
		return true;
	case PROTO_STRING:
		attribute->type = ATTRIBUTE_STRING;
		return read_text(read, entry, attribute);
	default:
		attribute->type = ATTRIBUTE_LIST;
		return read_list(read, entry, attribute);
	}
}

/* Of @entry, if it is one that the specification knows, and as it says. */
static bool read_attribute(const struct read *read, const struct entry *entry,
			   struct attribute *attribute)
{
	const struct known_attribute *known;

	memset(attribute, 0, sizeof(*attribute));
	if (entry->key.length >= sizeof(attribute->name))
		return false;
	memcpy(attribute->name, entry->key.data, entry->key.length);
	known = bsearch(attribute->name, known_attributes,
			sizeof(known_attributes) / sizeof(known_attributes[0]),
			sizeof(known_attributes[0]), by_name);
	return known && half(entry, read->found->name + TYPE) == known->proto_type &&
	       read_value(read, entry, known->proto_type, attribute) &&
	       attribute_is_sound(attribute);
}

/* -- one operator --------------------------------------------------------------- */

/* Lists that speak of the same window must be of its rank; else none of them is believed. */
static bool is_window(const char *name, uint32_t *per_dimension)
{
	*per_dimension = !strcmp(name, "pads") ? 2 : 1;
	return *per_dimension == 2 || !strcmp(name, "strides") || !strcmp(name, "dilations") ||
	       !strcmp(name, "kernel_shape");
}

/* What cannot be the size, or the step, of a window in @attribute. */
static bool is_negative(const struct attribute *attribute)
{
	for (uint32_t i = 0; i < attribute->n; i++)
		if (attribute->ints[i] < 1 || attribute->ints[i] > UINT32_MAX)
			return strcmp(attribute->name, "pads") != 0;
	return false;
}

static bool windows_agree(const struct attribute *attributes, uint32_t n)
{
	uint32_t rank = 0, per_dimension;

	for (uint32_t i = 0; i < n; i++) {
		if (attributes[i].type != ATTRIBUTE_LIST ||
		    !is_window(attributes[i].name, &per_dimension))
			continue;
		if (is_negative(&attributes[i]) ||
		    (rank && attributes[i].n != rank * per_dimension) ||
		    attributes[i].n % per_dimension)
			return false;
		rank = attributes[i].n / per_dimension;
	}
	return true;
}

static uint32_t drop_windows(struct attribute *attributes, uint32_t n)
{
	uint32_t kept = 0, per_dimension;

	for (uint32_t i = 0; i < n; i++)
		if (!is_window(attributes[i].name, &per_dimension))
			attributes[kept++] = attributes[i];
	return kept;
}

static int by_attribute_name(const void *a, const void *b)
{
	return strcmp(((const struct attribute *)a)->name, ((const struct attribute *)b)->name);
}

/* The attributes of @map at the end of the list; their number, or a negative errno. */
static int take_map(const struct read *read, const struct map *map)
{
	struct attribute_list *list = read->list;
	struct attribute *first;
	uint64_t at = map->first;
	struct entry entry;
	uint32_t n = 0;

	if (array_reserve(&list->attributes, list->attributes.n + ATTRIBUTES_MAX))
		return -ENOMEM;
	first = list->attributes.items + list->attributes.n;
	for (uint64_t i = 0; i < map->n; i++, at = entry.next) {
		if (!read_entry(read, at, &entry) || !says_name(read, &entry, read->found->name))
			return -EFAULT;
		n += read_attribute(read, &entry, &first[n]);
	}
	if (at)
		return -EFAULT;
	if (!windows_agree(first, n))
		n = drop_windows(first, n);
	qsort(first, n, sizeof(*first), by_attribute_name);
	list->attributes.n += n;
	return (int)n;
}

/* The node of @kernel; 0 if there is none. */
static uint64_t node_of(const struct read *read, uint64_t kernel)
{
	uint64_t info, node;

	if (!is_pointer(kernel) ||
	    memory_read(read->memory, kernel + read->layout->info, &info, sizeof(info)) ||
	    memory_read(read->memory, info + read->layout->node, &node, sizeof(node)))
		return 0;
	return is_pointer(node) ? node : 0;
}

static int add_operator(const struct read *read, uint64_t kernel, uint64_t index)
{
	struct attribute_list *list = read->list;
	struct operator_attributes *added;
	uint64_t node = node_of(read, kernel);
	struct map map;
	int n;

	if (!node)
		return -EFAULT;
	if (!read->found->name ||
	    memory_read(read->memory, node + read->found->map, &map, sizeof(map)) || !is_map(&map))
		return -ENOENT;
	if (array_reserve(&list->operators, list->operators.n + 1))
		return -ENOMEM;
	n = take_map(read, &map);
	if (n < 0)
		return n;
	added = array_push(&list->operators);
	*added = (struct operator_attributes){.index = index,
					      .first = (uint32_t)list->attributes.n - (uint32_t)n,
					      .n = (uint32_t)n};
	return 0;
}

/* The @n @kernels, the first of index @first; one whose attributes cannot be read is left out. */
static int add_kernels(const struct read *read, const uint64_t *kernels, size_t n, uint64_t first)
{
	bool known = read->found->name;

	for (size_t i = 0; i < n && !known; i++) {
		uint64_t node = node_of(read, kernels[i]);
		uint32_t block = heap_block(read->memory, node, NODE_MIN, NODE_BYTES);

		if (node)
			learn(read, node, block ? block : NODE_BYTES);
	}
	for (size_t i = 0; i < n; i++)
		if (kernels[i] && add_operator(read, kernels[i], first + i) == -ENOMEM)
			return -ENOMEM;
	return 0;
}

/* Of one whose neighbours are not known, only what is in its own block can be believed. */
static int add_kernel(const struct read *read, uint64_t kernel)
{
	uint64_t node = node_of(read, kernel);
	uint32_t block = node ? heap_block(read->memory, node, NODE_MIN, NODE_BYTES) : 0;

	if (!read->found->name && block)
		learn(read, node, block);
	return add_operator(read, kernel, kernel);
}

/* Those of the vector at @address that are told together with the one of @index. */
static int add_vector(const struct read *read, uint64_t address, uint64_t index)
{
	uint64_t vector[2], kernels[ATTRIBUTES_TOGETHER], first, n;

	if (memory_read(read->memory, address, vector, sizeof(vector)) || !is_pointer(vector[0]) ||
	    vector[1] <= vector[0])
		return -EFAULT;
	n = (vector[1] - vector[0]) / 8;
	first = index - index % ATTRIBUTES_TOGETHER;
	if (n > KERNELS_MAX || index >= n)
		return -EFAULT;
	n = n - first < ATTRIBUTES_TOGETHER ? n - first : ATTRIBUTES_TOGETHER;
	if (memory_read(read->memory, vector[0] + 8 * first, kernels, n * sizeof(kernels[0])))
		return -EFAULT;
	return add_kernels(read, kernels, n, first);
}

int ort_read_attributes(const struct memory *memory, const struct ort_layout *layout,
			const struct operator_key *key, struct ort_attribute_layout *found,
			struct attribute_list *list)
{
	const struct read read = {.memory = memory, .layout = layout, .found = found, .list = list};

	if (!layout->proven)
		return -ENOENT;
	if (!key->session)
		return add_kernel(&read, key->index);
	return add_vector(&read, key->session + layout->kernels, key->index);
}
