/* SPDX-License-Identifier: GPL-2.0-only */
/* A sample as it stands in its record, and how they were taken: both directions, as of FORMAT.md.
 */
#ifndef OPPROBE_CAPTURE_SAMPLE_H
#define OPPROBE_CAPTURE_SAMPLE_H

#include "format.h"

bool sampling_is_sound(const struct capture_sampling *sampling);
/* Write it at @p, which has room for a record; returns the position behind it. */
uint8_t *sampling_put(uint8_t *p, const struct capture_sampling *sampling);
/* Read it from @c, which fails where it is not whole, or no sound one. */
void sampling_get(struct cursor *c, struct capture_sampling *sampling);

/* The same of a sample. What it refers to is the caller's to know. */
bool sample_is_sound(const struct capture_sample *sample);
uint8_t *sample_put(uint8_t *p, const struct capture_sample *sample, struct format_state *state);
void sample_get(struct cursor *c, struct capture_sample *sample, struct format_state *state);

/* The same of a function that samples saw, but for its symbol, which follows. */
bool function_is_sound(const struct capture_function *function);
uint8_t *function_put(uint8_t *p, const struct capture_function *function);
void function_get(struct cursor *c, struct capture_function *function);

#endif
