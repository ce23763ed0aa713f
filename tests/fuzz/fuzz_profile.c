// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles of GPUs: whatever is in the file, it is read or refused, and what was read can be
 * matched with launches.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "join/match.h"
#include "require.h"

#define LAUNCHES 64

/* As if some calls had been seen. */
static void match(const struct profile *profile)
{
	struct match_launch launches[LAUNCHES] = {};
	struct match_result result;
	size_t n = 0;

	for (size_t i = 0; i < profile->calls.n && n < LAUNCHES; i++) {
		const struct profile_call *call = &profile->calls.items[i];

		launches[n++] = (struct match_launch){
			.time = call->start - 1000, .kind = call->kind, .thread = i % 3};
	}
	if (match_calls(launches, n, profile, &result))
		return;
	for (size_t i = 0; i < n; i++)
		require(launches[i].call == PROFILE_NONE || launches[i].call < profile->calls.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile profile;
	struct error err;
	char path[64];
	int file = memfd_create("profile", 0);

	require(file >= 0 && write(file, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (!profile_read(path, &profile, &err)) {
		for (size_t i = 0; i < profile.activities.n; i++)
			require(profile.activities.items[i].end >=
					profile.activities.items[i].start &&
				profile.activities.items[i].name);
		for (size_t i = 0; i < profile.calls.n; i++)
			require((size_t)profile.calls.items[i].first + profile.calls.items[i].n <=
				profile.activities.n);
		match(&profile);
		profile_free(&profile);
	} else {
		require(*err.text);
	}
	close(file);
	return 0;
}
