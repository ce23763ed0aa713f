// SPDX-License-Identifier: GPL-2.0-only
/* How near a row's executions came to what the machine can do at most. */
#include <math.h>

#include "analyze.h"
#include "sessions.h"

/* Threads that execute an operator of @row, the caller's included; 0: not known, or not the same.
 */
static uint32_t threads_of(const struct analysis *a, const struct analyze_row *row)
{
	const struct analyze_session *own = sessions_get(&a->sessions, row->session);
	uint32_t threads = 0;

	if (own)
		return own->about.intra_threads;
	for (size_t i = 0; i < a->sessions.n; i++) {
		const struct analyze_session *session = a->sessions.items[i];

		if (!session->shown)
			continue;
		if (!session->about.intra_threads ||
		    (threads && threads != session->about.intra_threads))
			return 0;
		threads = session->about.intra_threads;
	}
	return threads;
}

/* So many CPUs do not do more than as many times what one does, nor than all together. */
static double of_threads(uint64_t one, uint64_t all, uint32_t threads)
{
	double most = (double)(all > one ? all : one), sum = (double)one * threads;

	return one && all ? fmin(sum, most) : NAN;
}

double analyze_roof(const struct analysis *a, const struct analyze_row *row)
{
	const struct capture_roofs *roofs = &a->info.roofs;
	const struct analyze_amounts *amounts = analyze_amounts(row);
	uint32_t threads = roofs->measured ? threads_of(a, row) : 0;
	double flops, bytes;

	if (!threads || !amounts->both_ns || amounts->both_flops == UINT64_MAX ||
	    amounts->both_bytes == UINT64_MAX || amounts->other_types)
		return NAN;
	flops = (double)amounts->both_flops /
		of_threads(roofs->one.flops, roofs->all.flops, threads);
	bytes = (double)amounts->both_bytes /
		of_threads(roofs->one.bytes[ROOF_MEMORY], roofs->all.bytes[ROOF_MEMORY], threads);
	/* fmax() would take the one that is known. */
	if (isnan(flops) || isnan(bytes))
		return NAN;
	return 1e9 * fmax(flops, bytes) / (double)amounts->both_ns;
}
