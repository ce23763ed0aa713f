/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a runtime is to the rest of opprobe: places in a file where operators
 * and runs begin and end (location), and where in the process the names of
 * an operator lie (layout). A runtime fills one struct runtime; runtimes.c
 * holds the table of them.
 */
#ifndef OPPROBE_RUNTIME_H
#define OPPROBE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/error.h"

struct element;
struct elf_image;
struct identity;
struct layout;
struct mapped_file;
struct process;
struct shape_layout;
struct shapes;
struct shapes_record;
struct sighting_record;
struct strings_record;

/*
 * What happens at a probe point. The name is what doctor prints. Where a run
 * starts, rsi (arm64: x0) is the session; where a session ends, rdi (x0) is;
 * where a task starts, rdi and rsi (x0, x1) are the std::function's storage
 * and the address of the task's number. One session's end may pass two sites.
 */
enum site_role {
	SITE_OP_ENTER,	  /* "op-enter": an operator starts */
	SITE_OP_EXIT,	  /* "op-exit": its kernel has returned */
	SITE_RUN_ENTER,	  /* "run-enter": a run of a session starts */
	SITE_RUN_EXIT,	  /* "run-exit" */
	SITE_SESSION_END, /* "session-end": a session is about to be destroyed */
	SITE_TASK_ENTER,  /* "task-enter": a thread takes up part of an operator's loop */
	SITE_TASK_EXIT,	  /* "task-exit" */
	SITE_ROLES
};

/* How a site was found; a site proven by more than one has several bits. */
enum site_route {
	ROUTE_SYMBOL = 1 << 0, /* a symbol of the file or of its debug file */
	ROUTE_STRING = 1 << 1, /* code that refers to a string of the function */
	ROUTE_RTTI = 1 << 2,   /* type information, vtable, slot */
	ROUTE_API = 1 << 3,    /* the runtime's table of API functions */
};

/*
 * What the registers hold at SITE_OP_ENTER. Arguments are counted as the
 * source has them; where a function returns its result in memory (all here
 * but the constructor of OP_BY_KERNEL), the first is in rsi on x86-64, in x0
 * on arm64.
 */
enum op_convention {
	OP_BY_INDEX,  /* first argument StreamExecutionContext*, second node index */
	OP_BY_KERNEL, /* third argument OpKernel*, second ExecutionFrame* (<= 1.13) */
};

struct site {
	enum site_role role;
	enum op_convention convention; /* of op-enter and op-exit sites */
	uint64_t offset;	       /* in the file: what the kernel wants */
	uint64_t address;	       /* in the file's own address space */
	unsigned char length;	       /* of the instruction, bytes */
	bool emulated;		       /* by the kernel, instead of a single step */
	unsigned int routes;	       /* enum site_route, or-ed */
	char instruction[64];	       /* disassembled, AT&T on x64 */
	/*
	 * Bytes from the stack pointer at this site up to the stack pointer at
	 * the function's first instruction (0 at the entry itself, 8 after one
	 * push on x64); -1 if the call frame information does not say.
	 */
	int32_t stack_depth;
	/*
	 * Which function of the role the site belongs to: sites of one
	 * function share the number, so that an exit finds its entry.
	 */
	unsigned int function;
};

#define SITES_MAX 64

struct location {
	const struct runtime *runtime;
	char version[32];	  /* "" if the file does not tell */
	char build_id[41];	  /* hex, "" if it has none */
	const char *architecture; /* "x86_64" or "aarch64" */
	struct site sites[SITES_MAX];
	size_t n_sites;
	/* Features that could not be proven, one sentence each; the rest works. */
	char notes[4][256];
	size_t n_notes;
};

struct runtime {
	const char *name;  /* "onnxruntime": in captures and --json */
	const char *title; /* "ONNX Runtime": for people */
	/*
	 * Does @image contain this runtime? Cheap: one search for anchors.
	 * Returns 1 or 0, or a negative errno for a file that cannot be read.
	 */
	int (*detect)(const struct elf_image *image, struct error *err);
	/*
	 * Fill @location. Refuses (-ENOEXEC and a sentence) what it cannot
	 * prove: two routes that disagree, a hit that is not unique.
	 */
	int (*locate)(struct elf_image *image, struct location *location, struct error *err);
	/*
	 * Search and prove where an operator's names lie, from one operator
	 * seen in the live process. Returns 0, or -EAGAIN if this one proves
	 * nothing: the next may.
	 */
	int (*calibrate)(const struct process *process, const struct sighting_record *sighting,
			 struct layout *layout);
	/* Read an operator's names from outside; a negative errno if they are gone. */
	int (*describe)(const struct process *process, const struct layout *layout,
			const struct identity *identity, struct strings_record *strings);
	/*
	 * Shapes of operators' values; all NULL where they are not read.
	 * Begin with a @guess where they lie in @process, which has the
	 * runtime in @file; all must outlive the result. NULL and a sentence
	 * if it cannot be.
	 */
	struct shapes *(*shapes_new)(const struct process *process, const struct location *location,
				     const struct mapped_file *file, struct shape_layout *guess,
				     struct error *err);
	/*
	 * Compare what was read with @guess with what the graph says. Returns
	 * 1 if it is proven, 0 if more is needed; -EAGAIN if it was wrong and
	 * @guess is now another, -ENOEXEC if there is no other.
	 */
	int (*shapes_prove)(struct shapes *shapes, const struct layout *layout,
			    const struct shapes_record *record, struct shape_layout *guess);
	/* Is @record of the operator that it names? For one that is not verified yet. */
	bool (*shapes_verify)(const struct shapes *shapes, const struct layout *layout,
			      const struct shapes_record *record);
	/* What a tensor of elements of @class is made of; NULL if that is not known. */
	const struct element *(*shapes_element)(const struct shapes *shapes, uint64_t class);
	void (*shapes_free)(struct shapes *shapes);
};

/* All runtimes, NULL-terminated. */
extern const struct runtime *const runtimes[];

const char *site_role_name(enum site_role role);
/* "symbol", "string", ... for one route. */
const char *site_route_name(enum site_route route);
/* Writes "symbol+string+rtti" for @routes into @text. */
void site_route_names(unsigned int routes, char *text, size_t size);

/*
 * Detect and locate in one file: tries each runtime. Returns 0; -ENOENT if
 * no runtime is in it (not an error to print when many files are tried);
 * -ENOEXEC if one is there and cannot be proven; another negative errno if
 * the file cannot be read.
 */
int runtime_locate_file(const char *path, struct location *location, struct error *err);

#endif
