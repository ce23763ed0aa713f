// SPDX-License-Identifier: GPL-2.0-only
#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/clock.h"
#include "answer.h"

#define WORD_MIN 16 /* bytes */
#define WORD_MAX 256
#define LOOK_NS	 UINT64_C(1000000000) /* between looks at the file */

struct token {
	const char *path;
	bool followed; /* a regular file: what came from a pipe is not there twice */
	bool broken;   /* that there is no word in it was said */
	uint64_t looked;
	pthread_mutex_t lock; /* of: */
	char word[WORD_MAX + 1];
};

/* -- the file ------------------------------------------------------------------------------ */

/* Up to @size bytes of what can be read. Their number, or a negative errno. */
static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, text + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static int unreadable(const char *path, const char *reason, int error, struct error *err)
{
	return error_set(err, error, "cannot read a token from %s: %s", path, reason);
}

/* The first line of @text, of @n bytes, becomes @word if it may be one. */
static int take_word(const char *path, const char *text, size_t n, char *word, struct error *err)
{
	size_t length = 0;

	while (length < n && text[length] != '\n' && text[length] != '\r')
		length++;
	if (!n)
		return unreadable(path, "the file is empty", -ENODATA, err);
	if (length > WORD_MAX)
		return error_set(err, -EINVAL,
				 "the token in %s has more than %d bytes: let it be shorter, as "
				 "`openssl rand -hex 16` prints",
				 path, WORD_MAX);
	if (length < WORD_MIN)
		return error_set(err, -EINVAL,
				 "the token in %s has %zu bytes, and could be guessed: let it have "
				 "%d or more, as `openssl rand -hex 16` prints",
				 path, length, WORD_MIN);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '\x7f')
			return error_set(
				err, -EINVAL,
				"the token in %s has a control character, which nobody can "
				"send: let it be text, as `openssl rand -hex 16` prints",
				path);
	memcpy(word, text, length);
	word[length] = '\0';
	return 0;
}

/*
 * 0 or a negative errno. Of one that is @followed nobody waits for whoever writes to it: it may be
 * a pipe now.
 */
static int read_word(const char *path, bool *followed, char *word, struct error *err)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (*followed ? O_NONBLOCK : 0);
	int fd = open(path, flags);
	char text[WORD_MAX + 1] = "";
	struct stat it = {};
	ssize_t n = fd < 0 || fstat(fd, &it) ? -errno : 0;

	if (!n && *followed && !S_ISREG(it.st_mode)) {
		close(fd);
		return unreadable(path, "it is no regular file any more", -EINVAL, err);
	}
	if (!n)
		n = read_all(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return unreadable(path, error_reason((int)n), (int)n, err);
	*followed = S_ISREG(it.st_mode);
	return take_word(path, text, (size_t)n, word, err);
}

/* -- life ---------------------------------------------------------------------------------- */

struct token *token_new(const char *path, struct error *err)
{
	struct token *token = calloc(1, sizeof(*token));

	if (!token) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	token->path = path;
	token->looked = clock_ns();
	pthread_mutex_init(&token->lock, NULL);
	if (!read_word(path, &token->followed, token->word, err))
		return token;
	token_free(token);
	return NULL;
}

bool token_is(struct token *token, const char *text)
{
	bool is;

	pthread_mutex_lock(&token->lock);
	is = strlen(text) == strlen(token->word) && answer_knows(text, token->word);
	pthread_mutex_unlock(&token->lock);
	return is;
}

int token_follow(struct token *token, struct error *err)
{
	uint64_t now = clock_ns();
	char word[WORD_MAX + 1];
	bool was_broken = token->broken, changed;
	int error;

	if (!token->followed || now - token->looked < LOOK_NS)
		return 0;
	token->looked = now;
	/* Not by its times: a file may be written twice in one tick, and it is short. */
	error = read_word(token->path, &token->followed, word, err);
	token->broken = error != 0;
	if (error)
		return was_broken ? 0 : error;
	pthread_mutex_lock(&token->lock);
	changed = strcmp(word, token->word) != 0;
	strcpy(token->word, word);
	pthread_mutex_unlock(&token->lock);
	return changed;
}

void token_free(struct token *token)
{
	if (!token)
		return;
	pthread_mutex_destroy(&token->lock);
	free(token);
}
