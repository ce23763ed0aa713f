/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * HTTP on the loopback, for the browser of who started it and for nobody else: paths begin
 * with a word that cannot be guessed, as other users of the machine, and pages of the web by a
 * name that leads to 127.0.0.1, reach it, too. Nothing can be asked for but what contents.h has.
 */
#ifndef OPPROBE_SERVE_SERVER_H
#define OPPROBE_SERVE_SERVER_H

#include <stdint.h>

#include "contents.h"

/*
 * The one port of which ui.perfetto.dev reads traces: its Content-Security-Policy names
 * http://127.0.0.1:9001 (ui/src/frontend/index.ts of github.com/google/perfetto).
 */
#define SERVER_PERFETTO_PORT 9001

struct server;

/*
 * Answer at @port, 0 for any that is free, from a thread of its own. NULL with @err set and
 * *@taken told if the port is another's.
 */
struct server *server_start(struct contents *contents, uint16_t port, bool *taken,
			    struct error *err);
/* "http://127.0.0.1:9001/WORD/" */
const char *server_url(const struct server *server);
uint16_t server_port(const struct server *server);
void server_stop(struct server *server);

#endif
