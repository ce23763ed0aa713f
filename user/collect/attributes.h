/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of operators, as they were asked for: see state.h. */
#ifndef OPPROBE_COLLECT_ATTRIBUTES_H
#define OPPROBE_COLLECT_ATTRIBUTES_H

struct attribute_lists;

void attribute_lists_free(struct attribute_lists *lists);

#endif
