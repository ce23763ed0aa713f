/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What code_refs.c and the architectures' scans share: where a scan puts what
 * it has found. The filters stand here because they are asked for every
 * instruction that looks right.
 */
#ifndef OPPROBE_CODE_SCAN_H
#define OPPROBE_CODE_SCAN_H

#include <string.h>

#include "code_refs.h"

struct code_scan {
	const struct elf_image *image;
	const struct code_target *targets;
	size_t n_targets;
	uint64_t low, high; /* around all targets */
	struct code_ref *refs;
	size_t n, max;
};

/* Keep it for each target that @to is in. */
void code_scan_add(struct code_scan *scan, uint64_t from, uint64_t to);

/* The instruction at @from makes the address @to. */
static inline void code_scan_found(struct code_scan *scan, uint64_t from, uint64_t to)
{
	if (to >= scan->low && to <= scan->high)
		code_scan_add(scan, from, to);
}

struct transfer_scan {
	const struct code_target *target;
	unsigned int transfers; /* enum code_transfer: the kinds that are asked for */
	uint64_t *from;
	uint64_t *to; /* NULL: not wanted */
	size_t n, max;
};

/* The instruction at @from is a transfer of the kind @kind to @to. */
static inline void transfer_found(struct transfer_scan *scan, enum code_transfer kind,
				  uint64_t from, uint64_t to)
{
	if (!(scan->transfers & kind) || to < scan->target->low || to > scan->target->high ||
	    scan->n == scan->max)
		return;
	if (scan->n && scan->from[scan->n - 1] == from)
		return;
	scan->from[scan->n] = from;
	if (scan->to)
		scan->to[scan->n] = to;
	scan->n++;
}

static inline uint32_t code_word(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

#endif
