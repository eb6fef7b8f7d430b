/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the smallest ELF file with a build-id: 20 bytes, all @byte. */
#ifndef RINGTAIL_TESTS_ELF_WITH_ID_H
#define RINGTAIL_TESTS_ELF_WITH_ID_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void elf_with_id(const char *path, unsigned char byte)
{
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr;
		Elf64_Nhdr nhdr;
		char name[4];
		unsigned char id[20];
	} file = {
		.ehdr.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
									   : ELFDATA2MSB,
				 EV_CURRENT},
		.ehdr.e_type = ET_DYN,
		.ehdr.e_version = EV_CURRENT,
		.ehdr.e_ehsize = sizeof(Elf64_Ehdr),
		.ehdr.e_phoff = sizeof(Elf64_Ehdr),
		.ehdr.e_phentsize = sizeof(Elf64_Phdr),
		.ehdr.e_phnum = 1,
		.phdr.p_type = PT_NOTE,
		.phdr.p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
		.phdr.p_filesz = sizeof(Elf64_Nhdr) + 4 + 20,
		.phdr.p_align = 4,
		.nhdr = {sizeof("GNU"), 20, NT_GNU_BUILD_ID},
		.name = "GNU",
	};
	FILE *f = fopen(path, "r+");

	if (!f)
		f = fopen(path, "w");
	memset(file.id, byte, sizeof(file.id));
	if (!f || fwrite(&file, sizeof(file), 1, f) != 1 || fclose(f))
		abort();
}

#endif
