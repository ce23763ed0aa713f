/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session of ONNX Runtime laid out by hand in this process's own memory, in
 * each string ABI and with moved offsets.
 */
#ifndef OPPROBE_MADE_SESSION_H
#define OPPROBE_MADE_SESSION_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "../../bpf/events.h"
#include "../../bpf/ort/layout.h"

#define NODES 5

/* Memory for everything, so that pointers are aligned and zeroed beforehand. */
static uint64_t *arena;
static size_t arena_used;

static inline uint64_t *take(size_t bytes)
{
	uint64_t *at = arena + arena_used;

	arena_used += (bytes + 7) / 8;
	return at;
}

/* As the GNU C library's: its size, and a flag, in front; @bytes + 8 is a multiple of 16. */
static inline uint64_t *take_block(size_t bytes)
{
	*take(8) = (bytes + 8) | 1;
	return take(bytes);
}

static inline void put_string(uint64_t *at, enum string_abi abi, const char *text)
{
	size_t length = strlen(text);
	char *data;

	switch (abi) {
	case STRING_CXX11:
		if (length < 16) {
			at[0] = (uintptr_t)(at + 2);
			memcpy(at + 2, text, length + 1);
		} else {
			at[0] = (uintptr_t)take(length + 1);
			memcpy((void *)at[0], text, length + 1);
			at[2] = length;
		}
		at[1] = length;
		break;
	case STRING_COW:
		data = (char *)take(24 + length + 1);
		((uint64_t *)data)[0] = length;
		((uint64_t *)data)[1] = length;
		memcpy(data + 24, text, length + 1);
		at[0] = (uintptr_t)(data + 24);
		break;
	case STRING_LIBCXX:
		if (length < 23) {
			*(unsigned char *)at = length << 1;
			memcpy((char *)at + 1, text, length + 1);
		} else {
			at[0] = ((length + 16) & ~1ULL) | 1;
			at[1] = length;
			at[2] = (uintptr_t)take(length + 1);
			memcpy((void *)at[2], text, length + 1);
		}
	}
}

static const unsigned int strides[] = {32, 8, 24};
static const char *const names[NODES] = {"conv", "", "with \"quotes\" and a long name behind",
					 "\xff\xfe not UTF-8", "relu"};
static const char *const types[NODES] = {"Conv", "Gemm", "Softmax", "If", "Relu"};

struct session {
	uint64_t *state, *vector, *context;
	uint64_t *kernels[NODES], *nodes[NODES];
};

static inline struct session make_session(enum string_abi abi, unsigned int kernels_at,
					  unsigned int node_at)
{
	struct session session;

	session.state = take(0x800);
	session.vector = take(NODES * 8);
	session.context = take(SIGHT_BYTES);
	session.context[0] = (uintptr_t)session.state;
	session.state[kernels_at / 8] = (uintptr_t)session.vector;
	session.state[kernels_at / 8 + 1] = (uintptr_t)(session.vector + NODES);
	session.state[kernels_at / 8 + 2] = (uintptr_t)(session.vector + NODES);
	for (int i = 0; i < NODES; i++) {
		uint64_t *kernel = take(0x80), *info = take(0x80), *node = take_block(0x108);
		uint64_t *definition = take(0x100);

		kernel[1] = (uintptr_t)info;
		info[node_at / 8] = (uintptr_t)node;
		info[node_at / 8 + 1] = (uintptr_t)definition;
		node[0] = i;
		put_string(node + 1, abi, names[i]);
		put_string(node + 1 + strides[abi] / 8, abi, types[i]);
		put_string(node + 1 + 2 * strides[abi] / 8, abi, i ? "" : "com.microsoft");
		put_string(definition, abi, types[i]);
		put_string(definition + 8, abi, "CPUExecutionProvider");
		session.vector[i] = (uintptr_t)kernel;
		session.kernels[i] = kernel;
		session.nodes[i] = node;
	}
	return session;
}

static inline struct sighting_record sight(const struct session *session, uint64_t index)
{
	struct sighting_record sighting = {
		.type = RECORD_SIGHTING,
		.identity = {.key = {.session = (uintptr_t)session->state, .index = index}},
		.context = (uintptr_t)session->context,
	};

	memcpy(sighting.memory, session->context, sizeof(sighting.memory));
	return sighting;
}

static inline int session_set_up(void **state)
{
	(void)state;
	arena = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arena_used = 0;
	return arena == MAP_FAILED;
}

static inline int session_tear_down(void **state)
{
	(void)state;
	return munmap(arena, 1 << 20);
}

#endif
