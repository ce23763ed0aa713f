// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the file that roofs are kept in, on the machine of the seeds. What is taken is in
 * its range, and is taken again from what is made of it.
 */
#include <string.h>

#include "require.h"
#include "roofs/roofs.h"

static void require_rate(uint64_t rate)
{
	require(rate <= CAPTURE_ROOF_MAX);
}

static void require_roof(const struct capture_roof *roof)
{
	require_rate(roof->flops);
	for (int level = 0; level < ROOF_LEVELS; level++)
		require_rate(roof->bytes[level]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct capture_info machine = {
		.host = "box", .machine = "x86_64", .cpu = "Some CPU", .n_cpus = 8};
	struct capture_info again = machine;
	char *text;

	if (roofs_parse(&machine, (const char *)bytes, size)) {
		require(!machine.roofs.measured);
		return 0;
	}
	require(machine.roofs.measured && machine.roofs.cpus);
	require_roof(&machine.roofs.one);
	require_roof(&machine.roofs.all);
	text = roofs_json(&machine, &(struct roofs_about){}, NULL);
	require(text && !roofs_parse(&again, text, strlen(text)));
	require(again.roofs.measured == machine.roofs.measured);
	free(text);
	return 0;
}
