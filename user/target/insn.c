// SPDX-License-Identifier: GPL-2.0-only
#include "insn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "insn_capstone.h"

static const struct abi abis[] = {
	[ELF_ARCH_X86_64] =
		{
			.sp = 7,
			.fp = 6,
			.args = {5, 4, 1, 2}, /* rdi, rsi, rdx, rcx */
			.result_address = 5,
			.first_after_result = 4,
			.second_after_result = 1,
			/* rax, rdx, rcx, rsi, rdi, r8 to r11, all of the vector registers */
			.clobbered = 0x37 | 0xf00 | 0xffffffffULL << REG_XMM,
		},
	[ELF_ARCH_AARCH64] =
		{
			.sp = 31,
			.fp = 29,
			.args = {0, 1, 2, 3},
			.result_address = 8,
			.first_after_result = 0,
			.second_after_result = 1,
			/* x0 to x18, x30 */
			.clobbered = 0x7ffff | 1ULL << 30,
		},
};

const struct abi *insn_abi(enum elf_arch arch)
{
	return &abis[arch];
}

struct disassembler *disassembler_new(enum elf_arch arch, struct error *err)
{
	struct disassembler *dis = calloc(1, sizeof(*dis));
	cs_err failure;

	if (!dis) {
		error_set(err, -ENOMEM, "out of memory for a disassembler");
		return NULL;
	}
	dis->arch = arch;
	if (arch == ELF_ARCH_X86_64)
		failure = cs_open(CS_ARCH_X86, CS_MODE_64, &dis->handle);
	else
		failure = cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &dis->handle);
	if (failure) {
		error_set(err, -ENOTSUP, "capstone cannot decode %s: %s", elf_arch_name(arch),
			  cs_strerror(failure));
		free(dis);
		return NULL;
	}
	cs_option(dis->handle, CS_OPT_DETAIL, CS_OPT_ON);
	dis->insn = cs_malloc(dis->handle);
	if (!dis->insn) {
		error_set(err, -ENOMEM, "out of memory for a disassembler");
		disassembler_free(dis);
		return NULL;
	}
	return dis;
}

void disassembler_free(struct disassembler *dis)
{
	if (!dis)
		return;
	if (dis->insn)
		cs_free(dis->insn, 1);
	cs_close(&dis->handle);
	free(dis);
}

unsigned int disassemble(struct disassembler *dis, const uint8_t *code, size_t size,
			 uint64_t address, struct insn *insn)
{
	*insn = (struct insn){

		.address = address,
		.reg = REG_NONE,
		.reg2 = REG_NONE,
		.base = REG_NONE,
		.base2 = REG_NONE};
	if (dis->arch == ELF_ARCH_AARCH64)
		return insn_decode_aarch64(code, size, insn);
	return insn_decode_x86_64(dis, code, size, insn);
}

void disassemble_text(struct disassembler *dis, const uint8_t *code, size_t size, uint64_t address,
		      char *text, size_t text_size)
{
	bool x86 = dis->arch == ELF_ARCH_X86_64;

	*text = '\0';
	/* For the text alone: the order of operands would change with it. */
	if (x86)
		cs_option(dis->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	if (cs_disasm_iter(dis->handle, &code, &size, &address, dis->insn))
		snprintf(text, text_size, "%s%s%s", dis->insn->mnemonic,
			 *dis->insn->op_str ? " " : "", dis->insn->op_str);
	if (x86)
		cs_option(dis->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_INTEL);
}
