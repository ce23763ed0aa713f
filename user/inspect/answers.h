/* SPDX-License-Identifier: GPL-2.0-only */
/* What an inspector says, checked: it may have been taken over by what it reads. */
#ifndef OPPROBE_ANSWERS_H
#define OPPROBE_ANSWERS_H

#include "message.h"

/*
 * Take a location out of the @size bytes of @data, which are looked at without
 * trust. Returns 0 with @location filled, to be freed, and its *@number;
 * -EBADMSG if it is none, -ENOMEM. Nothing is to be freed then.
 */
int answers_location(const void *data, size_t size, struct location *location, uint32_t *number);

/*
 * Take what a session is from sizeof(struct session_facts) bytes at @data. False if
 * they cannot be: numbers that are none, texts without an end.
 */
bool answers_session(const void *data, struct session_facts *facts);

/*
 * Take attributes of operators out of the @size bytes of @data into @list, which is
 * empty. 0, -EBADMSG if they cannot be, or -ENOMEM; it is to be freed in any case.
 */
int answers_attributes(const void *data, size_t size, struct attribute_list *list);

/* What is at @offset, of sizeof(struct function_answer) bytes at @data. False if it cannot be. */
bool answers_function(const void *data, uint64_t offset, struct function_answer *answer);

#endif
