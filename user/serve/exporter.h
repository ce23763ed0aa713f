/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * HTTP for monitoring systems: what is asked for is looked at, and nothing can be asked to be done
 * but what was allowed. On the loopback, on another address with a token, or on a unix socket;
 * encrypted, with a certificate.
 *
 *	start ─▶ { tend, renew } ─▶ stop
 */
#ifndef OPPROBE_SERVE_EXPORTER_H
#define OPPROBE_SERVE_EXPORTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/error.h"
#include "certificate.h"
#include "token.h"

struct exporter;

/* What somebody asks for. */
struct exporter_request {
	bool better;	  /* the answer may be of the better type */
	uint32_t seconds; /* ?seconds=N: of late; 0: not said */
	uint32_t pid;	  /* ?pid=N: of that process; 0: not said */
};

/* One thing that can be asked for, by GET. One of the functions is there. */
struct exporter_page {
	const char *path;   /* "/metrics"; NULL: the end of the list */
	const char *type;   /* its Content-Type */
	const char *better; /* NULL, or another one, for those who accept it */
	const char *file;   /* NULL, or the name under which a browser saves it */
	/* Write it to @out. 0, or a negative errno with @err set. */
	int (*write)(void *context, const struct exporter_request *request, FILE *out,
		     struct error *err);
	/* A descriptor of it, and its *@size. Or a negative errno with @err set. */
	int (*open)(void *context, const struct exporter_request *request, uint64_t *size,
		    struct error *err);
};

struct exporter_options {
	const char *listen;  /* "127.0.0.1:9464", "[::1]:9464", "unix:PATH", or "fd:N" */
	struct token *token; /* that "Authorization: Bearer" must have; NULL: none */
	const struct certificate *certificate; /* TLS, with it; NULL: none */
	const struct exporter_page *pages;
	void *context; /* of the pages */
	/* May be NULL: called in the thread that is to answer, before it does. */
	void (*begin)(void);
};

/*
 * Answer from a thread of its own. @options outlive the result. NULL with @err set: an address that
 * is none, or another's; one that is no loopback's, without a token.
 */
struct exporter *exporter_start(const struct exporter_options *options, struct error *err);
/* "http://127.0.0.1:9464", https:// with a certificate, or "unix:PATH". */
const char *exporter_where(const struct exporter *exporter);
/* Leave those who take too long to ask, or to listen: to be called every now and then. */
void exporter_tend(struct exporter *exporter);
/*
 * The certificate is another one: whoever comes from now on is shown that. Who is being answered
 * goes on. A negative errno with @err set where that failed: all goes on as it was.
 */
int exporter_renew(struct exporter *exporter, struct error *err);
void exporter_stop(struct exporter *exporter);

#endif
