// SPDX-License-Identifier: GPL-2.0-only
#include "sessions.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_SIZE    (CAPTURE_PATH_MAX + 64)
#define NUMBERED_SIZE (TITLE_SIZE + 16)

static const char *intern(struct sessions *sessions, const char *text)
{
	return strings_intern(&sessions->strings, text, strlen(text));
}

int sessions_add(struct sessions *sessions, const struct capture_session *record,
		 const struct analyze_process *process)
{
	struct analyze_session *session;
	char title[32];

	if (record->session >= CAPTURE_IDS_MAX || sessions_get(sessions, record->session))
		return -EINVAL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	snprintf(title, sizeof(title), "session %u", record->session);
	session->session = record->session;
	session->process = process;
	session->about = (struct capture_model)CAPTURE_MODEL_UNKNOWN;
	session->title = intern(sessions, title);
	session->by_number = true;
	if (!session->title || array_reserve(sessions, sessions->n + 1) ||
	    array_extend(&sessions->by_number, (size_t)record->session + 1)) {
		free(session);
		return -ENOMEM;
	}
	sessions->items[sessions->n++] = session;
	sessions->by_number.items[record->session] = session;
	return 0;
}

struct analyze_session *sessions_get(const struct sessions *sessions, uint32_t number)
{
	return number < sessions->by_number.n ? sessions->by_number.items[number] : NULL;
}

/* -- titles ------------------------------------------------------------------------ */

/* The one of @text, which is interned; NULL if out of memory. */
static struct session_title *get_title(struct sessions *sessions, const char *text)
{
	uint64_t hash = hash_word(0, (uintptr_t)text);
	struct session_title *title;

	hash_for_each_possible(title, &sessions->titles, hash, node)
		if (title->text == text)
			return title;
	title = calloc(1, sizeof(*title));
	if (!title)
		return NULL;
	title->text = text;
	if (hash_add(&sessions->titles, &title->node, hash)) {
		free(title);
		return NULL;
	}
	return title;
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Nor does the name of a graph stand for one. */
static bool has_no_name(const struct capture_model *about)
{
	return !(about->path && about->path[0]) && !(about->graph && about->graph[0]);
}

/*
 * Fill @title with what people call the session, and @numbered with what that is where
 * others are called the same. False if that is its number, and nothing more.
 */
static bool make_title(const struct capture_model *about, char *title, char *numbered)
{
	bool has_graph = about->graph && about->graph[0];
	bool has_number = !about->path || (!about->path[0] && !has_graph);
	const char *behind = has_graph ? about->graph : "memory";

	if (about->path && about->path[0])
		snprintf(title, TITLE_SIZE, "%s", file_of(about->path));
	else if (!has_number)
		snprintf(title, TITLE_SIZE, "%s (memory)", about->graph);
	else if (about->path || has_graph)
		snprintf(title, TITLE_SIZE, "session %u (%s)", about->session, behind);
	else
		snprintf(title, TITLE_SIZE, "session %u", about->session);
	snprintf(numbered, NUMBERED_SIZE, has_number ? "%s" : "%s #%u", title, about->session);
	return about->path || has_graph;
}

static int name_session(struct sessions *sessions, struct analyze_session *session)
{
	char title[TITLE_SIZE], numbered[NUMBERED_SIZE];
	const char *text;

	session->is_named = make_title(&session->about, title, numbered);
	session->by_number = has_no_name(&session->about);
	text = intern(sessions, title);
	session->base = text ? get_title(sessions, text) : NULL;
	session->numbered = intern(sessions, numbered);
	if (!session->base || !session->numbered)
		return -ENOMEM;
	session->title = text;
	return 0;
}

/*
 * What a session without a name is called: by its number, and by the operator that tells most
 * of what it is. A name that has the type in it stands alone.
 */
static const char *telling_title(struct sessions *sessions, const struct analyze_session *session)
{
	const char *type = session->most_type, *name = session->most_name;
	const char *memory = session->is_named ? "memory, " : "";
	char title[TITLE_SIZE];

	if (!session->most_ns)
		return session->title;
	if (strcasestr(name, type))
		type = "";
	snprintf(title, sizeof(title), "session %u (%s%s%s%s)", session->session, memory, type,
		 *type ? " " : "", name);
	return intern(sessions, title) ?: session->title;
}

/* Of itself, if it is shown, there is one. */
static bool has_namesakes(const struct analyze_session *session)
{
	return session->base->sessions > (session->shown ? 1 : 0);
}

void sessions_look(struct sessions *sessions)
{
	struct session_title *title;
	struct analyze_model *model;

	hash_for_each(title, &sessions->titles, node)
		title->sessions = title->models = 0;
	hash_for_each(model, &sessions->models, node)
		model->title->models += model->shown;
	for (size_t i = 0; i < sessions->n; i++)
		if (sessions->items[i]->is_named)
			sessions->items[i]->base->sessions += sessions->items[i]->shown;
	for (size_t i = 0; i < sessions->n; i++) {
		struct analyze_session *session = sessions->items[i];

		if (session->by_number)
			session->title = telling_title(sessions, session);
		else if (session->is_named)
			session->title =
				has_namesakes(session) ? session->numbered : session->base->text;
	}
	hash_for_each(model, &sessions->models, node)
		model->label = model->title->models <= 1 ? model->title->text
			       : model->path[0]		 ? model->path
							 : model->numbered;
}

/* -- models ------------------------------------------------------------------------ */

/* Is it known which model that is, so that another session of it is told to be one? */
static bool is_certain(const struct capture_model *about)
{
	return about->path && (about->path[0] || about->graph_hash);
}

static struct analyze_model *make_model(struct sessions *sessions,
					const struct analyze_session *session,
					const struct analyze_model *like, uint64_t hash)
{
	struct analyze_model *model = malloc(sizeof(*model));

	if (!model)
		return NULL;
	*model = *like;
	model->title = session->base;
	model->numbered = session->numbered;
	model->label = session->base->text;
	if (hash_add(&sessions->models, &model->node, hash)) {
		free(model);
		return NULL;
	}
	return model;
}

/* The model of @session, which is known; NULL if out of memory. */
static struct analyze_model *get_model(struct sessions *sessions,
				       const struct analyze_session *session)
{
	const struct capture_model *about = &session->about;
	struct analyze_model like = {.path = about->path}, *model;
	uint64_t hash;

	/* Each process has a working directory of its own. */
	like.process = about->path[0] && about->path[0] != '/' ? session->process : NULL;
	like.graph_hash = about->path[0] ? 0 : about->graph_hash;
	hash = hash_word(hash_word(hash_word(0, (uintptr_t)like.path), (uintptr_t)like.process),
			 like.graph_hash);
	hash_for_each_possible(model, &sessions->models, hash, node)
		if (model->path == like.path && model->process == like.process &&
		    model->graph_hash == like.graph_hash)
			return model;
	return make_model(sessions, session, &like, hash);
}

static bool matches(const char *glob, const struct analyze_session *session)
{
	const char *path = session->about.path;

	return glob && session->is_named &&
	       ((path && path[0] && !fnmatch(glob, path, 0)) ||
		!fnmatch(glob, session->base->text, 0) || !fnmatch(glob, session->numbered, 0));
}

/* Have @text, of a record, outlive it: equal ones are one pointer. */
static int keep(struct sessions *sessions, const char **text)
{
	if (!*text)
		return 0;
	*text = intern(sessions, *text);
	return *text ? 0 : -ENOMEM;
}

int sessions_tell(struct sessions *sessions, const struct capture_model *record)
{
	struct analyze_session *session = sessions_get(sessions, record->session);
	struct capture_model about = *record;

	if (!session)
		return -EINVAL;
	if (keep(sessions, &about.path) || keep(sessions, &about.graph) ||
	    keep(sessions, &about.producer) || keep(sessions, &about.providers))
		return -ENOMEM;
	session->about = about;
	session->is_told = true;
	session->changes++;
	session->model = NULL;
	if (name_session(sessions, session))
		return -ENOMEM;
	if (is_certain(&about)) {
		session->model = get_model(sessions, session);
		if (!session->model)
			return -ENOMEM;
	}
	session->matches = matches(sessions->glob, session);
	return 0;
}

void sessions_free(struct sessions *sessions)
{
	struct session_title *title;
	struct analyze_model *model;

	hash_for_each(title, &sessions->titles, node)
		free(title);
	hash_for_each(model, &sessions->models, node)
		free(model);
	hash_free(&sessions->titles);
	hash_free(&sessions->models);
	for (size_t i = 0; i < sessions->n; i++)
		free(sessions->items[i]);
	array_free(sessions);
	array_free(&sessions->by_number);
	strings_free(&sessions->strings);
}
