// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fixed points in a stripped file: strings that the runtime prints, names of
 * its classes, and the code that refers to them.
 */
#include <errno.h>
#include <string.h>

#include "locate.h"
#include "../../target/rtti.h"

#define RANGES_MAX	16
#define OCCURRENCES_MAX 8
#define REFS_MAX	256

static const char *const anchor_texts[ANCHORS] = {
	[ANCHOR_EXECUTE_KERNEL] = "onnxruntime::ExecuteKernel(",
	[ANCHOR_NODE_FAILED] = "Non-zero status code returned while running ",
	[ANCHOR_SEQUENTIAL] = "SequentialExecutor::Execute",
	[ANCHOR_RUN_TAG] = "Running with tag: ",
	[ANCHOR_RUN_SIGNATURE] = "onnxruntime::InferenceSession::Run(",
	[ANCHOR_API_VERSION] = "The requested API version [",
	[ANCHOR_LOADED] = "This session already contains a loaded model.",
	[ANCHOR_INITIALIZING] = "Initializing session.",
	[ANCHOR_INITIALIZED] = "Session successfully initialized.",
};

static const char *const type_names[TYPES] = {
	[TYPE_LAUNCH_STEP] = "N11onnxruntime16LaunchKernelStepE",
	[TYPE_SEQUENTIAL_EXECUTOR] = "N11onnxruntime18SequentialExecutorE",
	[TYPE_CONTEXT] = "N11onnxruntime23OpKernelContextInternalE",
	[TYPE_SESSION] = "N11onnxruntime16InferenceSessionE",
	[TYPE_ARENA] = "N11onnxruntime8BFCArenaE",
	[TYPE_CPU_ALLOCATOR] = "N11onnxruntime12CPUAllocatorE",
};

/*
 * The lambdas of ThreadPool::ParallelForFixedBlockSizeScheduling that take a
 * task's number: "...EUljE_", "...EUljE0_"; clang counts them, "...E3$_0".
 */
static const char task_name[] = "10ThreadPool35ParallelForFixedBlockSizeScheduling";

/* Addresses of @text in read-only data. */
static size_t find_text(const struct elf_image *image, const char *text, size_t length,
			uint64_t *addresses, size_t max)
{
	struct elf_range ranges[RANGES_MAX];
	size_t n_ranges = elf_constant_ranges(image, ranges, RANGES_MAX), n = 0;

	for (size_t i = 0; i < n_ranges; i++) {
		uint64_t at = ranges[i].address;

		for (; n < max && elf_find(image, &ranges[i], text, length, &at); at++)
			addresses[n++] = at;
	}
	return n;
}

bool ort_has_anchors(const struct elf_image *image)
{
	static const char *const texts[] = {"Non-zero status code returned while running ",
					    "N11onnxruntime16InferenceSessionE"};
	struct elf_range ranges[RANGES_MAX];
	size_t n = elf_constant_ranges(image, ranges, RANGES_MAX);
	uint64_t address;
	bool found = false;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && !found; i++)
		found = find_text(image, texts[i], strlen(texts[i]), &address, 1);
	for (size_t i = 0; i < n; i++)
		elf_forget(image, ranges[i].offset, ranges[i].size);
	return found;
}

/* The start of the string that holds @address. */
static uint64_t string_start(const struct elf_image *image, uint64_t address, unsigned int reach)
{
	for (; reach--; address--) {
		const char *before = elf_view(image, address - 1, 1);

		if (!before || !*before)
			break;
	}
	return address;
}

/* Everything to look for in the code, and where the answers go. */
struct wanted {
	struct code_target targets[CODE_TARGETS_MAX];
	struct anchor_refs *refs[CODE_TARGETS_MAX];
	size_t n;
};

static void want(struct wanted *wanted, uint64_t low, uint64_t high, struct anchor_refs *refs)
{
	if (wanted->n == CODE_TARGETS_MAX)
		return;
	wanted->targets[wanted->n] = (struct code_target){low, high};
	wanted->refs[wanted->n++] = refs;
}

/* @address itself, and the words that hold it: code may load it from there. */
static void want_object(const struct finder *finder, struct wanted *wanted, uint64_t address,
			struct anchor_refs *refs)
{
	uint64_t slots[OCCURRENCES_MAX];
	size_t n = elf_pointers_to(finder->image, address, slots, OCCURRENCES_MAX);

	want(wanted, address, address, refs);
	for (size_t i = 0; i < n && i < OCCURRENCES_MAX; i++)
		want(wanted, slots[i], slots[i], refs);
}

static void find_strings(struct finder *finder, struct wanted *wanted)
{
	uint64_t addresses[OCCURRENCES_MAX];

	for (size_t i = 0; i < ANCHORS; i++) {
		size_t n = find_text(finder->image, anchor_texts[i], strlen(anchor_texts[i]),
				     addresses, OCCURRENCES_MAX);

		/* A longer string may have it at its end or in its middle. */
		for (size_t k = 0; k < n; k++)
			want(wanted, string_start(finder->image, addresses[k], 64), addresses[k],
			     &finder->anchors[i]);
	}
}

static void find_types(struct finder *finder)
{
	uint64_t names[OCCURRENCES_MAX], typeinfos[OCCURRENCES_MAX];

	for (size_t i = 0; i < TYPES; i++) {
		size_t n = find_text(finder->image, type_names[i], strlen(type_names[i]) + 1, names,
				     OCCURRENCES_MAX);

		for (size_t k = 0; k < n && !finder->vtables[i]; k++) {
			size_t found =
				rtti_typeinfos(finder->image, names[k], typeinfos, OCCURRENCES_MAX);

			for (size_t j = 0; j < found; j++)
				if (rtti_vtable(finder->image, typeinfos[j], &finder->vtables[i]))
					break;
		}
	}
}

static bool is_task_name(const struct elf_image *image, uint64_t address)
{
	const char *text = elf_string(image, address, 1024), *suffix;

	if (!text)
		return false;
	suffix = strstr(text, "E3$_");
	if (suffix)
		return suffix[strlen("E3$_") + strspn(suffix + strlen("E3$_"), "0123456789")] ==
		       '\0';
	suffix = strstr(text, "EUljE");
	if (!suffix)
		return false;
	suffix += strlen("EUljE");
	suffix += strspn(suffix, "0123456789");
	return !strcmp(suffix, "_");
}

static void find_tasks(struct finder *finder, struct wanted *wanted)
{
	uint64_t names[2 * OCCURRENCES_MAX], typeinfos[OCCURRENCES_MAX];
	size_t n =
		find_text(finder->image, task_name, strlen(task_name), names, 2 * OCCURRENCES_MAX);

	for (size_t i = 0; i < n && finder->n_tasks < TASKS_MAX; i++) {
		uint64_t name = string_start(finder->image, names[i], 512);
		size_t found;

		if (!is_task_name(finder->image, names[i]))
			continue;
		found = rtti_typeinfos(finder->image, name, typeinfos, OCCURRENCES_MAX);
		if (!found)
			continue;
		for (size_t k = 0; k < found; k++)
			want_object(finder, wanted, typeinfos[k], &finder->tasks[finder->n_tasks]);
		finder->n_tasks++;
	}
}

static void add_function(struct anchor_refs *refs, const struct code_range *range)
{
	for (size_t i = 0; i < refs->n; i++)
		if (refs->functions[i].start == range->start)
			return;
	if (refs->n < FUNCTIONS_MAX)
		refs->functions[refs->n++] = *range;
}

int ort_find_anchors(struct finder *finder, struct error *err)
{
	struct wanted wanted = {.n = 0};
	struct code_ref refs[REFS_MAX];
	struct elf_range ranges[RANGES_MAX];
	size_t n;

	find_strings(finder, &wanted);
	find_types(finder);
	find_tasks(finder, &wanted);
	n = elf_constant_ranges(finder->image, ranges, RANGES_MAX);
	for (size_t i = 0; i < n; i++)
		elf_forget(finder->image, ranges[i].offset, ranges[i].size);
	n = code_refs_find(finder->image, NULL, wanted.targets, wanted.n, refs, REFS_MAX);
	for (size_t i = 0; i < n; i++) {
		struct code_range range;
		int error = unwind_find(finder->image, refs[i].from, &range, err);

		if (error && error != -ENOENT)
			return error;
		if (!error)
			add_function(wanted.refs[refs[i].target], &range);
	}
	return 0;
}

const struct anchor_refs *ort_functions(struct finder *finder, enum anchor anchor)
{
	struct anchor_refs *refs = &finder->anchors[anchor];
	struct anchor_refs parts = *refs;

	if (refs->resolved)
		return refs;
	*refs = (struct anchor_refs){.resolved = true};
	for (size_t i = 0; i < parts.n; i++) {
		struct code_range range;

		if (!ort_function_of(finder, parts.functions[i].start, &range, NULL))
			add_function(refs, &range);
	}
	return refs;
}

bool ort_refers(struct finder *finder, enum anchor anchor, const struct code_range *range)
{
	const struct anchor_refs *refs = ort_functions(finder, anchor);

	for (size_t i = 0; i < refs->n; i++)
		if (refs->functions[i].start == range->start)
			return true;
	return false;
}
