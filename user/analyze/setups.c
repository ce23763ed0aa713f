// SPDX-License-Identifier: GPL-2.0-only
/* What sessions did before their runs: loading their models, and initialization. */
#include <errno.h>
#include <string.h>

#include "fold.h"

/* Are setups of @session shown? They are of no run, so not where runs are chosen. */
static bool shows_setups(const struct fold *f, const struct analyze_session *session)
{
	const struct analyze_options *options = &f->a.options;

	return session->process->shown && !options->n_runs && !options->tag && !options->failed &&
	       (!options->one_session || session->session == options->session) &&
	       fold_has_model(f, session);
}

int fold_setup(struct fold *f, const struct capture_setup *setup)
{
	struct analyze_session *session = sessions_get(&f->a.sessions, setup->session);
	uint64_t ns = setup->end - setup->start;
	struct session_setup *sum;

	if (!session || setup->kind >= CAPTURE_SETUP_KINDS || setup->end < setup->start ||
	    (setup_failed(setup) && setup->failure >= f->a.failures.n))
		return -EINVAL;
	f->last = setup->end > f->last ? setup->end : f->last;
	sum = &session->setups[setup->kind];
	if (setup_failed(setup)) {
		sum->failed++;
		f->a.failures.items[setup->failure].all_setups++;
		return 0;
	}
	sum->ns += ns;
	sum->n++;
	sum->max = ns > sum->max ? ns : sum->max;
	return 0;
}

static void add_setups(struct analysis *a, const struct analyze_session *session)
{
	for (int kind = 0; kind < CAPTURE_SETUP_KINDS; kind++) {
		const struct session_setup *one = &session->setups[kind];
		struct session_setup *sum = &a->setups[kind];

		sum->ns += one->ns;
		sum->n += one->n;
		sum->max = one->max > sum->max ? one->max : sum->max;
		sum->failed += one->failed;
	}
}

static bool has_setups(const struct analyze_session *session)
{
	for (int kind = 0; kind < CAPTURE_SETUP_KINDS; kind++)
		if (session->setups[kind].n || session->setups[kind].failed)
			return true;
	return false;
}

void fold_look_at_setups(struct fold *f)
{
	struct analysis *a = &f->a;

	memset(a->setups, 0, sizeof(a->setups));
	for (size_t i = 0; i < a->sessions.n; i++) {
		struct analyze_session *session = a->sessions.items[i];

		if (!has_setups(session) || !shows_setups(f, session))
			continue;
		session_show(session);
		add_setups(a, session);
	}
	for (size_t i = 0; i < a->failures.n; i++) {
		struct analyze_failure *failure = &a->failures.items[i];
		const struct analyze_session *session =
			sessions_get(&a->sessions, failure->session);

		failure->setups = session && shows_setups(f, session) ? failure->all_setups : 0;
	}
}
