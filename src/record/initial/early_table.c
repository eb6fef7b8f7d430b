// SPDX-License-Identifier: Apache-2.0
#include "record/initial/early_table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/hash.h"
#include "symbol/elf/elf_image.h"

/* Bytes of symbols and names of a file that has not changed for SETTLED_S seconds, for the end. */
#define LATE_BYTES (4u << 20)
#define SETTLED_S  3600

void early_tables_release(struct early_tables *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		munmap(t->tables[i]->image.data, t->tables[i]->image.len);
		free(t->tables[i]);
	}
	free(t->tables);
	hash_table_release(&t->by_id);
	*t = (struct early_tables){0};
}

/* Whether a package manager owns the file: it does not go away with its process. */
static bool stays(const char *name, const char *path)
{
	static const char *const folders[] = {"/usr/", "/lib", "/bin/", "/sbin/", "/opt/"};

	if (strcmp(name, path) != 0)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (!strncmp(name, folders[i], strlen(folders[i])))
			return strncmp(name, "/usr/local/", 11) != 0;
	return false;
}

/* Whether nobody has written, moved or deleted the file lately. */
static bool is_settled(const char *name, const char *path, const struct elf_image *img)
{
	struct stat st;

	return !strcmp(name, path) && !fstat(img->fd, &st) && st.st_nlink &&
	       st.st_ctim.tv_sec < time(NULL) - SETTLED_S;
}

/* --- parts of a file -----------------------------------------------------------------------------
 */

/* What symbols need of a file: its bytes are counted, and with @to copied. */
struct symbol_parts {
	const struct elf_image *img;
	uint8_t *to; /* the file's size; NULL: nowhere */
	uint64_t bytes;
};

/* A file that shrinks meanwhile leaves zeros behind its end. */
static void add_part(struct symbol_parts *p, uint64_t at, uint64_t bytes)
{
	if (at > p->img->size)
		return;
	if (bytes > p->img->size - at)
		bytes = p->img->size - at;
	if (__builtin_add_overflow(p->bytes, bytes, &p->bytes))
		p->bytes = UINT64_MAX;
	if (p->to)
		elf_image_read(p->img, at, p->to + at, bytes);
}

static void add_section(struct symbol_parts *p, const GElf_Shdr *shdr)
{
	uint64_t unread;

	switch (shdr->sh_type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_STRTAB:
	case SHT_DYNAMIC: add_part(p, shdr->sh_offset, shdr->sh_size); return;
	case SHT_REL:
	case SHT_RELA:
		if (!(shdr->sh_flags & SHF_ALLOC))
			return;
		unread = elf_plt_unread(p->img, shdr); /* in large programs most of all */
		add_part(p, shdr->sh_offset + unread, shdr->sh_size - unread);
		return;
	default: return;
	}
}

static void add_parts(struct symbol_parts *p)
{
	static const char *const code[] = {".plt", ".plt.sec", ".plt.got"};
	const struct elf_image *img = p->img;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	add_part(p, 0, img->ehdr.e_ehsize);
	add_part(p, img->ehdr.e_phoff, (uint64_t)img->ehdr.e_phnum * img->ehdr.e_phentsize);
	add_part(p, img->ehdr.e_shoff, img->nsections * img->ehdr.e_shentsize);
	while ((scn = elf_nextscn(img->elf, scn)))
		if (gelf_getshdr(scn, &shdr))
			add_section(p, &shdr);
	for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++)
		if (elf_section(img, code[i], &shdr) && shdr.sh_type != SHT_NOBITS)
			add_part(p, shdr.sh_offset, shdr.sh_size);
}

static bool has_symbols(const struct elf_image *img)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(img->elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM))
			return true;
	return false;
}

/* Returns whether the file has lines, which are read by their own debug file otherwise. */
static bool has_lines(const struct elf_image *img)
{
	GElf_Shdr unused;

	return elf_section(img, ".debug_line", &unused) ||
	       elf_section(img, ".zdebug_line", &unused);
}

/*
 * Makes room for a copy of @img. It is of zeros, which take no memory until they are written. As a
 * rule calloc() would do that, too, but not for small files.
 */
static bool make_room(const struct elf_image *img, struct buf *ret)
{
	void *p = mmap(NULL, img->size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	*ret = (struct buf){.data = p, .len = img->size};
	return true;
}

/* --- tables --------------------------------------------------------------------------------------
 */

static bool is_same(const void *tables, uint32_t number, const void *key)
{
	const struct early_table *a = ((struct early_table *const *)tables)[number];
	const struct build_id *b = key;

	return a->id.size == b->size && !memcmp(a->id.id, b->id, b->size);
}

static uint64_t hash_of(const struct build_id *id)
{
	return hash_bytes(hash_key(), id->id, id->size);
}

static const struct early_table *find(const struct early_tables *t, const struct build_id *id)
{
	uint32_t at = HASH_TABLE_NONE;

	if (id->size)
		at = hash_table_find(&t->by_id, hash_of(id), is_same, t->tables, id);
	return at == HASH_TABLE_NONE ? NULL : t->tables[at];
}

/* Copies @img, whole or what symbols need of it, as far as there is room. */
static bool copy(struct early_tables *t, const struct elf_image *img, struct early_table *table)
{
	struct symbol_parts parts = {.img = img};

	table->whole = t->copies && has_lines(img);
	if (table->whole && img->size > EARLY_COPIES_MAX - t->copied) {
		t->uncopied++;
		table->whole = false;
	}
	add_parts(&parts);
	if ((!table->whole && parts.bytes > EARLY_TABLES_MAX - t->bytes) ||
	    !make_room(img, &table->image)) {
		t->refused++;
		return false;
	}
	parts.to = table->image.data;
	if (table->whole) {
		add_part(&parts, 0, img->size);
		t->copied += img->size;
	} else {
		t->bytes += parts.bytes;
		add_parts(&parts);
	}
	return true;
}

/* Copies @img. Returns NULL if there is no room. */
static const struct early_table *add(struct early_tables *t, const struct elf_image *img,
				     const struct build_id *id)
{
	struct early_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->id = *id;
	if (!hash_table_reserve(&t->by_id, 1) &&
	    !array_grow(&t->tables, &t->cap, t->nr + 1, sizeof(*t->tables)) &&
	    copy(t, img, table)) {
		if (id->size)
			hash_table_add(&t->by_id, hash_of(id), (uint32_t)t->nr);
		t->tables[t->nr++] = table;
		return table;
	}
	free(table);
	return NULL;
}

/* Whether a file with many symbols can be read at the end instead. */
static bool is_late(const char *name, const char *path, const struct elf_image *img)
{
	struct symbol_parts parts = {.img = img};

	if (!is_settled(name, path, img))
		return false;
	add_parts(&parts);
	return parts.bytes >= LATE_BYTES;
}

const struct early_table *early_table_make(struct early_tables *t, const char *name,
					   const char *path, int fd, const struct build_id *id)
{
	const struct early_table *table = find(t, id);
	struct elf_image img = ELF_IMAGE_INIT;
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (table || stays(name, path) || elf_image_open(link, &img, NULL))
		return table;
	if (has_symbols(&img) && !is_late(name, path, &img) &&
	    (!id->size || elf_build_id_same(img.build_id, img.build_id_size, id->id, id->size)))
		table = add(t, &img, id);
	elf_image_close(&img);
	return table;
}

int early_table_symbols(const struct early_table *table, const struct symtab_wanted *wanted,
			struct symtab **ret, bool *ret_few)
{
	struct symtab_builder b = {.wanted = wanted};
	struct elf_image img = ELF_IMAGE_INIT;
	struct elf_space space = {0};
	size_t nr = 0;
	int rc = elf_image_borrow(&table->image, &img, NULL) ?: elf_space_file(&img, &space, NULL);

	if (!rc)
		rc = elf_add_symbols(&img, SHT_SYMTAB, &space, &b, &nr);
	*ret_few = !nr;
	if (!rc)
		rc = elf_add_symbols(&img, SHT_DYNSYM, &space, &b, &nr)
			     ?: elf_add_plt(&img, &space, &b, &nr);
	if (!rc)
		rc = symtab_build(&b, ret);
	symtab_builder_release(&b);
	elf_space_release(&space);
	elf_image_close(&img);
	return rc;
}
