/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The word that who asks must know, which is what its file holds now.
 *
 *	new ─▶ { is, follow } ─▶ free
 */
#ifndef OPPROBE_SERVE_TOKEN_H
#define OPPROBE_SERVE_TOKEN_H

#include <stdbool.h>

#include "../base/error.h"

struct token;

/* The first line of the file @path, which outlives the result. NULL with @err set. */
struct token *token_new(const char *path, struct error *err);

/* Is @text the word? Takes as long for any other text that is as long. By any thread. */
bool token_is(struct token *token, const char *text);

/*
 * Look at the file again, once a second at most: by a thread that may still open it. A word that is
 * another one is the only one from then on. What is no word, or cannot be read, changes nothing:
 * the word before it stays. Returns 0, 1 if the word has changed, or a negative errno with @err
 * set, once for as long as the file stays without a word.
 */
int token_follow(struct token *token, struct error *err);

void token_free(struct token *token);

#endif
