/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sessions of a recording, as views know them: each with what is known of
 * its model, and with a title that people read in place of its number. Models
 * may become known late, and titles are told apart where they are the same: they
 * are good from one look to the next.
 */
#ifndef OPPROBE_ANALYZE_SESSIONS_H
#define OPPROBE_ANALYZE_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/array.h"
#include "../base/hash.h"
#include "../capture/records.h"
#include "../capture/strings.h"
#include "processes.h"

/* What one or more sessions and models are called. */
struct session_title {
	struct hash_node node;
	const char *text;	   /* any bytes */
	uint32_t sessions, models; /* that are shown, at the last look */
};

/* What sessions have in common: a file, or the same operators from memory. */
struct analyze_model {
	struct hash_node node;
	const char *path;		       /* "" from memory */
	const struct analyze_process *process; /* that a relative path is of, else NULL */
	uint64_t graph_hash;		       /* of one from memory, else 0 */
	struct session_title *title;
	const char *numbered; /* the title with the number of its first session */
	const char *label;    /* for rows: the title, or what tells it from others; any bytes */
	bool shown;	      /* operators of it are among the selected */
};

/* What was seen of one or more sessions before their runs. */
struct session_setup {
	uint64_t ns, max; /* of those that were good: the sum, and the longest */
	uint64_t n;	  /* how many these are */
	uint64_t failed;  /* told with the failures */
};

struct analyze_session {
	uint32_t session;
	const struct analyze_process *process;
	bool is_told;		     /* a record told of its model */
	struct capture_model about;  /* the last one, with copies of its strings; else unknown */
	uint32_t changes;	     /* how many did */
	struct analyze_model *model; /* NULL: which one it is, is not known */
	const char *title;	     /* "resnet.onnx", else "session 11 (Conv /head)"; any bytes */
	bool is_named;		     /* its model has a name, or is known to be from memory */
	bool by_number;		     /* no name tells it from others: its number does */
	bool matches;		     /* the glob of the sessions */
	bool shown;		     /* operators or runs of it are among the selected */
	struct session_setup setups[CAPTURE_SETUP_KINDS]; /* by their kind */
	uint64_t runs;		  /* that were recorded, whatever is selected, */
	struct capture_rest rest; /* and those that were not */
	/* Of its runs that are shown, where that is known: */
	uint64_t runs_with_block;     /* got memory outside of their operators, */
	uint64_t runs_without_block;  /* got none, */
	uint32_t first_without_block; /* the number of the first of these */
	uint64_t top_ns;	      /* of its top-level operators that are, whatever their name */
	/* Of these, the one that took most, as session_tell_operator() was told. */
	uint64_t most_ns;
	const char *most_type, *most_name;
	/* Of one that is named, the title and the same with its number behind. */
	struct session_title *base;
	const char *numbered;
};

/* Filled with zeroes, there are none. Pointers to them are good until they are freed. */
struct sessions {
	ARRAY_OF(struct analyze_session *); /* in the order of their definition */
	ARRAY_OF(struct analyze_session *) by_number;
	const char *glob; /* of those that match, or NULL */
	struct hash titles, models;
	struct strings strings;
};

/* Add a session of @process. Returns 0, -ENOMEM, or -EINVAL for a number that is taken
 * or out of range. */
int sessions_add(struct sessions *sessions, const struct capture_session *session,
		 const struct analyze_process *process);
/* Learn of the model of a session. Returns 0, -ENOMEM, or -EINVAL for one that was not added. */
int sessions_tell(struct sessions *sessions, const struct capture_model *model);
/* The one of @number, NULL if it was not defined. */
struct analyze_session *sessions_get(const struct sessions *sessions, uint32_t number);
/* Operators or runs of @session, which may be NULL, are shown. */
static inline void session_show(struct analyze_session *session)
{
	if (!session)
		return;
	session->shown = true;
	if (session->model)
		session->model->shown = true;
}
/*
 * One of the top-level operators of @session took @ns so far, in all. Its @type and @name must
 * outlive the session; the one that took most is in the title of a session without a name.
 */
static inline void session_tell_operator(struct analyze_session *session, uint64_t ns,
					 const char *type, const char *name)
{
	if (ns <= session->most_ns)
		return;
	session->most_ns = ns;
	session->most_type = type;
	session->most_name = name;
}
/* Bring the titles of sessions and the labels of models up to date. */
void sessions_look(struct sessions *sessions);
void sessions_free(struct sessions *sessions);

#endif
