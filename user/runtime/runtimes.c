// SPDX-License-Identifier: GPL-2.0-only
#include "runtime.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../target/arch.h"
#include "../target/elf_image.h"

extern const struct runtime ort_runtime;

const struct runtime *const runtimes[] = {&ort_runtime, NULL};

const char *site_role_name(enum site_role role)
{
	static const char *const names[SITE_ROLES] = {
		[SITE_OP_ENTER] = "op-enter",	    [SITE_OP_EXIT] = "op-exit",
		[SITE_RUN_ENTER] = "run-enter",	    [SITE_RUN_EXIT] = "run-exit",
		[SITE_SESSION_END] = "session-end", [SITE_TASK_ENTER] = "task-enter",
		[SITE_TASK_EXIT] = "task-exit",
	};

	return names[role];
}

const char *site_route_name(enum site_route route)
{
	switch (route) {
	case ROUTE_SYMBOL:
		return "symbol";
	case ROUTE_STRING:
		return "string";
	case ROUTE_RTTI:
		return "rtti";
	case ROUTE_API:
		return "api";
	}
	return "";
}

void site_route_names(unsigned int routes, char *text, size_t size)
{
	size_t used = 0;

	if (size)
		*text = '\0';
	for (unsigned int bit = 1; bit && bit <= routes && used < size; bit <<= 1) {
		if (!(routes & bit))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "",
					 site_route_name(bit));
	}
}

static int locate_in_image(struct elf_image *image, struct location *location, struct error *err)
{
	for (size_t i = 0; runtimes[i]; i++) {
		int code = runtimes[i]->detect(image, err);

		if (code < 0)
			return code;
		if (!code)
			continue;
		memset(location, 0, sizeof(*location));
		location->runtime = runtimes[i];
		location->architecture = image->arch->name;
		memcpy(location->build_id, image->build_id, sizeof(location->build_id));
		code = elf_image_load(image, err);
		return code ? code : runtimes[i]->locate(image, location, err);
	}
	return error_set(err, -ENOENT, "%s: no runtime that opprobe knows is in it", image->path);
}

int runtime_locate_file(const char *path, struct location *location, struct error *err)
{
	struct elf_image *image;
	int code = elf_image_open(path, &image, err);

	/* Not a program of an architecture that opprobe knows: nothing in it either. */
	if (code == -ENOEXEC)
		return -ENOENT;
	if (code)
		return code;
	code = locate_in_image(image, location, err);
	elf_image_close(image);
	return code;
}
