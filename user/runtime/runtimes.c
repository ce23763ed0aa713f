// SPDX-License-Identifier: GPL-2.0-only
#include "runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
		[SITE_TASK_EXIT] = "task-exit",	    [SITE_CATCH] = "catch",
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

/* Depths of one function's sites are compared: what one does not tell, none tells. */
static int agree_on_depths(struct location *location)
{
	ARRAY_OF(bool) unknown = {};
	int error = 0;

	for (size_t i = 0; i < location->sites.n && !error; i++) {
		const struct site *site = &location->sites.items[i];

		error = array_extend(&unknown, site->function + 1UL);
		if (!error && site->stack_depth < 0)
			unknown.items[site->function] = true;
	}
	for (size_t i = 0; i < location->sites.n && !error; i++)
		if (unknown.items[location->sites.items[i].function])
			location->sites.items[i].stack_depth = -1;
	array_free(&unknown);
	return error;
}

static int locate_as(const struct runtime *runtime, struct elf_image *image,
		     struct location *location, struct error *err)
{
	int error;

	memset(location, 0, sizeof(*location));
	location->runtime = runtime;
	location->architecture = image->arch->name;
	memcpy(location->build_id, image->build_id, sizeof(location->build_id));
	error = elf_image_load(image, err);
	if (!error)
		error = runtime->locate(image, location, err);
	if (!error && agree_on_depths(location))
		error = error_set(err, -ENOMEM, "out of memory");
	if (error)
		location_free(location);
	return error;
}

static int locate_in_image(struct elf_image *image, const struct runtime *companion_of,
			   struct location *location, struct error *err)
{
	enum runtime_presence wanted = companion_of ? RUNTIME_COMPANION : RUNTIME_PRESENT;

	for (size_t i = 0; runtimes[i]; i++) {
		int presence;

		if (companion_of && runtimes[i] != companion_of)
			continue;
		presence = runtimes[i]->detect(image, err);
		if (presence < 0)
			return presence;
		if (presence == (int)wanted)
			return locate_as(runtimes[i], image, location, err);
	}
	return error_set(err, -ENOENT, "%s: no runtime that opprobe knows is in it", image->path);
}

int runtime_locate_file(const char *path, const struct runtime *companion_of,
			struct location *location, struct error *err)
{
	struct elf_image *image;
	int error = elf_image_open(path, &image, err);

	/* Not a program of an architecture that opprobe knows: nothing in it either. */
	if (error == -ENOEXEC)
		return -ENOENT;
	if (error)
		return error;
	error = locate_in_image(image, companion_of, location, err);
	elf_image_close(image);
	return error;
}

bool location_has(const struct location *location, enum site_role role)
{
	for (size_t i = 0; i < location->sites.n; i++)
		if (location->sites.items[i].role == role)
			return true;
	return false;
}

void location_note(struct location *location, const char *text)
{
	if (location->n_notes < LOCATION_NOTES)
		snprintf(location->notes[location->n_notes++], sizeof(location->notes[0]), "%s",
			 text);
}

void location_free(struct location *location)
{
	for (size_t i = 0; i < location->names.n; i++) {
		free(location->names.items[i].name);
		free(location->names.items[i].op_type);
	}
	array_free(&location->names);
	array_free(&location->sites);
}
