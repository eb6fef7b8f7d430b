/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF images: sections, symbols and addresses of program files.
 *
 * Files are opened read-only, without blocking, and only if they are regular. libelf reads the
 * needed parts and maps nothing, so a file may shrink meanwhile. Every length is checked against
 * the file. One thread uses an image.
 */
#ifndef RINGTAIL_SYMBOL_ELF_ELF_IMAGE_H
#define RINGTAIL_SYMBOL_ELF_ELF_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "symbol/elf/table.h"

#define ELF_BUILD_ID_MAX 64

struct elf_image {
	Elf *elf;	/* NULL: not open */
	int fd;		/* -1: none */
	struct buf mem; /* the file's contents, if opened from memory */
	bool borrowed;	/* @mem belongs to another */
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

/*
 * Opens @path. Returns 0, or a negative errno with @err filled; -EBADMSG: it is not an ELF file.
 */
int elf_image_open(const char *path, struct elf_image *ret, struct error *err);

/* As elf_image_open(), for contents in memory. Takes over @mem, also on failure. */
int elf_image_memory(struct buf *mem, struct elf_image *ret, struct error *err);

/* As elf_image_memory(), but @mem stays the caller's, and must outlive the image. */
int elf_image_borrow(const struct buf *mem, struct elf_image *ret, struct error *err);

/* Closes @img; accepts one that is not open. */
void elf_image_close(struct elf_image *img);

/*
 * Reads up to @len bytes at offset @at of the file. Returns the bytes read, fewer at the end of the
 * file, or a negative errno.
 */
ssize_t elf_image_read(const struct elf_image *img, uint64_t at, void *buf, size_t len);

/* Opens a regular file for reading. Returns the fd (size in *@ret_size) or a negative errno. */
int elf_open_regular(const char *path, uint64_t *ret_size);

/* Finds the GNU build-id in a buffer of notes. Returns its size; 0: there is none. */
size_t elf_note_build_id(const void *notes, size_t len, uint8_t ret[ELF_BUILD_ID_MAX]);

/*
 * Returns whether build-ids are equal. perf pads short ones with zeros, which are ignored. An empty
 * build-id equals nothing.
 */
bool elf_build_id_same(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize);

/* Finds a section by name. Returns NULL if there is none; else fills *@ret_shdr. */
Elf_Scn *elf_section(const struct elf_image *img, const char *name, GElf_Shdr *ret_shdr);

/* Returns the bytes of a section in the file, or NULL. Valid until the image is closed. */
Elf_Data *elf_section_data(Elf_Scn *scn, const GElf_Shdr *shdr);

/* Translation of linked addresses to addresses in the dso. */
struct elf_space {
	struct elf_range {
		uint64_t start, end; /* as linked */
		uint64_t delta;	     /* added, modulo 2^64 */
	} * ranges;
	size_t count;
	/* Relocatable files: address of each section, UINT64_MAX if it has none. Or NULL. */
	uint64_t *sections;
	size_t nsections;
};

/*
 * Makes a translation to offsets in the file, by its PT_LOADs. Returns 0, -ENOMEM, or -EBADMSG
 * without any.
 */
int elf_space_file(const struct elf_image *img, struct elf_space *ret, struct error *err);

/* Makes a translation that adds @delta. Returns 0 or -ENOMEM. */
int elf_space_shift(uint64_t delta, struct elf_space *ret);

/*
 * Makes a translation for a relocatable kernel module, to offsets from the start of its text in
 * memory. There the kernel puts the executable sections in the order of the file, without those for
 * initialisation (kernel/module/main.c, layout_sections()). Returns 0 or -ENOMEM.
 */
int elf_space_module(const struct elf_image *img, struct elf_space *ret);

/* Translates @addr. Relocatable files need @section. Returns false if it has no address. */
bool elf_space_map(const struct elf_space *s, size_t section, uint64_t addr, uint64_t *ret);

/* Translates back, in a space by elf_space_file(). Returns false if @addr is not loaded. */
bool elf_space_unmap(const struct elf_space *s, uint64_t addr, uint64_t *ret);

/* Frees the arrays; accepts zeroes. */
void elf_space_release(struct elf_space *s);

/*
 * Adds the functions of the table of type @sh_type (SHT_SYMTAB or SHT_DYNSYM), if it exists.
 * Returns 0, adding their number to *@ret_count, or -ENOMEM. Of a damaged table it adds what it
 * can.
 */
int elf_add_symbols(const struct elf_image *img, uint32_t sh_type, const struct elf_space *space,
		    struct symtab_builder *b, size_t *ret_count);

/* Returns whether an entry of the PLT is among the addresses @w; NULL: all are. */
bool elf_plt_wanted(const struct elf_image *img, const struct elf_space *space,
		    const struct symtab_wanted *w);

/* Adds "name@plt" for the entries of the PLT. Returns as elf_add_symbols() does. */
int elf_add_plt(const struct elf_image *img, const struct elf_space *space,
		struct symtab_builder *b, size_t *ret_count);

/* Returns how many bytes at the beginning of a relocation section elf_add_plt() does not read. */
uint64_t elf_plt_unread(const struct elf_image *img, const GElf_Shdr *shdr);

/* A symbol of any type, as in the file. */
struct elf_symbol {
	const char *name;
	GElf_Sym sym;
	bool superseded; /* in .dynsym: not the default version of its name */
};

/* Calls @fn for all named symbols of the table of type @sh_type, until @fn returns false. */
void elf_each_symbol(const struct elf_image *img, uint32_t sh_type,
		     bool (*fn)(void *arg, const struct elf_symbol *symbol), void *arg);

/* Finds the value of a symbol in .symtab. Returns whether it exists. */
bool elf_symbol_value(const struct elf_image *img, const char *name, uint64_t *ret);

#endif
