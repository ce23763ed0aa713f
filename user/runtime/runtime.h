/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a runtime is to the rest of opprobe. A runtime is one folder here and
 * one in bpf/; runtimes.c holds the table of them. It fills one struct runtime:
 *
 *	detect ─▶ locate	in a file: the sites that its programs are put on
 *	naming_new ─▶ free	in a process: what its operators are called
 *
 * All else is optional. A location says by its sites whether runs, sessions
 * and the work of other threads can be told; shapes are a struct of their own.
 * Whatever shows or schedules those asks location_has(), or for NULL.
 *
 * Where names lie in the target's memory, and what the programs must know of
 * it, is the runtime's own affair, on both sides: see struct runtime_target.
 */
#ifndef OPPROBE_RUNTIME_H
#define OPPROBE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/array.h"
#include "../base/error.h"

struct disassembler;
struct element;
struct elf_image;
struct function;
struct identity;
struct insn;
struct mapped_file;
struct opprobe_bpf;
struct process;
struct shapes_record;
struct sighting_record;
struct strings_record;

/* -- sites: where probes go ------------------------------------------------- */

/* What happens at a site. The name is what doctor prints. */
enum site_role {
	SITE_OP_ENTER,	  /* "op-enter": an operator starts */
	SITE_OP_EXIT,	  /* "op-exit": it has returned */
	SITE_RUN_ENTER,	  /* "run-enter": a run starts, which operators belong to */
	SITE_RUN_EXIT,	  /* "run-exit" */
	SITE_SESSION_END, /* "session-end": what operators are known by is about to be destroyed */
	SITE_TASK_ENTER,  /* "task-enter": a thread takes up part of an operator's work */
	SITE_TASK_EXIT,	  /* "task-exit" */
	SITE_CATCH,	  /* "catch": an exception is caught, the operators that it left are over */
	SITE_ROLES
};

/* How a site was found; a site proven by more than one has several bits. */
enum site_route {
	ROUTE_SYMBOL = 1 << 0, /* a symbol of the file or of its debug file */
	ROUTE_STRING = 1 << 1, /* code that refers to a string of the function */
	ROUTE_RTTI = 1 << 2,   /* type information, vtable, slot */
	ROUTE_API = 1 << 3,    /* the runtime's table of API functions */
};

struct site {
	enum site_role role;
	const char *program;  /* in bpf/; outlives the location */
	uint32_t value;	      /* for the program, in the site's cookie */
	uint64_t offset;      /* in the file: what the kernel wants */
	uint64_t address;     /* in the file's own address space */
	unsigned char length; /* of the instruction, bytes */
	bool emulated;	      /* by the kernel, instead of a single step */
	unsigned int routes;  /* enum site_route, or-ed */
	char instruction[64]; /* disassembled, AT&T on x64 */
	/*
	 * Bytes from the stack pointer at this site up to the stack pointer at
	 * the function's first instruction (0 at the entry itself, 8 after one
	 * push on x64); -1 if the call frame information does not say, here
	 * or at another site of the function.
	 */
	int32_t stack_depth;
	/*
	 * Which function the site belongs to: sites of one function share the
	 * number, so that an exit finds its entry.
	 */
	unsigned int function;
};

#define LOCATION_NOTES 4

/* All sites of one runtime in one file. */
struct location {
	const struct runtime *runtime;
	char version[32];	  /* "" if the file does not tell */
	char build_id[41];	  /* hex, "" if it has none */
	const char *architecture; /* "x86_64" or "aarch64" */
	ARRAY_OF(struct site) sites;
	/*
	 * Operators that are known before they run: the value of their op-enter
	 * sites is the index of their name here. Owned by the location.
	 */
	ARRAY_OF(struct static_name) names;
	/* Features that could not be proven, one sentence each; the rest works. */
	char notes[LOCATION_NOTES][256];
	size_t n_notes;
};

struct static_name {
	char *name, *op_type; /* never NULL; freed with the location */
};

/* Is there a site of @role? */
bool location_has(const struct location *location, enum site_role role);
/*
 * Add a site at @insn of @function. Of @what, the role, the program, the
 * value, the routes and the number of the function count; the rest is what the
 * instruction says. -ENOEXEC if there is no code there, -ENOMEM.
 */
int location_add_site(struct location *location, const struct site *what, struct disassembler *dis,
		      const struct function *function, const struct insn *insn, struct error *err);
#define RUNTIME_TITLE 96
/* "ONNX Runtime 1.20.1", or without the version where the file does not tell. */
void location_title(const struct location *location, char title[RUNTIME_TITLE]);
/* Add a sentence; one too many is left out. */
void location_note(struct location *location, const char *text);
/* Free what @location holds, not itself. */
void location_free(struct location *location);

/* -- names: what operators are called --------------------------------------- */

/*
 * One runtime in one process, when its probes are to be put in place. All of
 * it outlives what is made from it.
 */
struct runtime_target {
	const struct process *process;
	const struct location *location;
	const struct mapped_file *file; /* that the location is in */
	struct opprobe_bpf *bpf;	/* loaded; NULL in tests without the kernel */
	unsigned int instance;		/* which of the runtime's words in it are this one's */
};

struct naming;

/*
 * Names that are found in the target's memory: the programs send sightings
 * until their places are proven (settled), and may send strings from then on.
 * Not for runtimes whose operators are known before they run.
 */
struct naming_ops {
	/* Learn from @sighting. Returns 0, or -EAGAIN if it proves nothing: the next may. */
	int (*sight)(struct naming *naming, const struct sighting_record *sighting);
	/* Have the places been proven? */
	bool (*settled)(const struct naming *naming);
	/* Read an operator's names from outside; a negative errno if they are gone. */
	int (*describe)(struct naming *naming, const struct identity *identity,
			struct strings_record *strings);
	void (*free)(struct naming *naming);
};

/* The runtime's own struct begins with this one. */
struct naming {
	const struct naming_ops *ops;
};

/* -- shapes: what operators worked on ---------------------------------------- */

/*
 * Shapes of operators' values. The programs read them where they are thought
 * to be, a guess that is shared with them under a number, its epoch; the
 * records that come back prove it, or lead to another.
 */
struct shapes;

struct shapes_ops {
	/*
	 * Begin with a guess, shared as epoch 1. NULL and a sentence if that
	 * cannot be. @naming, as its runtime knows it, outlives the result.
	 */
	struct shapes *(*new)(const struct runtime_target *target, const struct naming *naming,
			      struct error *err);
	/*
	 * Compare what was read with what the graph says; names are settled.
	 * Returns 1 if it is proven, 0 if more is needed (another guess may be
	 * shared by now), -ENOEXEC if it cannot be.
	 */
	int (*prove)(struct shapes *shapes, const struct shapes_record *record);
	/* No more shapes are to be read. */
	void (*refuse)(struct shapes *shapes);
	/*
	 * Once proven: was @record read by the guess that was right, and is it
	 * of the operator that it names?
	 */
	bool (*verify)(const struct shapes *shapes, const struct shapes_record *record);
	/* What elements of @class are; NULL if it is not known. */
	const struct element *(*element)(const struct shapes *shapes, uint64_t class);
	void (*free)(struct shapes *shapes);
};

/* -- the runtime ---------------------------------------------------------------- */

enum runtime_presence {
	RUNTIME_ABSENT,
	RUNTIME_PRESENT,
	/* Nothing by itself; with the runtime in another file of the process, a part of it. */
	RUNTIME_COMPANION,
};

struct runtime {
	const char *name;    /* "onnxruntime": in captures and --json */
	const char *title;   /* "ONNX Runtime": for people */
	bool has_companions; /* detect() answers RUNTIME_COMPANION for some files */
	/*
	 * Is the runtime in @image, which has been opened, but not loaded?
	 * Cheap, as every file of a process is asked: a dynamic symbol, or one
	 * search for anchors. Returns enum runtime_presence, or a negative errno
	 * for a file that cannot be read.
	 */
	int (*detect)(const struct elf_image *image, struct error *err);
	/*
	 * Add the sites in @image to @location, which is empty but for what
	 * every file tells. Refuses (-ENOEXEC and a sentence) what it cannot
	 * prove: two routes that disagree, a hit that is not unique. Two sites
	 * on one instruction are refused for it.
	 */
	int (*locate)(struct elf_image *image, struct location *location, struct error *err);
	/* NULL where operators are known before they run. NULL and @err set if it cannot be. */
	struct naming *(*naming_new)(const struct runtime_target *target, struct error *err);
	const struct shapes_ops *shapes; /* NULL: not read */
};

/* All runtimes, NULL-terminated. */
extern const struct runtime *const runtimes[];

const char *site_role_name(enum site_role role);
/* "symbol", "string", ... for one route. */
const char *site_route_name(enum site_route route);
/* Writes "symbol+string+rtti" for @routes into @text. */
void site_route_names(unsigned int routes, char *text, size_t size);

/*
 * Detect and locate in one file. With @companion_of NULL each runtime is
 * tried; else only that one, and only as a companion. Returns 0 with @location
 * filled, to be freed; -ENOENT if no runtime is in it (not an error to print
 * when many files are tried); -ENOEXEC if one is there and cannot be proven;
 * another negative errno if the file cannot be read. Nothing is to be freed
 * then.
 */
int runtime_locate_file(const char *path, const struct runtime *companion_of,
			struct location *location, struct error *err);

#endif
