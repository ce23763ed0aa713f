// SPDX-License-Identifier: GPL-2.0-only
#include "token.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "followed.h"

#define WORD_MIN 16 /* bytes */
#define WORD_MAX 256

struct token {
	struct followed file;
	bool broken;	      /* that there is no word in it was said */
	pthread_mutex_t lock; /* of: */
	char word[WORD_MAX + 1];
};

/* -- the file ------------------------------------------------------------------------------ */

/* The first line of @text, of @n bytes, becomes @word if it may be one. */
static int take_word(const char *path, const char *text, size_t n, char *word, struct error *err)
{
	size_t length = 0;

	while (length < n && text[length] != '\n' && text[length] != '\r')
		length++;
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

/* 0 or a negative errno. */
static int read_word(struct token *token, char *word, struct error *err)
{
	char text[WORD_MAX + 1];
	ssize_t n = followed_read(&token->file, text, sizeof(text), err);

	return n < 0 ? (int)n : take_word(token->file.path, text, (size_t)n, word, err);
}

/* -- life ---------------------------------------------------------------------------------- */

struct token *token_new(const char *path, struct error *err)
{
	struct token *token = calloc(1, sizeof(*token));

	if (!token) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	token->file = (struct followed){.path = path, .what = "a token"};
	pthread_mutex_init(&token->lock, NULL);
	if (!read_word(token, token->word, err))
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
	char word[WORD_MAX + 1];
	bool was_broken = token->broken, changed;
	int error;

	if (!followed_due(&token->file))
		return 0;
	/* Not by its times: a file may be written twice in one tick, and it is short. */
	error = read_word(token, word, err);
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
