/* SPDX-License-Identifier: GPL-2.0-only */
/* What insn.c and arch_x86_64.c share: the disassembler's handle. */
#ifndef OPPROBE_INSN_CAPSTONE_H
#define OPPROBE_INSN_CAPSTONE_H

#include <capstone/capstone.h>

struct arch;

struct disassembler {
	const struct arch *arch;
	csh handle;
	cs_insn *insn; /* the latest one */
};

#endif
