// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: instructions by way of capstone, what the kernel makes of them under
 * a probe, and raw scans of code.
 */
#include <elf.h>
#include <string.h>

#include "arch.h"
#include "code_scan.h"
#include "elf_image.h"
#include "insn_capstone.h"

/* The DWARF number of a register of any width, or REG_NONE (psABI, figure 3.36). */
static int register_number(unsigned int reg)
{
	switch (reg) {
	case X86_REG_RAX:
	case X86_REG_EAX:
	case X86_REG_AX:
	case X86_REG_AL:
	case X86_REG_AH:
		return 0;
	case X86_REG_RDX:
	case X86_REG_EDX:
	case X86_REG_DX:
	case X86_REG_DL:
	case X86_REG_DH:
		return 1;
	case X86_REG_RCX:
	case X86_REG_ECX:
	case X86_REG_CX:
	case X86_REG_CL:
	case X86_REG_CH:
		return 2;
	case X86_REG_RBX:
	case X86_REG_EBX:
	case X86_REG_BX:
	case X86_REG_BL:
	case X86_REG_BH:
		return 3;
	case X86_REG_RSI:
	case X86_REG_ESI:
	case X86_REG_SI:
	case X86_REG_SIL:
		return 4;
	case X86_REG_RDI:
	case X86_REG_EDI:
	case X86_REG_DI:
	case X86_REG_DIL:
		return 5;
	case X86_REG_RBP:
	case X86_REG_EBP:
	case X86_REG_BP:
	case X86_REG_BPL:
		return 6;
	case X86_REG_RSP:
	case X86_REG_ESP:
	case X86_REG_SP:
	case X86_REG_SPL:
		return 7;
	}
	if (reg >= X86_REG_R8 && reg <= X86_REG_R15)
		return 8 + (int)(reg - X86_REG_R8);
	if (reg >= X86_REG_R8B && reg <= X86_REG_R15B)
		return 8 + (int)(reg - X86_REG_R8B);
	if (reg >= X86_REG_R8D && reg <= X86_REG_R15D)
		return 8 + (int)(reg - X86_REG_R8D);
	if (reg >= X86_REG_R8W && reg <= X86_REG_R15W)
		return 8 + (int)(reg - X86_REG_R8W);
	return REG_NONE;
}

/*
 * After arch/x86/kernel/uprobes.c: is_prefix_bad() refuses lock and segment
 * prefixes; branch_setup_xol_ops() emulates jmp, call, jcc and the kernel's
 * own nops, if they have no operand-size prefix; push_setup_xol_ops()
 * (since 5.0) pushes of a register. Later kernels emulate more.
 */
static enum insn_probe probe(const uint8_t *code, size_t length)
{
	static const uint8_t nops[8][8] = {
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0x00},
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};
	bool narrow = false, emulated;
	uint8_t rex = 0, opcode;
	size_t i = 0;

	if (length && length <= 8 && !memcmp(code, nops[length - 1], length))
		return PROBE_EMULATED;
	for (; i < length; i++) {
		uint8_t byte = code[i];

		if (byte == 0xf0 || byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e)
			return PROBE_REFUSED;
		if (byte == 0x66)
			narrow = true;
		else if (byte != 0xf2 && byte != 0xf3 && byte != 0x64 && byte != 0x65 &&
			 byte != 0x67)
			break;
	}
	if (i < length && (code[i] & 0xf0) == 0x40)
		rex = code[i++];
	if (i >= length)
		return PROBE_REFUSED;
	opcode = code[i];
	if (opcode >= 0x50 && opcode <= 0x57)
		return length == 1 || (length == 2 && rex == 0x41) ? PROBE_EMULATED : PROBE_STEPPED;
	if (opcode == 0x0f && i + 1 < length)
		emulated = (code[i + 1] & 0xf0) == 0x80;
	else
		emulated = opcode == 0xeb || opcode == 0xe9 || opcode == 0xe8 ||
			   (opcode & 0xf0) == 0x70;
	if (!emulated)
		return opcode == 0xcc || opcode == 0xf4 ? PROBE_REFUSED : PROBE_STEPPED;
	return narrow ? PROBE_REFUSED : PROBE_EMULATED;
}

/* @insn's memory operand, where it is base plus displacement and nothing else. */
static bool simple_memory(const cs_insn *cs, const cs_x86_op *operand, struct insn *insn)
{
	if (operand->type != X86_OP_MEM || operand->mem.segment != X86_REG_INVALID ||
	    operand->mem.index != X86_REG_INVALID)
		return false;
	insn->disp = operand->mem.disp;
	if (operand->mem.base == X86_REG_RIP) {
		insn->base = REG_NONE;
		insn->target = cs->address + cs->size + (uint64_t)operand->mem.disp;
		return true;
	}
	insn->base = (int8_t)register_number(operand->mem.base);
	return insn->base != REG_NONE;
}

/* The words of the register @reg of any kind, as a mask. */
static uint64_t register_bits(unsigned int reg)
{
	int number = register_number(reg);
	unsigned int vector;

	if (number != REG_NONE)
		return 1ULL << number;
	if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM15)
		vector = reg - X86_REG_XMM0;
	else if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM15)
		vector = reg - X86_REG_YMM0;
	else
		return 0;
	return 1ULL << (REG_XMM + vector) | 1ULL << (REG_XMM_HIGH + vector);
}

static int vector_number(const cs_x86_op *operand)
{
	if (operand->type != X86_OP_REG || operand->reg < X86_REG_XMM0 ||
	    operand->reg > X86_REG_XMM15)
		return REG_NONE;
	return REG_XMM + (int)(operand->reg - X86_REG_XMM0);
}

static int any_number(const cs_x86_op *operand)
{
	int number = operand->type == X86_OP_REG ? register_number(operand->reg) : REG_NONE;

	return number == REG_NONE ? vector_number(operand) : number;
}

static int high_word(int vector)
{
	return vector == REG_NONE ? REG_NONE : vector - REG_XMM + REG_XMM_HIGH;
}

static void set_load(const cs_insn *cs, const cs_x86_op *source, int reg, int reg2,
		     struct insn *insn)
{
	if (!simple_memory(cs, source, insn))
		return;
	insn->effect = EFFECT_LOAD;
	insn->reg = (int8_t)reg;
	insn->reg2 = (int8_t)reg2;
}

/* The high word of @target becomes @source; AVX takes the low one from @low. */
static void set_pair(int target, int low, int source, struct insn *insn)
{
	if (source == REG_NONE || low == REG_NONE)
		return;
	insn->effect = EFFECT_COPY;
	insn->reg = (int8_t)high_word(target);
	insn->base = (int8_t)source;
	insn->reg2 = (int8_t)target;
	insn->base2 = (int8_t)low;
}

/* Moves of one word, or of a whole register, into a vector register. */
static void set_vector_target(const cs_insn *cs, int target, struct insn *insn)
{
	const cs_x86 *x86 = &cs->detail->x86;
	const cs_x86_op *source = &x86->operands[1], *second = &x86->operands[2];
	int from = any_number(source);

	switch (cs->id) {
	case X86_INS_MOVQ:
	case X86_INS_VMOVQ:
		if (from == REG_NONE) {
			set_load(cs, source, target, REG_NONE, insn);
			break;
		}
		insn->effect = EFFECT_COPY;
		insn->reg = (int8_t)target;
		insn->base = (int8_t)from;
		break;
	case X86_INS_MOVHPS:
		set_load(cs, source, high_word(target), REG_NONE, insn);
		break;
	case X86_INS_PUNPCKLQDQ:
		set_pair(target, target, from, insn);
		break;
	case X86_INS_VPUNPCKLQDQ:
		set_pair(target, from, any_number(second), insn);
		break;
	case X86_INS_PINSRQ:
		if (second->type == X86_OP_IMM && second->imm == 1)
			set_pair(target, target, from, insn);
		break;
	case X86_INS_VPINSRQ:
		if (x86->operands[3].type == X86_OP_IMM && x86->operands[3].imm == 1)
			set_pair(target, from, any_number(second), insn);
		break;
	case X86_INS_MOVAPS:
	case X86_INS_VMOVAPS:
	case X86_INS_MOVUPS:
	case X86_INS_VMOVUPS:
	case X86_INS_MOVDQA:
	case X86_INS_VMOVDQA:
	case X86_INS_MOVDQU:
	case X86_INS_VMOVDQU:
		set_load(cs, source, target, high_word(target), insn);
		break;
	}
}

static void set_vector_store(const cs_insn *cs, const cs_x86_op *target, int source,
			     struct insn *insn)
{
	switch (cs->id) {
	case X86_INS_MOVAPS:
	case X86_INS_VMOVAPS:
	case X86_INS_MOVUPS:
	case X86_INS_VMOVUPS:
	case X86_INS_MOVDQA:
	case X86_INS_VMOVDQA:
	case X86_INS_MOVDQU:
	case X86_INS_VMOVDQU:
		insn->reg2 = (int8_t)high_word(source);
		break;
	case X86_INS_MOVHPS:
	case X86_INS_VMOVHPS:
		source = high_word(source);
		break;
	case X86_INS_MOVQ:
	case X86_INS_VMOVQ:
	case X86_INS_MOVLPS:
	case X86_INS_VMOVLPS:
		break;
	default:
		return;
	}
	insn->reg = (int8_t)source;
	insn->effect = simple_memory(cs, target, insn) ? EFFECT_STORE : EFFECT_OTHER;
}

static void set_effect(const cs_insn *cs, struct insn *insn)
{
	const cs_x86 *x86 = &cs->detail->x86;
	const cs_x86_op *target = &x86->operands[0], *source = &x86->operands[1];
	int reg = target->type == X86_OP_REG ? register_number(target->reg) : REG_NONE;

	if (x86->op_count >= 2 && vector_number(target) != REG_NONE) {
		set_vector_target(cs, vector_number(target), insn);
		return;
	}
	if (x86->op_count != 2)
		return;
	if (target->type == X86_OP_MEM && vector_number(source) != REG_NONE) {
		set_vector_store(cs, target, vector_number(source), insn);
		return;
	}
	if (reg != REG_NONE && target->size >= 4 && source->type == X86_OP_IMM &&
	    (cs->id == X86_INS_MOV || cs->id == X86_INS_MOVABS)) {
		insn->effect = EFFECT_CONST;
		insn->target = target->size == 4 ? (uint32_t)source->imm : (uint64_t)source->imm;
	} else if (reg != REG_NONE && target->size >= 4 && cs->id == X86_INS_XOR &&
		   source->type == X86_OP_REG && source->reg == target->reg) {
		insn->effect = EFFECT_CONST;
		insn->target = 0;
	} else if (reg != REG_NONE && target->size == 8 && cs->id == X86_INS_LEA) {
		if (!simple_memory(cs, source, insn))
			return;
		insn->effect = insn->base == REG_NONE ? EFFECT_CONST : EFFECT_ADD;
	} else if (reg != REG_NONE && target->size == 8 && cs->id == X86_INS_MOV) {
		if (source->type == X86_OP_REG) {
			insn->base = (int8_t)register_number(source->reg);
			insn->effect = insn->base == REG_NONE ? EFFECT_OTHER : EFFECT_COPY;
		} else if (simple_memory(cs, source, insn)) {
			insn->effect = EFFECT_LOAD;
		}
	} else if (reg != REG_NONE && target->size == 8 && source->type == X86_OP_IMM &&
		   (cs->id == X86_INS_ADD || cs->id == X86_INS_SUB)) {
		insn->effect = EFFECT_ADD;
		insn->base = (int8_t)reg;
		insn->disp = cs->id == X86_INS_ADD ? source->imm : -source->imm;
	} else if (cs->id == X86_INS_MOV && target->type == X86_OP_MEM && target->size == 8) {
		if (!simple_memory(cs, target, insn))
			return;
		insn->effect = EFFECT_STORE;
		reg = source->type == X86_OP_REG ? register_number(source->reg) : REG_NONE;
		insn->immediate = source->type == X86_OP_IMM && insn->base != REG_NONE;
		if (insn->immediate)
			insn->target = (uint64_t)source->imm;
	}
	if (insn->effect != EFFECT_OTHER)
		insn->reg = (int8_t)reg;
}

static void set_control(const struct disassembler *dis, const cs_insn *cs, struct insn *insn)
{
	const cs_x86 *x86 = &cs->detail->x86;
	const cs_x86_op *operand = &x86->operands[0];
	bool direct = x86->op_count == 1 && operand->type == X86_OP_IMM;

	switch (cs->id) {
	case X86_INS_CALL:
		insn->kind = direct ? INSN_CALL : INSN_CALL_INDIRECT;
		break;
	case X86_INS_JMP:
	case X86_INS_LJMP:
		insn->kind = direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
		break;
	case X86_INS_RET:
	case X86_INS_RETF:
		insn->kind = INSN_RETURN;
		return;
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_INT3:
		insn->kind = INSN_TRAP;
		return;
	default:
		if (!direct || (!cs_insn_group(dis->handle, cs, CS_GRP_JUMP) &&
				!cs_insn_group(dis->handle, cs, CS_GRP_BRANCH_RELATIVE)))
			return;
		insn->kind = INSN_BRANCH;
	}
	if (direct) {
		insn->target = (uint64_t)operand->imm;
	} else if (operand->type == X86_OP_REG) {
		insn->base = (int8_t)register_number(operand->reg);
	} else {
		insn->memory = simple_memory(cs, operand, insn);
	}
}

static unsigned int decode(struct disassembler *dis, const uint8_t *code, size_t size,
			   struct insn *insn)
{
	uint64_t address = insn->address;
	cs_regs read, written;
	uint8_t n_read, n_written;
	const cs_insn *cs = dis->insn;

	if (!cs_disasm_iter(dis->handle, &code, &size, &address, dis->insn))
		return 0;
	insn->length = (uint8_t)cs->size;
	set_control(dis, cs, insn);
	if (insn->kind == INSN_PLAIN)
		set_effect(cs, insn);
	if (!cs_regs_access(dis->handle, cs, read, &n_read, written, &n_written)) {
		for (unsigned int i = 0; i < n_written; i++)
			insn->written |= register_bits(written[i]);
	}
	if (insn->effect != EFFECT_STORE && insn->reg >= 0)
		insn->written |= 1ULL << insn->reg;
	/* movhps leaves the other word as it is. */
	if (insn->effect == EFFECT_LOAD && insn->reg >= REG_XMM_HIGH)
		insn->written = 1ULL << insn->reg;
	return insn->length;
}

/* -- raw scans ----------------------------------------------------------------------- */

#define BYTES(byte) (0x0101010101010101ULL * (byte))

static uint64_t long_at(const uint8_t *code)
{
	uint64_t value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/*
 * Bit 7 of each byte of @bytes that is 0; bits above the first may be set as
 * well for a byte of 1, so this is a filter.
 */
static uint64_t zero_bytes(uint64_t bytes)
{
	return (bytes - BYTES(0x01)) & ~bytes & BYTES(0x80);
}

/*
 * REX.W lea or mov of 8 bytes, or a move into a vector register (0f 10, 16,
 * 28, 6f, 7e), with a %rip-relative operand (mod 0, rm 5).
 */
static bool makes_address(const uint8_t *code)
{
	if ((code[2] & 0xc7) != 0x05)
		return false;
	if ((code[0] & 0xfb) == 0x48)
		return code[1] == 0x8d || code[1] == 0x8b;
	return code[0] == 0x0f && (code[1] == 0x10 || code[1] == 0x16 || code[1] == 0x28 ||
				   code[1] == 0x6f || code[1] == 0x7e);
}

/* Which of the eight instructions that begin in @code may make an address. */
static uint64_t may_make_address(const uint8_t *code)
{
	uint64_t first = long_at(code), third = long_at(code + 2);

	return (zero_bytes((first & BYTES(0xfb)) ^ BYTES(0x48)) | zero_bytes(first ^ BYTES(0x0f))) &
	       zero_bytes((third & BYTES(0xc7)) ^ BYTES(0x05));
}

static void scan_code(struct code_scan *scan, const uint8_t *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i + 7 <= size; i++) {
		if (i + 10 <= size && !may_make_address(code + i)) {
			i += 7;
			continue;
		}
		/* The eight behind the filter, or the last ones of the window. */
		for (size_t end = i + 8; i < end && i + 7 <= size; i++)
			if (makes_address(code + i))
				code_scan_found(scan, address + i,
						address + i + 7 +
							(uint64_t)(int32_t)code_word(code + i + 3));
		i--;
	}
}

/* Without position independence an address is any immediate of 32 bits. */
static void scan_fixed(struct code_scan *scan, const uint8_t *code, size_t size, uint64_t address)
{
	if (scan->low > UINT32_MAX)
		return;
	for (size_t i = 1; i + 4 <= size; i++) {
		uint32_t word = code_word(code + i);

		if (word >= scan->low && word <= scan->high)
			code_scan_found(scan, address + i - 1, word);
	}
}

static void scan_transfer(struct transfer_scan *scan, const uint8_t *code, size_t left,
			  uint64_t address)
{
	enum code_transfer kind = code[0] == 0xe8 ? TRANSFER_CALL : TRANSFER_JUMP;
	size_t length = 5;

	if (code[0] == 0x0f && left >= 6 && (code[1] & 0xf0) == 0x80)
		length = 6;
	else if (code[0] != 0xe8 && code[0] != 0xe9)
		return;
	transfer_found(scan, kind, address,
		       address + length + (uint64_t)(int32_t)code_word(code + length - 4));
}

static void scan_transfers(struct transfer_scan *scan, const uint8_t *code, size_t size,
			   uint64_t address)
{
	for (size_t i = 0; i + 5 <= size; i++) {
		if (i + 8 <= size) {
			uint64_t first = long_at(code + i);

			if (!zero_bytes((first & BYTES(0xfe)) ^ BYTES(0xe8)) &&
			    !zero_bytes(first ^ BYTES(0x0f))) {
				i += 7;
				continue;
			}
		}
		scan_transfer(scan, code + i, size - i, address + i);
	}
}

/* -- stubs, and the table ------------------------------------------------------------- */

/* [endbr64] [bnd] jmp *slot(%rip) */
static bool stub_slot(const struct elf_image *image, uint64_t address, uint64_t *slot)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *code = elf_view(image, address, 11);
	size_t i = 0;

	if (!code)
		return false;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		i += sizeof(endbr64);
	if (code[i] == 0xf2)
		i++;
	if (code[i] != 0xff || code[i + 1] != 0x25)
		return false;
	*slot = address + i + 6 + (uint64_t)(int32_t)code_word(code + i + 2);
	return true;
}

static const uint8_t nop[] = {0x90};

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.abi =
		{
			.sp = 7,
			.fp = 6,
			.args = {5, 4, 1, 2}, /* rdi, rsi, rdx, rcx */
			.result = 0,
			.result_address = 5,
			.first_after_result = 4,
			.second_after_result = 1,
			.third_after_result = 2,
			/* rax, rdx, rcx, rsi, rdi, r8 to r11, all of the vector registers */
			.clobbered = 0x37 | 0xf00 | 0xffffffffULL << REG_XMM,
		},
	.relative = R_X86_64_RELATIVE,
	.symbolic = {R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT},
	.entry_offset = 8, /* the call has pushed the return address: register 16 */
	.entry_saved = 1ULL << 16,
	.nop = nop,
	.nop_size = sizeof(nop),
	.scan = scan_code,
	.scan_fixed = scan_fixed,
	.scan_transfers = scan_transfers,
	.function_alignment = 16,
	.scan_reach = 15, /* the longest instruction */
	.stub_slot = stub_slot,
	.decode = decode,
	.probe = probe,
	.capstone_arch = CS_ARCH_X86,
	.capstone_mode = CS_MODE_64,
	.capstone_syntax = CS_OPT_SYNTAX_ATT,
};
