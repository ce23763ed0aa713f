/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text for people and for machines: names from the target may hold any
 * bytes, and numbers need units.
 */
#ifndef OPPROBE_OUTPUT_TEXT_H
#define OPPROBE_OUTPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Write @bytes as text_terminal() makes them. */
void text_put(FILE *out, const char *bytes);
/* Put a member behind others of an object: its key, and @bytes, or null for NULL. 0 or -ENOMEM. */
int text_put_member(FILE *out, const char *key, const char *bytes);

/* The following return an allocated string, NULL if out of memory. */

/* @bytes as a JSON string with its quotes; each byte of invalid UTF-8 becomes U+FFFD. */
char *text_json(const char *bytes);
/* @bytes for a terminal: controls, invalid UTF-8 and what changes the
 * direction of writing become \xNN. */
char *text_terminal(const char *bytes);
/*
 * @bytes as a CSV field (RFC 4180), in quotes where needed. A reader of it gets
 * just what one of text_json() gets, control characters included, so that
 * names can be matched; hence not @to_terminal, where it is text_terminal()'s.
 */
char *text_csv(const char *bytes, bool to_terminal);
/* @text, made by text_terminal(), with its middle left out so that it is at
 * most @width columns wide. */
char *text_shorten(const char *text, size_t width);
/* The same, with @head columns of its beginning at most; @width is 3 at least. */
char *text_cut(const char *text, size_t head, size_t width);
/* Columns that @text takes on a terminal. */
size_t text_width(const char *text);
/*
 * Write @text, made for a terminal, with its lines broken between words so that none is
 * wider than @room, where words are not; @indent spaces before what goes on. A number and its
 * unit are one word. 0: any width.
 */
void text_wrap(FILE *out, const char *text, size_t room, size_t indent);

/* Columns of a line of @out: COLUMNS in the environment, or of the terminal that it is; 0: any. */
size_t text_room(FILE *out);

/* The following fill @to, of @size bytes, and return it. */

/* A bar of @eighths of a cell, three bytes for each that it begins, and a zero; returns @to. */
char *text_bar(char *to, unsigned int eighths);
/* "12.34 ms", of four digits and the unit that suits. */
char *text_time(char *to, size_t size, double ns);
/* "1,234,567" */
char *text_count(char *to, size_t size, uint64_t value);
/* "1.50 KiB" */
char *text_bytes(char *to, size_t size, uint64_t bytes);
/* "87 %", of a part of one; what is less than half of a hundredth, and not nothing, is "<1 %". */
char *text_share(char *to, size_t size, double share);

#endif
