// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/lines.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"
#include "symbol/lines/strings.h"
#include "symbol/lines/unit.h"

/* Bytes of debug information; libdw reads all of it. */
#define DEBUG_MAX    ((uint64_t)1 << 30)
#define UNITS_MAX    (1u << 20)
#define SEGMENTS_MAX 256 /* program headers that are looked at */

struct source_lines {
	pthread_mutex_t lock; /* guards the rest after opening */
	struct elf_image image;
	struct elf_image alt; /* supplementary file of dwz */
	Dwarf *dwarf, *alt_dwarf;
	/* Asked addresses are: as linked; in the kernel's memory; offsets in the program file. */
	enum { LINES_LINKED, LINES_MOVED, LINES_IN_FILE } form;
	uint64_t delta;
	struct elf_space space;
	struct unit_names names;
	struct range_set ranges; /* of units */
	struct unit *units;
	size_t nr_units, cap_units;
	size_t ranges_read;
	char folder[PATH_MAX]; /* of the image; ".": not known */
};

/* Returns the section of that name with contents, compressed or not. */
static bool has_section(const struct elf_image *img, const char *name)
{
	GElf_Shdr shdr;

	return elf_section(img, name, &shdr) && shdr.sh_type != SHT_NOBITS && shdr.sh_size;
}

static bool has_dwarf(const struct elf_image *img)
{
	return has_section(img, ".debug_info") || has_section(img, ".zdebug_info");
}

/* Returns whether @addr is code: linkers leave ranges of dropped functions behind, mostly at 0. */
static bool is_code(const struct source_lines *l, uint64_t addr)
{
	GElf_Phdr phdr;
	size_t n;

	if (elf_getphdrnum(l->image.elf, &n) || !n)
		return addr;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++)
		if (gelf_getphdr(l->image.elf, (int)i, &phdr) && phdr.p_type == PT_LOAD &&
		    (phdr.p_flags & PF_X) && addr - phdr.p_vaddr < phdr.p_memsz)
			return true;
	return false;
}

static int add_unit(struct source_lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	if (array_grow(&l->units, &l->cap_units, l->nr_units + 1, sizeof(*l->units)) < 0)
		return -ENOMEM;
	while (!rc && l->ranges_read < RANGES_READ_MAX &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		struct range r = {start, end, 0, (uint32_t)l->nr_units};

		l->ranges_read++;
		if (start < end && is_code(l, start))
			rc = range_set_add(&l->ranges, &r);
	}
	l->units[l->nr_units++] = (struct unit){.die = *die, .home = l->folder};
	return rc == -E2BIG ? 0 : rc;
}

/* Lists the units by address. Partial units, which have no code, and units of types drop out. */
static int index_units(struct source_lines *l)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int rc = 0;

	while (!rc && l->nr_units < UNITS_MAX &&
	       !dwarf_get_units(l->dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		if (type == DW_UT_type || type == DW_UT_split_type || type == DW_UT_partial)
			continue;
		rc = add_unit(l, &die);
	}
	return rc ? rc : range_set_build(&l->ranges);
}

/* Returns the bytes of the debug sections. */
static uint64_t debug_size(const struct elf_image *img)
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
static bool open_alt_at(struct source_lines *l, const char *path, const uint8_t *id, size_t size)
{
	if (elf_image_open(path, &l->alt, NULL))
		return false;
	if (elf_build_id_same(l->alt.build_id, l->alt.build_id_size, id, size) &&
	    debug_size(&l->alt) < DEBUG_MAX && strings_end_in_nul(l->alt.elf))
		return true;
	elf_image_close(&l->alt);
	l->alt = (struct elf_image)ELF_IMAGE_INIT;
	return false;
}

/* Makes the path of a name in the folder of the image. */
static bool beside(const struct elf_image *img, const char *name, char ret[PATH_MAX])
{
	char link[64], path[PATH_MAX];
	ssize_t n;
	char *slash;
	int len;

	if (*name == '/') {
		len = snprintf(ret, PATH_MAX, "%s", name);
		return len < PATH_MAX;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", img->fd);
	n = img->fd < 0 ? -1 : readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = 0;
	slash = strrchr(path, '/');
	if (!slash)
		return false;
	*slash = 0;
	len = snprintf(ret, PATH_MAX, "%s/%s", path, name);
	return len > 0 && len < PATH_MAX;
}

/*
 * Opens the supplementary file that .gnu_debugaltlink names. Returns false if libdw must not
 * search for it either, because it would open anything.
 */
static bool open_alt(struct source_lines *l)
{
	const char *name;
	const void *id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &id);
	char path[PATH_MAX], hex[2 * ELF_BUILD_ID_MAX + 1] = "";
	struct stat st;

	if (size <= 0)
		return true;
	if (size < 4 || size > ELF_BUILD_ID_MAX)
		return false;
	for (ssize_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
	if (!beside(&l->image, name, path))
		return false;
	if (!open_alt_at(l, path, id, (size_t)size)) {
		if (!stat(path, &st) && !S_ISREG(st.st_mode))
			return false;
		snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", hex,
			 hex + 2);
		if (!open_alt_at(l, path, id, (size_t)size))
			return true;
	}
	l->alt_dwarf = dwarf_begin_elf(l->alt.elf, DWARF_C_READ, NULL);
	if (l->alt_dwarf)
		dwarf_setalt(l->dwarf, l->alt_dwarf);
	return true;
}

static int open_dwarf(struct source_lines *l)
{
	if (!has_dwarf(&l->image))
		return -ENOENT;
	if (debug_size(&l->image) >= DEBUG_MAX)
		return -EFBIG;
	if (!strings_end_in_nul(l->image.elf))
		return -EBADMSG;
	l->names.pool = strpool_new();
	if (!l->names.pool)
		return -ENOMEM;
	if (!beside(&l->image, ".", l->folder))
		strcpy(l->folder, ".");
	l->dwarf = dwarf_begin_elf(l->image.elf, DWARF_C_READ, NULL);
	if (!l->dwarf || !open_alt(l))
		return -EBADMSG;
	return index_units(l);
}

int lines_open_image(struct elf_image *img, bool demangle, struct source_lines **ret)
{
	struct source_lines *l = calloc(1, sizeof(*l));
	int rc = l ? 0 : -ENOMEM;

	if (rc) {
		elf_image_close(img);
		return rc;
	}
	pthread_mutex_init(&l->lock, NULL);
	l->image = *img;
	l->alt = (struct elf_image)ELF_IMAGE_INIT;
	*img = (struct elf_image)ELF_IMAGE_INIT;
	l->names.demangle = demangle;
	rc = open_dwarf(l);
	if (rc)
		lines_free(l);
	else
		*ret = l;
	return rc;
}

static int open_program(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
			struct elf_space *ret_space)
{
	struct elf_image program = ELF_IMAGE_INIT, debug = ELF_IMAGE_INIT;
	bool there = !resolver_open_image(r, dso, &program);
	int rc = 0;

	if (!there && !dso->build_id_size)
		return -ENOENT;
	if (there && has_dwarf(&program))
		rc = elf_space_file(&program, ret_space, NULL);
	else if (resolver_open_debug(r, dso, there ? &program : NULL, &debug))
		rc = -ENOENT;
	else
		rc = elf_space_file(there ? &program : &debug, ret_space, NULL);
	*ret = debug.elf ? debug : program;
	if (debug.elf)
		elf_image_close(&program);
	return rc;
}

static int open_kernel(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
		       uint64_t *ret_delta)
{
	struct elf_image debug = ELF_IMAGE_INIT;
	int rc = resolver_open_kernel(r, dso, ret, ret_delta);

	if (rc || has_dwarf(ret) || resolver_open_debug(r, dso, ret, &debug))
		return rc;
	elf_image_close(ret);
	*ret = debug;
	return 0;
}

int lines_open(const struct resolver *r, const struct dso *dso, bool demangle,
	       struct source_lines **ret)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space = {0};
	uint64_t delta = 0;
	int rc = -ENOENT;

	if (dso->kind == DSO_ELF)
		rc = open_program(r, dso, &img, &space);
	else if (dso->kind == DSO_KERNEL)
		rc = open_kernel(r, dso, &img, &delta);
	if (rc)
		elf_image_close(&img);
	else
		rc = lines_open_image(&img, demangle, ret);
	if (rc) {
		elf_space_release(&space);
		return rc;
	}
	(*ret)->form = dso->kind == DSO_ELF ? LINES_IN_FILE : LINES_MOVED;
	(*ret)->space = space;
	(*ret)->delta = delta;
	return 0;
}

void lines_free(struct source_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nr_units; i++)
		unit_release(&l->units[i]);
	free(l->units);
	range_set_release(&l->ranges);
	dwarf_end(l->dwarf);
	dwarf_end(l->alt_dwarf);
	elf_image_close(&l->image);
	elf_image_close(&l->alt);
	elf_space_release(&l->space);
	strpool_free(l->names.pool);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static bool to_linked(const struct source_lines *l, uint64_t addr, uint64_t *ret)
{
	*ret = addr - l->delta;
	return l->form != LINES_IN_FILE || elf_space_unmap(&l->space, addr, ret);
}

size_t lines_find(struct source_lines *l, uint64_t addr, struct line_frame *ret, size_t max)
{
	uint32_t at;
	size_t nr = 0;

	if (!to_linked(l, addr, &addr))
		return 0;
	at = range_set_find(&l->ranges, addr);
	if (at == RANGE_NONE)
		return 0;
	pthread_mutex_lock(&l->lock);
	if (l->units[at].is_read || !unit_read(&l->units[at]))
		nr = unit_find(&l->units[at], &l->names, addr, ret, max);
	pthread_mutex_unlock(&l->lock);
	return nr;
}
