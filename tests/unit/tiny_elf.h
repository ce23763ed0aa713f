/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest file in which a function has a frame: headers, one loaded
 * segment, code, a search table, one CIE and one FDE, whose call frame
 * programs a test writes itself. Addresses are file offsets. The FDE is the
 * last thing in the file.
 */
#ifndef OPPROBE_TINY_ELF_H
#define OPPROBE_TINY_ELF_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define TINY_CODE      0x100 /* where the function begins... */
#define TINY_CODE_SIZE 0x100 /* ...and its length */
#define TINY_TABLE     (TINY_CODE + TINY_CODE_SIZE)
#define TINY_FRAMES    (TINY_TABLE + 24)

/* Bytes of a call frame program, or of code. */
struct tiny_bytes {
	const void *data;
	size_t size;
};

#define TINY_BYTES(...)                                                                            \
	((struct tiny_bytes){(const uint8_t[]){__VA_ARGS__},                                       \
			     sizeof((const uint8_t[]){__VA_ARGS__})})

struct tiny_elf {
	uint16_t machine;   /* EM_... */
	uint8_t code_align; /* of the CIE */
	struct tiny_bytes code, cie, fde;
};

static inline size_t tiny_put(uint8_t *file, size_t at, const void *data, size_t size)
{
	if (size)
		memcpy(file + at, data, size);
	return at + size;
}

static inline size_t tiny_put_u32(uint8_t *file, size_t at, size_t value)
{
	uint32_t word = (uint32_t)value;

	return tiny_put(file, at, &word, sizeof(word));
}

static inline void tiny_headers(const struct tiny_elf *elf, uint8_t *file, size_t size)
{
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = elf->machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	Elf64_Phdr segments[2] = {
		{
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_filesz = size,
			.p_memsz = size,
			.p_align = 0x1000,
		},
		{
			.p_type = PT_GNU_EH_FRAME,
			.p_flags = PF_R,
			.p_offset = TINY_TABLE,
			.p_vaddr = TINY_TABLE,
			.p_filesz = TINY_FRAMES - TINY_TABLE,
			.p_memsz = TINY_FRAMES - TINY_TABLE,
			.p_align = 4,
		},
	};

	tiny_put(file, tiny_put(file, 0, &header, sizeof(header)), segments, sizeof(segments));
}

/* Write the file into @file, which has room for @room bytes; returns its size, 0 if it is more. */
static inline size_t tiny_elf_make(const struct tiny_elf *elf, uint8_t *file, size_t room)
{
	/* Version 1, "zR", data alignment -8, return address 16 (30 on arm64), pcrel sdata4. */
	const uint8_t cie[] = {
		1, 'z', 'R', 0, elf->code_align, 0x78, elf->machine == EM_X86_64 ? 16 : 30, 1, 0x1b,
	};
	/* Version 1; pcrel sdata4; udata4; datarel sdata4. */
	const uint8_t table[] = {1, 0x1b, 0x03, 0x3b};
	size_t cie_size = 4 + sizeof(cie) + elf->cie.size, fde_size = 13 + elf->fde.size;
	size_t at = TINY_TABLE, fde = TINY_FRAMES + 4 + cie_size, size = fde + 4 + fde_size;

	if (size > room || elf->code.size > TINY_CODE_SIZE)
		return 0;
	memset(file, 0, size);
	tiny_headers(elf, file, size);
	tiny_put(file, TINY_CODE, elf->code.data, elf->code.size);

	at = tiny_put(file, at, table, sizeof(table));
	at = tiny_put_u32(file, at, TINY_FRAMES - at);
	at = tiny_put_u32(file, at, 1);
	at = tiny_put_u32(file, at, (size_t)TINY_CODE - TINY_TABLE);
	tiny_put_u32(file, at, fde - TINY_TABLE);

	at = tiny_put_u32(file, TINY_FRAMES, cie_size);
	at = tiny_put_u32(file, at, 0);
	at = tiny_put(file, at, cie, sizeof(cie));
	tiny_put(file, at, elf->cie.data, elf->cie.size);

	at = tiny_put_u32(file, fde, fde_size);
	at = tiny_put_u32(file, at, at - TINY_FRAMES);
	at = tiny_put_u32(file, at, (size_t)TINY_CODE - at);
	at = tiny_put_u32(file, at, TINY_CODE_SIZE);
	tiny_put(file, at + 1, elf->fde.data, elf->fde.size);
	return size;
}

#endif
