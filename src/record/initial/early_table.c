// SPDX-License-Identifier: Apache-2.0
#include "record/initial/early_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"

void early_tables_release(struct early_tables *t)
{
	for (size_t i = 0; i < t->nr; i++)
		symtab_free(t->tables[i]);
	free(t->tables);
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

/* Returns the bytes of the symbols and names in the file. */
static uint64_t bytes_of(const struct elf_image *img)
{
	static const char *const sections[] = {".symtab", ".strtab", ".dynsym", ".dynstr"};
	uint64_t sum = 0;
	GElf_Shdr shdr;

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (elf_section(img, sections[i], &shdr))
			sum += shdr.sh_size < EARLY_TABLES_MAX ? shdr.sh_size : EARLY_TABLES_MAX;
	return sum;
}

static struct symtab *read_symbols(const struct elf_image *img)
{
	struct symtab_builder b = {0};
	struct elf_space space = {0};
	struct symtab *table = NULL;
	size_t nr = 0;
	int rc = elf_space_file(img, &space, NULL);

	if (!rc)
		rc = elf_add_symbols(img, SHT_SYMTAB, &space, &b, &nr);
	if (!rc && !nr)
		rc = elf_add_symbols(img, SHT_DYNSYM, &space, &b, &nr);
	if (!rc)
		rc = elf_add_plt(img, &space, &b, &nr);
	elf_space_release(&space);
	if (rc || !nr)
		symtab_builder_release(&b);
	else if (symtab_build(&b, &table))
		return NULL;
	return table;
}

/* Takes over @table. Returns it, or NULL when out of memory. */
static struct symtab *keep(struct early_tables *t, struct symtab *table)
{
	if (array_grow(&t->tables, &t->cap, t->nr + 1, sizeof(*t->tables))) {
		symtab_free(table);
		return NULL;
	}
	t->tables[t->nr++] = table;
	return table;
}

struct symtab *early_table_make(struct early_tables *t, const char *name, const char *path,
				const struct build_id *id)
{
	struct elf_image img = ELF_IMAGE_INIT;
	struct symtab *table = NULL;
	uint64_t bytes;

	if (stays(name, path) || elf_image_open(path, &img, NULL))
		return NULL;
	bytes = bytes_of(&img);
	if (t->bytes + bytes > EARLY_TABLES_MAX)
		t->refused++;
	else if (!id->size || elf_build_id_same(img.build_id, img.build_id_size, id->id, id->size))
		table = read_symbols(&img);
	elf_image_close(&img);
	if (!table)
		return NULL;
	t->bytes += bytes;
	return keep(t, table);
}
