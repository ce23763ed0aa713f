// SPDX-License-Identifier: GPL-2.0-only
#include "exporter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/clock.h"
#include "answer.h"
#include "place.h"

#define CONNECTIONS 32			  /* at once, each */
#define CLIENTS	    (2 * CONNECTIONS)	  /* also of one that has another certificate */
#define PATIENCE    10			  /* s without a byte, */
#define LONGEST	    UINT64_C(30000000000) /* and ns in all */
#define TLS	    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" /* of GnuTLS */
#define NUMBER_MAX  100000000					 /* of seconds, or a process */

/* Somebody who is being answered. */
struct client {
	int fd;
	uint64_t since; /* clock_ns(); 0: nobody */
};

struct exporter {
	const struct exporter_options *options;
	struct MHD_Daemon *daemon;
	struct MHD_Daemon *former; /* with another certificate, until it has answered; or NULL */
	int fd;			   /* that listens */
	char where[PLACE_TEXT];
	char unlinked[108]; /* a socket's path, "" if it is none */
	bool is_open;	    /* a browser may be led here by a page of another name */
	pthread_mutex_t lock;
	struct client clients[CLIENTS];
};

/* -- answers ------------------------------------------------------------------------------- */

/* Does who asks understand @type, whatever its parameters are? */
static bool accepts(struct MHD_Connection *connection, const char *type)
{
	const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	size_t length = strcspn(type, ";");

	for (; header && *header; header++)
		if (!strncasecmp(header, type, length))
			return true;
	return false;
}

static struct MHD_Response *make_text(struct exporter *e, const struct exporter_page *page,
				      const struct exporter_request *request, struct error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int error = out ? page->write(e->options->context, request, out, err)
			: error_set(err, -ENOMEM, "out of memory");

	if (out && (ferror(out) || fclose(out) || !text) && !error)
		error = error_set(err, -ENOMEM, "out of memory");
	if (!error)
		return MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
	free(text);
	return NULL;
}

static struct MHD_Response *make_file(struct exporter *e, const struct exporter_page *page,
				      const struct exporter_request *request, struct error *err)
{
	uint64_t size;
	int fd = page->open(e->options->context, request, &size, err);
	struct MHD_Response *response = fd < 0 ? NULL : MHD_create_response_from_fd64(size, fd);

	if (fd >= 0 && !response)
		close(fd);
	if (response && page->file) {
		char disposition[128];

		snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"",
			 page->file);
		MHD_add_response_header(response, "Content-Disposition", disposition);
	}
	return response;
}

/* The number ?@name=N, from 1 to NUMBER_MAX; 0 if it is not there. False if it is none. */
static bool take_number(struct MHD_Connection *connection, const char *name, uint32_t *number)
{
	const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
	unsigned long value;
	char *end;

	*number = 0;
	if (!text)
		return true;
	value = strtoul(text, &end, 10);
	*number = (uint32_t)value;
	return *text >= '0' && *text <= '9' && !*end && value && value <= NUMBER_MAX;
}

static enum MHD_Result respond_page(struct exporter *e, struct MHD_Connection *connection,
				    const struct exporter_page *page)
{
	struct exporter_request request = {
		.better = page->better && accepts(connection, page->better),
	};
	struct MHD_Response *response;
	struct error err = {};
	char text[sizeof(err.text) + 1];

	if (!take_number(connection, "seconds", &request.seconds) ||
	    !take_number(connection, "pid", &request.pid))
		return answer_text(connection, MHD_HTTP_BAD_REQUEST,
				   "seconds and pid are numbers from 1 on\n");
	response = page->write ? make_text(e, page, &request, &err)
			       : make_file(e, page, &request, &err);
	if (response)
		return answer_send(connection, MHD_HTTP_OK, response,
				   request.better ? page->better : page->type);
	snprintf(text, sizeof(text), "%s\n", *err.text ? err.text : "out of memory");
	return answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

/*
 * A page of the web may lead a browser to the loopback, by a name of its own: that is what it asks
 * for then. Who scrapes names an address, or this machine.
 */
static bool is_host(const struct exporter *e, const char *host)
{
	static const char own[] = "localhost";
	struct in_addr address;
	char name[64];
	size_t length;

	if (!e->is_open || !host || *host == '[')
		return true;
	length = strcspn(host, ":");
	if (length >= sizeof(name))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	return !strcasecmp(name, own) || inet_pton(AF_INET, name, &address) == 1;
}

static bool is_token(const struct exporter *e, const char *header)
{
	static const char scheme[] = "Bearer ";
	struct token *token = e->options->token;

	if (!token)
		return true;
	if (!header || strncasecmp(header, scheme, strlen(scheme)) != 0)
		return false;
	return token_is(token, header + strlen(scheme));
}

static const struct exporter_page *find(const struct exporter *e, const char *url)
{
	for (const struct exporter_page *page = e->options->pages; page->path; page++)
		if (!strcmp(page->path, url))
			return page;
	return NULL;
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	static int seen;
	struct exporter *e = cls;
	const struct exporter_page *page;

	(void)version;
	(void)upload;
	if (!is_host(e, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host")))
		return answer_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
				   "this is opprobe, which has no name\n");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				   "what is here can be looked at, and nothing else\n");
	/* Called first with the headers, then with what follows them, which is nobody's. */
	if (!*state || *upload_size) {
		*state = &seen;
		*upload_size = 0;
		return MHD_YES;
	}
	if (!is_token(e, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization")))
		return answer_text(connection, MHD_HTTP_UNAUTHORIZED,
				   "this opprobe wants the token of its --token-file\n");
	page = find(e, url);
	return page ? respond_page(e, connection, page)
		    : answer_text(connection, MHD_HTTP_NOT_FOUND, "nothing is here\n");
}

/* -- clients ------------------------------------------------------------------------------- */

static void note_client(void *cls, struct MHD_Connection *connection, void **state,
			enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct exporter *e = cls;
	struct client *client = *state;

	pthread_mutex_lock(&e->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED && info) {
		for (client = e->clients; client < e->clients + CLIENTS; client++)
			if (!client->since)
				break;
		if (client < e->clients + CLIENTS)
			*client = (struct client){info->connect_fd, clock_ns()};
		*state = client < e->clients + CLIENTS ? client : NULL;
	} else if (client) {
		client->since = 0;
	}
	pthread_mutex_unlock(&e->lock);
}

static bool is_busy(struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info && info->num_connections;
}

static void end_former(struct exporter *e)
{
	if (e->former)
		MHD_stop_daemon(e->former);
	e->former = NULL;
}

void exporter_tend(struct exporter *e)
{
	uint64_t now = clock_ns();

	pthread_mutex_lock(&e->lock);
	for (size_t i = 0; i < CLIENTS; i++)
		if (e->clients[i].since && now - e->clients[i].since > LONGEST)
			shutdown(e->clients[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&e->lock);
	if (e->former && !is_busy(e->former))
		end_former(e);
}

/* -- life ---------------------------------------------------------------------------------- */

/* A daemon that is to start. */
struct starting {
	struct exporter *exporter;
	int fd;	   /* that listens, its own */
	int error; /* negative: it did not */
};

/* A thread of its own: the daemon's has no more rights than the one that starts it. */
static void *start_daemon(void *cls)
{
	struct starting *starting = cls;
	struct exporter *e = starting->exporter;
	const struct certificate *certificate = e->options->certificate;
	struct certificate_texts texts =
		certificate ? certificate_texts(certificate) : (struct certificate_texts){};
	struct MHD_OptionItem secured[] = {
		{certificate ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, (void *)texts.chain},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)texts.key},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, TLS},
		{MHD_OPTION_END, 0, NULL},
	};

	if (e->options->begin)
		e->options->begin();
	errno = 0;
	e->daemon = MHD_start_daemon(
		MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | (certificate ? MHD_USE_TLS : 0), 0,
		NULL, NULL, answer, e, MHD_OPTION_LISTEN_SOCKET, starting->fd,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE,
		MHD_OPTION_NOTIFY_CONNECTION, note_client, e, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)(32 << 10), MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, secured,
		MHD_OPTION_END);
	if (!e->daemon)
		starting->error = -errno ?: -EIO;
	return NULL;
}

/* Close @fd, unless it is not what @same is any more. */
static void close_if_same(int fd, int same)
{
	struct stat one, other;

	if (!fstat(fd, &one) && !fstat(same, &other) && one.st_ino == other.st_ino &&
	    one.st_dev == other.st_dev)
		close(fd);
}

/*
 * Have e->daemon answer; 0 or a negative errno. On a descriptor of its own: where one fails to
 * start, it may have closed that, and another still listens.
 */
static int answer_from_now_on(struct exporter *e)
{
	struct starting starting = {.exporter = e, .fd = fcntl(e->fd, F_DUPFD_CLOEXEC, 0)};
	pthread_t starter;

	e->daemon = NULL;
	if (starting.fd < 0)
		return -errno;
	starting.error = -pthread_create(&starter, NULL, start_daemon, &starting);
	if (!starting.error)
		pthread_join(starter, NULL);
	if (starting.error)
		close_if_same(starting.fd, e->fd);
	return starting.error;
}

/* To end a daemon that listens would shut the socket, which may be another's as well. */
static void leave_socket(struct MHD_Daemon *daemon)
{
	int fd = MHD_quiesce_daemon(daemon);

	if (fd >= 0)
		close(fd);
}

static int fail(const struct exporter_options *options, int error, struct error *err)
{
	return error_set(err, error, "cannot listen at %s: %s%s", options->listen,
			 error_reason(error),
			 error == -EADDRINUSE ? "; another program does, or another opprobe" : "");
}

static int start(struct exporter *e, struct error *err)
{
	const struct exporter_options *options = e->options;
	struct place place;
	int error = place_parse(&place, options->listen, err), fd;

	if (error)
		return error;
	if (!place.loopback && !options->token)
		return error_set(err, -EPERM,
				 "%s can be reached from other machines: --token-file FILE makes "
				 "them know a word",
				 options->listen);
	fd = place_listen(&place, CONNECTIONS);
	if (fd < 0)
		return fail(options, fd, err);
	place_tell(&place, fd, options->certificate ? "https" : "http", e->where);
	if (place.address.any.sa_family == AF_UNIX && place.fd < 0)
		strcpy(e->unlinked, place.address.local.sun_path);
	e->is_open = !options->token && place.address.any.sa_family != AF_UNIX;
	pthread_mutex_init(&e->lock, NULL);
	e->fd = fd;
	error = answer_from_now_on(e);
	if (!error)
		return 0;
	close(fd);
	return fail(options, error, err);
}

struct exporter *exporter_start(const struct exporter_options *options, struct error *err)
{
	struct exporter *e = calloc(1, sizeof(*e));

	if (!e) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	e->options = options;
	if (!start(e, err))
		return e;
	free(e);
	return NULL;
}

const char *exporter_where(const struct exporter *e)
{
	return e->where;
}

int exporter_renew(struct exporter *e, struct error *err)
{
	struct MHD_Daemon *before = e->daemon;
	int error = answer_from_now_on(e);

	if (error) {
		e->daemon = before;
		return error_set(
			err, error,
			"cannot use another certificate: %s: it is tried again each second",
			error_reason(error));
	}
	leave_socket(before);
	end_former(e);
	e->former = before;
	return 0;
}

void exporter_stop(struct exporter *e)
{
	if (!e)
		return;
	leave_socket(e->daemon);
	close(e->fd);
	MHD_stop_daemon(e->daemon);
	end_former(e);
	pthread_mutex_destroy(&e->lock);
	if (*e->unlinked)
		unlink(e->unlinked);
	free(e);
}
