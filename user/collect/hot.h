/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in operators sampled threads were: in which function, of which file. What files a process
 * maps is read when samples say that this has changed; what a file has at an offset, its inspector
 * is asked once for each function.
 */
#ifndef OPPROBE_HOT_H
#define OPPROBE_HOT_H

#include <stdbool.h>
#include <stdint.h>

struct collector;
struct hot;
struct member;

/* NULL without memory. */
struct hot *hot_new(struct collector *collector);
void hot_free(struct hot *hot);
/* @member is no target any more. */
void hot_forget(struct hot *hot, const struct member *member);
/*
 * The recording's number of the function of @member at @address, when it maps @mapped pages of
 * code; it is told to the sink first. As a @stub, it is called what it stands for. In *@at how far
 * that is from its first byte. CAPTURE_UNKNOWN where that is not known: in memory that is of no
 * file.
 */
uint32_t hot_function(struct hot *hot, const struct member *member, uint64_t address,
		      uint64_t mapped, bool stub, uint32_t *at);
/*
 * Likewise of the kernel for which @address stands, in the data of a file behind its code.
 * CAPTURE_UNKNOWN where it stands for none.
 */
uint32_t hot_data(struct hot *hot, const struct member *member, uint64_t address, uint64_t mapped);
/*
 * Likewise the number of a kernel of a GPU that is called @symbol, which is told as a new one.
 * CAPTURE_UNKNOWN where there are too many.
 */
uint32_t hot_kernel(struct hot *hot, const char *symbol);

#endif
