// SPDX-License-Identifier: GPL-2.0-only
#include "naming.h"

#include <errno.h>
#include <stdlib.h>

#include "../skeleton.h"
#include "calibrate.h"

struct ort_naming {
	struct naming naming;
	const struct process *process;
	struct ort_layout layout;
	struct ort_layout *shared; /* with the programs; NULL in tests */
};

static struct ort_naming *of(struct naming *naming)
{
	return (struct ort_naming *)naming;
}

static int sight(struct naming *naming, const struct sighting_record *sighting)
{
	struct ort_naming *ort = of(naming);
	struct ort_layout found;
	int error = ort_calibrate(ort->process, sighting, &found);

	if (error)
		return error;
	ort->layout = found;
	if (ort->shared) {
		/* Whole before it counts: the programs look at `proven` first. */
		found.proven = 0;
		*ort->shared = found;
		__atomic_store_n(&ort->shared->proven, 1, __ATOMIC_RELEASE);
	}
	return 0;
}

static bool settled(const struct naming *naming)
{
	return ((const struct ort_naming *)naming)->layout.proven;
}

static int describe(struct naming *naming, const struct identity *identity,
		    struct strings_record *strings)
{
	return ort_describe(of(naming)->process, &of(naming)->layout, identity, strings);
}

static void free_naming(struct naming *naming)
{
	free(of(naming));
}

static const struct naming_ops ops = {
	.sight = sight,
	.settled = settled,
	.describe = describe,
	.free = free_naming,
};

struct naming *ort_naming_new(const struct runtime_target *target, struct error *err)
{
	struct ort_naming *ort = calloc(1, sizeof(*ort));

	if (!ort) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	ort->naming.ops = &ops;
	ort->process = target->process;
	if (target->bpf)
		ort->shared = &target->bpf->bss->ort_layouts[target->instance];
	return &ort->naming;
}

const struct ort_layout *ort_naming_layout(const struct naming *naming)
{
	return &((const struct ort_naming *)naming)->layout;
}
