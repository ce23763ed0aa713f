// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles of GPUs: whatever is in the file, it is read or refused, and what was read can be
 * matched with launches.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "join/match.h"
#include "require.h"

#define LAUNCHES 64

/* SQLite follows links, so that a file without a name would not be opened. */
static char path[] = "/tmp/fuzz_profile.XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

static void write_file(const uint8_t *data, size_t size)
{
	static int file = -1;

	if (file < 0) {
		file = mkstemp(path);
		atexit(remove_file);
	}
	require(file >= 0 && !ftruncate(file, 0) && pwrite(file, data, size, 0) == (ssize_t)size);
}

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

	write_file(data, size);
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
		require(*err.text && strncmp(err.text, "cannot read the beginning", 25) != 0);
	}
	return 0;
}
