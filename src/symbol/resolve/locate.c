// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/locate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/parse.h"
#include "symbol/demangle/demangle.h"
#include "symbol/resolve/kallsyms.h"
#include "symbol/resolve/sources.h"

#define MATCHES_MAX 8 /* matches that a message lists */

struct match {
	uint64_t address, size;
	unsigned int type; /* STT_* */
	bool superseded;
	bool clone;	/* the compiler made it from a part or a special case of a C++ function */
	char where[64]; /* "parse.c", "parse(int)", "[ext4]"; may be empty */
};

/* The form of a symbol that is compared with the wanted name. */
enum form {
	FORM_TABLE,	/* the raw name in the table */
	FORM_NAME,	/* the name as in the source */
	FORM_SIGNATURE, /* the name and its parameters */
};

struct locate_search {
	const char *name;
	size_t len;
	enum form form;
	char source[64]; /* source file of the local symbols, while the table is read */
	struct match found[MATCHES_MAX];
	size_t nr;     /* may exceed MATCHES_MAX */
	bool imported; /* the table has it, but another file defines it */
	bool near;     /* collect similar names, too */
	struct nearest nearest;
};

static void search_init(struct locate_search *s, const char *name)
{
	*s = (struct locate_search){.name = name, .len = strlen(name)};
	s->near = nearest_init(&s->nearest, name);
}

/* --- matching ------------------------------------------------------------------------------------
 */

static void add_match(struct locate_search *s, const struct match *match)
{
	for (size_t i = 0; i < s->nr && i < MATCHES_MAX; i++) {
		struct match *m = &s->found[i];

		if (m->address != match->address)
			continue;
		/* An alias, or the same symbol in another table. */
		m->superseded &= match->superseded;
		if (!m->size)
			m->size = match->size;
		if (m->type == STT_NOTYPE)
			m->type = match->type;
		return;
	}
	if (s->nr < MATCHES_MAX)
		s->found[s->nr] = *match;
	s->nr++;
}

static bool is_superseded(const struct match *m)
{
	return m->superseded;
}

static bool is_clone(const struct match *m)
{
	return m->clone;
}

/* Drops second-best matches if better ones exist. */
static void drop(struct locate_search *s, bool (*second_best)(const struct match *m))
{
	size_t stored = s->nr < MATCHES_MAX ? s->nr : MATCHES_MAX, kept = 0;
	bool any = false;

	for (size_t i = 0; i < stored; i++)
		any |= !second_best(&s->found[i]);
	if (!any)
		return;
	for (size_t i = 0; i < stored; i++)
		if (!second_best(&s->found[i]))
			s->found[kept++] = s->found[i];
	s->nr -= stored - kept;
}

/* In .symtab the linker appends the version to the name; "@@" marks the default version. */
static bool same_name(const struct locate_search *s, const char *name)
{
	return !strncmp(name, s->name, s->len) &&
	       (!name[s->len] || !strncmp(name + s->len, "@@", 2));
}

/* Compares signatures without spaces; @asked may lack a "const". */
static bool same_signature(const char *asked, const char *text)
{
	for (;;) {
		asked += strspn(asked, " ");
		text += strspn(text, " ");
		if (!*asked)
			return !*text || !strcmp(text, "const");
		if (*asked++ != *text++)
			return false;
	}
}

static bool fits(struct locate_search *s, const char *name)
{
	char *text;
	bool same;

	if (s->form == FORM_TABLE) {
		if (s->near)
			nearest_offer(&s->nearest, name);
		return same_name(s, name);
	}
	text = s->form == FORM_NAME ? demangle_name(name) : demangle_signature(name);
	if (!text)
		return false;
	same = s->form == FORM_NAME ? !strcmp(text, s->name) : same_signature(s->name, text);
	if (s->near)
		nearest_offer(&s->nearest, text);
	free(text);
	return same;
}

/*
 * Fills @match->where with the text that distinguishes @symbol from others of the name: its
 * parameters, if they are short enough.
 */
static void say_where(const struct locate_search *s, const char *symbol, bool local,
		      struct match *match)
{
	char *signature = s->form != FORM_TABLE ? demangle_cxx_text(symbol) : NULL;
	const char *where = s->form != FORM_TABLE ? symbol : local ? s->source : "";

	if (signature && strlen(signature) < sizeof(match->where))
		where = signature;
	match->clone = signature && strstr(signature, " [clone ");
	snprintf(match->where, sizeof(match->where), "%s", where);
	free(signature);
}

static bool has_address(const GElf_Sym *sym)
{
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_OBJECT:
	case STT_NOTYPE:
	case STT_GNU_IFUNC:
	case STT_TLS: return sym->st_shndx != SHN_ABS && sym->st_shndx != SHN_COMMON;
	default: return false;
	}
}

static bool is_cold(const char *name)
{
	const char *end = strstr(name, ".cold");

	return end && (!end[5] || end[5] == '.');
}

static bool visit(void *arg, const struct elf_symbol *symbol)
{
	const GElf_Sym *sym = &symbol->sym;
	struct match match = {
		.address = sym->st_value,
		.size = sym->st_size,
		.type = GELF_ST_TYPE(sym->st_info),
		.superseded = symbol->superseded,
	};
	struct locate_search *s = arg;
	bool local = GELF_ST_BIND(sym->st_info) == STB_LOCAL;

	if (match.type == STT_FILE)
		snprintf(s->source, sizeof(s->source), "%s", symbol->name);
	/* "f.cold" is a part of f, not its start. */
	if (s->form != FORM_TABLE && is_cold(symbol->name))
		return true;
	if (!has_address(sym) || (sym->st_shndx == SHN_UNDEF && s->imported) ||
	    !fits(s, symbol->name))
		return true;
	if (sym->st_shndx == SHN_UNDEF) {
		s->imported = true;
		return true;
	}
	say_where(s, symbol->name, local, &match);
	add_match(s, &match);
	return true;
}

static void visit_table(struct locate_search *s, const struct elf_image *img, uint32_t type)
{
	s->source[0] = '\0';
	elf_each_symbol(img, type, visit, s);
}

/* --- place in the file ---------------------------------------------------------------------------
 */

struct locate_program {
	const char *path;
	struct elf_image img, debug, mini;
	bool asked; /* debug files were searched */
};

static void open_debug(struct locate_program *p)
{
	const char *home = getenv("HOME"), *build_ids = getenv("PERF_BUILDID_DIR");
	const char *urls = getenv("DEBUGINFOD_URLS");
	const struct sources src = {
		.host = {.root = "",
			 .home = home,
			 .build_ids = build_ids,
			 .debuginfod = urls && *urls},
	};
	const struct dso dso = {.name = p->path, .short_name = p->path, .kind = DSO_ELF};

	if (p->asked)
		return;
	p->asked = true;
	if (source_has_symtab(&p->img) || !source_open_debug(&src, &dso, &p->img, &p->debug))
		return;
	source_open_minidebug(&p->img, &p->mini);
}

/* Searches the cheap tables first: most names are in .dynsym or the program's own .symtab. */
static void search_program(struct locate_search *s, struct locate_program *p)
{
	visit_table(s, &p->img, SHT_SYMTAB);
	visit_table(s, &p->img, SHT_DYNSYM);
	if (s->nr)
		return;
	open_debug(p);
	if (p->debug.elf)
		visit_table(s, &p->debug, SHT_SYMTAB);
	if (p->mini.elf)
		visit_table(s, &p->mini, SHT_SYMTAB);
}

/*
 * Finds the loaded segment with address @value or, with @by_offset, with that offset in the file.
 */
static bool find_segment(const struct elf_image *img, uint64_t value, bool by_offset,
			 GElf_Phdr *ret)
{
	size_t n;

	if (elf_getphdrnum(img->elf, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(img->elf, (int)i, &phdr))
			break;
		if (phdr.p_type != PT_LOAD)
			continue;
		if (by_offset ? value - phdr.p_offset < phdr.p_filesz
			      : value - phdr.p_vaddr < phdr.p_memsz) {
			*ret = phdr;
			return true;
		}
	}
	return false;
}

static bool first_segment(const struct elf_image *img, GElf_Phdr *ret)
{
	size_t n;

	if (elf_getphdrnum(img->elf, &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (!gelf_getphdr(img->elf, (int)i, ret) || ret->p_type == PT_LOAD)
			return ret->p_type == PT_LOAD;
	return false;
}

static int no_address(const char *file, const char *name, const char *why, struct error *err)
{
	return error_set(err, -EINVAL, "'%.128s' of %.256s %s", name, file, why);
}

/* Makes the result of an address of the program. */
static int answer(const struct locate_program *p, const char *name, uint64_t address, uint64_t size,
		  struct event_symbol *ret, struct error *err)
{
	GElf_Phdr segment, first;
	uint64_t inside;

	if (!find_segment(&p->img, address, false, &segment) || !first_segment(&p->img, &first))
		return no_address(p->path, name, "is outside of its loaded segments", err);
	inside = address - segment.p_vaddr;
	*ret = (struct event_symbol){
		.function = segment.p_flags & PF_X && inside < segment.p_filesz,
		.address = address,
		.size = size,
		.offset = inside < segment.p_filesz ? segment.p_offset + inside : 0,
		.fixed = p->img.ehdr.e_type == ET_EXEC,
		.first_address = first.p_vaddr,
		.first_offset = first.p_offset,
	};
	return 0;
}

static int by_offset(const struct locate_program *p, const char *name, uint64_t offset,
		     struct event_symbol *ret, struct error *err)
{
	GElf_Phdr segment;

	if (!find_segment(&p->img, offset, true, &segment))
		return no_address(p->path, name, "is an offset outside of its loaded segments",
				  err);
	return answer(p, name, offset - segment.p_offset + segment.p_vaddr, 0, ret, err);
}

/* "0x1139 (a.c), 0x1204 (b.c)" */
static void list_matches(const struct locate_search *s, const struct locate_program *p, char *out,
			 size_t size)
{
	size_t at = 0, stored = s->nr < MATCHES_MAX ? s->nr : MATCHES_MAX;

	out[0] = '\0';
	for (size_t i = 0; i < stored && at < size; i++) {
		const struct match *m = &s->found[i];
		uint64_t offset = m->address;
		GElf_Phdr segment;

		if (p && find_segment(&p->img, m->address, false, &segment))
			offset = m->address - segment.p_vaddr + segment.p_offset;
		at += (size_t)snprintf(out + at, size - at, "%s0x%" PRIx64 "%s%s%s", i ? ", " : "",
				       offset, *m->where ? " (" : "", m->where,
				       *m->where ? ")" : "");
	}
	if (s->nr > stored && at < size)
		snprintf(out + at, size - at, ", ...");
}

static int not_found(struct locate_search *s, const struct locate_program *p, struct error *err)
{
	char hint[256] = "";

	if (s->imported)
		return error_set(err, -ENOENT,
				 "'%.128s' is not in %.256s, which takes it from a library: name "
				 "the library (ldd lists them)",
				 s->name, p->path);
	if (s->near)
		nearest_write(&s->nearest, hint, sizeof(hint));
	if (!source_has_symtab(&p->img) && !p->debug.elf && !p->mini.elf && !*hint)
		return error_set(err, -ENOENT,
				 "no symbol '%.128s' in %.256s, which is stripped, and no debug "
				 "file was found: install its package with -dbgsym or -debuginfo, "
				 "or give the offset of the function in the file, 0x...",
				 s->name, p->path);
	return error_set(err, -ENOENT, "no symbol '%.128s' in %.256s%s", s->name, p->path, hint);
}

/* Succeeds if exactly one match is left and has an address. */
static int judge(struct locate_search *s, const struct locate_program *p, struct error *err)
{
	char list[512];

	drop(s, is_superseded); /* a name with versions means the default */
	drop(s, is_clone);
	if (s->nr > 1) {
		list_matches(s, p, list, sizeof(list));
		return error_set(err, -EINVAL,
				 "%.256s has %zu symbols '%.128s', at %s: give an offset instead%s",
				 p->path, s->nr, s->name, list,
				 s->form == FORM_NAME ? ", or name and parameters in single quotes"
						      : "");
	}
	if (s->found[0].type == STT_GNU_IFUNC)
		return no_address(p->path, s->name,
				  "stands for several functions, one of which the program chooses "
				  "at its start (STT_GNU_IFUNC): name that one",
				  err);
	if (s->found[0].type == STT_TLS)
		return no_address(p->path, s->name, "has another address in each thread", err);
	return 0;
}

static int by_name(struct locate_program *p, const char *name, struct event_symbol *ret,
		   struct error *err)
{
	struct locate_search s;
	uint64_t address;
	int rc;

	search_init(&s, name);
	search_program(&s, p);
	if (!s.nr && !s.imported) {
		s.form = strchr(name, '(') ? FORM_SIGNATURE : FORM_NAME;
		search_program(&s, p);
	}
	/* "(anonymous namespace)::f" and "T::operator()" are names, too. */
	if (!s.nr && s.form == FORM_SIGNATURE) {
		s.form = FORM_NAME;
		search_program(&s, p);
	}
	if (!s.nr)
		return not_found(&s, p, err);
	rc = judge(&s, p, err);
	if (rc)
		return rc;
	address = s.found[0].address;
	if (p->img.ehdr.e_machine == EM_ARM && s.found[0].type == STT_FUNC)
		address &= ~1ull; /* the Thumb bit */
	return answer(p, name, address, s.found[0].size, ret, err);
}

static int find_in_file(const char *file, const char *name, struct event_symbol *ret,
			struct error *err)
{
	struct locate_program p = {file, ELF_IMAGE_INIT, ELF_IMAGE_INIT, ELF_IMAGE_INIT, false};
	uint64_t offset;
	int rc;

	elf_version(EV_CURRENT);
	rc = elf_image_open(file, &p.img, err);
	if (rc)
		return rc;
	if (p.img.ehdr.e_type != ET_EXEC && p.img.ehdr.e_type != ET_DYN)
		rc = error_set(err, -EBADMSG, "%.256s is neither a program nor a library", file);
	else if (!parse_u64(name, &offset))
		rc = by_offset(&p, name, offset, ret, err);
	else
		rc = by_name(&p, name, ret, err);
	elf_image_close(&p.img);
	elf_image_close(&p.debug);
	elf_image_close(&p.mini);
	return rc;
}

/* --- the kernel ----------------------------------------------------------------------------------
 */

static void visit_line(struct locate_search *s, const struct kallsyms_line *line)
{
	struct match match = {
		.address = line->addr,
		.type = kallsyms_is_code(line) ? STT_FUNC : STT_OBJECT,
	};
	char name[NEAREST_NAME_MAX];

	if (line->name_len < sizeof(name)) {
		memcpy(name, line->name, line->name_len);
		name[line->name_len] = '\0';
		if (s->near)
			nearest_offer(&s->nearest, name);
	}
	if (line->name_len != s->len || memcmp(line->name, s->name, s->len) != 0)
		return;
	if (line->module)
		snprintf(match.where, sizeof(match.where), "%.*s", (int)line->module_len,
			 line->module);
	add_match(s, &match);
}

/* Bytes from @address to the next function, as in perf; 0: there is none. */
static uint64_t kernel_function_size(const struct buf *text, uint64_t address)
{
	struct kallsyms_line line;
	uint64_t next = UINT64_MAX;
	size_t pos = 0;

	while (kallsyms_next(text, &pos, &line))
		if (line.addr > address && line.addr < next && kallsyms_is_code(&line))
			next = line.addr;
	return next == UINT64_MAX ? 0 : next - address;
}

static int find_in_kernel(const char *name, struct event_symbol *ret, struct error *err)
{
	struct kallsyms_line line;
	struct buf text = {0};
	char list[512] = "";
	struct locate_search s;
	size_t pos = 0, lines = 0, variables = 0;
	int rc = kallsyms_read("/proc/kallsyms", &text, err);

	if (rc)
		return rc;
	search_init(&s, name);
	while (kallsyms_next(&text, &pos, &line)) {
		visit_line(&s, &line);
		variables += !kallsyms_is_code(&line);
		lines++;
	}
	if (kallsyms_hidden(&text)) {
		rc = error_set(err, -EACCES,
			       "the kernel hides the address of '%.128s': run as root, with "
			       "kernel.kptr_restrict at 0 or 1",
			       name);
	} else if (!s.nr) {
		if (s.near)
			nearest_write(&s.nearest, list, sizeof(list));
		/* The linker makes a few variables, even without CONFIG_KALLSYMS_ALL. */
		rc = error_set(
			err, -ENOENT, "no symbol '%.128s' in the kernel%s%s", name,
			variables < lines / 100
				? ", which lists only functions (it has no CONFIG_KALLSYMS_ALL)"
				: "",
			list);
	} else if (s.nr > 1) {
		list_matches(&s, NULL, list, sizeof(list));
		rc = error_set(err, -EINVAL, "the kernel has %zu symbols '%.128s', at %s", s.nr,
			       name, list);
	} else {
		*ret = (struct event_symbol){
			.function = s.found[0].type == STT_FUNC,
			.address = s.found[0].address,
			.fixed = true,
		};
		if (ret->function)
			ret->size = kernel_function_size(&text, ret->address);
	}
	buf_release(&text);
	return rc;
}

static int find(const char *file, const char *name, struct event_symbol *ret, struct error *err)
{
	return file ? find_in_file(file, name, ret, err) : find_in_kernel(name, ret, err);
}

const struct event_symbols locate_symbols = {.find = find};
