// SPDX-License-Identifier: Apache-2.0
#include "record/initial/early_table.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
		symtab_builder_release(&t->tables[i]->symbols);
		buf_release(&t->tables[i]->copy);
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

static uint64_t bounded(uint64_t bytes)
{
	return bytes < EARLY_TABLES_MAX ? bytes : EARLY_TABLES_MAX;
}

/* Returns the bytes of the symbols and names in the file, whatever their sections are called. */
static uint64_t bytes_of(const struct elf_image *img)
{
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(img->elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM ||
		     shdr.sh_type == SHT_STRTAB))
			sum += bounded(shdr.sh_size);
	return sum;
}

/* Returns the bytes of other sections that elf_add_plt() reads, and that nobody keeps. */
static uint64_t bytes_of_plt(const struct elf_image *img)
{
	static const char *const sections[] = {".rela.plt", ".rel.plt", ".rela.dyn",
					       ".plt",	    ".plt.sec", ".plt.got"};
	uint64_t sum = 0;
	GElf_Shdr shdr;

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (elf_section(img, sections[i], &shdr))
			sum += bounded(shdr.sh_size);
	return sum;
}

/* Returns the number of symbols that were added, or a negative errno. */
static int read_symbols(const struct elf_image *img, struct early_table *table)
{
	struct symtab_builder *b = &table->symbols;
	struct elf_space space = {0};
	size_t nr = 0;
	int rc = elf_space_file(img, &space, NULL);

	if (!rc)
		rc = elf_add_symbols(img, SHT_SYMTAB, &space, b, &nr);
	table->few = !nr;
	if (!rc)
		rc = elf_add_symbols(img, SHT_DYNSYM, &space, b, &nr);
	if (!rc)
		rc = elf_add_plt(img, &space, b, &nr);
	elf_space_release(&space);
	return rc ? rc : nr < INT_MAX ? (int)nr : INT_MAX;
}

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

/* Reads the symbols of @img. Returns NULL if there are none, or memory is short. */
static struct early_table *add(struct early_tables *t, const struct elf_image *img,
			       const struct build_id *id)
{
	struct early_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->id = *id;
	if (read_symbols(img, table) > 0 && !hash_table_reserve(&t->by_id, 1) &&
	    !array_grow(&t->tables, &t->cap, t->nr + 1, sizeof(*t->tables))) {
		if (id->size)
			hash_table_add(&t->by_id, hash_of(id), (uint32_t)t->nr);
		t->tables[t->nr++] = table;
		return table;
	}
	symtab_builder_release(&table->symbols);
	free(table);
	return NULL;
}

/* Returns whether the file has lines, which are read by their own debug file otherwise. */
static bool has_lines(const struct elf_image *img)
{
	GElf_Shdr unused;

	return elf_section(img, ".debug_line", &unused) ||
	       elf_section(img, ".zdebug_line", &unused);
}

/* Copies the file, if there is room. */
static void add_copy(struct early_tables *t, const struct elf_image *img, struct early_table *table)
{
	struct buf copy = {0};
	ssize_t n = -1;

	if (!t->copies || !has_lines(img))
		return;
	if (img->size <= EARLY_COPIES_MAX - t->copied && !buf_reserve(&copy, img->size))
		n = elf_image_read(img, 0, copy.data, img->size);
	if (n <= 0) {
		t->uncopied++;
		buf_release(&copy);
		return;
	}
	copy.len = (size_t)n;
	table->copy = copy;
	t->copied += img->size;
}

const struct early_table *early_table_make(struct early_tables *t, const char *name,
					   const char *path, int fd, const struct build_id *id)
{
	const struct early_table *known = find(t, id);
	struct elf_image img = ELF_IMAGE_INIT;
	struct early_table *table = NULL;
	char link[64];
	uint64_t bytes;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (known || stays(name, path) || elf_image_open(link, &img, NULL))
		return known;
	bytes = bytes_of(&img);
	if (bytes < LATE_BYTES || !is_settled(name, path, &img)) {
		/* Names of sections are in one of the tables: look at these first. */
		if (t->bytes + bytes > EARLY_TABLES_MAX || bytes_of_plt(&img) > EARLY_TABLES_MAX)
			t->refused++;
		else if (!id->size ||
			 elf_build_id_same(img.build_id, img.build_id_size, id->id, id->size))
			table = add(t, &img, id);
	}
	if (table) {
		t->bytes += bytes;
		add_copy(t, &img, table);
	}
	elf_image_close(&img);
	return table;
}
