// SPDX-License-Identifier: Apache-2.0
/*
 * Symbols of programs and libraries: .symtab of the file or of its debug file, .dynsym, the
 * compressed table that Fedora puts in .gnu_debugdata, and the PLT. Addresses are offsets in the
 * program file; only its segments give them.
 */
#include "symbol/resolve/sources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symbol/resolve/file_cache.h"

int source_open_minidebug(const struct elf_image *program, struct elf_image *ret)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(program, ".gnu_debugdata", &shdr);
	Elf_Data *data = scn ? elf_section_data(scn, &shdr) : NULL;
	struct buf mem = {0};

	if (!data || source_unxz(data->d_buf, data->d_size, &mem))
		return -ENOENT;
	return elf_image_memory(&mem, ret, NULL);
}

static int add_minidebug(const struct elf_image *program, const struct elf_space *space,
			 struct symtab_builder *b, size_t *count)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc;

	if (source_open_minidebug(program, &img))
		return 0;
	rc = elf_add_symbols(&img, SHT_SYMTAB, space, b, count);
	elf_image_close(&img);
	return rc;
}

/* Adds all symbols of @program, whose .symtab may be in @debug; either may lack one. */
static int add_program(const struct elf_image *program, const struct elf_image *debug,
		       struct symtab_builder *b, bool *ret_few, struct error *why)
{
	struct elf_space space = {0};
	size_t count = 0;
	int rc = elf_space_file(program, &space, why);

	if (rc)
		return rc;
	rc = elf_add_symbols(debug->elf ? debug : program, SHT_SYMTAB, &space, b, &count);
	if (!rc && !count)
		rc = add_minidebug(program, &space, b, &count);
	*ret_few = !count;
	if (!rc)
		rc = elf_add_symbols(program, SHT_DYNSYM, &space, b, &count);
	if (!rc)
		rc = elf_add_plt(program, &space, b, &count);
	elf_space_release(&space);
	if (!rc && !count)
		rc = error_set(why, -ENOENT, "has no symbols, and no debug file was found");
	return rc;
}

/* For a program that is gone: uses a debug file with its build-id. */
static int add_debug_only(const struct sources *src, const struct dso *dso,
			  struct symtab_builder *b, struct error *why)
{
	struct elf_image debug = ELF_IMAGE_INIT;
	struct elf_space space = {0};
	size_t count = 0;
	int rc;

	if (!dso->build_id_size || source_open_debug(src, dso, NULL, &debug))
		return -ENOENT;
	rc = elf_space_file(&debug, &space, why);
	if (!rc)
		rc = elf_add_symbols(&debug, SHT_SYMTAB, &space, b, &count);
	if (!rc && !count)
		rc = -ENOENT;
	elf_space_release(&space);
	elf_image_close(&debug);
	return rc;
}

static void say_few(const struct elf_image *program, struct error *why)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1] = "";

	source_hex(program->build_id, program->build_id_size, hex);
	snprintf(why->text, sizeof(why->text), "it has no .symtab, and no debug file was found%s%s",
		 *hex ? " for build-id " : "", hex);
}

/* Builds the table if @rc, of the filling of @b, is 0. Releases @b. */
static int finish(struct symtab_builder *b, int rc, struct symtab **ret, struct error *why)
{
	if (rc) {
		symtab_builder_release(b);
		return rc;
	}
	/* The error of the first attempt no longer matters. */
	*why = (struct error)ERROR_INIT;
	return symtab_build(b, ret);
}

static int table_of_program(const struct sources *src, const struct dso *dso,
			    const struct elf_image *program, struct symtab **ret, struct error *why)
{
	struct symtab_builder b = {.wanted = source_wanted(src, dso)};
	struct elf_image debug = ELF_IMAGE_INIT;
	struct file_cache_key key;
	bool few = false, known, keep;
	int rc = -ENOENT;

	if (!source_has_symtab(program))
		source_open_debug(src, dso, program, &debug);
	known = file_cache_key(src, program, &debug, &key);
	if (known)
		rc = file_cache_load(src, &key, ret, &few);
	if (!known || rc) {
		keep = known && (!b.wanted || (rc == -ENOENT && file_cache_worthwhile(src, &key)));
		if (keep)
			b.wanted = NULL; /* a copy has all symbols */
		rc = finish(&b, add_program(program, &debug, &b, &few, why), ret, why);
		if (!rc && keep)
			file_cache_store(src, &key, *ret, few);
	} else {
		*why = (struct error)ERROR_INIT;
	}
	if (!rc && few)
		say_few(program, why);
	elf_image_close(&debug);
	return rc;
}

static int make_table(const struct sources *src, const struct dso *dso,
		      const struct elf_image *program, bool open, struct symtab **ret,
		      struct error *why)
{
	struct symtab_builder b = {.wanted = source_wanted(src, dso)};

	if (open)
		return table_of_program(src, dso, program, ret, why);
	return finish(&b, add_debug_only(src, dso, &b, why), ret, why);
}

int file_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
	      struct error *why)
{
	struct elf_image program = ELF_IMAGE_INIT;
	struct symtab *table = NULL;
	const struct file_table *t;
	bool mine, open;
	int rc = source_open_program(src, dso, &program, why);

	open = !rc;
	if (rc && !dso->build_id_size)
		return rc;
	t = file_tables_take(src->files, dso, &program, source_wanted(src, dso), &mine);
	rc = t ? 0 : -ENOMEM;
	if (t && mine) {
		rc = make_table(src, dso, &program, open, &table, why);
		file_tables_done(src->files, t, rc, table, why);
	} else if (t) {
		rc = t->code;
		if (!rc || open)
			*why = t->why;
	}
	elf_image_close(&program);
	if (!rc)
		*ret = t->table;
	return rc;
}
