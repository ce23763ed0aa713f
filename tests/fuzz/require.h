/* SPDX-License-Identifier: GPL-2.0-only */
/* What holds for any input: an input for which it does not is kept. */
#ifndef OPPROBE_FUZZ_REQUIRE_H
#define OPPROBE_FUZZ_REQUIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool condition)
{
	if (!condition)
		abort();
}

/* It ends, and is fit for a terminal and for JSON. */
static inline void require_clean(const char *text, size_t size)
{
	require(memchr(text, '\0', size));
	while (*text)
		require(!utf8_harms_terminal(utf8_next(&text)));
}

static inline void require_sentence(const struct error *err)
{
	require(*err->text);
	require_clean(err->text, sizeof(err->text));
}

#endif
