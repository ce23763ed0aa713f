// SPDX-License-Identifier: GPL-2.0-only
/* What made the value of a register, on every way that leads to a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "target/arch.h"
#include "target/elf_image.h"
#include "target/insn_origin.h"

#define START 0x1000
#define RAX   0
#define RBX   3
#define RDI   5

/* A function made of bytes, at START, and what was found in it. */
struct sample {
	struct elf_image image;
	struct disassembler *dis;
	struct insn insns[160];
	struct function function;
	struct origin origins[ORIGINS_MAX];
};

static struct insn *at(struct sample *sample, uint64_t offset)
{
	return (struct insn *)function_insn(&sample->function, START + offset);
}

static struct sample *make_sample(const uint8_t *code, size_t size)
{
	struct sample *sample = calloc(1, sizeof(*sample));
	struct function_part *part = &sample->function.parts[0];
	size_t position = 0;

	assert_non_null(sample);
	sample->image.arch = &arch_x86_64;
	sample->dis = disassembler_new(&arch_x86_64, NULL);
	assert_non_null(sample->dis);
	sample->function.image = &sample->image;
	sample->function.n_parts = 1;
	part->range = (struct code_range){START, START + size, 0};
	part->items = sample->insns;
	while (position < size) {
		assert_true(part->n < sizeof(sample->insns) / sizeof(*sample->insns));
		position += disassemble(sample->dis, code + position, size - position,
					START + position, &sample->insns[part->n++]);
	}
	for (size_t i = 0; i < part->n; i++)
		if (sample->insns[i].kind == INSN_JUMP || sample->insns[i].kind == INSN_BRANCH)
			at(sample, sample->insns[i].target - START)->label = true;
	return sample;
}

#define SAMPLE(...)                                                                                \
	({                                                                                         \
		static const uint8_t bytes_of_code[] = {__VA_ARGS__};                              \
		make_sample(bytes_of_code, sizeof(bytes_of_code));                                 \
	})

static void free_sample(struct sample *sample)
{
	disassembler_free(sample->dis);
	free(sample);
}

static size_t origins_unless(struct sample *sample, uint64_t offset, int reg, int unless)
{
	return insn_origins(&sample->function, &arch_x86_64.abi, at(sample, offset), reg, unless,
			    sample->origins);
}

static size_t origins_of(struct sample *sample, uint64_t offset, int reg)
{
	return origins_unless(sample, offset, reg, REG_NONE);
}

static bool has(const struct sample *sample, size_t n, enum origin_kind kind, int reg,
		int64_t offset)
{
	for (size_t i = 0; i < n; i++) {
		const struct origin *origin = &sample->origins[i];

		if (origin->kind == kind && origin->reg == reg &&
		    (kind == ORIGIN_ENTRY ? !origin->insn
					  : origin->insn->address == START + (uint64_t)offset))
			return true;
	}
	return false;
}

static void copies_are_followed_to_what_was_there_at_the_beginning(void **state)
{
	struct sample *sample = SAMPLE(0x48, 0x89, 0xfb, /* 0: mov %rdi,%rbx */
				       0x48, 0x89, 0xd8, /* 3: mov %rbx,%rax */
				       0xc3);		 /* 6: ret */

	assert_int_equal(origins_of(sample, 6, RAX), 1);
	assert_true(has(sample, 1, ORIGIN_ENTRY, RDI, 0));
	assert_int_equal(origins_of(sample, 3, RAX), 1);
	assert_true(has(sample, 1, ORIGIN_ENTRY, RAX, 0));
	free_sample(sample);
}

static void a_call_makes_its_result_and_leaves_what_is_preserved(void **state)
{
	struct sample *sample = SAMPLE(0x48, 0x89, 0xfb,    /* 0: mov %rdi,%rbx */
				       0xe8, 0, 0, 0, 0,    /* 3: call */
				       0x48, 0x83, 0x00, 1, /* 8: addq $1,(%rax) */
				       0xc3);		    /* 12: ret */

	assert_int_equal(origins_of(sample, 12, RAX), 1);
	assert_true(has(sample, 1, ORIGIN_RESULT, RAX, 3));
	assert_int_equal(origins_of(sample, 12, RBX), 1);
	assert_true(has(sample, 1, ORIGIN_ENTRY, RDI, 0));
	assert_int_equal(origins_of(sample, 12, RDI), 1);
	assert_true(has(sample, 1, ORIGIN_OTHER, RDI, 3));
	free_sample(sample);
}

/* Both sides of a branch, and around a loop, in which each instruction is looked at once. */
static void all_ways_to_a_place_are_gone(void **state)
{
	struct sample *sample = SAMPLE(0x48, 0x8b, 0x47, 0x18, /* 0: mov 0x18(%rdi),%rax */
				       0x48, 0x85, 0xff,       /* 4: test %rdi,%rdi */
				       0x74, 2,		       /* 7: je 11 */
				       0x31, 0xc0,	       /* 9: xor %eax,%eax */
				       0x75, 0xf7,	       /* 11: jne 4 */
				       0xc3);		       /* 13: ret */

	assert_int_equal(origins_of(sample, 13, RAX), 2);
	assert_true(has(sample, 2, ORIGIN_LOAD, RAX, 0));
	assert_true(has(sample, 2, ORIGIN_CONSTANT, RAX, 9));
	free_sample(sample);
}

/* As a function does that saves its argument only where it finds what it returns. */
static void ways_on_which_another_register_is_0_are_left_out(void **state)
{
	struct sample *sample = SAMPLE(0x48, 0x85, 0xff, /* 0: test %rdi,%rdi */
				       0x74, 9,		 /* 3: je 14 */
				       0x48, 0x89, 0xfb, /* 5: mov %rdi,%rbx */
				       0x48, 0x8b, 0x07, /* 8: mov (%rdi),%rax */
				       0x75, 3,		 /* 11: jne 16 */
				       0x90,		 /* 13: nop */
				       0x31, 0xc0,	 /* 14: xor %eax,%eax */
				       0xc3);		 /* 16: ret */

	assert_int_equal(origins_of(sample, 16, RBX), 2);
	assert_int_equal(origins_unless(sample, 16, RBX, RAX), 1);
	assert_true(has(sample, 1, ORIGIN_ENTRY, RDI, 0));
	free_sample(sample);

	/* Not those on which it is any other constant. */
	sample = SAMPLE(0x74, 3,	  /* 0: je 5 */
			0x48, 0x89, 0xfb, /* 2: mov %rdi,%rbx */
			0xb8, 1, 0, 0, 0, /* 5: mov $1,%eax */
			0xc3);		  /* 10: ret */
	assert_int_equal(origins_unless(sample, 10, RBX, RAX), 2);
	free_sample(sample);
}

static void what_is_computed_is_not_followed(void **state)
{
	struct sample *sample = SAMPLE(0x48, 0x89, 0xf8, /* 0: mov %rdi,%rax */
				       0x48, 0xff, 0xc0, /* 3: inc %rax */
				       0xc3);		 /* 6: ret */

	assert_int_equal(origins_of(sample, 6, RAX), 1);
	assert_true(has(sample, 1, ORIGIN_OTHER, RAX, 3));
	free_sample(sample);
}

/* Compilers fill up to the next block; what a table leads to, or an exception, is no filling. */
static void a_block_that_nothing_leads_to_is_a_gap_or_not_known(void **state)
{
	struct sample *sample = SAMPLE(0x31, 0xc0,	    /* 0: xor %eax,%eax */
				       0xeb, 3,		    /* 2: jmp 7 */
				       0x0f, 0x1f, 0x00,    /* 4: nopl (%rax) */
				       0xc3,		    /* 7: ret */
				       0x31, 0xc0, 0xeb, 3, /* 8: the same, */
				       0x48, 0x89, 0xf8,    /* 12: mov %rdi,%rax */
				       0xc3);		    /* 15: ret */

	assert_int_equal(origins_of(sample, 7, RAX), 1);
	assert_true(has(sample, 1, ORIGIN_CONSTANT, RAX, 0));
	assert_int_equal(origins_of(sample, 15, RAX), 0);
	assert_int_equal(origins_of(sample, 15, RBX), 0);
	assert_int_equal(origins_of(sample, 4, RAX), 0);
	free_sample(sample);
}

/* More ways than are kept, and more that made it: then nothing is said. */
static void too_many_ways_are_none(void **state)
{
	uint8_t code[ORIGINS_MAX * 5 + 6];
	struct sample *sample;
	size_t n = 0;

	/* je to the end, mov $i,%al and so on: all different. */
	for (unsigned int i = 0; i <= ORIGINS_MAX; i++) {
		code[n++] = 0xb0;
		code[n++] = (uint8_t)i;
		code[n++] = 0x74;
		code[n] = (uint8_t)(ORIGINS_MAX * 4 + 4 - n - 1);
		n++;
	}
	code[n++] = 0xc3;
	sample = make_sample(code, n);
	assert_int_equal(origins_of(sample, n - 1, RAX), 0);
	assert_int_equal(origins_of(sample, n - 1, RBX), 1);
	free_sample(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_are_followed_to_what_was_there_at_the_beginning),
		cmocka_unit_test(a_call_makes_its_result_and_leaves_what_is_preserved),
		cmocka_unit_test(all_ways_to_a_place_are_gone),
		cmocka_unit_test(ways_on_which_another_register_is_0_are_left_out),
		cmocka_unit_test(what_is_computed_is_not_followed),
		cmocka_unit_test(a_block_that_nothing_leads_to_is_a_gap_or_not_known),
		cmocka_unit_test(too_many_ways_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
