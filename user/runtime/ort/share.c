// SPDX-License-Identifier: GPL-2.0-only
#include "share.h"

#include <string.h>

#include "../skeleton.h"

#define OFFSET_MAX 0x10000 /* in any object, bytes: far beyond what is searched */

/* Words of 32 bits from @first to @last, as offsets. */
static bool are_offsets(const uint32_t *first, const uint32_t *last)
{
	for (; first <= last; first++)
		if (*first > OFFSET_MAX)
			return false;
	return true;
}

bool ort_share_names(struct opprobe_bpf *bpf, unsigned int instance, const void *words)
{
	struct ort_layout *shared = &bpf->bss->ort_layouts[instance], layout;

	memcpy(&layout, words, sizeof(layout));
	if (!layout.proven || layout.string_abi > STRING_LIBCXX ||
	    !are_offsets(&layout.session, &layout.provider))
		return false;
	/* Whole before it counts: the programs look at `proven` first. */
	layout.proven = 0;
	*shared = layout;
	__atomic_store_n(&shared->proven, 1, __ATOMIC_RELEASE);
	return true;
}

/*
 * The programs take a layout for good once its epoch is another one, and none
 * while it is 0.
 */
bool ort_share_shapes(struct opprobe_bpf *bpf, unsigned int instance, const void *words)
{
	struct ort_shape_layout *shared = &bpf->bss->ort_shape_layouts[instance], layout;

	if (!words) {
		__atomic_store_n(&shared->epoch, 0, __ATOMIC_RELEASE);
		return true;
	}
	memcpy(&layout, words, sizeof(layout));
	if (!layout.epoch || !are_offsets(&layout.info, &layout.element))
		return false;
	if (layout.epoch != shared->epoch) {
		uint32_t epoch = layout.epoch;

		__atomic_store_n(&shared->epoch, 0, __ATOMIC_RELEASE);
		layout.epoch = 0;
		*shared = layout;
		__atomic_store_n(&shared->epoch, epoch, __ATOMIC_RELEASE);
	}
	if (layout.proven)
		__atomic_store_n(&shared->proven, 1, __ATOMIC_RELEASE);
	return true;
}

uint32_t ort_shapes_epoch(const void *words)
{
	struct ort_shape_layout layout;

	memcpy(&layout, words, sizeof(layout));
	return layout.epoch;
}
