// SPDX-License-Identifier: GPL-2.0-only
/*
 * The libraries that programs call to have GPUs do something: a layer below all runtimes, found by
 * the dynamic symbols that programs link to. Whatever kind of call has a function without a place
 * for a probe is not told at all: some of them would be a number that is too low.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../../bpf/gpu/layout.h"
#include "../../target/arch.h"
#include "../../target/elf_image.h"
#include "../../target/insn_function.h"
#include "../runtime.h"
#include "names.h"
#include "stubs.h"

#define LAUNCH(form, flags) SITE_GPU_LAUNCH, "gpu_launch", LAUNCH_KERNEL, form, flags
#define GRAPH(flags)	    SITE_GPU_LAUNCH, "gpu_launch", LAUNCH_GRAPH, GPU_EXEC, flags
#define COPY(form, flags)   SITE_GPU_COPY, "gpu_copy", LAUNCH_COPY, form, flags
#define WAIT(what, flags)                                                                          \
	SITE_GPU_WAIT_ENTER, "gpu_wait", LAUNCH_WAIT, WAIT_##what, (flags) | GPU_WAITS
#define UNLOAD(flags) SITE_GPU_UNLOAD, "gpu_unload", 0, GPU_EXEC, (flags) | GPU_DRIVER
#define DRIVER	      GPU_DRIVER
#define WAITS	      GPU_WAITS
#define HIP	      GPU_HIP

/*
 * Arguments as in cuda_runtime_api.h and cuda.h of CUDA 12.4, batches as in 12.8 and 13.0, which
 * differ in what follows their sizes; hip_runtime_api.h and hip_ext.h of ROCm 5.7 and 7.0. Of
 * CUDA's there are twins for programs whose default stream is the thread's own: "_ptsz", or
 * "_ptds" where it is not an argument.
 */
static const struct gpu_function {
	const char *name;
	enum site_role role;
	const char *program;
	uint32_t kind, form, flags;
	bool twins;
} functions[] = {
	{"cudaLaunchKernel", LAUNCH(GPU_STUB, 0), true},
	{"cudaLaunchCooperativeKernel", LAUNCH(GPU_STUB, 0), true},
	{"cudaLaunchKernelExC", LAUNCH(GPU_CONFIG, 0), true},
	{"cudaGraphLaunch", GRAPH(0), true},
	{"cudaMemcpyAsync", COPY(GPU_COUNT2, 0), true},
	{"cudaMemcpyToSymbolAsync", COPY(GPU_COUNT2, 0), true},
	{"cudaMemcpyFromSymbolAsync", COPY(GPU_COUNT2, 0), true},
	{"cudaMemcpyPeerAsync", COPY(GPU_COUNT4, 0), false},
	{"cudaMemcpy2DAsync", COPY(GPU_AREA, 0), true},
	{"cudaMemcpyBatchAsync", COPY(GPU_BATCH, 0), true},
	{"cudaMemcpy", COPY(GPU_COUNT2, WAITS), true},
	{"cudaMemcpyToSymbol", COPY(GPU_COUNT2, WAITS), true},
	{"cudaMemcpyFromSymbol", COPY(GPU_COUNT2, WAITS), true},
	{"cudaMemcpyPeer", COPY(GPU_COUNT4, WAITS), false},
	{"cudaMemcpy2D", COPY(GPU_AREA, WAITS), true},
	{"cudaStreamSynchronize", WAIT(STREAM, 0), true},
	{"cudaEventSynchronize", WAIT(EVENT, 0), false},
	{"cudaDeviceSynchronize", WAIT(DEVICE, 0), false},

	{"cuLaunchKernel", LAUNCH(GPU_PLAIN, DRIVER), true},
	{"cuLaunchCooperativeKernel", LAUNCH(GPU_PLAIN, DRIVER), true},
	{"cuLaunchKernelEx", LAUNCH(GPU_CONFIG, DRIVER), true},
	{"cuGraphLaunch", GRAPH(DRIVER), true},
	{"cuMemcpyAsync", COPY(GPU_COUNT2, DRIVER), true},
	{"cuMemcpyHtoDAsync_v2", COPY(GPU_COUNT2, DRIVER), true},
	{"cuMemcpyDtoHAsync_v2", COPY(GPU_COUNT2, DRIVER), true},
	{"cuMemcpyDtoDAsync_v2", COPY(GPU_COUNT2, DRIVER), true},
	{"cuMemcpyPeerAsync", COPY(GPU_COUNT4, DRIVER), true},
	{"cuMemcpyHtoAAsync_v2", COPY(GPU_COUNT3, DRIVER), true},
	{"cuMemcpyAtoHAsync_v2", COPY(GPU_COUNT3, DRIVER), true},
	{"cuMemcpy2DAsync_v2", COPY(GPU_COPY2, DRIVER), true},
	{"cuMemcpy3DAsync_v2", COPY(GPU_COPY3, DRIVER), true},
	{"cuMemcpy3DPeerAsync", COPY(GPU_COPY3, DRIVER), true},
	{"cuMemcpyBatchAsync", COPY(GPU_BATCH, DRIVER), true},
	{"cuMemcpyBatchAsync_v2", COPY(GPU_BATCH, DRIVER), true},
	{"cuMemcpyHtoA_v2", COPY(GPU_COUNT3, DRIVER | WAITS), true},
	{"cuMemcpyAtoH_v2", COPY(GPU_COUNT3, DRIVER | WAITS), true},
	{"cuMemcpyDtoA_v2", COPY(GPU_COUNT3, DRIVER | WAITS), true},
	{"cuMemcpyAtoD_v2", COPY(GPU_COUNT3, DRIVER | WAITS), true},
	{"cuMemcpyAtoA_v2", COPY(GPU_COUNT4, DRIVER | WAITS), true},
	{"cuMemcpy2D_v2", COPY(GPU_COPY2, DRIVER | WAITS), true},
	{"cuMemcpy2DUnaligned_v2", COPY(GPU_COPY2, DRIVER | WAITS), true},
	{"cuMemcpy3D_v2", COPY(GPU_COPY3, DRIVER | WAITS), true},
	{"cuMemcpy3DPeer", COPY(GPU_COPY3, DRIVER | WAITS), true},
	{"cuMemcpy", COPY(GPU_COUNT2, DRIVER | WAITS), true},
	{"cuMemcpyHtoD_v2", COPY(GPU_COUNT2, DRIVER | WAITS), true},
	{"cuMemcpyDtoH_v2", COPY(GPU_COUNT2, DRIVER | WAITS), true},
	{"cuMemcpyDtoD_v2", COPY(GPU_COUNT2, DRIVER | WAITS), true},
	{"cuMemcpyPeer", COPY(GPU_COUNT4, DRIVER | WAITS), true},
	{"cuStreamSynchronize", WAIT(STREAM, DRIVER), true},
	{"cuEventSynchronize", WAIT(EVENT, DRIVER), false},
	{"cuCtxSynchronize", WAIT(DEVICE, DRIVER), false},
	{"cuModuleUnload", UNLOAD(0), false},
	{"cuLibraryUnload", UNLOAD(0), false},
	{"cuCtxDestroy_v2", UNLOAD(0), false},
	{"cuDevicePrimaryCtxRelease_v2", UNLOAD(0), false},
	{"cuDevicePrimaryCtxReset_v2", UNLOAD(0), false},
	{"cuGreenCtxDestroy", UNLOAD(0), false},

	{"hipLaunchKernel", LAUNCH(GPU_STUB, HIP), false},
	{"hipLaunchCooperativeKernel", LAUNCH(GPU_STUB, HIP), false},
	{"hipExtLaunchKernel", LAUNCH(GPU_STUB, HIP), false},
	{"hipModuleLaunchKernel", LAUNCH(GPU_PLAIN, DRIVER | HIP), false},
	{"hipModuleLaunchCooperativeKernel", LAUNCH(GPU_PLAIN, DRIVER | HIP), false},
	{"hipExtModuleLaunchKernel", LAUNCH(GPU_ITEMS, DRIVER | HIP), false},
	{"hipHccModuleLaunchKernel", LAUNCH(GPU_ITEMS, DRIVER | HIP), false},
	{"hipLaunchKernelExC", LAUNCH(GPU_CONFIG, HIP), false},
	{"hipDrvLaunchKernelEx", LAUNCH(GPU_CONFIG, DRIVER | HIP), false},
	{"hipModuleUnload", UNLOAD(HIP), false},
	{"hipLibraryUnload", UNLOAD(HIP), false},
	{"__hipUnregisterFatBinary", UNLOAD(HIP), false},
	{"hipGraphLaunch", GRAPH(0), false},
	{"hipMemcpyAsync", COPY(GPU_COUNT2, 0), false},
	{"hipMemcpyHtoDAsync", COPY(GPU_COUNT2, 0), false},
	{"hipMemcpyDtoHAsync", COPY(GPU_COUNT2, 0), false},
	{"hipMemcpyDtoDAsync", COPY(GPU_COUNT2, 0), false},
	{"hipMemcpyPeerAsync", COPY(GPU_COUNT4, 0), false},
	{"hipMemcpy2DAsync", COPY(GPU_AREA, 0), false},
	{"hipMemcpy", COPY(GPU_COUNT2, WAITS), false},
	{"hipMemcpyWithStream", COPY(GPU_COUNT2, WAITS), false},
	{"hipMemcpyHtoD", COPY(GPU_COUNT2, WAITS), false},
	{"hipMemcpyDtoH", COPY(GPU_COUNT2, WAITS), false},
	{"hipMemcpyDtoD", COPY(GPU_COUNT2, WAITS), false},
	{"hipMemcpy2D", COPY(GPU_AREA, WAITS), false},
	{"hipStreamSynchronize", WAIT(STREAM, 0), false},
	{"hipEventSynchronize", WAIT(EVENT, 0), false},
	{"hipDeviceSynchronize", WAIT(DEVICE, 0), false},
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* A library that has one of these is one of them. */
static const char *const marks[] = {"cudaLaunchKernel", "cuLaunchKernel", "hipLaunchKernel"};

static int gpu_detect(const struct elf_image *image, struct error *err)
{
	struct elf_symbol symbol;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (elf_dynamic_symbol(image, marks[i], &symbol))
			return RUNTIME_PRESENT;
	return RUNTIME_ABSENT;
}

struct finder {
	struct elf_image *image;
	struct location *location;
	struct disassembler *dis;
	unsigned int n_functions;
	bool lacks[SITE_ROLES]; /* a function of this role has no place for a probe */
};

/* Registers that are to hold what the caller has put there: a mask. */
static uint64_t arguments(const struct arch *arch)
{
	/* Of arm64, x0 to x7, and x30 for where it returns; of x86-64 as the psABI has it. */
	static const uint8_t x86[] = {5, 4, 1, 2, 8, 9};
	uint64_t mask = 0;

	if (!strcmp(arch->name, "aarch64"))
		return 0xff | UINT64_C(1) << 30;
	for (size_t i = 0; i < sizeof(x86); i++)
		mask |= UINT64_C(1) << x86[i];
	return mask;
}

/* Is there a way out that goes on in another function? Then that one waits. */
static bool goes_elsewhere(const struct function *function)
{
	for (size_t i = 0; i < function->n_parts; i++)
		for (size_t k = 0; k < function->parts[i].n; k++) {
			const struct insn *insn = &function->parts[i].items[k];

			if (insn->kind == INSN_JUMP_INDIRECT ||
			    (insn->kind == INSN_JUMP && !function_insn(function, insn->target)))
				return true;
		}
	return false;
}

/*
 * Calls are told apart by the stack pointer that they begin with, which has to be known at each
 * place: where the frame is addressed by another register, it is at the first instruction alone.
 */
static bool depth_is_known(const struct function *function, const struct insn *insn)
{
	return function_stack_depth(function, insn) >= 0;
}

static const struct insn *entry_of(const struct finder *finder, const struct function *function)
{
	const struct insn *entry = function_entry(function, arguments(finder->image->arch));
	const struct insn *first = function->parts[0].items;

	if (!entry || depth_is_known(function, entry))
		return entry;
	return first->probe != PROBE_REFUSED && depth_is_known(function, first) ? first : NULL;
}

static int add_exits(struct finder *finder, const struct gpu_function *wanted,
		     const struct function *function, const struct insn *entry, struct site *site,
		     struct error *err)
{
	const struct insn *exits[FUNCTION_EXITS_MAX];
	size_t n = function_exits(function, entry, exits);
	int error = 0;

	if (!(wanted->flags & GPU_WAITS))
		return 0;
	/* How long it waits is told of all ways out, or of none. */
	finder->lacks[SITE_GPU_WAIT_EXIT] |= !n || goes_elsewhere(function);
	site->role = SITE_GPU_WAIT_EXIT;
	site->program = "gpu_waited";
	for (size_t i = 0; i < n && !error; i++) {
		finder->lacks[SITE_GPU_WAIT_EXIT] |= !depth_is_known(function, exits[i]);
		error = location_add_site(finder->location, site, finder->dis, function, exits[i],
					  err);
	}
	return error;
}

static int add_sites(struct finder *finder, const struct gpu_function *wanted,
		     const struct function *function, struct error *err)
{
	const struct insn *entry = entry_of(finder, function);
	struct site site = {.role = wanted->role,
			    .program = wanted->program,
			    .value = gpu_value(wanted->kind, wanted->form, wanted->flags),
			    .routes = ROUTE_SYMBOL,
			    .function = finder->n_functions++};
	int error;

	if (!entry) {
		finder->lacks[wanted->role] = true;
		return 0;
	}
	error = location_add_site(finder->location, &site, finder->dis, function, entry, err);
	return error ?: add_exits(finder, wanted, function, entry, &site, err);
}

/* Several names may be of one function. */
static bool is_known(const struct finder *finder, const struct code_range *range)
{
	for (size_t i = 0; i < finder->location->sites.n; i++) {
		const struct site *site = &finder->location->sites.items[i];

		if (site->address >= range->start && site->address < range->end)
			return true;
	}
	return false;
}

static int add_function(struct finder *finder, const struct gpu_function *wanted, const char *name,
			struct error *err)
{
	struct function function = {};
	struct elf_symbol symbol;
	struct code_range range;
	int error;

	if (!elf_dynamic_symbol(finder->image, name, &symbol))
		return 0;
	error = unwind_find(finder->image, symbol.address, &range, NULL);
	if (!error && is_known(finder, &range))
		return 0;
	if (!error && range.start == symbol.address)
		error = function_decode(finder->image, finder->dis, &range, &function, err);
	else
		error = -ENOEXEC;
	if (error == -ENOEXEC) {
		finder->lacks[wanted->role] = true;
		error = 0;
	} else if (!error) {
		error = add_sites(finder, wanted, &function, err);
	}
	function_free(&function);
	return error;
}

static int add_with_twins(struct finder *finder, const struct gpu_function *wanted,
			  struct error *err)
{
	static const char *const suffixes[] = {"", "_ptsz", "_ptds"};
	size_t n = wanted->twins ? sizeof(suffixes) / sizeof(suffixes[0]) : 1;
	char name[64];
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		snprintf(name, sizeof(name), "%s%s", wanted->name, suffixes[i]);
		error = add_function(finder, wanted, name, err);
	}
	return error;
}

static void drop(struct location *location, enum site_role role)
{
	size_t kept = 0;

	for (size_t i = 0; i < location->sites.n; i++)
		if (location->sites.items[i].role != role)
			location->sites.items[kept++] = location->sites.items[i];
	location->sites.n = kept;
}

/* Of what some functions have no place, none are probed. */
static void drop_lacking(struct finder *finder)
{
	bool *lacks = finder->lacks;

	lacks[SITE_GPU_WAIT_ENTER] |= lacks[SITE_GPU_WAIT_EXIT];
	lacks[SITE_GPU_WAIT_EXIT] = lacks[SITE_GPU_WAIT_ENTER];
	for (enum site_role role = SITE_GPU_LAUNCH; role <= SITE_GPU_WAIT_EXIT; role++)
		if (lacks[role])
			drop(finder->location, role);
	if (lacks[SITE_GPU_LAUNCH])
		location_note(finder->location, "GPU launches are not told: a function of this "
						"library has no place for a probe");
	if (lacks[SITE_GPU_COPY])
		location_note(finder->location, "copies of GPUs' memory are not told: a function "
						"of this library has no place for a probe");
	if (lacks[SITE_GPU_WAIT_ENTER])
		location_note(finder->location,
			      "how long this library waits for GPUs is not told: it has ways out "
			      "that no probe covers");
}

static bool launches_by_handle(const struct location *location)
{
	for (size_t i = 0; i < location->sites.n; i++)
		if (location->sites.items[i].role == SITE_GPU_LAUNCH &&
		    location->sites.items[i].value & GPU_DRIVER)
			return true;
	return false;
}

/* Names are of handles that are still good: when they cease to be must be seen. */
static void find_names(struct finder *finder)
{
	struct location *location = finder->location;

	if (!finder->lacks[SITE_GPU_UNLOAD] && location_has(location, SITE_GPU_UNLOAD) &&
	    location_has(location, SITE_GPU_LAUNCH) &&
	    (gpu_find_names(finder->image, finder->dis, &location->kernel_name) ||
	     gpu_find_hip_names(finder->image, finder->dis, &location->kernel_name)))
		return;
	drop(location, SITE_GPU_UNLOAD);
	if (launches_by_handle(location))
		location_note(
			location,
			"what is launched by a handle has no name: this library "
			"does not tell it, as CUDA's drivers of 12.3 and later, and ROCm's libraries, do");
}

static int gpu_locate(struct elf_image *image, struct location *location, struct error *err)
{
	struct finder finder = {.image = image, .location = location};
	int error = 0;

	finder.dis = disassembler_new(image->arch, err);
	if (!finder.dis)
		return -ENOMEM;
	for (size_t i = 0; i < FUNCTIONS && !error; i++)
		error = add_with_twins(&finder, &functions[i], err);
	if (!error) {
		drop_lacking(&finder);
		find_names(&finder);
	}
	disassembler_free(finder.dis);
	return error;
}

static const char *const programs[] = {
	"gpu_launch", "gpu_copy", "gpu_wait", "gpu_waited", "gpu_unload", NULL,
};

const struct runtime gpu_runtime = {
	.name = "gpu",
	.title = "a GPU's library",
	.is_layer = true,
	.name_stubs = gpu_name_stubs,
	.kernel_name = gpu_kernel_name,
	.programs = programs,
	.detect = gpu_detect,
	.locate = gpu_locate,
};
