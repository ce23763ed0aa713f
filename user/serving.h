/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recording for weeks, for a monitoring system: processes that come are recorded until they go, and
 * what was told of them stays. One recording after the other, so that what has gone is forgotten:
 *
 *	choose ─▶ { record, until nobody is left or too much is known ─▶ choose or wait }
 */
#ifndef OPPROBE_SERVING_H
#define OPPROBE_SERVING_H

#include <signal.h>

#include "choice.h"
#include "recording.h"

#define SERVING_NODES	 500 /* with series of their own, unless told otherwise */
#define SERVING_KEEP	 (16u << 20)
#define SERVING_OVERHEAD 0.01 /* of the processes' CPU time */
#define SERVING_RATE	 99.0 /* Hz, of samples in place of probes that take too much */

struct serving_options {
	/*
	 * What is counted, and how often samples are taken; without a rate probes are in place as
	 * long as they take no more than max_overhead. Its `stop` is serving's own flag, which
	 * whoever sets *quit sets as well.
	 */
	struct recording_options recording;
	volatile sig_atomic_t *leave; /* recording.stop */
	const volatile sig_atomic_t *quit;
	const struct choice *choice;
	const char *listen;			 /* see serve/exporter.h */
	const char *token_file;			 /* see serve/token.h; or NULL */
	const char *certificate_file, *key_file; /* see serve/certificate.h; or both NULL */
	size_t nodes;
	size_t keep; /* bytes of what was recorded last, for who wants a capture of it */
};

/* Until *quit, or until all processes that were given by their numbers have exited. 0, or a
 * negative errno with @err set. */
int serving_run(const struct serving_options *options, struct error *err);

#endif
