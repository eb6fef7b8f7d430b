// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the functions of .symtab and .dynsym.
 *
 * It takes functions and indirect functions, and symbols without a type in code (labels of
 * assembler), unless hidden. It skips ARM's mapping symbols ($a, $t, $d, $x).
 */
#include "symbol/elf/elf_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/wanted.h"

#define VERSYM_HIDDEN 0x8000	 /* in an entry of .gnu.version: not the default version */
#define UNSIZED_MAX   (1u << 20) /* bytes; no function without a size is assumed to be longer */

struct symbol_section {
	uint64_t start, end; /* as linked */
	uint64_t flags;
};

struct symbol_reader {
	const struct elf_image *img;
	const struct elf_space *space;
	struct symbol_section *sections;
	size_t nsections;
	const char *strings;
	size_t strings_len;
	Elf_Data *data;
	size_t nr; /* symbols in @data */
	bool relocatable;
};

static int read_sections(struct symbol_reader *rd)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t i;

	rd->nsections = rd->img->nsections;
	rd->sections = calloc(rd->nsections + 1, sizeof(*rd->sections));
	if (!rd->sections)
		return -ENOMEM;
	while ((scn = elf_nextscn(rd->img->elf, scn))) {
		i = elf_ndxscn(scn);
		if (i >= rd->nsections || !gelf_getshdr(scn, &shdr))
			continue;
		rd->sections[i].start = rd->relocatable ? 0 : shdr.sh_addr;
		rd->sections[i].end = rd->sections[i].start + shdr.sh_size;
		rd->sections[i].flags = shdr.sh_flags;
	}
	return 0;
}

static bool is_mapping_symbol(const struct elf_image *img, const char *name)
{
	if (img->ehdr.e_machine != EM_ARM && img->ehdr.e_machine != EM_AARCH64)
		return false;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* Whether the symbol is code that is loaded. */
static bool wanted(const struct symbol_reader *rd, const GElf_Sym *sym, const char *name)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info), vis = GELF_ST_VISIBILITY(sym->st_other);
	uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON)
		return false;
	/* An index beyond 65279 is stored elsewhere (SHN_XINDEX): trust the type. */
	if (sym->st_shndx < SHN_LORESERVE)
		flags = sym->st_shndx < rd->nsections ? rd->sections[sym->st_shndx].flags : 0;
	if (!(flags & SHF_ALLOC) || is_mapping_symbol(rd->img, name))
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && (flags & SHF_EXECINSTR) && vis != STV_HIDDEN &&
	       vis != STV_INTERNAL && sym->st_shndx < SHN_LORESERVE;
}

static uint8_t binding_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL: return SYMTAB_GLOBAL;
	case STB_WEAK: return SYMTAB_WEAK;
	default: return SYMTAB_LOCAL;
	}
}

/* Makes the entry of a symbol, but for its name. Returns false if the symbol is no code. */
static bool describe(const struct symbol_reader *rd, const GElf_Sym *sym, struct symtab_entry *ret)
{
	uint64_t value = sym->st_value, start, room = UNSIZED_MAX;

	if (!sym->st_name || sym->st_name >= rd->strings_len ||
	    !wanted(rd, sym, rd->strings + sym->st_name))
		return false;
	if (rd->img->ehdr.e_machine == EM_ARM && GELF_ST_TYPE(sym->st_info) == STT_FUNC)
		value &= ~1ull; /* the Thumb bit */
	if (!elf_space_map(rd->space, sym->st_shndx, value, &start))
		return false;
	if (sym->st_shndx < rd->nsections) {
		const struct symbol_section *sec = &rd->sections[sym->st_shndx];

		if (value >= sec->end) /* a label behind the last function */
			return false;
		if (sec->end - value < room)
			room = sec->end - value;
	}
	*ret = (struct symtab_entry){
		.start = start,
		.size = sym->st_size,
		.limit = start + room < start ? UINT64_MAX : start + room,
		.binding = binding_of(sym),
	};
	return true;
}

/* Finds the table and its strings. Returns false if either is missing or not usable. */
static bool find_table(struct symbol_reader *rd, uint32_t sh_type, Elf_Data **ret)
{
	Elf_Scn *scn = NULL, *str;
	GElf_Shdr shdr, strshdr;
	Elf_Data *strings;

	while ((scn = elf_nextscn(rd->img->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != sh_type)
			continue;
		str = elf_getscn(rd->img->elf, shdr.sh_link);
		if (!str || !gelf_getshdr(str, &strshdr) || strshdr.sh_type != SHT_STRTAB)
			continue;
		*ret = elf_section_data(scn, &shdr);
		strings = elf_section_data(str, &strshdr);
		if (!*ret || !strings || (*ret)->d_type != ELF_T_SYM)
			continue;
		rd->strings = strings->d_buf;
		/* the last string must end within the table */
		rd->strings_len = strings->d_size;
		while (rd->strings_len && rd->strings[rd->strings_len - 1])
			rd->strings_len--;
		return rd->strings_len > 0;
	}
	return false;
}

/* Adds all symbols. */
static int add_all(struct symbol_reader *rd, struct symtab_builder *b, size_t *count)
{
	struct symtab_entry e;
	uint32_t base;
	GElf_Sym sym;
	int rc = symtab_blob(b, rd->strings, rd->strings_len, &base);

	for (size_t i = 1; !rc && i < rd->nr; i++) {
		if (!gelf_getsym(rd->data, (int)i, &sym) || !describe(rd, &sym, &e))
			continue;
		e.name = base + sym.st_name;
		rc = symtab_add(b, &e);
		*count += !rc;
	}
	return rc;
}

static void narrow(const struct symbol_reader *rd, const struct symtab_windows *v)
{
	struct symtab_entry e;
	GElf_Sym sym;

	for (size_t i = 1; i < rd->nr; i++)
		if (gelf_getsym(rd->data, (int)i, &sym) && describe(rd, &sym, &e))
			symtab_windows_narrow(v, e.start);
	symtab_windows_settle(v);
}

/* Adds the symbols that matter for what is wanted; counts all. */
static int add_few(struct symbol_reader *rd, struct symtab_builder *b, size_t *count)
{
	struct symtab_windows v;
	struct symtab_entry e;
	GElf_Sym sym;
	int rc = symtab_windows_init(&v, b->wanted);

	if (rc)
		return rc;
	narrow(rd, &v);
	for (size_t i = 1; !rc && i < rd->nr; i++) {
		const char *name;

		if (!gelf_getsym(rd->data, (int)i, &sym) || !describe(rd, &sym, &e))
			continue;
		++*count;
		if (!symtab_windows_have(&v, e.start, e.start + e.size))
			continue;
		name = rd->strings + sym.st_name;
		rc = symtab_name(b, name, strlen(name), &e.name) ?: symtab_add(b, &e);
	}
	symtab_windows_release(&v);
	return rc;
}

int elf_add_symbols(const struct elf_image *img, uint32_t sh_type, const struct elf_space *space,
		    struct symtab_builder *b, size_t *ret_count)
{
	struct symbol_reader rd = {
		.img = img, .space = space, .relocatable = img->ehdr.e_type == ET_REL};
	size_t count = 0;
	int rc;

	errno = 0;
	if (!find_table(&rd, sh_type, &rd.data))
		/* A table that is damaged counts as missing; one that could not be read does not.
		 */
		return errno == ENOMEM || errno == EIO ? -errno : 0;
	rd.nr = rd.data->d_size / gelf_fsize(img->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (rd.nr > INT32_MAX)
		rd.nr = INT32_MAX;
	rc = read_sections(&rd);
	/* Entries of the PLT may have the names of any functions. */
	if (!rc)
		rc = elf_plt_wanted(img, space, b->wanted) ? add_all(&rd, b, &count)
							   : add_few(&rd, b, &count);
	free(rd.sections);
	*ret_count += count;
	return rc;
}

/* The versions of the symbols in .dynsym, or NULL. */
static Elf_Data *find_versions(const struct elf_image *img)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(img->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_GNU_versym)
			return elf_section_data(scn, &shdr);
	return NULL;
}

void elf_each_symbol(const struct elf_image *img, uint32_t sh_type,
		     bool (*fn)(void *arg, const struct elf_symbol *symbol), void *arg)
{
	struct symbol_reader rd = {.img = img};
	struct elf_symbol symbol;
	Elf_Data *data, *versions;
	GElf_Versym version;
	size_t i, n;

	if (!find_table(&rd, sh_type, &data))
		return;
	versions = sh_type == SHT_DYNSYM ? find_versions(img) : NULL;
	n = data->d_size / gelf_fsize(img->elf, ELF_T_SYM, 1, EV_CURRENT);
	for (i = 1; i < n && i <= INT32_MAX; i++) {
		if (!gelf_getsym(data, (int)i, &symbol.sym) || !symbol.sym.st_name ||
		    symbol.sym.st_name >= rd.strings_len)
			continue;
		symbol.name = rd.strings + symbol.sym.st_name;
		symbol.superseded = versions && gelf_getversym(versions, (int)i, &version) &&
				    version & VERSYM_HIDDEN;
		if (!fn(arg, &symbol))
			return;
	}
}

struct wanted_value {
	const char *name;
	uint64_t value;
	bool found;
};

static bool take_value(void *arg, const struct elf_symbol *symbol)
{
	struct wanted_value *w = arg;

	w->found = symbol->sym.st_shndx != SHN_UNDEF && !strcmp(symbol->name, w->name);
	w->value = symbol->sym.st_value;
	return !w->found;
}

bool elf_symbol_value(const struct elf_image *img, const char *name, uint64_t *ret)
{
	struct wanted_value w = {.name = name};

	elf_each_symbol(img, SHT_SYMTAB, take_value, &w);
	if (w.found)
		*ret = w.value;
	return w.found;
}
