// SPDX-License-Identifier: GPL-2.0-only
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"

#define WORD_BYTES  16
#define CONNECTIONS 64 /* at once, */
#define PATIENCE    10 /* s without a byte, each */

struct server {
	struct MHD_Daemon *daemon;
	struct contents *contents;
	uint16_t port;
	char word[2 * WORD_BYTES + 1];
	char url[128];
};

/* -- answers ---------------------------------------------------------------------- */

static enum MHD_Result send_content(struct server *s, struct MHD_Connection *connection,
				    const struct content *kind)
{
	struct MHD_Response *response;
	struct error err;
	uint64_t size;
	int fd = contents_get(s->contents, kind, &size, &err);

	if (fd < 0)
		return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, err.text);
	response = MHD_create_response_from_fd64(size, fd);
	if (!response)
		close(fd);
	else if (kind->for_perfetto)
		MHD_add_response_header(response, "Access-Control-Allow-Origin",
					"https://ui.perfetto.dev");
	else
		MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	return answer_send(connection, MHD_HTTP_OK, response, kind->type);
}

/* A page of another name may have been led here: its browser says for whom it asks. */
static bool is_host(const struct server *s, const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	char expected[64];

	for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(expected, sizeof(expected), "%s:%u", names[i], s->port);
		if (!strcasecmp(host, expected))
			return true;
	}
	return false;
}

/* What is at /WORD/NAME; NULL for all else. */
static const struct content *find(const struct server *s, const char *url)
{
	const struct content *kind = contents_kinds;
	const char *name;

	if (url[0] != '/' || !answer_knows(url + 1, s->word))
		return NULL;
	name = url + 1 + strlen(s->word);
	if (*name++ != '/')
		return NULL;
	while (kind->name && strcmp(kind->name, name) != 0)
		kind++;
	return kind->name ? kind : NULL;
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	static int seen;
	struct server *s = cls;
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	const struct content *kind;

	if (!is_host(s, host))
		return answer_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
				   "this is opprobe, for 127.0.0.1 alone\n");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				   "what is here can be looked at, and nothing else\n");
	kind = find(s, url);
	if (!kind)
		return answer_text(connection, MHD_HTTP_NOT_FOUND,
				   "nothing is here: opprobe view printed where to look\n");
	/* Called first with the headers, then with what follows them, which is nobody's. */
	if (!*state || *upload_size) {
		*state = &seen;
		*upload_size = 0;
		return MHD_YES;
	}
	return send_content(s, connection, kind);
}

/* -- starting --------------------------------------------------------------------- */

/* A socket of the loopback alone; -errno. */
static int listen_on(uint16_t port, uint16_t *got)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, error;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)) && !listen(fd, CONNECTIONS) &&
	    !getsockname(fd, (struct sockaddr *)&address, &size)) {
		*got = ntohs(address.sin_port);
		return fd;
	}
	error = -errno;
	close(fd);
	return error;
}

static int make_word(char *word)
{
	unsigned char bytes[WORD_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(word + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

struct server *server_start(struct contents *contents, uint16_t port, bool *taken,
			    struct error *err)
{
	struct server *s = calloc(1, sizeof(*s));
	int fd = s ? listen_on(port, &s->port) : -ENOMEM, error = fd < 0 ? fd : 0;

	*taken = error == -EADDRINUSE;
	if (!error)
		error = make_word(s->word);
	if (!error) {
		s->contents = contents;
		snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u/%s/", s->port, s->word);
		s->daemon = MHD_start_daemon(
			MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, answer, s,
			MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
			MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			(size_t)(32 << 10), MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
		error = s->daemon ? 0 : -EIO;
	}
	if (!error)
		return s;
	error_set(err, error, "cannot answer on port %u of 127.0.0.1: %s", port,
		  error_reason(error));
	if (fd >= 0)
		close(fd);
	free(s);
	return NULL;
}

const char *server_url(const struct server *s)
{
	return s->url;
}

uint16_t server_port(const struct server *s)
{
	return s->port;
}

void server_stop(struct server *s)
{
	MHD_stop_daemon(s->daemon);
	free(s);
}
