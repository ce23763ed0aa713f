// SPDX-License-Identifier: GPL-2.0-only
#include "kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/gpu/layout.h"
#include "../inspect/remote.h"
#include "hot.h"
#include "state.h"

#define KERNELS_MAX (1 << 16) /* of a process: some make new ones for ever */

struct known_kernel {
	struct hash_node node;
	uint64_t handle;
	bool hip;  /* of HIP, else of CUDA */
	bool read; /* when there had been so many: */
	uint32_t unloads;
	uint32_t function; /* of the capture; CAPTURE_UNKNOWN: it could not be read */
	char *symbol;	   /* NULL where that is so */
};

void kernels_free(struct kernels *kernels)
{
	struct known_kernel *known;

	hash_for_each(known, &kernels->known, node) {
		free(known->symbol);
		free(known);
	}
	hash_free(&kernels->known);
}

static struct known_kernel *find(struct kernels *kernels, uint64_t handle, bool hip)
{
	uint64_t hash = hash_word(hip, handle);
	struct known_kernel *known;

	hash_for_each_possible(known, &kernels->known, hash, node)
		if (known->handle == handle && known->hip == hip)
			return known;
	known = kernels->known.n < KERNELS_MAX ? calloc(1, sizeof(*known)) : NULL;
	if (!known)
		return NULL;
	known->handle = handle;
	known->hip = hip;
	known->function = CAPTURE_UNKNOWN;
	if (!hash_add(&kernels->known, &known->node, hash))
		return known;
	free(known);
	return NULL;
}

/* Does it know names of kernels, and is it HIP's, or CUDA's? */
static bool is_driver(const struct location *location, bool hip)
{
	for (size_t i = 0; i < location->sites.n; i++) {
		const struct site *site = &location->sites.items[i];

		if (site->role == SITE_GPU_UNLOAD && ((site->value & GPU_HIP) != 0) == hip)
			return true;
	}
	return false;
}

/* By the driver: of several, whose handle it is is not known. */
static int read_name(const struct member *member, const struct known_kernel *known,
		     struct kernel_answer *answer)
{
	const struct located *driver = NULL;

	for (const struct located *it = member->located; it; it = it->next) {
		if (!is_driver(&it->location, known->hip))
			continue;
		if (driver)
			return -ENOENT;
		driver = it;
	}
	return driver ? remote_kernel_name(driver, known->handle, answer) : -ENOENT;
}

/* It is called @name; NULL: that could not be read. */
static void learn(struct collector *collector, struct known_kernel *known, const char *name)
{
	if (name && known->symbol && !strcmp(known->symbol, name))
		return;
	free(known->symbol);
	known->symbol = name ? strdup(name) : NULL;
	known->function = known->symbol ? hot_kernel(collector->hot, known->symbol)
					: (uint32_t)CAPTURE_UNKNOWN;
}

uint32_t kernels_number(struct collector *collector, struct member *member, uint64_t handle,
			bool hip, uint32_t unloads)
{
	const volatile uint32_t *now = &collector->bpf->bss->gpu_unloads;
	struct known_kernel *known = find(&member->kernels, handle, hip);
	struct kernel_answer answer;
	int error;

	if (!known)
		return CAPTURE_UNKNOWN;
	if (known->read && known->unloads == unloads)
		return known->function;
	error = read_name(member, known, &answer);
	/* It is what was launched only if nothing was unloaded since. */
	if (*now != unloads)
		return CAPTURE_UNKNOWN;
	learn(collector, known, error ? NULL : answer.name);
	known->unloads = unloads;
	known->read = true;
	return known->function;
}
