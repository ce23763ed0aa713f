// SPDX-License-Identifier: GPL-2.0-only
#include "insn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch.h"
#include "insn_capstone.h"

struct disassembler *disassembler_new(const struct arch *arch, struct error *err)
{
	struct disassembler *dis = calloc(1, sizeof(*dis));
	cs_err failure;

	if (!dis) {
		error_set(err, -ENOMEM, "out of memory for a disassembler");
		return NULL;
	}
	dis->arch = arch;
	failure = cs_open((cs_arch)arch->capstone_arch, (cs_mode)arch->capstone_mode, &dis->handle);
	if (failure) {
		error_set(err, -ENOTSUP, "capstone cannot decode %s: %s", arch->name,
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
		.base2 = REG_NONE,
	};
	if (!dis->arch->decode(dis, code, size, insn))
		return 0;
	insn->probe = (uint8_t)dis->arch->probe(code, insn->length);
	return insn->length;
}

void disassemble_text(struct disassembler *dis, const uint8_t *code, size_t size, uint64_t address,
		      char *text, size_t text_size)
{
	size_t syntax = dis->arch->capstone_syntax;

	*text = '\0';
	/* For the text alone: the order of operands would change with it. */
	if (syntax)
		cs_option(dis->handle, CS_OPT_SYNTAX, syntax);
	if (cs_disasm_iter(dis->handle, &code, &size, &address, dis->insn))
		snprintf(text, text_size, "%s%s%s", dis->insn->mnemonic,
			 *dis->insn->op_str ? " " : "", dis->insn->op_str);
	if (syntax)
		cs_option(dis->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_DEFAULT);
}
