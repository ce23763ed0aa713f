// SPDX-License-Identifier: GPL-2.0-only
/* Raw scans of code: who makes an address, who goes where; on both architectures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_runtime.h"
#include "target/code_refs.h"
#include "target/elf_image.h"
#include "tiny_elf.h"

#define TARGET	   0x3f0 /* in no file here: an address, no more */
#define ALL	   (TRANSFER_CALL | TRANSFER_JUMP)
#define REFS_MAX   32
#define AARCH64(w) (w) & 0xff, (w) >> 8 & 0xff, (w) >> 16 & 0xff, (w) >> 24 & 0xff

static struct elf_image *open_code(uint16_t machine, struct tiny_bytes code)
{
	const struct tiny_elf tiny = {.machine = machine, .code_align = 1, .code = code};
	static uint8_t bytes[4096];
	size_t size = tiny_elf_make(&tiny, bytes, sizeof(bytes));
	struct elf_image *image;
	char path[FAKE_PATH];
	FILE *file;

	assert_true(size > 0);
	snprintf(path, sizeof(path), "%s/code", fake_directory);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(elf_image_open(path, &image, NULL), 0);
	return image;
}

/* Who in @code makes the address @target: the offsets in it, 0xff at the end. */
static void assert_refs(uint16_t machine, struct tiny_bytes code, uint64_t target,
			const uint8_t *expected)
{
	struct code_range where = {TINY_CODE, TINY_CODE + TINY_CODE_SIZE, 0};
	struct code_target targets[] = {{1, 2}, {target, target}};
	struct elf_image *image = open_code(machine, code);
	struct code_ref refs[REFS_MAX];
	size_t n = code_refs_find(image, &where, targets, 2, refs, REFS_MAX);

	for (size_t i = 0; i < n; i++, expected++) {
		assert_int_equal(refs[i].from, TINY_CODE + *expected);
		assert_int_equal(refs[i].target, 1);
	}
	assert_int_equal(*expected, 0xff);
	elf_image_close(image);
}

/* Who in @code goes to @target in one of the ways @transfers. */
static void assert_transfers(uint16_t machine, struct tiny_bytes code, uint64_t target,
			     unsigned int transfers, const uint8_t *expected)
{
	struct code_range where = {TINY_CODE, TINY_CODE + TINY_CODE_SIZE, 0};
	struct code_target wanted = {target, target};
	struct elf_image *image = open_code(machine, code);
	uint64_t from[REFS_MAX];
	size_t n = code_transfers_find(image, &where, &wanted, transfers, from, REFS_MAX);

	for (size_t i = 0; i < n; i++, expected++)
		assert_int_equal(from[i], TINY_CODE + *expected);
	assert_int_equal(*expected, 0xff);
	elf_image_close(image);
}

#define LIST(...) ((const uint8_t[]){__VA_ARGS__, 0xff})

static void x86_64_makes_addresses_from_that_of_the_next_instruction(void **state)
{
	/* 0x3f0 - 0x107 = 0x2e9 from the first, 7 less from each behind it */
	struct tiny_bytes code = TINY_BYTES(0x48, 0x8d, 0x05, 0xe9, 2, 0, 0,  /* lea, %rax */
					    0x4c, 0x8b, 0x3d, 0xe2, 2, 0, 0,  /* mov, %r15 */
					    0x0f, 0x10, 0x05, 0xdb, 2, 0, 0,  /* movups */
					    0x48, 0x03, 0x05, 0xd4, 2, 0, 0,  /* add */
					    0x48, 0x8d, 0x40, 0xcd, 2, 0, 0,  /* lea (%rax) */
					    0x48, 0x8d, 0x05, 0xc7, 2, 0, 0); /* beside it */

	assert_refs(EM_X86_64, code, TARGET, LIST(0, 7, 14));
	assert_refs(EM_X86_64, code, TARGET + 1, LIST(35));
}

static void aarch64_makes_addresses_at_once_or_by_their_page(void **state)
{
	/* adr x0, +0x2f0; then adrp x1, the page at 0 */
	struct tiny_bytes code = TINY_BYTES(
		AARCH64(0x10001780u), AARCH64(0x90000001u), AARCH64(0xd503201fu), /* nop */
		AARCH64(0x910fc021u),						  /* add x1 */
		AARCH64(0x90000002u), AARCH64(0xf941f843u), /* ldr x3, [x2, #0x3f0] */
		AARCH64(0x90000004u), AARCH64(0x90000004u), AARCH64(0x910fc085u),
		AARCH64(0x90000006u), AARCH64(0x910fc0e6u)); /* add x6, x7 */

	/* That of x4 is made anew before it is completed; that of x6 never is. */
	assert_refs(EM_AARCH64, code, TARGET, LIST(0, 4, 16, 28));
	assert_refs(EM_AARCH64, code, TARGET + 8, (const uint8_t[]){0xff});
}

static void x86_64_calls_and_jumps_are_told_apart(void **state)
{
	struct tiny_bytes code = TINY_BYTES(0xe8, 0xeb, 2, 0, 0,       /* call */
					    0xe9, 0xe6, 2, 0, 0,       /* jmp */
					    0x0f, 0x84, 0xe0, 2, 0, 0, /* je */
					    0x0f, 0xaf, 0xda, 2, 0, 0, /* no jump */
					    0xe8, 0xd6, 2, 0, 0);      /* call, beside it */

	assert_transfers(EM_X86_64, code, TARGET, ALL, LIST(0, 5, 10));
	assert_transfers(EM_X86_64, code, TARGET, TRANSFER_CALL, LIST(0));
	assert_transfers(EM_X86_64, code, TARGET, TRANSFER_JUMP, LIST(5, 10));
	assert_transfers(EM_X86_64, code, TARGET + 1, ALL, LIST(22));
}

static void aarch64_calls_and_jumps_are_told_apart(void **state)
{
	/* Each goes to START + 0x40. */
	struct tiny_bytes code = TINY_BYTES(AARCH64(0x94000010u),  /* bl */
					    AARCH64(0x1400000fu),  /* b */
					    AARCH64(0x540001c0u),  /* b.eq */
					    AARCH64(0xb40001a0u),  /* cbz */
					    AARCH64(0x36000180u),  /* tbz */
					    AARCH64(0xd61f0000u),  /* br x0 */
					    AARCH64(0x94000009u)); /* bl, beside it */
	uint64_t target = TINY_CODE + 0x40;

	assert_transfers(EM_AARCH64, code, target, ALL, LIST(0, 4, 8, 12, 16));
	assert_transfers(EM_AARCH64, code, target, TRANSFER_CALL, LIST(0));
	assert_transfers(EM_AARCH64, code, target, TRANSFER_JUMP, LIST(4, 8, 12, 16));
	/* Backwards. */
	code = TINY_BYTES(AARCH64(0xd503201fu), AARCH64(0x97ffffffu), AARCH64(0x17fffffeu),
			  AARCH64(0x54ffffa1u), AARCH64(0xb5ffff80u), AARCH64(0x3707ff60u));
	assert_transfers(EM_AARCH64, code, TINY_CODE, ALL, LIST(4, 8, 12, 16, 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64_makes_addresses_from_that_of_the_next_instruction),
		cmocka_unit_test(aarch64_makes_addresses_at_once_or_by_their_page),
		cmocka_unit_test(x86_64_calls_and_jumps_are_told_apart),
		cmocka_unit_test(aarch64_calls_and_jumps_are_told_apart),
	};

	return cmocka_run_group_tests(tests, fake_setup, fake_teardown);
}
