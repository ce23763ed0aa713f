/* SPDX-License-Identifier: GPL-2.0-only */
/* Shapes as text, [{"float":[1,64]},{"float":[64]}]: the form of the runtime's
 * own profiler, in all views. It is JSON. */
#ifndef OPPROBE_OUTPUT_SHAPES_H
#define OPPROBE_OUTPUT_SHAPES_H

#include "../analyze/analyze.h"

/*
 * Set @text to the tensors among @values, allocated; NULL if the type of one
 * has no name here: what a later version recorded is not known, rather than
 * wrong. Returns 0 or -ENOMEM.
 */
int shapes_text(const struct capture_values *values, char **text);
/* Give the lists of @analysis their text, for shapes_known(). Returns 0 or -ENOMEM. */
int shapes_make_texts(const struct analysis *analysis);
/* The text of @list, which may be NULL; NULL if it is not known. */
static inline const char *shapes_known(const struct tensor_list *list)
{
	return list ? list->text : NULL;
}

#endif
