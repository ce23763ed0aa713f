// SPDX-License-Identifier: GPL-2.0-only
/* Where the context of an operator is, in a stack laid out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../bpf/ort/context.h"

#define CONTEXT_CLASS 0x9000

/* A context of @kernel, @at words above the stack pointer. */
static void put_context(__u64 *stack, size_t at, uint64_t kernel)
{
	stack[at] = CONTEXT_CLASS;
	stack[at + CONTEXT_FRAME] = 0xf000;
	stack[at + CONTEXT_KERNEL] = kernel;
}

static __u32 found_in(const __u64 *stack, uint64_t kernel)
{
	return search_context(stack, CONTEXT_CLASS, kernel);
}

static void a_vtable_kept_in_the_frame_is_no_context(void **state)
{
	__u64 stack[STACK_WORDS] = {};

	put_context(stack, 70, 0x4000);
	stack[31] = CONTEXT_CLASS;
	stack[31 + CONTEXT_KERNEL] = 0x4100;
	assert_int_equal(found_in(stack, 0x4000), 70 * 8 + 1);
}

static void the_context_is_that_of_the_kernel(void **state)
{
	__u64 stack[STACK_WORDS] = {};

	assert_int_equal(found_in(stack, 0x4000), 0);
	put_context(stack, 40, 0x4100);
	assert_int_equal(found_in(stack, 0x4000), 0);
	/* A subgraph runs in the frame below that of the operator that owns it. */
	put_context(stack, 200, 0x4000);
	assert_int_equal(found_in(stack, 0x4000), 200 * 8 + 1);
	assert_int_equal(found_in(stack, 0x4100), 40 * 8 + 1);
	put_context(stack, 0, 0x4200);
	assert_int_equal(found_in(stack, 0x4200), 1);
	put_context(stack, STACK_WORDS - CONTEXT_KERNEL - 1, 0x4300);
	assert_int_equal(found_in(stack, 0x4300), (STACK_WORDS - CONTEXT_KERNEL - 1) * 8 + 1);
}

static void while_its_kernel_is_not_known_the_innermost_context_does(void **state)
{
	__u64 stack[STACK_WORDS] = {};

	assert_int_equal(found_in(stack, 0), 0);
	put_context(stack, 200, 0x4000);
	put_context(stack, 40, 0x4100);
	assert_int_equal(found_in(stack, 0), 40 * 8 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vtable_kept_in_the_frame_is_no_context),
		cmocka_unit_test(the_context_is_that_of_the_kernel),
		cmocka_unit_test(while_its_kernel_is_not_known_the_innermost_context_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
