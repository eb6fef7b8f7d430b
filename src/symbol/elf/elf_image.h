/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files as sources of symbols.
 *
 * Files are opened read-only, without waiting, and only if they are regular; libelf reads the parts
 * that are needed (no mapping, so a file that shrinks meanwhile does no harm). Every length is
 * checked against the file. One image belongs to one thread.
 */
#ifndef RINGTAIL_SYMBOL_ELF_ELF_IMAGE_H
#define RINGTAIL_SYMBOL_ELF_ELF_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "symbol/elf/table.h"

#define ELF_BUILD_ID_MAX 64

struct elf_image {
	Elf *elf;	/* NULL: not open */
	int fd;		/* -1: none */
	struct buf mem; /* the file, if it came from memory */
	GElf_Ehdr ehdr;
	uint64_t size; /* of the file, bytes */
	size_t nsections;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_size; /* 0: none */
};

#define ELF_IMAGE_INIT                \
	{                             \
		.elf = NULL, .fd = -1 \
	}

/* Opens @path. Returns 0, -ENOENT and kin, or -EBADMSG if it is no ELF file, with @err filled. */
int elf_image_open(const char *path, struct elf_image *ret, struct error *err);

/* The same for a file in memory, which the image takes over (on failure: frees). */
int elf_image_memory(struct buf *mem, struct elf_image *ret, struct error *err);

void elf_image_close(struct elf_image *img); /* accepts one that is not open */

/* Opens a regular file for reading. Returns the fd (size in *@ret_size) or a negative errno. */
int elf_open_regular(const char *path, uint64_t *ret_size);

/* The GNU build-id in a buffer of notes. Returns its size, 0 if there is none. */
size_t elf_note_build_id(const void *notes, size_t len, uint8_t ret[ELF_BUILD_ID_MAX]);

/*
 * Whether build-ids are the same; perf pads short ones with zeros, which counts as the same.
 * Without an id (size 0) nothing is the same.
 */
bool elf_build_id_same(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize);

/* Finds a section by name. Returns NULL if there is none; else fills *@ret_shdr. */
Elf_Scn *elf_section(const struct elf_image *img, const char *name, GElf_Shdr *ret_shdr);

/* The bytes of a section that is in the file, or NULL. Valid until the image is closed. */
Elf_Data *elf_section_data(Elf_Scn *scn, const GElf_Shdr *shdr);

/* From an address that the linker gave to one in the dso. */
struct elf_space {
	struct elf_range {
		uint64_t start, end; /* as linked */
		uint64_t delta;	     /* added, modulo 2^64 */
	} * ranges;
	size_t count;
	/* Relocatable files: where each section lies, UINT64_MAX for nowhere. Else NULL. */
	uint64_t *sections;
	size_t nsections;
};

/* Addresses become offsets in the file @img, by its PT_LOADs. 0, -ENOMEM, or -EBADMSG: has none. */
int elf_space_file(const struct elf_image *img, struct elf_space *ret, struct error *err);

/* Addresses move by @delta. Returns 0 or -ENOMEM. */
int elf_space_shift(uint64_t delta, struct elf_space *ret);

/*
 * A relocatable kernel module: offsets from the start of its text in memory, where the kernel puts
 * the executable sections that are not for initialisation in the order of the file
 * (kernel/module/main.c, layout_sections()). Returns 0 or -ENOMEM.
 */
int elf_space_module(const struct elf_image *img, struct elf_space *ret);

/* Translates; @section matters for relocatable files only. Returns false if it lies nowhere. */
bool elf_space_map(const struct elf_space *s, size_t section, uint64_t addr, uint64_t *ret);

/* The other way, in a space by elf_space_file(). Returns false if nothing of @addr is loaded. */
bool elf_space_unmap(const struct elf_space *s, uint64_t addr, uint64_t *ret);

/* Frees the ranges. */
void elf_space_release(struct elf_space *s);

/*
 * Adds the functions of the table of type @sh_type (SHT_SYMTAB or SHT_DYNSYM), if there is one.
 * Returns 0 (with the number added to *@ret_count) or -ENOMEM; a damaged table adds what it can.
 */
int elf_add_symbols(const struct elf_image *img, uint32_t sh_type, const struct elf_space *space,
		    struct symtab_builder *b, size_t *ret_count);

/* Adds "name@plt" for the entries of the PLT. Returns 0 or -ENOMEM. */
int elf_add_plt(const struct elf_image *img, const struct elf_space *space,
		struct symtab_builder *b, size_t *ret_count);

/* A symbol as the file has it, whatever it is for. */
struct elf_symbol {
	const char *name;
	GElf_Sym sym;
	bool superseded; /* of .dynsym: a version of its name that is not the default */
};

/* Hands all symbols of the table of type @sh_type that have names to @fn, as long as that is true.
 */
void elf_each_symbol(const struct elf_image *img, uint32_t sh_type,
		     bool (*fn)(void *arg, const struct elf_symbol *symbol), void *arg);

/* The value of a symbol in .symtab. Returns whether it is there. */
bool elf_symbol_value(const struct elf_image *img, const char *name, uint64_t *ret);

#endif
