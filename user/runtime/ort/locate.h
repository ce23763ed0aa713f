/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Location in ONNX Runtime: what the locate_*.c files share. One finder
 * lives through one runtime_locate_file().
 */
#ifndef OPPROBE_ORT_LOCATE_H
#define OPPROBE_ORT_LOCATE_H

#include "../../../bpf/ort/layout.h"
#include "../../target/arch.h"
#include "../../target/code_refs.h"
#include "../../target/elf_image.h"
#include "../../target/insn_flow.h"
#include "../../target/insn_function.h"
#include "../runtime.h"

/* Strings of the runtime that stand in one function, or in few. */
enum anchor {
	ANCHOR_EXECUTE_KERNEL, /* the signature of ExecuteKernel (>= 1.14) */
	ANCHOR_NODE_FAILED,    /* where a kernel's failure is reported */
	ANCHOR_SEQUENTIAL,     /* SequentialExecutor::Execute names itself (<= 1.13) */
	ANCHOR_RUN_TAG,	       /* InferenceSession::Run logs its tag */
	ANCHOR_RUN_SIGNATURE,  /* the signature of its overload for C callers (>= 1.16) */
	ANCHOR_API_VERSION,    /* GetApi refuses a version */
	ANCHOR_LOADED,	       /* a session refuses to load a second model */
	ANCHOR_INITIALIZING,   /* InferenceSession::Initialize logs that it begins, */
	ANCHOR_INITIALIZED,    /* and that it is done */
	ANCHORS
};

/* Classes whose type information leads to functions. */
enum type {
	TYPE_LAUNCH_STEP,	  /* its Execute calls ExecuteKernel (>= 1.14) */
	TYPE_SEQUENTIAL_EXECUTOR, /* <= 1.13 */
	TYPE_CONTEXT,		  /* OpKernelContextInternal, made for each operator */
	TYPE_SESSION,		  /* InferenceSession */
	TYPE_ARENA,		  /* BFCArena, which keeps what was freed */
	TYPE_CPU_ALLOCATOR,	  /* CPUAllocator, where sessions have no arena */
	TYPES
};

/* The program at the start of an operator that is known by its kernel (<= 1.13). */
#define ORT_ENTER_KERNEL "ort_enter_kernel"

/* Twice as many as are told apart, for their cold parts, and one: too many are seen to be. */
#define FUNCTIONS_MAX (2 * ORT_FUNCTIONS_MAX + 1)
#define TASKS_MAX     4

/* The parts of functions that refer to an anchor; see ort_functions(). */
struct anchor_refs {
	struct code_range functions[FUNCTIONS_MAX];
	size_t n;
	bool resolved; /* cold parts have been led back to their functions */
};

struct finder {
	struct elf_image *image;
	struct disassembler *dis;
	struct location *location;
	struct flow *flow, *path;
	struct anchor_refs anchors[ANCHORS]; /* by ort_functions() alone */
	uint64_t vtables[TYPES];	     /* 0 if not found */
	/* The std::function managers of the pool's tasks. */
	struct anchor_refs tasks[TASKS_MAX];
	size_t n_tasks;
	unsigned int n_functions;	   /* numbers given to functions of sites */
	bool lacks_operators, lacks_tasks; /* some of their landmarks are not known */
};

/* Is the runtime in @image at all? */
bool ort_has_anchors(const struct elf_image *image);
/* Find all anchors, types and the code that refers to them. */
int ort_find_anchors(struct finder *finder, struct error *err);

/* Each adds its sites to the location. Operators must be proven... */
int ort_locate_operators(struct finder *finder, struct error *err);
/* ...the others leave a note where they are not. */
void ort_locate_runs(struct finder *finder);
void ort_locate_setup(struct finder *finder);
void ort_locate_tasks(struct finder *finder);
void ort_locate_memory(struct finder *finder);
/*
 * Of the arena whose Alloc() is @alloc: where it has found a chunk. @site is their role,
 * program and function. -ENOEXEC if that cannot be proven.
 */
int ort_add_chunks(struct finder *finder, struct site site, const struct code_range *alloc);

/* -- helpers ------------------------------------------------------------------------ */

/*
 * The entry part of the function that @pc belongs to: a cold part is led
 * back to the function that jumps into it. 0; -ENOENT if it cannot be told;
 * another negative errno, and a sentence, for a damaged file.
 */
int ort_function_of(struct finder *finder, uint64_t pc, struct code_range *range,
		    struct error *err);
/*
 * The functions that refer to @anchor, in themselves or in a cold part: led
 * back here, when they are asked for, because it may need a scan of all code.
 */
const struct anchor_refs *ort_functions(struct finder *finder, enum anchor anchor);
/* Is the function @range one of them? */
bool ort_refers(struct finder *finder, enum anchor anchor, const struct code_range *range);
/*
 * Is there a chain of at most @depth direct calls from @from to the function
 * at @to?
 */
bool ort_calls(struct finder *finder, const struct code_range *from, uint64_t to,
	       unsigned int depth);
/* Does @reg hold at @insn, of the entry part, what it did at the beginning of @function? */
bool ort_is_intact(const struct function *function, const struct insn *insn, int reg);
/*
 * Where a program finds at @insn the argument that @reg held at the beginning of @function,
 * for the value of the site: @intact if still there, else above @shift the number of the
 * preserved register that it was saved in (arm64); 0 if nowhere.
 */
uint32_t ort_argument(struct finder *finder, const struct function *function,
		      const struct insn *insn, int reg, uint32_t intact, unsigned int shift);
/* A register that the programs can read: of the result, or one that calls preserve. */
bool ort_is_readable(const struct finder *finder, int reg);
/*
 * The register that holds at @exit what @function returns, by the moves from there to
 * the return; REG_NONE if another instruction makes it, or this is no way to a return.
 */
int ort_result_at(const struct finder *finder, const struct function *function,
		  const struct insn *exit);
/* The function in @slot of the vtable of @type; false if there is none that is known. */
bool ort_in_slot(struct finder *finder, enum type type, unsigned int slot,
		 struct code_range *range);
/* A defined function symbol whose name begins with @prefix, and its address. */
bool ort_symbol(struct finder *finder, const char *prefix, uint64_t *address);

/* Is there such a symbol at @address? */
bool ort_has_symbol(struct finder *finder, const char *prefix, uint64_t address);

/* Add a site at @insn of the function part @range. -ENOEXEC if that is no code. */
int ort_add_site(struct finder *finder, struct site site, const struct function *function,
		 const struct insn *insn, struct error *err);
/*
 * Add a site at the entry of the function @range, with the registers in @keep, a mask, intact.
 * -ENOEXEC if there is no such place.
 */
int ort_add_entry(struct finder *finder, struct site site, const struct code_range *range,
		  uint64_t keep);

#endif
