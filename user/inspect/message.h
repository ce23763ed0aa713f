/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What opprobe and its inspector say to each other: one binary in two
 * processes, so that records travel as they are. Two sockets: over the first
 * the privileged part asks and the inspector answers, one at a time; over the
 * second the inspector asks for what it cannot take itself, and has it handed
 * over. Nothing that comes from the inspector is believed: sizes are those
 * that were expected, numbers in their ranges, texts ended.
 */
#ifndef OPPROBE_MESSAGE_H
#define OPPROBE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "../../bpf/events.h"
#include "../base/element.h"
#include "../runtime/runtime.h"
#include "../target/functions.h"
#include "../target/memory.h"
#include "../target/process.h"

/* -- asked by the privileged part ------------------------------------------------- */

enum question {
	ASK_LOCATE = 1, /* struct locate_question: sites in a file */
	ASK_SIGHT,	/* struct sight_question: where names lie */
	ASK_DESCRIBE,	/* struct describe_question: names of an operator and those beside it */
	ASK_SESSION,	/* struct session_question: what a session is */
	ASK_SESSIONS,	/* struct sessions_question: all that there are */
	ASK_ATTRIBUTES, /* struct attributes_question: of operators of a session */
	ASK_IN_USE_AT,	/* struct arena_question: its result is where that is counted */
	ASK_WHOSE,	/* struct whose_question: the owner of a session that was sampled */
	ASK_SHAPES,	/* struct shapes_question: begin to read shapes */
	ASK_PROVE,	/* struct record_question: is what was read a shape? */
	ASK_VERIFY,	/* struct record_question: is it of its operator? */
	ASK_FUNCTION,	/* struct function_question: what is at an offset of a file? */
	ASK_KERNEL,	/* struct kernel_question: what a kernel of a GPU is called */
};

struct locate_question {
	char name[1024];  /* of the file, for sentences */
	uint32_t runtime; /* runtime_number() of the only one to look for, of NULL for any */
	uint32_t pad;
};

/* In the ones below: which of the located files, by the number in its answer. */
struct sight_question {
	uint32_t location, pad;
	struct sighting_record sighting;
};

struct describe_question {
	uint32_t location, pad;
	struct identity identity;
};

struct session_question {
	uint32_t location, memory; /* not 0: what its arena holds, too */
	uint64_t owner, root;
};

struct attributes_question {
	uint32_t location, pad;
	struct operator_key key;
};

struct arena_question {
	uint32_t location, pad;
	uint64_t address;
};

struct whose_question {
	uint32_t location, pad;
	struct stack_record stack;
};

/* Its result is the place of the session that has this owner. */
struct whose_answer {
	uint64_t owner;
};

#define SESSION_RANGES_MAX 16384

struct sessions_question {
	uint32_t location, n_ranges;
	uint64_t code; /* in its mapping */
	struct memory_range ranges[SESSION_RANGES_MAX];
};

struct shapes_question {
	uint32_t location;
	uint32_t another; /* 1: a file that is handed over, behind an answer of -EAGAIN */
	uint64_t start, end, offset; /* of the file's first executable mapping */
};

struct record_question {
	uint32_t location, pad;
	struct shapes_record record;
};

#define FUNCTION_FILES_MAX 256 /* of a process */
#define FILE_HANDED_OVER   UINT32_MAX

enum function_kind {
	FUNCTION_CODE,
	FUNCTION_STUB, /* it may be called by what it stands for to a layer */
	FUNCTION_DATA, /* it is data that does: see functions_find_data() */
};

struct function_question {
	uint32_t file; /* its number by an earlier answer, or FILE_HANDED_OVER */
	uint32_t what; /* enum function_kind */
	uint64_t offset;
};

struct function_answer {
	uint32_t file; /* number of it, for later questions */
	uint32_t pad;
	char build_id[41];
	struct function_at function;
};

struct kernel_question {
	uint32_t location, pad; /* of the driver */
	uint64_t handle;
};

struct kernel_answer {
	char name[KERNEL_NAME];
};

/* Every answer begins with this one; @result 0 or more brings what was asked for. */
struct answer {
	int32_t result;
	char text[1020]; /* the sentence, if it is negative */
};

#define WORDS_MAX 256 /* bytes that programs are told of one thing */

struct words {
	uint8_t bytes[WORDS_MAX]; /* as many as the runtime says; the rest is 0 */
};

struct located_head {
	uint32_t number;  /* of the location, for later questions */
	uint32_t runtime; /* runtime_number() */
	char version[32], build_id[41], architecture[16];
	uint32_t n_sites, n_names, n_landmarks, n_notes;
	struct landmark landmarks[LANDMARKS_MAX];
	char notes[LOCATION_NOTES][256];
};

#define SITES_MAX 65536
#define NAMES_MAX 65536

/* What follows n_sites times; then n_names times two texts, each ended by NUL. */
struct located_site {
	uint32_t role, program; /* runtime_program_number() */
	uint32_t value, routes, function, length;
	int32_t stack_depth;
	uint32_t emulated;
	uint64_t offset, address;
	char instruction[64];
};

#define DESCRIBED_TOGETHER 64 /* operators of a session; bits of a word */

/* Of each of them whose bit is set in @known, by its place: see described_place(). */
struct describe_answer {
	uint64_t known;
	struct strings_record strings[DESCRIBED_TOGETHER];
};

/* The first of a stretch of such operators is a multiple of how many there are. */
static inline uint64_t described_place(const struct operator_key *key)
{
	return key->session ? key->index % DESCRIBED_TOGETHER : 0;
}

#define SESSIONS_MAX 32

/* What @n sessions are, all of a process if @whole. */
struct sessions_answer {
	uint32_t n, whole;
	struct session_facts facts[SESSIONS_MAX];
};

#define ATTRIBUTED_MAX ATTRIBUTES_TOGETHER /* operators */

/* What follows: @n_operators struct operator_attributes, @n_attributes struct attribute. */
struct attributes_head {
	uint32_t n_operators, n_attributes;
};

#define ELEMENTS_MAX 64

struct shapes_answer {
	struct words words;
	uint32_t n_elements, pad;
	struct {
		uint64_t class;
		struct element element;
	} elements[ELEMENTS_MAX];
};

#define ANSWER_MAX (64U << 20) /* bytes, of all that one says */

/* -- asked by the inspector ------------------------------------------------------- */

enum want {
	WANT_FILE = 1,	 /* the file that is to be located */
	WANT_DEBUG_FILE, /* struct debug_want: one with the symbols of that file */
	WANT_MEMORY,	 /* struct memory_want: blocks of the target's memory */
};

#define DEBUG_NAME_MAX 256

struct debug_want {
	uint32_t kind, candidate; /* as of debug_file_open() */
	char name[DEBUG_NAME_MAX];
};

#define MEMORY_BLOCK  4096U
#define MEMORY_BLOCKS 4U /* at once, the first being the one that is needed */

struct memory_want {
	uint64_t address; /* a multiple of MEMORY_BLOCK */
	uint32_t blocks;  /* up to MEMORY_BLOCKS */
	uint32_t pad;
};

/* -- transport -------------------------------------------------------------------- */

struct message {
	uint32_t type; /* of the question, which its answer repeats */
	uint32_t size; /* of what follows */
};

/*
 * How long to wait: called before and during each wait; a negative errno ends
 * it. NULL waits for as long as it takes.
 */
typedef int (*message_patience)(void *context);

/*
 * Send @data, and with it the open file @file unless it is -1. 0, or a negative
 * errno: -EPIPE if nobody reads, or that of @patience.
 */
int message_send(int fd, uint32_t type, const void *data, size_t size, int file,
		 message_patience patience, void *context);
/*
 * Receive a message's head. With @file, it may bring an open file, else -1;
 * without, files that are sent are closed by the kernel. 0, or a negative errno.
 */
int message_receive(int fd, struct message *head, int *file, message_patience patience,
		    void *context);
/* Receive the @size bytes behind it. */
int message_receive_data(int fd, void *data, size_t size, message_patience patience, void *context);

#endif
