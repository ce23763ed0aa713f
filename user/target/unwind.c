// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read and evaluated here, and not by libdw, which trusts what is in a file
 * (execute_cfi() in libdw/cfi.c of elfutils 0.188, and of its repository in
 * 2023). A rule for register 80,000,000 makes it take and fill 610 MB, and
 * each DW_CFA_remember_state behind it 610 MB more: a file of 600 bytes takes
 * all memory. A program that ends with DW_CFA_advance_loc1 is read beyond its
 * end, where the file may end, too. Nor does it tell where an FDE begins and
 * ends, so that half of this would be needed beside it.
 */
#include "unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/array.h"
#include "../base/cursor.h"
#include "arch.h"
#include "elf_image.h"

/* Pointer encodings (LSB, "DWARF Exception Header Encoding"). */
#define PE_OMIT	    0xff
#define PE_INDIRECT 0x80

#define STATES_MAX 16 /* nested DW_CFA_remember_state: compilers use one */

struct unwind_entry {
	uint64_t start;
	uint64_t fde;
};

struct unwind_table {
	ARRAY_OF(struct unwind_entry) entries; /* sorted by start */
};

/* What CFI says of a frame at some instruction. */
struct frame_state {
	bool known; /* the CFA is a register plus an offset */
	uint64_t cfa_register;
	int64_t cfa_offset;
	uint64_t saved; /* bit i: register i is found elsewhere than in itself */
};

/* A CIE, with the FDE that led to it. */
struct frame_info {
	struct cursor cie_program, fde_program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of pointers in FDEs */
	bool augmented;
	struct code_range range;
};

/* -- pointers ------------------------------------------------------------------ */

static uint64_t read_pointer(struct cursor *cursor, uint8_t encoding, uint64_t data_base)
{
	uint64_t base = 0, value;

	if (encoding == PE_OMIT)
		return 0;
	switch (encoding & 0x70) {
	case 0x00:
		break;
	case 0x10:
		base = cursor_address(cursor);
		break;
	case 0x30:
		base = data_base;
		break;
	default:
		cursor_fail(cursor);
	}
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		value = cursor_u64(cursor);
		break;
	case 0x01:
		value = cursor_uleb(cursor);
		break;
	case 0x02:
		value = cursor_u16(cursor);
		break;
	case 0x03:
		value = cursor_u32(cursor);
		break;
	case 0x09:
		value = (uint64_t)cursor_sleb(cursor);
		break;
	case 0x0a:
		value = (uint64_t)(int16_t)cursor_u16(cursor);
		break;
	case 0x0b:
		value = (uint64_t)(int32_t)cursor_u32(cursor);
		break;
	default:
		cursor_fail(cursor);
		value = 0;
	}
	return base + value;
}

/* -- CIE and FDE --------------------------------------------------------------- */

/*
 * Take the next record, behind its length; false if there is none. The 64-bit
 * form (0xffffffff) is not used in .eh_frame in practice.
 */
static bool next_record(struct cursor *frames, struct cursor *record)
{
	uint32_t size = cursor_u32(frames);

	if (!size || size >= 0xfffffff0)
		return false;
	*record = cursor_slice(frames, size);
	return !frames->failed;
}

static bool open_record(const struct elf_image *image, uint64_t address, struct cursor *record)
{
	struct cursor frames = elf_cursor(image, address);

	return next_record(&frames, record);
}

static bool read_augmentation(struct cursor *cie, const char *text, struct frame_info *info)
{
	uint64_t length = cursor_uleb(cie);
	uint64_t end = cursor_address(cie) + length;

	info->augmented = true;
	for (text++; *text; text++) {
		switch (*text) {
		case 'R':
			info->encoding = cursor_u8(cie);
			break;
		case 'P': {
			uint8_t encoding = cursor_u8(cie);

			read_pointer(cie, encoding & (uint8_t)~PE_INDIRECT, 0);
			break;
		}
		case 'L':
			cursor_u8(cie);
			break;
		case 'S':
		case 'B':
		case 'G':
			break; /* signal frame; arm64 pointer authentication, tagged stack */
		default:
			return false;
		}
	}
	if (cie->failed || end < cursor_address(cie))
		return false;
	cursor_skip(cie, end - cursor_address(cie));
	return !cie->failed;
}

static bool read_cie(const struct elf_image *image, uint64_t address, struct frame_info *info)
{
	struct cursor cie;
	const char *augmentation;
	uint8_t version;

	if (!open_record(image, address, &cie) || cursor_u32(&cie) != 0)
		return false;
	version = cursor_u8(&cie);
	augmentation = cursor_string(&cie);
	if (!augmentation || (version != 1 && version != 3))
		return false;
	info->code_align = cursor_uleb(&cie);
	info->data_align = cursor_sleb(&cie);
	if (version == 1)
		cursor_u8(&cie);
	else
		cursor_uleb(&cie);
	info->encoding = 0;
	info->augmented = false;
	if (*augmentation && (*augmentation != 'z' || !read_augmentation(&cie, augmentation, info)))
		return false;
	info->cie_program = cie;
	return !cie.failed;
}

/* Everything about the FDE at @address; false if there is none. */
static bool read_fde(const struct elf_image *image, uint64_t address, struct frame_info *info)
{
	struct cursor fde;
	uint64_t position;
	uint32_t distance;

	if (!open_record(image, address, &fde))
		return false;
	position = cursor_address(&fde);
	distance = cursor_u32(&fde);
	if (!distance || distance > position || !read_cie(image, position - distance, info))
		return false;
	info->range.fde = address;
	info->range.start = read_pointer(&fde, info->encoding, 0);
	info->range.end = info->range.start + read_pointer(&fde, info->encoding & 0x0f, 0);
	if (info->augmented)
		cursor_skip(&fde, cursor_uleb(&fde));
	info->fde_program = fde;
	return !fde.failed && info->range.end > info->range.start;
}

/* -- finding an FDE -------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
	const struct unwind_entry *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

/* Walk through .eh_frame, for files whose linker made no table of it. */
static void scan_eh_frame(const struct elf_image *image, uint64_t address, uint64_t end,
			  struct unwind_table *table)
{
	struct cursor frames = elf_cursor(image, address), record;
	struct unwind_entry *entry;
	struct frame_info info;

	while (address + 8 <= end && next_record(&frames, &record)) {
		if (read_fde(image, address, &info)) {
			entry = array_push(&table->entries);
			if (!entry)
				return;
			*entry = (struct unwind_entry){info.range.start, address};
		}
		address = cursor_address(&frames);
	}
}

/* The binary search table of .eh_frame_hdr; false if it has none. */
static bool read_header_table(struct elf_image *image, struct unwind_table *table,
			      uint64_t *eh_frame)
{
	const struct elf_range *header = &image->eh_frame_hdr;
	const void *data = elf_view(image, header->address, header->size);
	uint8_t pointer_encoding, count_encoding, table_encoding;
	struct cursor cursor;
	uint64_t count;

	if (!header->size || !data)
		return false;
	cursor_init(&cursor, data, header->size, header->address);
	if (cursor_u8(&cursor) != 1)
		return false;
	pointer_encoding = cursor_u8(&cursor);
	count_encoding = cursor_u8(&cursor);
	table_encoding = cursor_u8(&cursor);
	*eh_frame = read_pointer(&cursor, pointer_encoding, header->address);
	if (cursor.failed || count_encoding == PE_OMIT || table_encoding == PE_OMIT)
		return false;
	count = read_pointer(&cursor, count_encoding, header->address);
	if (cursor.failed || !count || count > header->size / 4)
		return false;
	if (array_reserve(&table->entries, count))
		return false;
	while (count--) {
		struct unwind_entry *entry = array_push(&table->entries);

		entry->start = read_pointer(&cursor, table_encoding, header->address);
		entry->fde = read_pointer(&cursor, table_encoding, header->address);
	}
	return !cursor.failed;
}

/* Leaves the image without a table, and a sentence, if there is no memory. */
static void make_table(struct elf_image *image, struct error *err)
{
	struct unwind_table *table = calloc(1, sizeof(*table));
	uint64_t start = 0, end;

	if (!table) {
		error_set(err, -ENOMEM, "%s: out of memory for its unwind table", image->path);
		return;
	}
	if (!read_header_table(image, table, &start)) {
		table->entries.n = 0;
		if (image->eh_frame.size) {
			start = image->eh_frame.address;
			end = start + image->eh_frame.size;
		} else {
			end = UINT64_MAX;
		}
		if (start)
			scan_eh_frame(image, start, end, table);
		if (table->entries.n)
			qsort(table->entries.items, table->entries.n, sizeof(struct unwind_entry),
			      compare_entries);
	}
	image->unwind = table;
}

void unwind_table_free(struct unwind_table *table)
{
	if (table)
		array_free(&table->entries);
	free(table);
}

static const struct unwind_table *table_of(struct elf_image *image, struct error *err)
{
	if (!image->unwind)
		make_table(image, err);
	return image->unwind;
}

int unwind_find(struct elf_image *image, uint64_t pc, struct code_range *range, struct error *err)
{
	const struct unwind_table *table = table_of(image, err);
	struct frame_info info;
	size_t n;

	if (!table)
		return -ENOMEM;
	if (!table->entries.n)
		return error_set(err, -ENOEXEC,
				 "%s: it has no .eh_frame, so the bounds of its functions cannot "
				 "be told",
				 image->path);
	n = array_up_to(&table->entries, pc);
	if (!n)
		return -ENOENT;
	if (!read_fde(image, table->entries.items[n - 1].fde, &info))
		return error_set(err, -ENOEXEC, "%s: damaged .eh_frame near 0x%lx", image->path,
				 (unsigned long)table->entries.items[n - 1].fde);
	if (pc < info.range.start || pc >= info.range.end)
		return -ENOENT;
	*range = info.range;
	return 0;
}

int unwind_between(struct elf_image *image, uint64_t pc, struct code_range *range)
{
	const struct unwind_table *table = table_of(image, NULL);
	struct frame_info info;
	size_t n = table ? array_up_to(&table->entries, pc) : 0;

	*range = (struct code_range){.end = UINT64_MAX};
	if (!table || !table->entries.n)
		return -ENOENT;
	if (n && !read_fde(image, table->entries.items[n - 1].fde, &info))
		return -ENOEXEC;
	if (n)
		range->start = info.range.end;
	if (n < table->entries.n)
		range->end = table->entries.items[n].start;
	return pc >= range->start && pc < range->end ? 0 : -ENOENT;
}

/* -- call frame instructions ------------------------------------------------------- */

struct cfa_machine {
	const struct frame_info *info;
	struct frame_state state;
	struct frame_state stack[STATES_MAX];
	unsigned int depth;
	uint64_t pc; /* of the instruction that the state is for */
};

static void mark_saved(struct cfa_machine *machine, uint64_t reg)
{
	if (reg < 64)
		machine->state.saved |= 1ULL << reg;
}

static void mark_restored(struct cfa_machine *machine, uint64_t reg)
{
	if (reg < 64)
		machine->state.saved &= ~(1ULL << reg);
}

static void define_cfa(struct cfa_machine *machine, uint64_t reg, int64_t offset)
{
	machine->state.known = true;
	machine->state.cfa_register = reg;
	machine->state.cfa_offset = offset;
}

/* A multiple of the data alignment factor, which may wrap in a forged file. */
static int64_t factored(const struct cfa_machine *machine, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)machine->info->data_align);
}

static void advance(struct cfa_machine *machine, uint64_t delta)
{
	machine->pc += delta * machine->info->code_align;
}

/* One instruction of the extended form (DWARF 5, table 7.29). */
static bool run_extended(struct cfa_machine *machine, struct cursor *program, uint8_t opcode)
{
	uint64_t reg;

	switch (opcode) {
	case 0x00: /* nop */
	case 0x2d: /* GNU_window_save; on arm64 AARCH64_negate_ra_state */
		return true;
	case 0x01:
		machine->pc = read_pointer(program, machine->info->encoding, 0);
		return true;
	case 0x02:
		advance(machine, cursor_u8(program));
		return true;
	case 0x03:
		advance(machine, cursor_u16(program));
		return true;
	case 0x04:
		advance(machine, cursor_u32(program));
		return true;
	case 0x05: /* offset_extended */
	case 0x09: /* register */
	case 0x11: /* offset_extended_sf */
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
	case 0x2f: /* GNU_negative_offset_extended */
		mark_saved(machine, cursor_uleb(program));
		cursor_uleb(program);
		return true;
	case 0x06: /* restore_extended */
	case 0x07: /* undefined */
	case 0x08: /* same_value */
		mark_restored(machine, cursor_uleb(program));
		return true;
	case 0x0a: /* remember_state */
		if (machine->depth == STATES_MAX)
			return false;
		machine->stack[machine->depth++] = machine->state;
		return true;
	case 0x0b: /* restore_state */
		if (!machine->depth)
			return false;
		machine->state = machine->stack[--machine->depth];
		return true;
	case 0x0c: /* def_cfa */
		reg = cursor_uleb(program);
		define_cfa(machine, reg, (int64_t)cursor_uleb(program));
		return true;
	case 0x0d: /* def_cfa_register */
		define_cfa(machine, cursor_uleb(program), machine->state.cfa_offset);
		return true;
	case 0x0e: /* def_cfa_offset */
		machine->state.cfa_offset = (int64_t)cursor_uleb(program);
		return true;
	case 0x0f: /* def_cfa_expression */
		machine->state.known = false;
		cursor_skip(program, cursor_uleb(program));
		return true;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		mark_saved(machine, cursor_uleb(program));
		cursor_skip(program, cursor_uleb(program));
		return true;
	case 0x12: /* def_cfa_sf */
		reg = cursor_uleb(program);
		define_cfa(machine, reg, factored(machine, cursor_sleb(program)));
		return true;
	case 0x13: /* def_cfa_offset_sf */
		machine->state.cfa_offset = factored(machine, cursor_sleb(program));
		return true;
	case 0x2e: /* GNU_args_size */
		cursor_uleb(program);
		return true;
	}
	return false;
}

/* Run @program for the instructions up to and including @pc. */
static bool run_program(struct cfa_machine *machine, struct cursor program, uint64_t pc)
{
	while (!cursor_end(&program)) {
		uint8_t opcode = cursor_u8(&program);
		struct frame_state before = machine->state;

		switch (opcode & 0xc0) {
		case 0x40:
			advance(machine, opcode & 0x3f);
			break;
		case 0x80: /* offset */
			mark_saved(machine, opcode & 0x3f);
			cursor_uleb(&program);
			break;
		case 0xc0: /* restore */
			mark_restored(machine, opcode & 0x3f);
			break;
		default:
			if (!run_extended(machine, &program, opcode))
				return false;
		}
		if (program.failed)
			return false;
		if (machine->pc > pc) {
			machine->state = before;
			return true;
		}
	}
	return true;
}

static bool frame_at(const struct elf_image *image, const struct code_range *range, uint64_t pc,
		     struct frame_state *state)
{
	struct frame_info info;
	struct cfa_machine machine = {.info = &info};

	if (!read_fde(image, range->fde, &info))
		return false;
	machine.pc = range->start;
	if (!run_program(&machine, info.cie_program, pc) ||
	    !run_program(&machine, info.fde_program, pc))
		return false;
	*state = machine.state;
	return true;
}

int32_t unwind_stack_depth(struct elf_image *image, const struct code_range *range, uint64_t pc)
{
	const struct arch *arch = image->arch;
	struct frame_state state;

	if (!frame_at(image, range, pc, &state) || !state.known ||
	    state.cfa_register != (uint64_t)arch->abi.sp)
		return -1;
	if (state.cfa_offset < arch->entry_offset || state.cfa_offset > INT32_MAX)
		return -1;
	return (int32_t)(state.cfa_offset - arch->entry_offset);
}

/*
 * GCC lets a cold part begin with a nop where the next instruction is a
 * landing pad, whose distance from the part's start must not be 0; the state
 * at the nop may still be that of an entry.
 */
static uint64_t first_real_insn(const struct elf_image *image, const struct code_range *range)
{
	size_t length = image->arch->nop_size;
	const uint8_t *code = elf_view(image, range->start, length);

	return code && !memcmp(code, image->arch->nop, length) ? range->start + length
							       : range->start;
}

bool unwind_is_entry(struct elf_image *image, const struct code_range *range)
{
	const struct arch *arch = image->arch;
	struct frame_state state;

	return frame_at(image, range, first_real_insn(image, range), &state) && state.known &&
	       state.cfa_register == (uint64_t)arch->abi.sp &&
	       state.cfa_offset == arch->entry_offset && state.saved == arch->entry_saved;
}
