// SPDX-License-Identifier: GPL-2.0-only
#include "runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../target/arch.h"
#include "../target/elf_image.h"
#include "../target/insn_function.h"

extern const struct runtime ort_runtime, gpu_runtime;
/* Where it is linked in, by make RUNTIME=FOLDER; else it is NULL, the end of the table. */
extern const struct runtime more_runtime __attribute__((weak));

const struct runtime *const runtimes[] = {
	&ort_runtime,
	&gpu_runtime,
	&more_runtime,
	NULL,
};

uint32_t runtime_number(const struct runtime *runtime)
{
	uint32_t i = 0;

	while (runtimes[i] && runtimes[i] != runtime)
		i++;
	return i;
}

const struct runtime *runtime_at(uint32_t number)
{
	for (uint32_t i = 0; runtimes[i]; i++)
		if (i == number)
			return runtimes[i];
	return NULL;
}

uint32_t runtime_program_number(const struct runtime *runtime, const char *program)
{
	uint32_t i = 0;

	while (runtime->programs[i] && strcmp(runtime->programs[i], program) != 0)
		i++;
	return i;
}

const char *runtime_program_at(const struct runtime *runtime, uint32_t number)
{
	for (uint32_t i = 0; runtime->programs[i]; i++)
		if (i == number)
			return runtime->programs[i];
	return NULL;
}

bool runtime_has_shapes(const struct runtime *runtime)
{
	return runtime->reader && runtime->reader->begin_shapes;
}

const char *site_role_name(enum site_role role)
{
	static const char *const names[SITE_ROLES] = {
		[SITE_OP_ENTER] = "op-enter",
		[SITE_OP_EXIT] = "op-exit",
		[SITE_RUN_ENTER] = "run-enter",
		[SITE_RUN_EXIT] = "run-exit",
		[SITE_SETUP_ENTER] = "setup-enter",
		[SITE_SETUP_EXIT] = "setup-exit",
		[SITE_SESSION_END] = "session-end",
		[SITE_TASK_ENTER] = "task-enter",
		[SITE_TASK_EXIT] = "task-exit",
		[SITE_ALLOC_ENTER] = "alloc-enter",
		[SITE_ALLOC_EXIT] = "alloc-exit",
		[SITE_ALLOC] = "alloc",
		[SITE_FREE] = "free",
		[SITE_CATCH] = "catch",
		[SITE_GPU_LAUNCH] = "gpu-launch",
		[SITE_GPU_COPY] = "gpu-copy",
		[SITE_GPU_WAIT_ENTER] = "gpu-wait-enter",
		[SITE_GPU_WAIT_EXIT] = "gpu-wait-exit",
		[SITE_GPU_UNLOAD] = "gpu-unload",
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

/*
 * One instruction, one site: what programs at the same place would run in an
 * order that is the kernel's affair, as with the only instruction of a
 * function, where it begins and ends at once.
 */
static int refuse_shared_places(const struct location *location, const struct elf_image *image,
				struct error *err)
{
	ARRAY_OF(uint64_t) offsets = {};
	int error = array_extend(&offsets, location->sites.n);

	if (error)
		return error_set(err, error, "out of memory");
	for (size_t i = 0; i < location->sites.n; i++)
		offsets.items[i] = location->sites.items[i].offset;
	array_sort_words(offsets.items, offsets.n);
	for (size_t i = 1; i < offsets.n && !error; i++)
		if (offsets.items[i] == offsets.items[i - 1])
			error = error_set(err, -ENOEXEC,
					  "%s: two probes would share the instruction at offset "
					  "0x%lx, and what they count would be wrong",
					  image->path, (unsigned long)offsets.items[i]);
	array_free(&offsets);
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
	if (!error)
		error = refuse_shared_places(location, image, err);
	if (error)
		location_free(location);
	return error;
}

int runtime_locate(struct elf_image *image, const struct runtime *only, struct location *location,
		   struct error *err)
{
	enum runtime_presence wanted =
		only && !only->is_layer ? RUNTIME_COMPANION : RUNTIME_PRESENT;

	for (size_t i = 0; runtimes[i]; i++) {
		int presence;

		if (only ? runtimes[i] != only : runtimes[i]->is_layer)
			continue;
		presence = runtimes[i]->detect(image, err);
		if (presence < 0)
			return presence;
		if (presence == (int)wanted)
			return locate_as(runtimes[i], image, location, err);
	}
	return error_set(err, -ENOENT, "%s: no runtime that opprobe knows is in it", image->path);
}

bool location_has(const struct location *location, enum site_role role)
{
	for (size_t i = 0; i < location->sites.n; i++)
		if (location->sites.items[i].role == role)
			return true;
	return false;
}

int location_add_site(struct location *location, const struct site *what, struct disassembler *dis,
		      const struct function *function, const struct insn *insn, struct error *err)
{
	struct elf_image *image = function->image;
	const uint8_t *code = elf_view(image, insn->address, insn->length);
	struct site *site;
	uint64_t offset;

	if (!code || !function_insn(function, insn->address) ||
	    !elf_offset(image, insn->address, &offset))
		return error_set(err, -ENOEXEC, "%s: there is no code at 0x%lx", image->path,
				 (unsigned long)insn->address);
	site = array_push(&location->sites);
	if (!site)
		return error_set(err, -ENOMEM, "out of memory");
	*site = *what;
	site->offset = offset;
	site->address = insn->address;
	site->length = insn->length;
	site->emulated = insn->probe == PROBE_EMULATED;
	site->stack_depth = function_stack_depth(function, insn);
	disassemble_text(dis, code, insn->length, insn->address, site->instruction,
			 sizeof(site->instruction));
	return 0;
}

bool location_add_landmark(struct location *location, const struct landmark *landmark)
{
	if (location->n_landmarks >= LANDMARKS_MAX)
		return false;
	location->landmarks[location->n_landmarks++] = *landmark;
	return true;
}

void location_drop_landmarks(struct location *location, enum landmark_kind kind)
{
	size_t kept = 0;

	for (size_t i = 0; i < location->n_landmarks; i++)
		if (location->landmarks[i].kind != kind)
			location->landmarks[kept++] = location->landmarks[i];
	location->n_landmarks = kept;
}

bool location_can_sample(const struct location *location, enum landmark_kind kind)
{
	for (size_t i = 0; i < location->n_landmarks; i++)
		if (location->landmarks[i].kind == kind)
			return true;
	return false;
}

void location_title(const struct location *location, char title[RUNTIME_TITLE])
{
	snprintf(title, RUNTIME_TITLE, "%s%s%s", location->runtime->title,
		 *location->version ? " " : "", location->version);
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
