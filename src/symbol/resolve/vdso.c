// SPDX-License-Identifier: Apache-2.0
/*
 * Symbols of the vdso. No file has it, but this process has one. It is the recorded one if the
 * build-ids are equal, or if none is recorded and the recording is of this machine and kernel.
 */
#include "symbol/resolve/sources.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#define VDSO_MAX ((size_t)1 << 20)

/* Length of the image: up to the end of its last segment or section, whichever is farther. */
static size_t image_size(const ElfW(Ehdr) * eh)
{
	const ElfW(Phdr) *ph = (const void *)((const char *)eh + eh->e_phoff);
	size_t size = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
	int i;

	for (i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset + ph[i].p_filesz > size)
			size = ph[i].p_offset + ph[i].p_filesz;
	}
	return size;
}

static int own_vdso(struct elf_image *ret, struct error *why)
{
	const ElfW(Ehdr) *eh = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct buf mem = {0};
	size_t size;

	if (!eh || memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return error_set(why, -ENOENT, "this machine's kernel has no vdso");
	size = image_size(eh);
	if (size > VDSO_MAX)
		return error_set(why, -EFBIG, "this machine's vdso is %zu bytes long", size);
	if (buf_append(&mem, eh, size))
		return -ENOMEM;
	return elf_image_memory(&mem, ret, why);
}

static int add_all(const struct elf_image *img, struct symtab **ret, struct error *why)
{
	struct symtab_builder b = {0};
	struct elf_space space = {0};
	size_t count = 0;
	int rc = elf_space_file(img, &space, why);

	if (!rc)
		rc = elf_add_symbols(img, SHT_SYMTAB, &space, &b, &count);
	if (!rc)
		rc = elf_add_symbols(img, SHT_DYNSYM, &space, &b, &count);
	if (!rc && !count)
		rc = error_set(why, -ENOENT, "the vdso has no symbols");
	if (!rc)
		rc = symtab_build(&b, ret);
	symtab_builder_release(&b);
	elf_space_release(&space);
	return rc;
}

int source_open_vdso(const struct sources *src, const struct dso *dso, struct elf_image *ret,
		     struct error *why)
{
	struct elf_image img = ELF_IMAGE_INIT;
	bool mine = !strcmp(dso->name, "[vdso]");
	char path[PATH_MAX];
	int rc =
		mine ? own_vdso(&img, why)
		     : error_set(why, -ENOENT, "ringtail reads only the vdso of its own word size");

	if (!rc && !source_accept(src, dso, &img, src->same_machine, "this machine's vdso", why)) {
		elf_image_close(&img);
		rc = -ENOENT;
	}
	if (rc && source_cache_path(src, dso, "vdso", path) && !elf_image_open(path, &img, NULL)) {
		if (source_accept(src, dso, &img, false, path, NULL))
			rc = 0;
		else
			elf_image_close(&img);
	}
	if (!rc)
		*ret = img;
	return rc;
}

int vdso_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
	      struct error *why)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc = source_open_vdso(src, dso, &img, why);

	if (!rc)
		rc = add_all(&img, ret, why);
	elf_image_close(&img);
	return rc;
}
