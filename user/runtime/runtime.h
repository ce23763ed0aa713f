/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a runtime is to the rest of opprobe. A runtime is one folder here and
 * one in bpf/; runtimes.c holds the table of them. It fills one struct runtime:
 *
 *	detect ─▶ locate	in a file: the sites that its programs are put on
 *	new ─▶ sight ─▶ free	in a process: what its operators are called
 *
 * All else is optional. A location says by its sites whether runs, sessions
 * and the work of other threads can be told; shapes are a struct of their own.
 * Whatever shows or schedules those asks location_has(), or for NULL.
 *
 * Where names lie in the target's memory, and what the programs must know of
 * it, is the runtime's own affair, on both sides. What reads files and memory
 * of others runs in inspect/'s process without rights; what the programs are
 * told is shared by the one that has them.
 */
#ifndef OPPROBE_RUNTIME_H
#define OPPROBE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/array.h"
#include "../base/attribute.h"
#include "../base/error.h"
#include "../base/known.h"

struct disassembler;
struct element;
struct elf_image;
struct function;
struct functions;
struct identity;
struct insn;
struct mapped_file;
struct memory;
struct memory_range;
struct operator_key;
struct opprobe_bpf;
struct shapes_record;
struct sighting_record;
struct stack_record;
struct strings_record;

/* -- sites: where probes go ------------------------------------------------- */

/* What happens at a site. The name is what doctor prints. */
enum site_role {
	SITE_OP_ENTER,	  /* "op-enter": an operator starts */
	SITE_OP_EXIT,	  /* "op-exit": it has returned */
	SITE_RUN_ENTER,	  /* "run-enter": a run starts, which operators belong to */
	SITE_RUN_EXIT,	  /* "run-exit" */
	SITE_SETUP_ENTER, /* "setup-enter": a session begins to load its model, or to initialize */
	SITE_SETUP_EXIT,  /* "setup-exit" */
	SITE_SESSION_END, /* "session-end": what operators are known by is about to be destroyed */
	SITE_TASK_ENTER,  /* "task-enter": a thread takes up part of an operator's work */
	SITE_TASK_EXIT,	  /* "task-exit" */
	SITE_ALLOC_ENTER, /* "alloc-enter": an operator asks for memory */
	SITE_ALLOC_EXIT,  /* "alloc-exit": it gets it */
	SITE_ALLOC,	  /* "alloc": both in one */
	SITE_FREE,	  /* "free": it gives some back */
	SITE_CATCH,	  /* "catch": an exception is caught, the operators that it left are over */
	/* Of a library of GPUs: */
	SITE_GPU_LAUNCH,     /* "gpu-launch": a GPU is told to run something, */
	SITE_GPU_COPY,	     /* "gpu-copy": or to copy memory */
	SITE_GPU_WAIT_ENTER, /* "gpu-wait-enter": a thread begins to wait for one */
	SITE_GPU_WAIT_EXIT,  /* "gpu-wait-exit" */
	SITE_GPU_UNLOAD,     /* "gpu-unload": kernels go */
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

/* -- landmarks: what a sample of a thread's stack is searched for --------------------- */

enum landmark_kind {
	LANDMARK_OPERATOR, /* the thread is in an operator */
	LANDMARK_TASK,	   /* in its part of an operator's work */
	LANDMARK_KINDS
};

/*
 * An address that a thread returns to, which lies on its stack as long as it is in the function
 * that was called there. No probe goes there. All are in the file's own address space.
 */
struct landmark {
	enum landmark_kind kind;
	int32_t distance; /* of an operator: bytes up to the object that tells which one it is,
			     from where the address lies, or, where calls do not push it, from
			     the caller's frame record; else 0 */
	uint64_t address;
	uint64_t object; /* the vtable of that object; of a task: the function that @address is in
			  */
};

#define LANDMARKS_MAX	      16
#define LANDMARK_DISTANCE_MAX 0x4000 /* far above the frame of any function */

#define LOCATION_NOTES	4
#define KERNEL_NAME	4096 /* bytes, with the NUL: mangled C++ names are long */
#define KERNEL_STEPS	4
#define KERNEL_STEP_MAX 4096 /* bytes, far above what the records on the way have */

/* From an address to another: what is @steps[0] bytes behind it is an address, from which... */
struct kernel_path {
	uint32_t n; /* 0: no way is known */
	uint32_t steps[KERNEL_STEPS];
};

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
	/* Without one of an operator, a sample does not tell which one runs. */
	struct landmark landmarks[LANDMARKS_MAX];
	size_t n_landmarks;
	/* Features that could not be proven, one sentence each; the rest works. */
	char notes[LOCATION_NOTES][256];
	size_t n_notes;
	/*
	 * Of a GPU's driver: the way from a kernel's handle to the address of its name. Known to
	 * the process that located it.
	 */
	struct kernel_path kernel_name;
};

struct static_name {
	char *name, *op_type; /* never NULL; freed with the location */
};

/* Is it where memory is asked for, got, or given back? Probed only where that is wanted. */
static inline bool site_is_of_memory(const struct site *site)
{
	return site->role == SITE_ALLOC_ENTER || site->role == SITE_ALLOC_EXIT ||
	       site->role == SITE_ALLOC || site->role == SITE_FREE;
}

/* Is there a site of @role? */
bool location_has(const struct location *location, enum site_role role);
/*
 * Add a site at @insn of @function. Of @what, the role, the program, the
 * value, the routes and the number of the function count; the rest is what the
 * instruction says. -ENOEXEC if there is no code there, -ENOMEM.
 */
int location_add_site(struct location *location, const struct site *what, struct disassembler *dis,
		      const struct function *function, const struct insn *insn, struct error *err);
/* Add a landmark; false if there are too many. */
bool location_add_landmark(struct location *location, const struct landmark *landmark);
/* Without all of them those of @kind are worse than none: what is not found seems not to run. */
void location_drop_landmarks(struct location *location, enum landmark_kind kind);
/* Is there a landmark of @kind? */
bool location_can_sample(const struct location *location, enum landmark_kind kind);
#define RUNTIME_TITLE 96
/* "ONNX Runtime 1.20.1", or without the version where the file does not tell. */
void location_title(const struct location *location, char title[RUNTIME_TITLE]);
/* Add a sentence; one too many is left out. */
void location_note(struct location *location, const char *text);
/* Free what @location holds, not itself. */
void location_free(struct location *location);

/* -- names and shapes, as a recording sees them -------------------------------- */

struct naming;

#define SESSION_PATH 1024
#define SESSION_TEXT 256

/* What a session is: its model and how it executes that. Each part may be unknown by itself. */
struct session_facts {
	/* Are these known? They may be empty then: the path of a model from memory. */
	uint8_t has_path, has_graph, has_producer, has_providers;
	uint8_t parallel; /* enum known, as the ones below: operators of a run at once */
	uint8_t intra_spins,
		inter_spins; /* threads of the pool spin for a while before they sleep */
	uint8_t memory_pattern, arena;
	uint8_t pad[3];
	uint32_t intra_threads, inter_threads; /* with the caller; 0 if not known, or not used */
	uint32_t pad2;
	/* What its memory arena counts, if that is known: bytes given out, at most so far, and
	 * taken from the system for it. */
	uint64_t has_memory, memory_in_use, memory_most, memory_total;
	uint64_t graph_hash;	 /* of the operators as they are executed; 0 if not known */
	char path[SESSION_PATH]; /* as the user gave it */
	char graph[SESSION_TEXT], producer[SESSION_TEXT];
	char providers[4 * SESSION_TEXT]; /* in the order of preference, with ',' in between */
};

/* Operators of a session whose indices, divided by this, are the same are told of together. */
#define ATTRIBUTES_TOGETHER 1024

/* The attributes of one operator: @n from @first on in the list; others are not known of. */
struct operator_attributes {
	uint64_t index; /* of struct operator_key */
	uint32_t first, n;
};

/* Of several operators. Zeroed, it is empty; array_free() both. */
struct attribute_list {
	ARRAY_OF(struct operator_attributes) operators; /* in the order of their index */
	ARRAY_OF(struct attribute) attributes;
};

/*
 * Names that are found in the target's memory: the programs send sightings
 * until their places are proven (settled), and may send strings from then on.
 * Not for runtimes whose operators are known before they run.
 */
struct naming_ops {
	/*
	 * Learn from @sighting. Returns 0, -EAGAIN if it proves nothing: the next
	 * may, or another negative errno with @err set if none will.
	 */
	int (*sight)(struct naming *naming, const struct sighting_record *sighting,
		     struct error *err);
	/* Have the places been proven? */
	bool (*settled)(const struct naming *naming);
	/* Read an operator's names from outside; a negative errno if they are gone. */
	int (*describe)(struct naming *naming, const struct identity *identity,
			struct strings_record *strings);
	/*
	 * What the session of owner @owner, whose outermost state is @root, is; 0 for
	 * either that is not known; what its arena holds if @memory, as that takes
	 * longer than all else. A negative errno if it cannot be told. NULL: never.
	 */
	int (*session)(struct naming *naming, uint64_t owner, uint64_t root, bool memory,
		       struct session_facts *facts);
	/*
	 * Add to @list, which is empty, the attributes of the operator at @key, and, if it
	 * is in a session, of those beside it: ATTRIBUTES_TOGETHER. A negative errno if
	 * they cannot be read. NULL: never.
	 */
	int (*attributes)(struct naming *naming, const struct operator_key *key,
			  struct attribute_list *list);
	/*
	 * Where the memory arena at @address counts the bytes that it has given out: how
	 * far from there, more than 0 and less than IN_USE_AT_MAX. A negative errno if
	 * that cannot be told. NULL: never.
	 */
	int (*in_use_at)(struct naming *naming, uint64_t address);
	/*
	 * Of the sessions that @stack tells of: the place of the one that the others are parts
	 * of, and in *@owner whose it is. A negative errno if that cannot be told. NULL: never.
	 */
	int (*whose)(struct naming *naming, const struct stack_record *stack, uint64_t *owner);
	void (*free)(struct naming *naming);
};

/* What implements it begins with this one. */
struct naming {
	const struct naming_ops *ops;
};

/*
 * Shapes of operators' values. The programs read them where they are thought
 * to be, a guess that is shared with them under a number, its epoch; the
 * records that come back prove it, or lead to another.
 */
struct shapes;

struct shapes_ops {
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

struct shapes {
	const struct shapes_ops *ops;
};

/* -- the same, where they are read: in the process that may ------------------------ */

/* One runtime in one process. All of it outlives what is made from it. */
struct reader_target {
	const struct memory *memory;
	const struct location *location;
};

struct reader;

/*
 * What the programs are to know of the target's memory are the runtime's own
 * words: plain bytes of a size that the runtime tells.
 */
struct reader_ops {
	struct reader *(*new)(const struct reader_target *target, struct error *err);
	/* Learn where names lie. 0, or -EAGAIN if this one proves nothing. */
	int (*sight)(struct reader *reader, const struct sighting_record *sighting);
	/* The words of names, names_size of them. */
	const void *(*names)(const struct reader *reader);
	/* Read an operator's names; a negative errno if they are gone. */
	int (*describe)(const struct reader *reader, const struct identity *identity,
			struct strings_record *strings);
	/* What a session is, as of struct naming_ops. NULL: that is never told. */
	int (*session)(const struct reader *reader, uint64_t owner, uint64_t root, bool memory,
		       struct session_facts *facts);
	/* Attributes of operators, as of struct naming_ops. NULL: none are told. */
	int (*attributes)(struct reader *reader, const struct operator_key *key,
			  struct attribute_list *list);
	/* Of the arena at @address, as of struct naming_ops. NULL: that is never told. */
	int (*in_use_at)(const struct reader *reader, uint64_t address);
	/* Whose the sessions of @stack are, as of struct naming_ops. NULL: that is never told. */
	int (*whose)(const struct reader *reader, const struct stack_record *stack,
		     uint64_t *owner);
	/*
	 * Look for sessions in the @n @ranges of the target's memory, whose library
	 * has code at @code. Stores up to @max; *@whole, if all was looked at. Returns
	 * how many were stored. NULL: none are found.
	 */
	size_t (*sessions)(const struct reader *reader, uint64_t code,
			   const struct memory_range *ranges, size_t n, struct session_facts *facts,
			   size_t max, bool *whole);
	/*
	 * Begin with a guess where shapes lie. @image, opened and not loaded, is
	 * the runtime's file as @file is mapped; both are needed during the call
	 * only. 0; -EAGAIN, with @err saying what is missing, if that may be in
	 * another file of the process: then it is called with these, one after the
	 * other; -ENOEXEC or -ENOMEM with @err set. NULL: none are read.
	 */
	int (*begin_shapes)(struct reader *reader, struct elf_image *image,
			    const struct mapped_file *file, struct error *err);
	/* The words of shapes, shapes_size of them: the guess as it is now. */
	const void *(*shapes)(const struct reader *reader);
	int (*prove)(struct reader *reader, const struct shapes_record *record);
	/* Is @record of the operator that it names? */
	bool (*verify)(const struct reader *reader, const struct shapes_record *record);
	/* What elements of the class number @i are, which is @class; false behind the last. */
	bool (*element)(const struct reader *reader, size_t i, uint64_t *class,
			struct element *element);
	void (*free)(struct reader *reader);
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
	 * No runtime, but what any of them may call: it has sites, and neither operators nor
	 * runs. Looked for beside runtimes, where it is wanted; see runtime_find_layers().
	 */
	bool is_layer;
	/* Of a layer: name functions of a file that stand for what it is told. NULL: there are
	 * none.
	 */
	void (*name_stubs)(struct functions *functions);
	/*
	 * Likewise: the name of the kernel that has @handle in a process with @memory, into @name.
	 * 0, or a negative errno where that is not to be had: always, if NULL.
	 */
	int (*kernel_name)(const struct location *location, const struct memory *memory,
			   uint64_t handle, char name[KERNEL_NAME]);
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
	const char *const *programs; /* that its sites name, NULL-terminated */
	/* NULL where operators are known before they run. */
	const struct reader_ops *reader;
	size_t names_size, shapes_size; /* of its words, bytes */
	/*
	 * Share words with the programs, for @instance of it. False for what no
	 * reader of this runtime says. Shapes: NULL, none are to be read any more.
	 */
	bool (*share_names)(struct opprobe_bpf *bpf, unsigned int instance, const void *words);
	bool (*share_shapes)(struct opprobe_bpf *bpf, unsigned int instance, const void *words);
	/* Of words of shapes: the number of the guess. */
	uint32_t (*shapes_epoch)(const void *words);
	/*
	 * What a run that failed returned, from its status (bpf/events.h): its name,
	 * "" if it is not known, and the code that people know it by, not 0. NULL
	 * where it is not known what runs return.
	 */
	const char *(*status_name)(uint32_t status, uint32_t *code);
	/*
	 * What the runtime calls a setup (bpf/events.h), of which the programs read @text:
	 * any text, or none. NULL where it has no names for them.
	 */
	const char *(*setup_name)(uint32_t kind, const char *text);
	/* Instead of a reader, where names can be told without. NULL without memory. */
	struct naming *(*naming_new)(void);
};

/* Are shapes read of @runtime? */
bool runtime_has_shapes(const struct runtime *runtime);
/* All runtimes, NULL-terminated. */
extern const struct runtime *const runtimes[];
/* Its place among them, for messages; that of none if it is NULL. */
uint32_t runtime_number(const struct runtime *runtime);
/* The runtime at that place, NULL if there is none. */
const struct runtime *runtime_at(uint32_t number);
/* The same for the names of a runtime's programs. */
uint32_t runtime_program_number(const struct runtime *runtime, const char *program);
const char *runtime_program_at(const struct runtime *runtime, uint32_t number);

const char *site_role_name(enum site_role role);
/* "symbol", "string", ... for one route. */
const char *site_route_name(enum site_route route);
/* Writes "symbol+string+rtti" for @routes into @text. */
void site_route_names(unsigned int routes, char *text, size_t size);

/*
 * Detect and locate in @image, which has been opened. With @only NULL each runtime
 * is tried that is no layer; else only that one: a layer, or a companion of it. Returns
 * 0 with @location filled, to be freed; -ENOENT if no runtime is in it (not an
 * error to print when many files are tried); -ENOEXEC if one is there and
 * cannot be proven; another negative errno if the file cannot be read. Nothing
 * is to be freed then.
 */
int runtime_locate(struct elf_image *image, const struct runtime *only, struct location *location,
		   struct error *err);

#endif
