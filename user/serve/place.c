// SPDX-License-Identifier: GPL-2.0-only
#include "place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIX_PREFIX "unix:"
#define FD_PREFIX   "fd:"

static bool parse_port(const char *text, in_port_t *port)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*port = htons((uint16_t)value);
	return *text >= '0' && *text <= '9' && !*end && value <= UINT16_MAX;
}

static bool parse_v6(const char *text, struct place *place)
{
	const char *end = strchr(text, ']');
	char address[INET6_ADDRSTRLEN];
	size_t length = end ? (size_t)(end - text - 1) : 0;

	if (!end || end[1] != ':' || length >= sizeof(address))
		return false;
	memcpy(address, text + 1, length);
	address[length] = '\0';
	place->address.v6.sin6_family = AF_INET6;
	place->size = sizeof(place->address.v6);
	if (inet_pton(AF_INET6, address, &place->address.v6.sin6_addr) != 1 ||
	    !parse_port(end + 2, &place->address.v6.sin6_port))
		return false;
	return true;
}

static bool parse_v4(const char *text, struct place *place)
{
	const char *colon = strrchr(text, ':');
	char address[INET_ADDRSTRLEN];
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (!colon || length >= sizeof(address))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	place->address.v4.sin_family = AF_INET;
	place->size = sizeof(place->address.v4);
	if (inet_pton(AF_INET, address, &place->address.v4.sin_addr) != 1 ||
	    !parse_port(colon + 1, &place->address.v4.sin_port))
		return false;
	return true;
}

static bool parse_local(const char *path, struct place *place)
{
	place->address.local.sun_family = AF_UNIX;
	place->size = sizeof(place->address.local);
	if (!*path || strlen(path) >= sizeof(place->address.local.sun_path))
		return false;
	strcpy(place->address.local.sun_path, path);
	return true;
}

static bool is_loopback(const struct place *place)
{
	switch (place->address.any.sa_family) {
	case AF_INET:
		return ntohl(place->address.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&place->address.v6.sin6_addr);
	default:
		return place->address.any.sa_family == AF_UNIX;
	}
}

/* One that whoever started opprobe has opened, as systemd does. */
static bool parse_fd(const char *text, struct place *place)
{
	char *end;
	unsigned long fd = strtoul(text, &end, 10);
	int listens = 0;
	socklen_t size = sizeof(listens);

	place->size = sizeof(place->address);
	place->fd = (int)fd;
	return *text >= '0' && *text <= '9' && !*end && fd > STDERR_FILENO && fd < INT_MAX &&
	       !getsockopt(place->fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) && listens &&
	       !getsockname(place->fd, &place->address.any, &place->size) &&
	       !fcntl(place->fd, F_SETFD, FD_CLOEXEC);
}

int place_parse(struct place *place, const char *text, struct error *err)
{
	bool right;

	*place = (struct place){.fd = -1};
	if (!strncmp(text, FD_PREFIX, strlen(FD_PREFIX)))
		right = parse_fd(text + strlen(FD_PREFIX), place);
	else if (!strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)))
		right = parse_local(text + strlen(UNIX_PREFIX), place);
	else if (*text == '[')
		right = parse_v6(text, place);
	else
		right = parse_v4(text, place);
	place->loopback = is_loopback(place);
	return right ? 0
		     : error_set(err, -EINVAL,
				 "'%s' is no address to listen at: 127.0.0.1:9464, [::1]:9464, "
				 "unix:/run/opprobe.sock, or, of a socket that listens, fd:3",
				 text);
}

/* A socket that was left by one that is not there any more makes room. */
static void unlink_dead(const struct place *place)
{
	struct stat it;
	int fd;

	if (place->address.any.sa_family != AF_UNIX || lstat(place->address.local.sun_path, &it) ||
	    !S_ISSOCK(it.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, &place->address.any, place->size) && errno == ECONNREFUSED)
		unlink(place->address.local.sun_path);
	if (fd >= 0)
		close(fd);
}

int place_listen(const struct place *place, int connections)
{
	int fd, on = 1, error;
	mode_t mask;

	if (place->fd >= 0)
		return place->fd;
	fd = socket(place->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	unlink_dead(place);
	/* Whoever may connect to it is for its folder to say, and for its group. */
	mask = umask(0117);
	error = bind(fd, &place->address.any, place->size) || listen(fd, connections) ? -errno : 0;
	umask(mask);
	if (!error)
		return fd;
	close(fd);
	return error;
}

void place_tell(const struct place *place, int fd, const char *scheme, char text[PLACE_TEXT])
{
	struct place got = {.size = sizeof(got.address)};
	char address[INET6_ADDRSTRLEN];

	if (place->address.any.sa_family == AF_UNIX) {
		snprintf(text, PLACE_TEXT, UNIX_PREFIX "%s", place->address.local.sun_path);
		return;
	}
	if (getsockname(fd, &got.address.any, &got.size))
		got = *place;
	if (got.address.any.sa_family == AF_INET6)
		snprintf(text, PLACE_TEXT, "%s://[%s]:%u", scheme,
			 inet_ntop(AF_INET6, &got.address.v6.sin6_addr, address, sizeof(address)),
			 ntohs(got.address.v6.sin6_port));
	else
		snprintf(text, PLACE_TEXT, "%s://%s:%u", scheme,
			 inet_ntop(AF_INET, &got.address.v4.sin_addr, address, sizeof(address)),
			 ntohs(got.address.v4.sin_port));
}
