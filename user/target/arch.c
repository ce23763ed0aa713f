// SPDX-License-Identifier: GPL-2.0-only
#include "arch.h"

#include <stdio.h>
#include <string.h>

static const struct arch *const archs[] = {
	&arch_x86_64,
	&arch_aarch64,
};

#define N_ARCHS (sizeof(archs) / sizeof(*archs))

const struct arch *arch_of(uint16_t machine)
{
	for (size_t i = 0; i < N_ARCHS; i++)
		if (archs[i]->machine == machine)
			return archs[i];
	return NULL;
}

const char *arch_known_name(const char *name)
{
	for (size_t i = 0; i < N_ARCHS; i++)
		if (!strcmp(archs[i]->name, name))
			return archs[i]->name;
	return NULL;
}

void arch_names(char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < N_ARCHS && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 !i		    ? ""
					 : i + 1 == N_ARCHS ? " and "
							    : ", ",
					 archs[i]->name);
}
