// SPDX-License-Identifier: GPL-2.0-only
/* A second file of the runtime of tests/runtime, to be loaded beside symbols.cc. */

extern "C" {
extern const char symbols_of_operators[];
const char symbols_of_operators[] = "op_";

__attribute__((noinline)) void op_part_0000()
{
	__asm__ volatile("nop");
}

#ifdef wide
/* More sections than are told apart in one execution (KEYS_MAX in bpf/events.h). */
__attribute__((noinline)) void section_of_operator(char *key)
{
	__asm__ volatile("nop" : : "r"(key) : "memory");
}

__attribute__((noinline)) void op_wide_0000()
{
	char keys[9][16];

	for (auto &key : keys)
		section_of_operator(key);
}
#endif

#ifdef bare
/* Nothing but its return: where it begins, it ends. */
__attribute__((noinline)) void op_bare_0000()
{
}
#endif

#ifdef twin
/* Another name of the same code: what runs is which of the two? */
void op_twin_0000() __attribute__((alias("op_part_0000")));
#endif
}
