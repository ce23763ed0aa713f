// SPDX-License-Identifier: GPL-2.0-only
#include "message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SLICE 20 /* ms, between two questions whether to go on waiting */

/* Wait until @fd is ready for @events. */
static int await(int fd, short events, message_patience patience, void *context)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};

	for (;;) {
		int error = patience ? patience(context) : 0, ready;

		if (error)
			return error;
		ready = poll(&poll_fd, 1, patience ? SLICE : -1);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
}

static bool is_over(ssize_t n)
{
	return n < 0 && errno != EAGAIN && errno != EINTR;
}

/* What is left of the parts from @io on, of which @n bytes are done. */
static void advance(struct iovec *io, size_t n)
{
	for (; n; io++) {
		size_t done = n < io->iov_len ? n : io->iov_len;

		io->iov_base = (char *)io->iov_base + done;
		io->iov_len -= done;
		n -= done;
	}
}

/* Let @message bring @file, in @control. */
static void attach_file(struct msghdr *message, void *control, size_t size, int file)
{
	struct cmsghdr *cmsg;

	message->msg_control = control;
	message->msg_controllen = size;
	cmsg = CMSG_FIRSTHDR(message);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(file));
	memcpy(CMSG_DATA(cmsg), &file, sizeof(file));
}

int message_send(int fd, uint32_t type, const void *data, size_t size, int file,
		 message_patience patience, void *context)
{
	char control[CMSG_SPACE(sizeof(int))] = {};
	struct message head = {type, size};
	struct iovec parts[2] = {{&head, sizeof(head)}, {(void *)data, size}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	if (file >= 0)
		attach_file(&message, control, sizeof(control), file);
	while (parts[0].iov_len + parts[1].iov_len) {
		ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		int error;

		if (is_over(n))
			return -errno;
		if (n > 0) {
			advance(parts, n);
			/* The file went with the first of its bytes. */
			message.msg_control = NULL;
			message.msg_controllen = 0;
			continue;
		}
		error = await(fd, POLLOUT, patience, context);
		if (error)
			return error;
	}
	return 0;
}

static int take_file(struct msghdr *head)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(head);
	int file = -1;

	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS &&
	    cmsg->cmsg_len >= CMSG_LEN(sizeof(int)))
		memcpy(&file, CMSG_DATA(cmsg), sizeof(file));
	return file;
}

static int receive_part(int fd, void *data, size_t size, int *file, message_patience patience,
			void *context)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec io = {data, size};

	while (io.iov_len) {
		struct msghdr head = {.msg_iov = &io, .msg_iovlen = 1};
		ssize_t n;
		int error;

		if (file && *file < 0) {
			head.msg_control = control;
			head.msg_controllen = sizeof(control);
		}
		n = recvmsg(fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (is_over(n))
			return -errno;
		if (!n)
			return -EPIPE;
		if (n > 0) {
			if (file && *file < 0 && head.msg_controllen)
				*file = take_file(&head);
			advance(&io, n);
			continue;
		}
		error = await(fd, POLLIN, patience, context);
		if (error)
			return error;
	}
	return 0;
}

int message_receive(int fd, struct message *head, int *file, message_patience patience,
		    void *context)
{
	int error;

	if (file)
		*file = -1;
	error = receive_part(fd, head, sizeof(*head), file, patience, context);
	if (error && file && *file >= 0) {
		close(*file);
		*file = -1;
	}
	return error;
}

int message_receive_data(int fd, void *data, size_t size, message_patience patience, void *context)
{
	return receive_part(fd, data, size, NULL, patience, context);
}
