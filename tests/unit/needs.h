/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a test needs that not every machine or user has. It is left out
 * elsewhere, and run-unit counts and tells it; where everything is to be had
 * (root, after make deps-tests), being left out is a failure.
 */
#ifndef TESTS_UNIT_NEEDS_H
#define TESTS_UNIT_NEEDS_H

#define NEEDS_ROOT     "root"
#define NEEDS_COMPILER "a compiler"
#define NEEDS_X86_64   "x86-64"
#define NEEDS_PMU      "hardware counters"

/* Leave the running test out: it needs @what. */
#define leave_out(what)                                                                            \
	do {                                                                                       \
		print_message("needs %s\n", what);                                                 \
		skip();                                                                            \
	} while (0)

#endif
