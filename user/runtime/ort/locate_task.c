// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where threads take up parts of an operator's loops: the calls of the
 * lambdas in ThreadPool::ParallelForFixedBlockSizeScheduling() through
 * std::function<void(unsigned)>. Of a std::function (libstdc++:
 * { storage[16], manager, invoker }) the manager is known, because it answers
 * with the lambda's type_info; the invoker is what is stored beside it where
 * the std::function is made.
 */
#include <errno.h>

#include "locate.h"

#define REFS_MAX   16
#define REACH	   (256 << 10) /* the maker stands near: it is of the same source file */
#define INVOKER_AT 8	       /* from the manager */

/* The invoker that @host stores behind @manager; 0 if there is none, or two. */
static uint64_t stored_invoker(struct finder *finder, const struct code_range *host,
			       uint64_t manager)
{
	struct function function;
	uint64_t invoker = 0;
	bool unique = true;

	if (!function_decode(finder->image, finder->dis, host, &function, NULL)) {
		const struct function_part *part = &function.parts[0];

		flow_start(finder->flow, &function);
		for (size_t i = 0; i < part->n; i++) {
			const struct insn *insn = &part->items[i];

			flow_step(finder->flow, insn);
			if (insn->effect != EFFECT_STORE)
				continue;
			/* The store may be of either of them, or of both. */
			for (int64_t delta = -INVOKER_AT; delta <= 0; delta += INVOKER_AT) {
				uint64_t first, second;

				if (!flow_stored(finder->flow, insn, delta, &first) ||
				    first != manager ||
				    !flow_stored(finder->flow, insn, delta + INVOKER_AT, &second) ||
				    !elf_is_code(finder->image, second))
					continue;
				unique &= !invoker || invoker == second;
				invoker = second;
			}
		}
	}
	function_free(&function);
	return unique ? invoker : 0;
}

/* Code that has the address of @manager, in it or in a word that it loads. */
static size_t manager_refs(struct finder *finder, uint64_t manager, struct code_ref *refs)
{
	struct code_target targets[REFS_MAX + 1] = {{manager, manager}};
	uint64_t slots[REFS_MAX];
	size_t n = elf_pointers_to(finder->image, manager, slots, REFS_MAX), found;
	struct code_range near = {manager > REACH ? manager - REACH : 0, manager + REACH, 0};

	if (n > REFS_MAX)
		n = REFS_MAX;
	for (size_t i = 0; i < n; i++)
		targets[i + 1] = (struct code_target){slots[i], slots[i]};
	found = code_refs_find(finder->image, &near, targets, n + 1, refs, REFS_MAX);
	return found ? found : code_refs_find(finder->image, NULL, targets, n + 1, refs, REFS_MAX);
}

/* The function that calls the lambda of @manager, by whoever makes a std::function of it. */
static bool find_invoker(struct finder *finder, uint64_t manager, struct code_range *invoker)
{
	struct code_ref refs[REFS_MAX];
	size_t n = manager_refs(finder, manager, refs);
	uint64_t address = 0;

	for (size_t i = 0; i < n; i++) {
		struct code_range host;
		uint64_t stored;

		if (ort_function_of(finder, refs[i].from, &host, NULL))
			continue;
		stored = stored_invoker(finder, &host, manager);
		if (stored && address && stored != address)
			return false;
		if (stored)
			address = stored;
	}
	return address && !unwind_find(finder->image, address, invoker, NULL) &&
	       invoker->start == address;
}

static const char invoker_symbol[] =
	"_ZNSt17_Function_handlerIFvjEZN11onnxruntime11concurrency10ThreadPool35"
	"ParallelForFixedBlockSizeScheduling";

/* The lambda is called by way of what it was given: the one indirect call of its invoker. */
static void add_landmark(struct finder *finder, const struct function *function)
{
	struct landmark landmark = {.kind = LANDMARK_TASK,
				    .object = function->parts[0].range.start};
	size_t n = 0;

	for (size_t i = 0; i < function->parts[0].n; i++) {
		const struct insn *insn = &function->parts[0].items[i];

		if (insn->kind != INSN_CALL_INDIRECT)
			continue;
		landmark.address = insn->address + insn->length;
		n++;
	}
	if (n != 1 || !location_add_landmark(finder->location, &landmark))
		finder->lacks_tasks = true;
}

static int add_task_sites(struct finder *finder, const struct code_range *range)
{
	const struct abi *abi = &finder->image->arch->abi;
	struct site site = {.role = SITE_TASK_ENTER,
			    .program = "ort_task_enter",
			    .routes = ROUTE_RTTI,
			    .function = finder->n_functions++};
	const struct insn *exits[FUNCTION_EXITS_MAX], *entry = NULL;
	struct function function;
	size_t n = 0;
	int error = function_decode(finder->image, finder->dis, range, &function, NULL);

	if (ort_has_symbol(finder, invoker_symbol, range->start))
		site.routes |= ROUTE_SYMBOL;
	if (!error) {
		entry = function_entry(&function, 1ULL << abi->args[0] | 1ULL << abi->args[1]);
		n = function_exits(&function, entry, exits);
	}
	if (!error && (!entry || !n))
		error = -ENOEXEC;
	if (!error)
		error = ort_add_site(finder, site, &function, entry, NULL);
	site.role = SITE_TASK_EXIT;
	site.program = "ort_task_exit";
	for (size_t i = 0; i < n && !error; i++)
		error = ort_add_site(finder, site, &function, exits[i], NULL);
	if (!error)
		add_landmark(finder, &function);
	function_free(&function);
	return error;
}

void ort_locate_tasks(struct finder *finder)
{
	size_t before = finder->location->sites.n;
	int error = finder->n_tasks ? 0 : -ENOENT;

	for (size_t i = 0; i < finder->n_tasks && !error; i++) {
		const struct anchor_refs *managers = &finder->tasks[i];
		struct code_range invoker;
		size_t found = 0;

		for (size_t k = 0; k < managers->n && !error; k++) {
			if (!find_invoker(finder, managers->functions[k].start, &invoker))
				continue;
			error = add_task_sites(finder, &invoker);
			found++;
		}
		if (!found)
			error = -ENOENT;
	}
	/* Half of the tasks would be worse than none: work would be missing. */
	if (error || finder->lacks_tasks)
		location_drop_landmarks(finder->location, LANDMARK_TASK);
	if (error) {
		finder->location->sites.n = before;
		location_note(finder->location,
			      "the places where the thread pool takes up work could not be "
			      "proven in this build: only the calling thread is counted");
	}
}
