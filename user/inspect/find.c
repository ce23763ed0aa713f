// SPDX-License-Identifier: GPL-2.0-only
#include "find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "node, libc.so.6 and 17 more" */
static void list_names(const struct mapped_file *files, size_t n, char *text, size_t size)
{
	size_t used = 0, shown = 0;

	text[0] = '\0';
	for (; shown < n && shown < 12; shown++) {
		const char *slash = strrchr(files[shown].path, '/');
		const char *name = slash ? slash + 1 : files[shown].path;

		if (used + strlen(name) + 24 > size)
			break;
		used += snprintf(text + used, size - used, "%s%s", shown ? ", " : "", name);
	}
	if (shown < n)
		snprintf(text + used, size - used, " and %zu more", n - shown);
}

struct search {
	struct inspector *inspector;
	struct located *found, **end;
	struct error refusal; /* of the first file that could not be proven */
	int refused;
};

/*
 * Look into @file for any runtime, or for @only a layer or a companion of one; only running out of
 * memory, and being stopped, is a failure.
 */
static int look_into(struct search *search, const struct mapped_file *file,
		     const struct runtime *only)
{
	const struct wanted_file wanted = {.mapped = file};
	struct located *located = calloc(1, sizeof(*located));
	struct error why = {};
	const char *path;
	int error;

	if (!located)
		return -ENOMEM;
	error = inspector_locate(search->inspector, &wanted, file->path, only, &located->location,
				 &located->number, &path, &why);
	if (!error) {
		located->inspector = search->inspector;
		located->file = *file;
		snprintf(located->file.open_path, sizeof(located->file.open_path), "%s", path);
		*search->end = located;
		search->end = &located->next;
		return 0;
	}
	free(located);
	if (error == -EINTR) {
		search->refusal = why;
		return error;
	}
	if (error != -ENOENT && !search->refused) {
		search->refused = error;
		search->refusal = why;
	}
	return 0;
}

static bool is_found(const struct search *search, const struct runtime *runtime)
{
	for (const struct located *it = search->found; it; it = it->next)
		if (it->location.runtime == runtime)
			return true;
	return false;
}

/* Files that are a part of a runtime that was found in others: each once, whatever their number. */
static int look_for_companions(struct search *search, const struct mapped_file *files, size_t n)
{
	int error = 0;

	for (size_t i = 0; runtimes[i] && !error; i++) {
		if (!runtimes[i]->has_companions || !is_found(search, runtimes[i]))
			continue;
		for (size_t k = 0; k < n && !error; k++)
			error = look_into(search, &files[k], runtimes[i]);
	}
	return error;
}

/* "ONNX Runtime or ..." */
static void list_runtimes(char *text, size_t size)
{
	const struct runtime *last = NULL;
	size_t used = 0;

	for (size_t i = 0; runtimes[i]; i++)
		last = runtimes[i]->is_layer ? last : runtimes[i];
	for (size_t i = 0; runtimes[i] && used < size; i++)
		if (!runtimes[i]->is_layer)
			used += snprintf(text + used, size - used, "%s%s",
					 !used		       ? ""
					 : runtimes[i] != last ? ", "
							       : " or ",
					 runtimes[i]->title);
}

static int verdict(struct search *search, const struct process *process,
		   const struct mapped_file *files, size_t n, struct error *err)
{
	char names[512], wanted[128];

	if (search->found && search->refused)
		location_note(&search->found->location, search->refusal.text);
	if (search->found)
		return 0;
	if (search->refused) {
		if (err)
			*err = search->refusal;
		return search->refused;
	}
	list_names(files, n, names, sizeof(names));
	list_runtimes(wanted, sizeof(wanted));
	return error_set(
		err, -ENOENT,
		"there is no %s in process %d (looked at %zu files: %s): choose the process that "
		"runs the model, `opprobe ps` lists those, or use --wait if it will load it later",
		wanted, process->pid, n, names);
}

int runtime_find(const struct process *process, struct inspector *inspector, struct located **found,
		 struct error *err)
{
	struct search search = {.inspector = inspector, .end = &search.found};
	struct mapped_file *files = NULL;
	ssize_t n = process_mapped_files(process, &files, err);
	int error = 0;

	*found = NULL;
	if (n < 0)
		return n;
	inspector_allow(inspector, INSPECTOR_TIME);
	for (ssize_t i = 0; i < n && !error; i++)
		error = look_into(&search, &files[i], NULL);
	if (!error)
		error = look_for_companions(&search, files, n);
	if (error == -EINTR)
		error_set(err, error, "%s", search.refusal.text);
	else if (error)
		error_set(err, error, "out of memory");
	else
		error = verdict(&search, process, files, n, err);
	free(files);
	if (error)
		located_free(search.found);
	else
		*found = search.found;
	return error;
}

/* The place of the link behind the last of *@found. */
static struct located **end_of(struct located **found)
{
	while (*found)
		found = &(*found)->next;
	return found;
}

int runtime_find_layers(const struct process *process, struct inspector *inspector,
			struct located **found, struct error *err)
{
	struct located **end = end_of(found);
	struct search search = {.inspector = inspector, .end = &search.found};
	struct mapped_file *files = NULL;
	ssize_t n = process_mapped_files(process, &files, err);
	int error = 0;

	if (n < 0)
		return n;
	for (size_t i = 0; runtimes[i] && !error; i++)
		for (ssize_t k = 0; runtimes[i]->is_layer && k < n && !error; k++)
			error = look_into(&search, &files[k], runtimes[i]);
	free(files);
	if (error) {
		located_free(search.found);
		return error_set(err, error, "%s",
				 error == -EINTR ? search.refusal.text : "out of memory");
	}
	*end = search.found;
	if (search.refused && *found)
		location_note(&(*found)->location, search.refusal.text);
	return 0;
}

void located_free(struct located *found)
{
	while (found) {
		struct located *next = found->next;

		location_free(&found->location);
		free(found);
		found = next;
	}
}
