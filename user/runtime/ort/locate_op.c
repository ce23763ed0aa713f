// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where an operator begins and ends. From 1.14 on each runs in a call of
 * ExecuteKernel(); before, SequentialExecutor::Execute() and
 * ParallelExecutor::RunNodeAsync() call kernels in their own bodies.
 */
#include <errno.h>
#include <stdlib.h>

#include "locate.h"

#define COMPUTES_MAX   4
#define STORED_MAX     4
#define CANDIDATES_MAX 8
#define CONTEXT_REACH  24 /* instructions from the constructor to the vtable */
#define PUSH_BYTES     8  /* on x86-64, the one with a stack that calls push something to */

/* OpKernel: two destructors, then Compute(OpKernelContext *). */
#define SLOT_COMPUTE 2
/* Execute is behind the two destructors in both LaunchKernelStep and IExecutor. */
#define SLOT_EXECUTE 2

/* Calls of OpKernel::Compute, and of the constructor before it, in a function. */
struct computes {
	const struct insn *calls[COMPUTES_MAX];
	size_t n;
	const struct insn *contexts[COMPUTES_MAX];
	size_t n_contexts;
	/* Where the vtable of contexts is stored in the frame: so far below the stack pointer at
	 * the first instruction. -1: somewhere that is not known. */
	int64_t stored[STORED_MAX];
	size_t n_stored;
};

/*
 * Compute returns a Status in memory: the result's address goes first, the
 * kernel second and the context third. Other calls through slot 2 have their
 * object first (x86-64) or no address of a result (arm64).
 */
static bool is_compute(struct flow *flow, const struct insn *insn)
{
	const struct abi *abi = flow->abi;
	flow_id object;
	unsigned int slot;

	/* Where the address goes may also be scratch: then it holds the function. */
	if (insn->base == abi->result_address || !flow_virtual_call(flow, insn, &slot, &object) ||
	    slot != SLOT_COMPUTE)
		return false;
	return flow_equal(flow, object, flow_reg(flow, abi->first_after_result)) &&
	       !flow_equal(flow, object, flow_reg(flow, abi->result_address)) &&
	       flow_is_made(flow, abi->result_address) &&
	       flow_is_made(flow, abi->second_after_result);
}

/* Does @insn make the address of OpKernelContextInternal's vtable? */
static bool makes_context_vtable(const struct finder *finder, const struct insn *insn)
{
	uint64_t value;

	if (insn->immediate)
		return insn->target == finder->vtables[TYPE_CONTEXT];
	return insn->reg != REG_NONE && insn->effect != EFFECT_STORE &&
	       flow_is_const(finder->flow, flow_reg(finder->flow, insn->reg), &value) &&
	       value == finder->vtables[TYPE_CONTEXT];
}

/* May what @insn stores be the vtable? Not if it is known to be something else. */
static bool may_be_vtable(const struct finder *finder, const struct flow *path,
			  const struct insn *insn)
{
	uint64_t value = insn->target;

	if (!insn->immediate && insn->reg == REG_NONE)
		return false;
	if (!insn->immediate && !flow_is_const(path, flow_reg(path, insn->reg), &value))
		return !flow_is_result(path, insn->reg);
	return value == finder->vtables[TYPE_CONTEXT];
}

/*
 * Is @call the constructor of OpKernelContextInternal's base class: an object
 * whose vtable is stored right behind it? Its first arguments are the object,
 * the frame and the kernel. The vtable's address may have been made far away
 * from here.
 */
static bool constructs_context(struct finder *finder, const struct function *function,
			       const struct insn *call)
{
	struct flow *path = finder->path;
	const int *args = finder->flow->abi->args;
	const struct insn *insn = call;
	flow_id object;

	if (call->kind != INSN_CALL || call->label || !flow_is_made(finder->flow, args[0]) ||
	    !flow_is_made(finder->flow, args[1]) || !flow_is_made(finder->flow, args[2]))
		return false;
	*path = *finder->flow;
	object = flow_reg(path, args[0]);
	for (unsigned int i = 0; i < CONTEXT_REACH; i++) {
		if (insn != call && insn->effect == EFFECT_STORE &&
		    flow_points_to(path, insn, object))
			return may_be_vtable(finder, path, insn);
		flow_follow(path, insn);
		insn = insn->kind == INSN_JUMP ? function_insn(function, insn->target)
					       : function_next(function, insn);
		if (!insn || (insn->kind != INSN_PLAIN && insn->kind != INSN_JUMP))
			return false;
	}
	return false;
}

/* -- where the context is in the frame ------------------------------------------------- */

/*
 * How far the stack pointer is in the body of @function below where it was at the first
 * instruction, by the instructions up to the first branch: of functions whose frames are
 * described by the frame pointer.
 */
static int64_t depth_of_body(const struct function *function)
{
	const struct abi *abi = &function->image->arch->abi;
	const struct function_part *part = &function->parts[0];
	int64_t depth = 0;

	for (const struct insn *insn = part->items; insn < part->items + part->n; insn++) {
		if (insn->kind != INSN_PLAIN || (insn->label && insn != part->items))
			break;
		if (insn->effect == EFFECT_ADD && insn->base == abi->sp && insn->reg == abi->sp)
			depth -= insn->disp;
		else if (insn->written >> abi->sp & 1)
			depth += PUSH_BYTES;
	}
	return depth;
}

/* Do calls push the address that they return to? Else who is called saves it in its frame. */
static bool calls_push(const struct arch *arch)
{
	return arch->entry_offset == PUSH_BYTES;
}

static int64_t depth_of_stack(const struct function *function, const struct insn *insn)
{
	int32_t depth =
		unwind_stack_depth(function->image, &function->parts[0].range, insn->address);

	return depth >= 0 ? depth : depth_of_body(function);
}

/*
 * How far the frame record is below that, which the frame pointer points to in the whole
 * function; -1: it is not set once, from the stack pointer.
 */
static int64_t depth_of_record(const struct function *function)
{
	const struct abi *abi = &function->image->arch->abi;
	const struct function_part *part = &function->parts[0];
	int64_t depth = -1;

	for (const struct insn *insn = part->items; insn < part->items + part->n; insn++) {
		bool adds = insn->effect == EFFECT_ADD, copies = insn->effect == EFFECT_COPY;

		if ((!adds && !copies) || insn->reg != abi->fp || insn->base != abi->sp)
			continue;
		if (depth >= 0)
			return -1;
		depth = depth_of_stack(function, insn) - (adds ? insn->disp : 0);
	}
	return depth;
}

/* How far what @base, the stack or the frame pointer, is at @insn below that; -1: not known. */
static int64_t depth_of(const struct function *function, const struct insn *insn, int base)
{
	const struct abi *abi = &function->image->arch->abi;

	if (base == abi->sp)
		return depth_of_stack(function, insn);
	if (base != abi->fp)
		return -1;
	if (!calls_push(function->image->arch))
		return depth_of_record(function);
	/* Saved first of all, and set to where it was saved. */
	return unwind_stack_depth(function->image, &function->parts[0].range, insn->address) < 0
		       ? PUSH_BYTES
		       : -1;
}

/* Is what @insn stores the vtable of contexts, in the frame? Then there is one, or it is kept. */
static void find_context(struct finder *finder, const struct function *function,
			 const struct insn *insn, struct computes *computes)
{
	int64_t depth;
	uint64_t value;

	if (insn->effect != EFFECT_STORE || !finder->vtables[TYPE_CONTEXT] ||
	    !flow_stored(finder->flow, insn, 0, &value) || value != finder->vtables[TYPE_CONTEXT])
		return;
	depth = depth_of(function, insn, insn->base) - insn->disp;
	for (size_t i = 0; i < computes->n_stored; i++)
		if (computes->stored[i] == depth)
			return;
	if (depth >= 0 && computes->n_stored < STORED_MAX) {
		computes->stored[computes->n_stored++] = depth;
		return;
	}
	computes->stored[0] = -1;
	computes->n_stored = 1;
}

/* Is the address of the context made in @function, as a pointer to it is handed on? */
static bool makes_its_address(const struct function *function, int64_t context)
{
	const struct abi *abi = &function->image->arch->abi;
	const struct function_part *part = &function->parts[0];

	for (const struct insn *insn = part->items; insn < part->items + part->n; insn++)
		if (insn->effect == EFFECT_ADD &&
		    (insn->base == abi->sp || insn->base == abi->fp) && insn->reg != insn->base &&
		    depth_of(function, insn, insn->base) - insn->disp == context)
			return true;
	return false;
}

/*
 * How far below the stack pointer at the first instruction the context is: where its vtable is
 * stored, and of which the address is made. -1: that is not one place.
 */
static int64_t context_of(const struct function *function, const struct computes *computes)
{
	int64_t context = -1;

	for (size_t i = 0; i < computes->n_stored; i++) {
		if (computes->stored[i] < 0)
			return -1;
		if (!makes_its_address(function, computes->stored[i]))
			continue;
		if (context >= 0)
			return -1;
		context = computes->stored[i];
	}
	return context;
}

static void find_computes(struct finder *finder, const struct function *function,
			  struct computes *computes)
{
	const struct function_part *part = &function->parts[0];
	bool makes_context = false;

	*computes = (struct computes){.n = 0};
	flow_start(finder->flow, function);
	for (const struct insn *insn = part->items; insn < part->items + part->n; insn++) {
		if (is_compute(finder->flow, insn) && computes->n < COMPUTES_MAX)
			computes->calls[computes->n++] = insn;
		if (computes->n_contexts < COMPUTES_MAX &&
		    constructs_context(finder, function, insn))
			computes->contexts[computes->n_contexts++] = insn;
		flow_step(finder->flow, insn);
		find_context(finder, function, insn, computes);
		makes_context |= makes_context_vtable(finder, insn);
	}
	if (!makes_context)
		computes->n_contexts = 0;
}

/* -- the functions ---------------------------------------------------------------------- */

struct candidate {
	struct code_range range;
	unsigned int routes;
};

struct candidates {
	struct candidate list[CANDIDATES_MAX];
	size_t n;
	unsigned int routes; /* all that gave a candidate */
};

static void add_candidate(struct candidates *candidates, const struct code_range *range,
			  unsigned int route)
{
	candidates->routes |= route;
	for (size_t i = 0; i < candidates->n; i++) {
		if (candidates->list[i].range.start == range->start) {
			candidates->list[i].routes |= route;
			return;
		}
	}
	if (candidates->n < CANDIDATES_MAX)
		candidates->list[candidates->n++] = (struct candidate){*range, route};
}

static void add_symbol(struct finder *finder, struct candidates *candidates, const char *prefix)
{
	struct code_range range;
	uint64_t address;

	if (ort_symbol(finder, prefix, &address) &&
	    !unwind_find(finder->image, address, &range, NULL) && range.start == address)
		add_candidate(candidates, &range, ROUTE_SYMBOL);
}

/* The one on which all routes agree; -ENOEXEC if there is none. */
static int agreed(struct finder *finder, const struct candidates *candidates, const char *what,
		  struct candidate *result, struct error *err)
{
	if (candidates->n == 1) {
		*result = candidates->list[0];
		return 0;
	}
	if (!candidates->n)
		return error_set(err, -ENOEXEC,
				 "%s: it contains ONNX Runtime, but %s cannot be found in it; a "
				 "file with symbols, or its debug file, would help",
				 finder->image->path, what);
	return error_set(err, -ENOEXEC,
			 "%s: it contains ONNX Runtime, but the ways to %s lead to %zu places "
			 "(0x%lx, 0x%lx, ...), and a wrong probe is worse than none",
			 finder->image->path, what, candidates->n,
			 (unsigned long)candidates->list[0].range.start,
			 (unsigned long)candidates->list[1].range.start);
}

static bool has_compute(struct finder *finder, const struct code_range *range)
{
	struct computes computes = {.n = 0};
	struct function function;

	if (!function_decode(finder->image, finder->dis, range, &function, NULL))
		find_computes(finder, &function, &computes);
	function_free(&function);
	return computes.n > 0;
}

/* The functions that @range calls and that run a kernel. */
static void add_callees(struct finder *finder, struct candidates *candidates,
			const struct code_range *range)
{
	struct function function;

	if (function_decode(finder->image, finder->dis, range, &function, NULL)) {
		function_free(&function);
		return;
	}
	for (size_t i = 0; i < function.parts[0].n; i++) {
		const struct insn *insn = &function.parts[0].items[i];
		struct code_range callee;
		uint64_t target;

		if (insn->kind != INSN_CALL && insn->kind != INSN_JUMP)
			continue;
		target = code_callee(finder->image, insn->target);
		if (!unwind_find(finder->image, target, &callee, NULL) && callee.start == target &&
		    has_compute(finder, &callee))
			add_candidate(candidates, &callee, ROUTE_RTTI);
	}
	function_free(&function);
}

/* -- sites ------------------------------------------------------------------------------ */

/*
 * A place that is passed after each return of Compute. In a function that
 * runs one operator it does not matter how else it is reached, for the
 * operator has begun; in one that runs @several it must not be reached by
 * going around a call of Compute.
 */
static int add_exits(struct finder *finder, const struct function *function,
		     const struct computes *computes, struct site site, bool several,
		     struct error *err)
{
	site.role = SITE_OP_EXIT;
	site.program = "ort_exit";
	for (size_t i = 0; i < computes->n; i++) {
		const struct insn *exit = function_after(function, computes->calls[i]);
		int error;

		if (!exit || (several && function_bypassed(function, computes->calls[i], exit)))
			return error_set(
				err, -ENOEXEC,
				"%s: no safe place for a probe behind the kernel's call at 0x%lx",
				finder->image->path, (unsigned long)computes->calls[i]->address);
		error = ort_add_site(finder, site, function, exit, err);
		if (error)
			return error;
	}
	return 0;
}

/*
 * Where the calls of Compute return to, and how far above that place on the stack the context
 * is. A call leaves the address that it returns to right below where the stack pointer was; or
 * else it is in the frame record of the one that is called, with the address of the caller's.
 */
static void add_landmarks(struct finder *finder, const struct function *function,
			  const struct computes *computes)
{
	const struct arch *arch = finder->image->arch;
	int64_t context = context_of(function, computes);

	for (size_t i = 0; i < computes->n; i++) {
		const struct insn *call = computes->calls[i];
		int64_t place = calls_push(arch) ? depth_of_stack(function, call) + PUSH_BYTES
						 : depth_of_record(function);
		int64_t distance = place - context;
		const struct landmark landmark = {
			.kind = LANDMARK_OPERATOR,
			.distance = (int32_t)distance,
			.address = call->address + call->length,
			.object = finder->vtables[TYPE_CONTEXT],
		};

		if (context < 0 || place < 0 || !distance || distance % 8 ||
		    llabs(distance) > LANDMARK_DISTANCE_MAX ||
		    !location_add_landmark(finder->location, &landmark))
			finder->lacks_operators = true;
	}
}

static int add_by_index(struct finder *finder, const struct candidate *found, struct error *err)
{
	const struct abi *abi = &finder->image->arch->abi;
	struct site site = {.role = SITE_OP_ENTER,
			    .program = "ort_enter_index",
			    .routes = found->routes,
			    .function = finder->n_functions++};
	struct computes computes = {.n = 0};
	struct function function;
	const struct insn *entry;
	uint64_t keep = 1ULL << abi->args[0] | 1ULL << abi->args[1] | 1ULL << abi->args[2];
	int error = function_decode(finder->image, finder->dis, &found->range, &function, err);

	if (error)
		goto out;
	find_computes(finder, &function, &computes);
	site.value = site.function;
	entry = function_entry(&function, keep);
	if (!computes.n || !entry) {
		error = error_set(err, -ENOEXEC,
				  "%s: the function at 0x%lx should run a kernel, but %s",
				  finder->image->path, (unsigned long)found->range.start,
				  entry ? "does not call one" : "its entry is a loop");
		goto out;
	}
	error = ort_add_site(finder, site, &function, entry, err);
	if (!error)
		error = add_exits(finder, &function, &computes, site, false, err);
	if (!error)
		add_landmarks(finder, &function, &computes);
out:
	function_free(&function);
	return error;
}

static int add_by_kernel(struct finder *finder, const struct candidate *found, struct error *err)
{
	struct site site = {.role = SITE_OP_ENTER,
			    .program = ORT_ENTER_KERNEL,
			    .routes = found->routes,
			    .function = finder->n_functions++};
	struct computes computes = {.n = 0};
	struct function function;
	int error = function_decode(finder->image, finder->dis, &found->range, &function, err);

	if (error)
		goto out;
	find_computes(finder, &function, &computes);
	site.value = site.function;
	if (site.value >= ORT_FUNCTIONS_MAX) {
		error = error_set(err, -ENOEXEC,
				  "%s: more than %d functions run kernels, and what they work on "
				  "could not be told apart",
				  finder->image->path, ORT_FUNCTIONS_MAX);
		goto out;
	}
	if (computes.n != 1 || computes.n_contexts != 1) {
		error = error_set(
			err, -ENOEXEC,
			"%s: the function at 0x%lx should make a context and run a kernel "
			"with it, but has %zu and %zu such calls",
			finder->image->path, (unsigned long)found->range.start, computes.n_contexts,
			computes.n);
		goto out;
	}
	error = ort_add_site(finder, site, &function, computes.contexts[0], err);
	if (!error)
		error = add_exits(finder, &function, &computes, site, true, err);
	if (!error)
		add_landmarks(finder, &function, &computes);
out:
	function_free(&function);
	return error;
}

/* -- the two shapes of the executor -------------------------------------------------------- */

/*
 * Link-time optimisation may put ExecuteKernel() into its callers. What is
 * left of it are the calls of kernels: there is one wherever their failure is
 * reported. All of them, or none, and nothing else may look like one.
 */
static int locate_inlined(struct finder *finder, const struct candidates *candidates)
{
	const struct anchor_refs *failed = ort_functions(finder, ANCHOR_NODE_FAILED);
	int error = failed->n ? 0 : -ENOEXEC;

	for (size_t i = 0; i < candidates->n; i++)
		if (!ort_refers(finder, ANCHOR_NODE_FAILED, &candidates->list[i].range))
			error = -ENOEXEC;
	for (size_t i = 0; i < failed->n && !error; i++) {
		struct candidate found = {failed->functions[i], ROUTE_STRING};

		error = add_by_kernel(finder, &found, NULL);
	}
	if (error) {
		finder->location->sites.n = 0;
		finder->location->n_landmarks = 0;
	}
	return error;
}

static int locate_execute_kernel(struct finder *finder, struct error *err)
{
	const struct anchor_refs *string = ort_functions(finder, ANCHOR_EXECUTE_KERNEL);
	struct candidates candidates = {.n = 0};
	struct code_range execute = {.start = 0};
	struct candidate found = {.routes = 0};
	int error;

	add_symbol(finder, &candidates, "_ZN11onnxruntime13ExecuteKernelE");
	for (size_t i = 0; i < string->n; i++)
		add_candidate(&candidates, &string->functions[i], ROUTE_STRING);
	if (ort_in_slot(finder, TYPE_LAUNCH_STEP, SLOT_EXECUTE, &execute))
		add_callees(finder, &candidates, &execute);
	error = agreed(finder, &candidates, "ExecuteKernel()", &found, err);
	if (!error && found.range.start != execute.start)
		return add_by_index(finder, &found, err);
	if (!locate_inlined(finder, &candidates))
		return 0;
	return error ? error
		     : error_set(
			       err, -ENOEXEC,
			       "%s: it contains ONNX Runtime, but ExecuteKernel() is not a function "
			       "of its own in it, and the calls of kernels could not be proven",
			       finder->image->path);
}

static int locate_sequential(struct finder *finder, struct candidate *found, struct error *err)
{
	const struct anchor_refs *string = ort_functions(finder, ANCHOR_SEQUENTIAL);
	struct candidates candidates = {.n = 0};
	struct code_range execute;

	add_symbol(finder, &candidates, "_ZN11onnxruntime18SequentialExecutor7ExecuteE");
	for (size_t i = 0; i < string->n; i++)
		if (ort_refers(finder, ANCHOR_NODE_FAILED, &string->functions[i]))
			add_candidate(&candidates, &string->functions[i], ROUTE_STRING);
	if (ort_in_slot(finder, TYPE_SEQUENTIAL_EXECUTOR, SLOT_EXECUTE, &execute))
		add_candidate(&candidates, &execute, ROUTE_RTTI);
	return agreed(finder, &candidates, "SequentialExecutor::Execute()", found, err);
}

/* Up to 1.13: kernels are called where their failure is reported, in two functions. */
static int locate_executors(struct finder *finder, struct error *err)
{
	const struct anchor_refs *failed = ort_functions(finder, ANCHOR_NODE_FAILED);
	struct candidate sequential = {.routes = 0}, other;
	int error = locate_sequential(finder, &sequential, err);

	if (!error)
		error = add_by_kernel(finder, &sequential, err);
	for (size_t i = 0; i < failed->n && !error; i++) {
		if (failed->functions[i].start == sequential.range.start)
			continue;
		other = (struct candidate){failed->functions[i], ROUTE_STRING};
		error = add_by_kernel(finder, &other, err);
	}
	return error;
}

int ort_locate_operators(struct finder *finder, struct error *err)
{
	if (finder->vtables[TYPE_LAUNCH_STEP] || finder->anchors[ANCHOR_EXECUTE_KERNEL].n)
		return locate_execute_kernel(finder, err);
	return locate_executors(finder, err);
}
