// SPDX-License-Identifier: GPL-2.0-only
#include "listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define SPACE	   2
#define TEXT_LEAST 12 /* columns that a name gets at least */

struct picture {
	const struct listing *listing;
	size_t widths[LISTING_COLUMNS_MAX];
	bool shown[LISTING_COLUMNS_MAX];
};

/* @text for a terminal; it is freed. */
static char *clean(char *text)
{
	char *cleaned = text ? text_terminal(text) : NULL;

	free(text);
	return cleaned;
}

int listing_add(struct listing *listing, char *const *cells)
{
	struct listing_line *line = array_push(&listing->lines);
	int error = line ? 0 : -ENOMEM;

	if (line)
		*line = (struct listing_line){};
	for (size_t c = 0; c < listing->n_columns; c++) {
		char *cell = clean(cells[c]);

		if (line)
			line->cells[c] = cell;
		else
			free(cell);
		error = cell ? error : -ENOMEM;
	}
	return error;
}

void listing_free(struct listing *listing)
{
	for (size_t i = 0; i < listing->lines.n; i++)
		for (size_t c = 0; c < listing->n_columns; c++)
			free(listing->lines.items[i].cells[c]);
	array_free(&listing->lines);
}

static void measure(struct picture *picture)
{
	const struct listing *listing = picture->listing;

	for (size_t c = 0; c < listing->n_columns; c++) {
		picture->widths[c] = strlen(listing->columns[c].title);
		picture->shown[c] = !listing->columns[c].optional;
		for (size_t i = 0; i < listing->lines.n; i++) {
			size_t width = text_width(listing->lines.items[i].cells[c]);

			picture->shown[c] |= width > 0;
			if (width > picture->widths[c])
				picture->widths[c] = width;
		}
	}
}

static size_t whole_width(const struct picture *picture)
{
	size_t sum = 0;

	for (size_t c = 0; c < picture->listing->n_columns; c++)
		sum += picture->shown[c] ? picture->widths[c] + SPACE : 0;
	return sum - SPACE;
}

/* The widest name but for @but. */
static size_t widest(const struct picture *picture, size_t but)
{
	size_t found = but;

	for (size_t c = 0; c < picture->listing->n_columns; c++)
		if (picture->listing->columns[c].is_name && c != but &&
		    (found == but || picture->widths[c] > picture->widths[found]))
			found = c;
	return found;
}

/* Have column @c give what is too much for @room, down to @least. */
static void give(struct picture *picture, size_t c, size_t least, size_t room)
{
	size_t width = whole_width(picture), *its = &picture->widths[c];
	size_t over = width > room ? width - room : 0;

	if (*its > least)
		*its = *its > least + over ? *its - over : least;
}

/* Names become shorter, the longest one first, and then the last columns go. */
static void fit(struct picture *picture, size_t room)
{
	size_t longest = widest(picture, SIZE_MAX), next = widest(picture, longest);
	size_t kept = picture->widths[next] > TEXT_LEAST ? picture->widths[next] : TEXT_LEAST;

	if (!room)
		return;
	give(picture, longest, next == longest ? TEXT_LEAST : kept, room);
	give(picture, next, TEXT_LEAST, room);
	give(picture, longest, TEXT_LEAST, room);
	for (size_t c = picture->listing->n_columns; c-- && whole_width(picture) > room;)
		picture->shown[c] &= picture->listing->columns[c].is_name;
}

static int put_cell(const struct picture *picture, size_t c, const char *text, FILE *out)
{
	const bool is_name = picture->listing->columns[c].is_name;
	size_t width = picture->widths[c], used;
	char *cut = text_shorten(text, width);

	if (!cut)
		return -ENOMEM;
	used = text_width(cut);
	fprintf(out, "%s%*s%s%*s", c ? "  " : "", is_name || used > width ? 0 : (int)(width - used),
		"", cut, is_name && used < width ? (int)(width - used) : 0, "");
	free(cut);
	return 0;
}

static int put_line(const struct picture *picture, const char *const *cells, FILE *out)
{
	int error = 0;

	for (size_t c = 0; c < picture->listing->n_columns && !error; c++)
		if (picture->shown[c])
			error = put_cell(picture, c, cells[c], out);
	fputc('\n', out);
	return error;
}

int listing_print(const struct listing *listing, size_t n, size_t room, FILE *out)
{
	struct picture picture = {.listing = listing};
	const char *titles[LISTING_COLUMNS_MAX];
	char left[32];
	int error;

	measure(&picture);
	fit(&picture, room);
	for (size_t c = 0; c < listing->n_columns; c++)
		titles[c] = listing->columns[c].title;
	error = put_line(&picture, titles, out);
	for (size_t i = 0; i < whole_width(&picture); i++)
		fputs("\xe2\x94\x80", out);
	fputc('\n', out);
	for (size_t i = 0; i < listing->lines.n && !error; i++)
		error = put_line(&picture, (const char *const *)listing->lines.items[i].cells, out);
	if (!error && listing->lines.n < n)
		fprintf(out, "... and %s more rows\n",
			text_count(left, sizeof(left), n - listing->lines.n));
	return error;
}
