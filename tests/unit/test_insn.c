// SPDX-License-Identifier: GPL-2.0-only
/* Instructions, and what is followed through them, on both architectures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "target/arch.h"
#include "target/elf_image.h"
#include "target/insn_flow.h"
#include "target/insn_function.h"

#define START 0x1000

/* A function made of bytes, at START. */
struct sample {
	struct elf_image image;
	struct disassembler *dis;
	struct insn insns[32];
	struct function function;
};

static void make_sample(struct sample *sample, const struct arch *arch, const uint8_t *code,
			size_t size)
{
	size_t position = 0, n = 0;

	memset(sample, 0, sizeof(*sample));
	sample->image.arch = arch;
	sample->dis = disassembler_new(arch, NULL);
	assert_non_null(sample->dis);
	while (position < size) {
		unsigned int length = disassemble(sample->dis, code + position, size - position,
						  START + position, &sample->insns[n++]);

		assert_true(length > 0 && n < 32);
		position += length;
	}
	sample->function = (struct function){.image = &sample->image, .n_parts = 1};
	sample->function.parts[0].range = (struct code_range){START, START + size, 0};
	sample->function.parts[0].items = sample->insns;
	sample->function.parts[0].n = n;
}

static void make_words(struct sample *sample, const uint32_t *words, size_t n)
{
	uint8_t code[128];

	assert_true(n * 4 <= sizeof(code));
	memcpy(code, words, n * 4);
	make_sample(sample, &arch_aarch64, code, n * 4);
}

#define SAMPLE(sample, ...)                                                                        \
	do {                                                                                       \
		static const uint8_t code[] = {__VA_ARGS__};                                       \
		make_sample(sample, &arch_x86_64, code, sizeof(code));                             \
	} while (0)

#define WORDS(sample, ...)                                                                         \
	do {                                                                                       \
		static const uint32_t words[] = {__VA_ARGS__};                                     \
		make_words(sample, words, sizeof(words) / sizeof(*words));                         \
	} while (0)

static void free_sample(struct sample *sample)
{
	disassembler_free(sample->dis);
}

/* -- what the kernel does under a probe ------------------------------------------- */

static void assert_probe(enum insn_probe expected, size_t length, const char *bytes)
{
	assert_int_equal(arch_x86_64.probe((const uint8_t *)bytes, length), expected);
}

static void x86_64_pushes_branches_and_nops_are_emulated(void **state)
{
	assert_probe(PROBE_EMULATED, 1, "\x55");		     /* push %rbp */
	assert_probe(PROBE_EMULATED, 2, "\x41\x57");		     /* push %r15 */
	assert_probe(PROBE_EMULATED, 5, "\xe8\x00\x01\x00\x00");     /* call */
	assert_probe(PROBE_EMULATED, 2, "\xeb\x10");		     /* jmp */
	assert_probe(PROBE_EMULATED, 2, "\x74\x10");		     /* je */
	assert_probe(PROBE_EMULATED, 6, "\x0f\x85\x10\x00\x00\x00"); /* jne */
	assert_probe(PROBE_EMULATED, 5, "\x0f\x1f\x44\x00\x00");     /* nopl */
	assert_probe(PROBE_EMULATED, 1, "\x90");		     /* nop */
}

static void x86_64_other_instructions_are_stepped(void **state)
{
	assert_probe(PROBE_STEPPED, 4, "\xf3\x0f\x1e\xfa"); /* endbr64 */
	assert_probe(PROBE_STEPPED, 3, "\x48\x89\xe5");	    /* mov */
	assert_probe(PROBE_STEPPED, 4, "\x48\x83\xec\x18"); /* sub */
	assert_probe(PROBE_STEPPED, 1, "\xc3");		    /* ret */
	assert_probe(PROBE_STEPPED, 3, "\xff\x50\x10");	    /* call *0x10(%rax) */
	assert_probe(PROBE_STEPPED, 2, "\x48\x55");	    /* push with a needless prefix */
	assert_probe(PROBE_STEPPED, 2, "\xff\xf0");	    /* push, the long form */
}

static void x86_64_prefixes_that_the_kernel_refuses_are_refused(void **state)
{
	assert_probe(PROBE_REFUSED, 3, "\x3e\xff\xe0");		/* notrack jmp *%rax */
	assert_probe(PROBE_REFUSED, 5, "\xf0\x48\x0f\xb1\x13"); /* lock cmpxchg */
	assert_probe(PROBE_REFUSED, 4, "\x66\xe8\x00\x00");	/* callw */
	assert_probe(PROBE_REFUSED, 1, "\xcc");			/* int3 */
}

static void assert_word(enum insn_probe expected, uint32_t word)
{
	assert_int_equal(arch_aarch64.probe((const uint8_t *)&word, sizeof(word)), expected);
}

static void aarch64_instructions_are_classified_as_the_kernel_does(void **state)
{
	static const uint32_t emulated[] = {
		0x14000001, 0x94000001, 0x54000040, 0xb4000040, 0x35000040, /* b bl b.eq cbz cbnz */
		0x36000040, 0x37000040, 0x10000000, 0x90000000,		    /* tbz tbnz adr adrp */
		0xd61f0000, 0xd63f0000, 0xd65f03c0,			    /* br blr ret */
	};
	static const uint32_t stepped[] = {
		0xa9bf7bfd, 0xd10083ff, 0xf9400001, /* stp sub ldr */
		0xd503245f, 0xd503233f, 0xd503201f, /* bti c, paciasp, nop */
	};
	static const uint32_t refused[] = {
		0x58000040, 0xc85f7c00, 0xd4200000, /* ldr literal, ldxr, brk */
		0xd65f0bff, 0xd50323bf, 0xd5033fdf, /* retaa, autiasp, isb */
	};

	for (size_t i = 0; i < sizeof(emulated) / 4; i++)
		assert_word(PROBE_EMULATED, emulated[i]);
	for (size_t i = 0; i < sizeof(stepped) / 4; i++)
		assert_word(PROBE_STEPPED, stepped[i]);
	for (size_t i = 0; i < sizeof(refused) / 4; i++)
		assert_word(PROBE_REFUSED, refused[i]);
}

/* -- decoding ----------------------------------------------------------------------- */

static void control_flow_is_told_with_its_targets(void **state)
{
	struct sample sample;

	SAMPLE(&sample, 0xe8, 0x0b, 0, 0, 0, /* call 0x1010 */
	       0x74, 0x01,		     /* je 0x1008 */
	       0xc3,			     /* ret */
	       0xff, 0x60, 0x08,	     /* jmp *8(%rax) */
	       0x0f, 0x0b);		     /* ud2 */
	assert_int_equal(sample.insns[0].kind, INSN_CALL);
	assert_int_equal(sample.insns[0].target, 0x1010);
	assert_int_equal(sample.insns[1].kind, INSN_BRANCH);
	assert_int_equal(sample.insns[1].target, 0x1008);
	assert_int_equal(sample.insns[2].kind, INSN_RETURN);
	assert_int_equal(sample.insns[3].kind, INSN_JUMP_INDIRECT);
	assert_int_equal(sample.insns[3].disp, 8);
	assert_int_equal(sample.insns[4].kind, INSN_TRAP);
	free_sample(&sample);

	WORDS(&sample, 0x94000004, /* bl 0x1010 */
	      0x54000040,	   /* b.eq 0x100c */
	      0xd65f03c0,	   /* ret */
	      0x17fffffd);	   /* b 0x1000 */
	assert_int_equal(sample.insns[0].kind, INSN_CALL);
	assert_int_equal(sample.insns[0].target, 0x1010);
	assert_int_equal(sample.insns[1].kind, INSN_BRANCH);
	assert_int_equal(sample.insns[1].target, 0x100c);
	assert_int_equal(sample.insns[2].kind, INSN_RETURN);
	assert_int_equal(sample.insns[3].kind, INSN_JUMP);
	assert_int_equal(sample.insns[3].target, 0x1000);
	free_sample(&sample);
}

static void written_registers_are_told(void **state)
{
	struct sample sample;

	SAMPLE(&sample, 0x41, 0x5c,	/* pop %r12 */
	       0x31, 0xf6,		/* xor %esi,%esi */
	       0x48, 0x89, 0x34, 0x24); /* mov %rsi,(%rsp) */
	assert_int_equal(sample.insns[0].written, 1 << 12 | 1 << 7);
	assert_int_equal(sample.insns[1].written, 1 << 4);
	assert_int_equal(sample.insns[2].written, 0);
	free_sample(&sample);

	WORDS(&sample, 0xa9bf7bfd, /* stp x29,x30,[sp,#-16]! */
	      0xa94153f3,	   /* ldp x19,x20,[sp,#16] */
	      0xf9000001,	   /* str x1,[x0] */
	      0xf8408401);	   /* ldr x1,[x0],#8 */
	assert_int_equal(sample.insns[0].written, 1ULL << 31);
	assert_int_equal(sample.insns[1].written, 1 << 19 | 1 << 20);
	assert_int_equal(sample.insns[2].written, 0);
	assert_int_equal(sample.insns[3].written, 1 << 1 | 1 << 0);
	free_sample(&sample);
}

static void cut_off_instructions_are_not_decoded(void **state)
{
	struct disassembler *dis = disassembler_new(&arch_x86_64, NULL);
	struct insn insn;

	assert_int_equal(disassemble(dis, (const uint8_t *)"\xe8\x00\x00", 3, 0, &insn), 0);
	disassembler_free(dis);
	assert_int_equal(arch_aarch64.decode(NULL, (const uint8_t *)"\x00\x00\x00", 3, &insn), 0);
}

/* -- probe points of a function ----------------------------------------------------- */

static void the_entry_probe_skips_what_is_stepped_and_keeps_the_arguments(void **state)
{
	struct sample sample;

	SAMPLE(&sample, 0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
	       0x41, 0x57,			/* push %r15 */
	       0xc3);
	assert_int_equal(function_entry(&sample.function, 1 << 4)->address, START + 4);
	free_sample(&sample);

	SAMPLE(&sample, 0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
	       0x31, 0xf6,			/* xor %esi,%esi: the argument is gone */
	       0x41, 0x57,			/* push %r15 */
	       0xc3);
	assert_int_equal(function_entry(&sample.function, 1 << 4)->address, START);
	assert_int_equal(function_entry(&sample.function, 1 << 5)->address, START + 6);
	free_sample(&sample);
}

static void an_entry_that_is_a_loop_is_refused(void **state)
{
	struct sample sample;

	SAMPLE(&sample, 0x55, /* push %rbp */
	       0xeb, 0xfd);   /* jmp back */
	sample.insns[0].label = true;
	assert_null(function_entry(&sample.function, 0));
	free_sample(&sample);
}

static void behind_a_call_the_first_emulated_instruction_is_chosen(void **state)
{
	struct sample sample;

	SAMPLE(&sample, 0xff, 0x50, 0x10, /* call *0x10(%rax) */
	       0x48, 0x85, 0xc0,	  /* test %rax,%rax */
	       0x74, 0x00,		  /* je */
	       0xc3);
	assert_int_equal(function_after(&sample.function, &sample.insns[0])->address, START + 6);
	free_sample(&sample);

	SAMPLE(&sample, 0xff, 0x50, 0x10, /* call *0x10(%rax) */
	       0xc3);
	assert_int_equal(function_after(&sample.function, &sample.insns[0])->address, START + 3);
	free_sample(&sample);
}

static void a_stack_protector_or_the_return_is_the_way_out(void **state)
{
	const struct insn *exits[FUNCTION_EXITS_MAX];
	struct sample sample;

	SAMPLE(&sample, 0x55,	  /* push %rbp */
	       0x75, 0x02,	  /* jne: to a call at the end */
	       0x5d,		  /* pop %rbp */
	       0xc3,		  /* ret */
	       0xe8, 0, 0, 0, 0); /* call, and nothing behind it */
	sample.insns[4].label = true;
	assert_int_equal(function_exits(&sample.function, NULL, exits), 1);
	assert_int_equal(exits[0]->address, START + 1);
	free_sample(&sample);

	/* Here the branch goes on in the function: passing it is not leaving. */
	SAMPLE(&sample, 0x75, 0x01, /* jne */
	       0xc3,		    /* ret */
	       0x90,		    /* nop */
	       0xc3);		    /* ret */
	sample.insns[2].label = true;
	assert_int_equal(function_exits(&sample.function, NULL, exits), 2);
	assert_int_equal(exits[0]->address, START + 2);
	assert_int_equal(exits[1]->address, START + 3);
	free_sample(&sample);
}

/* What is counted at the entry must not be counted as an end by the same instruction. */
static void the_way_out_lies_behind_the_entry(void **state)
{
	const struct insn *exits[FUNCTION_EXITS_MAX], *entry;
	struct sample sample;

	SAMPLE(&sample, 0x90, 0xc3); /* nop; ret */
	entry = function_entry(&sample.function, 0);
	assert_int_equal(entry->address, START);
	assert_int_equal(function_exits(&sample.function, entry, exits), 1);
	assert_int_equal(exits[0]->address, START + 1);
	free_sample(&sample);

	SAMPLE(&sample, 0xc3); /* ret */
	entry = function_entry(&sample.function, 0);
	assert_int_equal(entry->address, START);
	assert_int_equal(function_exits(&sample.function, entry, exits), 0);
	free_sample(&sample);
}

/* -- following values ------------------------------------------------------------------ */

/* Is the last instruction of @sample a call of slot 2 with the object in @reg? */
static bool calls_slot_two(struct sample *sample, int reg)
{
	struct flow *flow = calloc(1, sizeof(*flow));
	const struct function_part *part = &sample->function.parts[0];
	unsigned int slot = 0;
	flow_id object = 0;
	bool found;

	assert_non_null(flow);
	flow_start(flow, &sample->function);
	for (size_t i = 0; i + 1 < part->n; i++)
		flow_step(flow, &part->items[i]);
	found = flow_virtual_call(flow, &part->items[part->n - 1], &slot, &object) && slot == 2 &&
		flow_equal(flow, object, flow_reg(flow, reg));
	free(flow);
	return found;
}

static void a_virtual_call_and_its_object_are_recognised(void **state)
{
	struct sample sample;

	SAMPLE(&sample, 0x48, 0x8b, 0x03,    /* mov (%rbx),%rax */
	       0x48, 0x89, 0xde,	     /* mov %rbx,%rsi */
	       0x48, 0x8d, 0x7c, 0x24, 0x10, /* lea 0x10(%rsp),%rdi */
	       0xff, 0x50, 0x10);	     /* call *0x10(%rax) */
	assert_true(calls_slot_two(&sample, 4));
	assert_false(calls_slot_two(&sample, 5));
	free_sample(&sample);

	/* The object comes out of the frame, into which it was put before. */
	SAMPLE(&sample, 0x48, 0x89, 0x44, 0x24, 0x08, /* mov %rax,8(%rsp) */
	       0xe8, 0, 0, 0, 0,		      /* call */
	       0x48, 0x8b, 0x74, 0x24, 0x08,	      /* mov 8(%rsp),%rsi */
	       0x48, 0x8b, 0x06,		      /* mov (%rsi),%rax */
	       0x48, 0x8b, 0x40, 0x10,		      /* mov 0x10(%rax),%rax */
	       0xff, 0xd0);			      /* call *%rax */
	assert_true(calls_slot_two(&sample, 4));
	free_sample(&sample);

	WORDS(&sample, 0xf9400269, /* ldr x9,[x19] */
	      0xaa1303e0,	   /* mov x0,x19 */
	      0x910043e8,	   /* add x8,sp,#16 */
	      0xf9400929,	   /* ldr x9,[x9,#16] */
	      0xd63f0120);	   /* blr x9 */
	assert_true(calls_slot_two(&sample, 0));
	free_sample(&sample);
}

static void what_is_not_known_is_not_taken_for_a_virtual_call(void **state)
{
	struct sample sample;

	/* A function pointer in a structure, not in a vtable. */
	SAMPLE(&sample, 0x48, 0x89, 0xde, /* mov %rbx,%rsi */
	       0xff, 0x53, 0x10);	  /* call *0x10(%rbx) */
	assert_false(calls_slot_two(&sample, 4));
	free_sample(&sample);

	/* A label in between: the registers may come from elsewhere. */
	SAMPLE(&sample, 0x48, 0x8b, 0x03, /* mov (%rbx),%rax */
	       0x48, 0x89, 0xde,	  /* mov %rbx,%rsi */
	       0xff, 0x50, 0x10);	  /* call *0x10(%rax) */
	sample.insns[1].label = true;
	assert_false(calls_slot_two(&sample, 4));
	free_sample(&sample);
}

static void pairs_of_pointers_are_followed_through_vector_registers(void **state)
{
	struct flow *flow = calloc(1, sizeof(*flow));
	struct sample sample;
	uint64_t first = 0, second = 0;

	SAMPLE(&sample, 0xb8, 0x11, 0x11, 0, 0, /* mov $0x1111,%eax */
	       0x66, 0x48, 0x0f, 0x6e, 0xc0,	/* movq %rax,%xmm0 */
	       0xba, 0x22, 0x22, 0, 0,		/* mov $0x2222,%edx */
	       0x66, 0x48, 0x0f, 0x6e, 0xca,	/* movq %rdx,%xmm1 */
	       0x66, 0x0f, 0x6c, 0xc1,		/* punpcklqdq %xmm1,%xmm0 */
	       0x0f, 0x29, 0x44, 0x24, 0x20);	/* movaps %xmm0,0x20(%rsp) */
	assert_non_null(flow);
	flow_start(flow, &sample.function);
	for (size_t i = 0; i < 6; i++)
		flow_step(flow, &sample.insns[i]);
	assert_true(flow_stored(flow, &sample.insns[5], 0, &first));
	assert_true(flow_stored(flow, &sample.insns[5], 8, &second));
	assert_int_equal(first, 0x1111);
	assert_int_equal(second, 0x2222);
	free_sample(&sample);
	free(flow);
}

static bool is_bypassed(struct sample *sample)
{
	bool bypassed = function_bypassed(&sample->function, &sample->insns[1], &sample->insns[2]);

	free_sample(sample);
	return bypassed;
}

static void what_a_branch_goes_around_is_told(void **state)
{
	struct sample sample;

	/* je, call *0x10(%rax), nop, ret: where the branch leads decides. */
	SAMPLE(&sample, 0x74, 0, 0xff, 0x50, 0x10, 0x90, 0xc3);
	assert_false(is_bypassed(&sample));
	SAMPLE(&sample, 0x74, 3, 0xff, 0x50, 0x10, 0x90, 0xc3);
	assert_true(is_bypassed(&sample));
	SAMPLE(&sample, 0x74, 4, 0xff, 0x50, 0x10, 0x90, 0xc3);
	assert_false(is_bypassed(&sample));
}

static void a_way_out_that_a_branch_reaches_is_probed_behind_the_branch(void **state)
{
	const struct insn *exits[FUNCTION_EXITS_MAX];
	struct sample sample;

	SAMPLE(&sample, 0x55, /* push %rbp */
	       0x74, 0x02,    /* je: to the ret */
	       0x90,	      /* nop */
	       0x5d,	      /* pop %rbp */
	       0xc3);	      /* ret */
	sample.insns[4].label = true;
	assert_int_equal(function_exits(&sample.function, NULL, exits), 1);
	assert_int_equal(exits[0]->address, START + 5);
	free_sample(&sample);

	/* Out of the function, on a condition: no instruction is passed on all ways. */
	SAMPLE(&sample, 0x74, 0x70, /* je */
	       0x90,		    /* nop */
	       0xc3);		    /* ret */
	assert_int_equal(function_exits(&sample.function, NULL, exits), 0);
	free_sample(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_branch_goes_around_is_told),
		cmocka_unit_test(a_way_out_that_a_branch_reaches_is_probed_behind_the_branch),
		cmocka_unit_test(x86_64_pushes_branches_and_nops_are_emulated),
		cmocka_unit_test(x86_64_other_instructions_are_stepped),
		cmocka_unit_test(x86_64_prefixes_that_the_kernel_refuses_are_refused),
		cmocka_unit_test(aarch64_instructions_are_classified_as_the_kernel_does),
		cmocka_unit_test(control_flow_is_told_with_its_targets),
		cmocka_unit_test(written_registers_are_told),
		cmocka_unit_test(cut_off_instructions_are_not_decoded),
		cmocka_unit_test(the_entry_probe_skips_what_is_stepped_and_keeps_the_arguments),
		cmocka_unit_test(an_entry_that_is_a_loop_is_refused),
		cmocka_unit_test(behind_a_call_the_first_emulated_instruction_is_chosen),
		cmocka_unit_test(a_stack_protector_or_the_return_is_the_way_out),
		cmocka_unit_test(the_way_out_lies_behind_the_entry),
		cmocka_unit_test(a_virtual_call_and_its_object_are_recognised),
		cmocka_unit_test(what_is_not_known_is_not_taken_for_a_virtual_call),
		cmocka_unit_test(pairs_of_pointers_are_followed_through_vector_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
