/* SPDX-License-Identifier: GPL-2.0-only */
/* What operators had GPUs do, for people and as JSON: a line for each kernel of an operator. */
#ifndef OPPROBE_OUTPUT_KERNELS_H
#define OPPROBE_OUTPUT_KERNELS_H

#include <stdio.h>

#include "../analyze/analyze.h"

/*
 * What @kernel is called, allocated, of any bytes: "ns::scale<float>", or with @whole as C++ has
 * it, with its arguments; "libfoo.so+0x1a20" of a stub without a symbol; else what is known of it,
 * in parentheses. NULL if out of memory.
 */
char *kernel_name(const struct analyze_kernel *kernel, bool whole);
/* The same of a symbol, of the kernel or the host's stub. */
char *kernel_of_symbol(const char *symbol, bool whole);
/* The name of a kernel as C++ has it without what it is called with, allocated; NULL likewise. */
char *kernel_shorten(const char *name);
/* Whose it was, allocated, of any bytes: "conv1 (Conv)", "(in no operator)". NULL likewise. */
char *kernel_operator(const struct analyze_kernel *kernel);
/* What is waited for: "(wait for a stream)"; by enum capture_wait. */
extern const char *const kernel_waits[CAPTURE_WAITS];
/* The same as a group of what it launched: "Conv.3(conv1)", "Conv.3"; without an index,
 * "Conv(conv1)". */
char *kernel_group(const struct analyze_kernel *kernel);
/*
 * Print the table of @analysis, of @limit rows at most (0: all), in @room columns (0: any number),
 * and nothing where GPUs were told nothing. 0 or -ENOMEM.
 */
int kernels_print(const struct analysis *analysis, size_t limit, size_t room, FILE *out);
/* Put the member "kernels" of a report. 0 or -ENOMEM. */
int kernels_put_json(const struct analysis *analysis, FILE *out);
/* What the schema says of it. */
extern const char kernels_schema[];

#endif
