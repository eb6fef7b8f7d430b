// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/debug.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/lines/strings.h"

/* Bytes of debug information; libdw reads all of it. */
#define DEBUG_MAX    ((uint64_t)1 << 30)
#define SEGMENTS_MAX 256 /* program headers that are looked at */

/* Returns the section of that name with contents, compressed or not. */
static bool has_section(const struct elf_image *img, const char *name)
{
	GElf_Shdr shdr;

	return elf_section(img, name, &shdr) && shdr.sh_type != SHT_NOBITS && shdr.sh_size;
}

bool debug_is_in(const struct elf_image *img)
{
	return has_section(img, ".debug_info") || has_section(img, ".zdebug_info");
}

bool debug_is_code(const struct debug *d, uint64_t addr)
{
	GElf_Phdr phdr;
	size_t n;

	if (elf_getphdrnum(d->image.elf, &n) || !n)
		return addr;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++)
		if (gelf_getphdr(d->image.elf, (int)i, &phdr) && phdr.p_type == PT_LOAD &&
		    (phdr.p_flags & PF_X) && addr - phdr.p_vaddr < phdr.p_memsz)
			return true;
	return false;
}

uint64_t debug_size(const struct elf_image *img)
{
	uint64_t sum = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(img->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_PROGBITS &&
		    !(shdr.sh_flags & SHF_ALLOC))
			sum += shdr.sh_size < DEBUG_MAX ? shdr.sh_size : DEBUG_MAX;
	return sum;
}

/* Opens the supplementary file if @path is the one that is wanted. */
static bool open_alt_at(struct debug *d, const char *path, const uint8_t *id, size_t size)
{
	if (elf_image_open(path, &d->alt, NULL))
		return false;
	if (elf_build_id_same(d->alt.build_id, d->alt.build_id_size, id, size) &&
	    debug_size(&d->alt) < DEBUG_MAX && strings_are_sound(d->alt.elf))
		return true;
	elf_image_close(&d->alt);
	d->alt = (struct elf_image)ELF_IMAGE_INIT;
	return false;
}

/* Makes the path of the image. Returns false if it is not known. */
static bool path_of(const struct elf_image *img, char ret[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", img->fd);
	n = img->fd < 0 ? -1 : readlink(link, ret, PATH_MAX - 1);
	if (n <= 0)
		return false;
	ret[n] = 0;
	return *ret == '/';
}

/* Makes the path of a name in the folder of the image. */
static bool beside(const struct elf_image *img, const char *name, char ret[PATH_MAX])
{
	char path[PATH_MAX];
	int len;

	if (*name == '/') {
		len = snprintf(ret, PATH_MAX, "%s", name);
		return len < PATH_MAX;
	}
	if (!path_of(img, path))
		return false;
	*strrchr(path, '/') = 0;
	len = snprintf(ret, PATH_MAX, "%s/%s", path, name);
	return len > 0 && len < PATH_MAX;
}

/*
 * Opens the supplementary file that .gnu_debugaltlink names. Returns false if libdw must not
 * search for it either, because it would open anything.
 */
static bool open_alt(struct debug *d)
{
	const char *name;
	const void *id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(d->dwarf, &name, &id);
	char path[PATH_MAX], hex[2 * ELF_BUILD_ID_MAX + 1] = "";
	struct stat st;

	if (size <= 0)
		return true;
	if (size < 4 || size > ELF_BUILD_ID_MAX)
		return false;
	for (ssize_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
	if (!beside(&d->image, name, path))
		return false;
	if (!open_alt_at(d, path, id, (size_t)size)) {
		if (!stat(path, &st) && !S_ISREG(st.st_mode))
			return false;
		snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", hex,
			 hex + 2);
		if (!open_alt_at(d, path, id, (size_t)size))
			return true;
	}
	d->alt_dwarf = dwarf_begin_elf(d->alt.elf, DWARF_C_READ, NULL);
	if (d->alt_dwarf)
		dwarf_setalt(d->dwarf, d->alt_dwarf);
	return true;
}

int debug_open(struct debug *d)
{
	char path[PATH_MAX];

	if (!strings_are_sound(d->image.elf))
		return -EBADMSG;
	split_files_init(&d->split, &d->image, path_of(&d->image, path) ? path : "");
	d->dwarf = dwarf_begin_elf(d->image.elf, DWARF_C_READ, NULL);
	return d->dwarf && open_alt(d) ? 0 : -EBADMSG;
}

bool debug_is_whole(const struct debug *d)
{
	const char *name;
	const void *id;

	return d->alt_dwarf || dwelf_dwarf_gnu_debugaltlink(d->dwarf, &name, &id) <= 0;
}

int debug_check(const struct elf_image *img)
{
	if (!debug_is_in(img))
		return -ENOENT;
	return debug_size(img) < DEBUG_MAX ? 0 : -EFBIG;
}

void debug_close(struct debug *d)
{
	dwarf_end(d->dwarf);
	dwarf_end(d->alt_dwarf);
	if (d->split.program)
		split_files_release(&d->split);
	elf_image_close(&d->image);
	elf_image_close(&d->alt);
}
