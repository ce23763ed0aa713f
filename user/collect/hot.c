// SPDX-License-Identifier: GPL-2.0-only
#include "hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../inspect/remote.h"
#include "state.h"

#define LOOK_AGAIN_NS UINT64_C(1000000000) /* what a process maps is not read more often */

/* What is known of the code of a file. */
struct hot_code {
	uint64_t offset, size; /* in the file, by the first of which they are in order */
	uint32_t function;     /* of the capture */
};

struct hot_file {
	struct mapped_file mapped;
	uint32_t asked;			 /* the inspector's number of it, or FILE_HANDED_OVER */
	uint32_t file;			 /* of the capture, or CAPTURE_UNKNOWN: not told yet */
	ARRAY_OF(struct hot_code) known; /* by offset */
};

struct hot_process {
	const struct member *member;
	uint64_t mapped, looked;	   /* as of samples, when its files were listed; when */
	ARRAY_OF(struct hot_file *) files; /* by address */
};

struct hot {
	struct collector *collector;
	ARRAY_OF(struct hot_process *) processes;
	uint32_t n_files, n_functions; /* numbers given so far */
};

struct hot *hot_new(struct collector *collector)
{
	struct hot *hot = calloc(1, sizeof(*hot));

	if (hot)
		hot->collector = collector;
	return hot;
}

static void free_file(struct hot_file *file)
{
	array_free(&file->known);
	free(file);
}

static void free_process(struct hot_process *process)
{
	for (size_t i = 0; i < process->files.n; i++)
		if (process->files.items[i])
			free_file(process->files.items[i]);
	array_free(&process->files);
	free(process);
}

void hot_free(struct hot *hot)
{
	if (!hot)
		return;
	for (size_t i = 0; i < hot->processes.n; i++)
		free_process(hot->processes.items[i]);
	array_free(&hot->processes);
	free(hot);
}

void hot_forget(struct hot *hot, const struct member *member)
{
	for (size_t i = 0; i < hot->processes.n; i++) {
		if (hot->processes.items[i]->member != member)
			continue;
		free_process(hot->processes.items[i]);
		hot->processes.items[i] = hot->processes.items[--hot->processes.n];
		return;
	}
}

/* -- what a process maps ------------------------------------------------------------------- */

static bool is_same(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->device == b->device && a->inode == b->inode && !strcmp(a->path, b->path);
}

/* Take the file that is mapped as @mapped out of those of @from, or make it. NULL without memory.
 */
static struct hot_file *take_file(struct hot_process *from, const struct mapped_file *mapped)
{
	struct hot_file *file;

	for (size_t i = 0; i < from->files.n; i++) {
		file = from->files.items[i];
		if (!file || !is_same(&file->mapped, mapped))
			continue;
		from->files.items[i] = NULL;
		return file;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->mapped = *mapped;
	file->asked = FILE_HANDED_OVER;
	file->file = CAPTURE_UNKNOWN;
	return file;
}

static void exchange_files(struct hot_process *a, struct hot_process *b)
{
	struct hot_process c = *a;

	a->files = b->files;
	b->files = c.files;
}

/* List the files of @process; those that are mapped as before stay. */
static void look_at_files(struct hot_process *process)
{
	struct hot_process *now = calloc(1, sizeof(*now));
	struct mapped_file *mapped = NULL;
	ssize_t n = now ? process_mapped_files(process->member->process, &mapped, NULL) : -ENOMEM;

	/* If it is gone: what was known of it is as good as before. */
	if (n >= 0 && !array_reserve(&now->files, n)) {
		for (ssize_t i = 0; i < n; i++) {
			struct hot_file *file = take_file(process, &mapped[i]);

			if (file)
				now->files.items[now->files.n++] = file;
		}
		exchange_files(now, process);
	}
	free(mapped);
	if (now)
		free_process(now);
}

static struct hot_process *process_of(struct hot *hot, const struct member *member)
{
	struct hot_process *process, **added;

	for (size_t i = 0; i < hot->processes.n; i++)
		if (hot->processes.items[i]->member == member)
			return hot->processes.items[i];
	process = calloc(1, sizeof(*process));
	added = process ? array_push(&hot->processes) : NULL;
	if (!added) {
		free(process);
		return NULL;
	}
	process->member = member;
	*added = process;
	return process;
}

/* The last file whose code begins before @address. */
static struct hot_file *file_before(const struct hot_process *process, uint64_t address)
{
	size_t low = 0, high = process->files.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->files.items[middle]->mapped.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? process->files.items[low - 1] : NULL;
}

/* See what @process maps, which are @mapped pages of code, if that is not known. */
static void keep_up(struct hot_process *process, uint64_t mapped)
{
	uint64_t now;

	if (process->looked && process->mapped == mapped)
		return;
	now = clock_ns();
	if (!process->looked || now - process->looked >= LOOK_AGAIN_NS) {
		look_at_files(process);
		process->looked = now;
		process->mapped = mapped;
	}
}

/* The file that has the code at @ip, of a process that maps @mapped pages of code. */
static struct hot_file *file_at(struct hot_process *process, uint64_t ip, uint64_t mapped)
{
	struct hot_file *file;

	keep_up(process, mapped);
	file = file_before(process, ip);
	return file && ip < file->mapped.end ? file : NULL;
}

/* Where it has what is at @address: of data behind the code, as if the file were as memory is. */
static uint64_t offset_of(const struct hot_file *file, uint64_t address)
{
	return address - file->mapped.start + file->mapped.offset;
}

/* -- what there is in a file ----------------------------------------------------------------- */

static const struct hot_code *find_known(const struct hot_file *file, uint64_t offset)
{
	size_t n = array_up_to(&file->known, offset);
	const struct hot_code *it = n ? &file->known.items[n - 1] : NULL;

	return it && offset - it->offset < it->size ? it : NULL;
}

/* Functions may lie in others, where files say so: then it may be known, and not be found. */
static const struct hot_code *find_same(const struct hot_file *file,
					const struct function_at *function)
{
	for (size_t n = array_up_to(&file->known, function->offset); n--;) {
		const struct hot_code *it = &file->known.items[n];

		if (it->offset != function->offset)
			break;
		if (it->size == function->size)
			return it;
	}
	return NULL;
}

static const struct hot_code *add_known(struct hot_file *file, const struct hot_code *known)
{
	size_t at = array_up_to(&file->known, known->offset);

	if (!array_push(&file->known))
		return NULL;
	memmove(&file->known.items[at + 1], &file->known.items[at],
		(file->known.n - 1 - at) * sizeof(*known));
	file->known.items[at] = *known;
	return &file->known.items[at];
}

static void tell_file(struct hot *hot, struct hot_file *file, const char *build_id)
{
	const struct capture_record record = {
		.type = CAPTURE_FILE,
		.file = {.file = hot->n_files, .path = file->mapped.path, .build_id = build_id},
	};

	if (file->file != CAPTURE_UNKNOWN)
		return;
	file->file = hot->n_files++;
	collector_send(hot->collector, &record);
}

/* Tell of what @answer says is in @file, which is found from now on. NULL without memory. */
static const struct hot_code *tell_function(struct hot *hot, struct hot_file *file,
					    const struct function_answer *answer)
{
	const struct function_at *function = &answer->function;
	const struct hot_code known = {function->offset, function->size ?: UINT64_MAX,
				       hot->n_functions};
	const struct capture_record record = {
		.type = CAPTURE_FUNCTION,
		.function = {.function = hot->n_functions,
			     .file = file->file,
			     .bounded = function->bounded,
			     .offset = function->offset,
			     .address = function->address,
			     .size = function->size,
			     .symbol = function->symbol},
	};

	hot->n_functions++;
	collector_send(hot->collector, &record);
	return add_known(file, &known);
}

/* What is at @offset of @file, which is not known yet? NULL where no more is to be told. */
static const struct hot_code *ask(struct hot *hot, const struct hot_process *process,
				  struct hot_file *file, uint64_t offset, bool stub)
{
	struct function_answer answer;
	const struct hot_code *same;

	if (hot->n_files >= CAPTURE_IDS_MAX || hot->n_functions >= CAPTURE_IDS_MAX)
		return NULL;
	/* Where a file cannot be looked into, all of it is one. */
	if (remote_function(process->member->located, &file->mapped, &file->asked, offset,
			    stub ? FUNCTION_STUB : FUNCTION_CODE, &answer)) {
		answer = (struct function_answer){};
		file->known.n = 0;
	}
	same = find_same(file, &answer.function);
	if (same)
		return same;
	tell_file(hot, file, answer.build_id);
	return tell_function(hot, file, &answer);
}

uint32_t hot_function(struct hot *hot, const struct member *member, uint64_t address,
		      uint64_t mapped, bool stub, uint32_t *at)
{
	struct hot_process *process = process_of(hot, member);
	struct hot_file *file = process ? file_at(process, address, mapped) : NULL;
	const struct hot_code *known;
	uint64_t offset;

	*at = 0;
	if (!file)
		return CAPTURE_UNKNOWN;
	offset = offset_of(file, address);
	known = find_known(file, offset) ?: ask(hot, process, file, offset, stub);
	if (!known || offset - known->offset > UINT32_MAX)
		return CAPTURE_UNKNOWN;
	*at = offset - known->offset;
	return known->function;
}

/*
 * What begins at @offset of @file, which is behind the code: as the loader has all of a file in
 * one piece, it is in no other.
 */
static uint32_t ask_for_data(struct hot *hot, const struct hot_process *process,
			     struct hot_file *file, uint64_t offset)
{
	struct hot_code known = {offset, 1, CAPTURE_UNKNOWN};
	struct function_answer answer;

	if (!remote_function(process->member->located, &file->mapped, &file->asked, offset,
			     FUNCTION_DATA, &answer) &&
	    *answer.function.symbol)
		known.function = hot_kernel(hot, answer.function.symbol);
	add_known(file, &known);
	return known.function;
}

uint32_t hot_data(struct hot *hot, const struct member *member, uint64_t address, uint64_t mapped)
{
	struct hot_process *process = process_of(hot, member);
	const struct hot_code *known;
	struct hot_file *file;
	uint64_t offset;

	if (!process)
		return CAPTURE_UNKNOWN;
	keep_up(process, mapped);
	file = file_before(process, address);
	if (!file || address < file->mapped.end)
		return CAPTURE_UNKNOWN;
	offset = offset_of(file, address);
	known = find_known(file, offset);
	return known && known->size == 1 ? known->function
					 : ask_for_data(hot, process, file, offset);
}

uint32_t hot_kernel(struct hot *hot, const char *symbol)
{
	const struct capture_record record = {
		.type = CAPTURE_FUNCTION,
		.function = {.function = hot->n_functions,
			     .file = CAPTURE_UNKNOWN,
			     .symbol = symbol},
	};

	if (hot->n_functions >= CAPTURE_IDS_MAX)
		return CAPTURE_UNKNOWN;
	collector_send(hot->collector, &record);
	return hot->n_functions++;
}
