/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A place to listen at: an address, a unix socket, or a socket that somebody else opened.
 *
 *	parse ─▶ listen ─▶ tell
 */
#ifndef OPPROBE_SERVE_PLACE_H
#define OPPROBE_SERVE_PLACE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../base/error.h"

#define PLACE_TEXT 160 /* bytes, with the zero byte */

struct place {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un local;
	} address;
	socklen_t size;
	bool loopback;
	int fd; /* that listens there already; -1: none does */
};

/* "127.0.0.1:9464", "[::1]:9464", "unix:PATH", or "fd:N", which listens. 0, or -EINVAL with @err
 * set. */
int place_parse(struct place *place, const char *text, struct error *err);
/*
 * A descriptor that listens there, with room for so many @connections that nobody has taken; a
 * negative errno. A unix socket that nobody answers at any more makes room.
 */
int place_listen(const struct place *place, int connections);
/* Where @fd listens, with the port that it was given: "http://127.0.0.1:9464", or "unix:PATH". */
void place_tell(const struct place *place, int fd, const char *scheme, char text[PLACE_TEXT]);

#endif
