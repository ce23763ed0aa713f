/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What shows who asks that it is this machine that answers (TLS): a certificate, with those
 * between it and one that others trust behind it, and its key, two PEM files. Followed, as they
 * are renewed every few weeks. All by one thread.
 *
 *	new ─▶ { texts, follow } ─▶ free
 */
#ifndef OPPROBE_SERVE_CERTIFICATE_H
#define OPPROBE_SERVE_CERTIFICATE_H

#include "../base/error.h"

struct certificate;

/* PEM, each up to its zero byte. */
struct certificate_texts {
	const char *chain, *key;
};

/* Of files whose paths outlive the result. NULL with @err set: also where they do not belong to
 * each other. */
struct certificate *certificate_new(const char *path, const char *key_path, struct error *err);

/* What is in use, until certificate_follow() returns 1. */
struct certificate_texts certificate_texts(const struct certificate *certificate);

/*
 * Look at the files again, once a second at most. What cannot be used changes nothing: the
 * certificate before it stays. Returns 0, 1 if it is another one, or a negative errno with @err
 * set: once for as long as they cannot be used, and not at the first look, as one file may be
 * swapped before the other.
 */
int certificate_follow(struct certificate *certificate, struct error *err);

void certificate_free(struct certificate *certificate);

#endif
