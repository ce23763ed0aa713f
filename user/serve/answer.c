// SPDX-License-Identifier: GPL-2.0-only
#include "answer.h"

#include <string.h>

enum MHD_Result answer_send(struct MHD_Connection *connection, unsigned int status,
			    struct MHD_Response *response, const char *type)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "X-Frame-Options", "DENY");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
			    const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	return answer_send(connection, status, response, "text/plain; charset=utf-8");
}

bool answer_knows(const char *text, const char *secret)
{
	size_t length = strlen(secret);
	unsigned char differ = 0;

	if (strnlen(text, length) < length)
		return false;
	for (size_t i = 0; i < length; i++)
		differ |= text[i] ^ secret[i];
	return !differ;
}
