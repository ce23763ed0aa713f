// SPDX-License-Identifier: GPL-2.0-only
#include "child_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "spawn.h"

#define BLOCKS 1024 /* remembered within one question; a power of two */

/*
 * Within one question memory is read once: a search looks at the same objects
 * time and again, and a block that is asked for costs a turn of two processes.
 */
static struct {
	uint64_t address;
	uint32_t question;
	bool unreadable;
} known[BLOCKS];
static uint8_t blocks[BLOCKS][MEMORY_BLOCK];
static uint32_t question, blocks_at_once = MEMORY_BLOCKS;

static size_t place_of(uint64_t address)
{
	return address / MEMORY_BLOCK % BLOCKS;
}

static bool is_known(uint64_t address)
{
	size_t i = place_of(address);

	return known[i].question == question && known[i].address == address;
}

static void remember(uint64_t address, bool unreadable)
{
	known[place_of(address)].address = address;
	known[place_of(address)].question = question;
	known[place_of(address)].unreadable = unreadable;
}

/* Ask for the block at @address, and take what comes behind it as well. */
static void ask(uint64_t address)
{
	const struct memory_want want = {.address = address, .blocks = blocks_at_once};
	struct message head;

	if (message_send(HELPER_SECOND, WANT_MEMORY, &want, sizeof(want), -1, NULL, NULL) ||
	    message_receive(HELPER_SECOND, &head, NULL, NULL, NULL) || head.size % MEMORY_BLOCK ||
	    head.size > MEMORY_BLOCKS * MEMORY_BLOCK)
		exit(EXIT_FAILURE);
	if (!head.size)
		remember(address, true);
	for (uint32_t at = 0; at < head.size; at += MEMORY_BLOCK) {
		if (message_receive_data(HELPER_SECOND, blocks[place_of(address + at)],
					 MEMORY_BLOCK, NULL, NULL))
			exit(EXIT_FAILURE);
		remember(address + at, false);
	}
}

static int read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
	uint8_t *to = buffer;

	while (size) {
		uint64_t block = address & ~(uint64_t)(MEMORY_BLOCK - 1);
		size_t from = address - block, n = MEMORY_BLOCK - from;

		n = n < size ? n : size;
		if (!is_known(block))
			ask(block);
		if (known[place_of(block)].unreadable)
			return -EFAULT;
		memcpy(to, blocks[place_of(block)] + from, n);
		to += n;
		address += n;
		size -= n;
	}
	return 0;
}

const struct memory child_memory = {.read = read_memory};

void child_memory_read_ahead(bool ahead)
{
	blocks_at_once = ahead ? MEMORY_BLOCKS : 1;
}

void child_memory_forget(void)
{
	question++;
}
