/* SPDX-License-Identifier: GPL-2.0-only */
/* What every answer over HTTP has, whoever serves. */
#ifndef OPPROBE_SERVE_ANSWER_H
#define OPPROBE_SERVE_ANSWER_H

#include <microhttpd.h>
#include <stdbool.h>

/* Answer with @response, which is taken over; NULL, without memory, ends the connection. */
enum MHD_Result answer_send(struct MHD_Connection *connection, unsigned int status,
			    struct MHD_Response *response, const char *type);
enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
			    const char *text);
/* Does @text begin with @secret? Takes as long for any other text that is as long. */
bool answer_knows(const char *text, const char *secret);

#endif
