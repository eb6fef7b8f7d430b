// SPDX-License-Identifier: Apache-2.0
/*
 * Makes names for the entries of the PLT, which no symbol table has.
 *
 * On x86-64 and aarch64 it decodes each entry: the entry loads its target from a slot of the GOT,
 * and the relocation of that slot names the function. This covers .plt, .plt.sec (IBT) and .plt.got
 * alike. On other machines it counts entries: the n-th belongs to the n-th relocation.
 */
#include "symbol/elf/elf_image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/wanted.h"

struct plt_slot {
	uint64_t got;	 /* address of the slot */
	uint64_t target; /* of an entry without a symbol (IRELATIVE) */
	uint32_t name;	 /* in the string table; 0: none */
	uint32_t seq;	 /* in .rela.plt; UINT32_MAX: in another section */
};

struct plt {
	const struct elf_image *img;
	const struct elf_space *space;
	struct symtab_builder *b;
	struct plt_slot *slots; /* sorted by @got when complete */
	size_t count, cap;
	Elf_Data *dynsym;
	const char *strings;
	size_t strings_len;
	uint32_t base;
	size_t sorted;	/* symbols that are in order, for the targets of entries; 0: none yet */
	uint64_t first; /* the lowest address of an entry in the current section */
	size_t *added;
};

static int slot_cmp(const void *a, const void *b)
{
	const struct plt_slot *x = a, *y = b;

	return x->got < y->got ? -1 : x->got > y->got;
}

static bool find_dynsym(struct plt *p)
{
	Elf_Scn *scn = NULL, *str;
	GElf_Shdr shdr, strshdr;
	Elf_Data *strings;

	while ((scn = elf_nextscn(p->img->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNSYM)
			continue;
		str = elf_getscn(p->img->elf, shdr.sh_link);
		if (!str || !gelf_getshdr(str, &strshdr) || strshdr.sh_type != SHT_STRTAB)
			return false;
		p->dynsym = elf_section_data(scn, &shdr);
		strings = elf_section_data(str, &strshdr);
		if (!p->dynsym || !strings)
			return false;
		p->strings = strings->d_buf;
		p->strings_len = strings->d_size;
		while (p->strings_len && p->strings[p->strings_len - 1])
			p->strings_len--;
		return p->strings_len > 0;
	}
	return false;
}

/*
 * Returns how many relocations at the beginning of the section are relative: of pointers, without a
 * symbol. Linkers put them first (-z combreloc), and in large programs nearly all are.
 */
static uint64_t count_relative(const struct elf_image *img, const GElf_Shdr *relocations)
{
	uint64_t at = 0, count = 0;
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(img, ".dynamic", &shdr);
	Elf_Data *data = scn ? elf_section_data(scn, &shdr) : NULL;
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_RELA)
			at = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_RELACOUNT)
			count = dyn.d_un.d_val;
	}
	return at == relocations->sh_addr ? count : 0;
}

uint64_t elf_plt_unread(const struct elf_image *img, const GElf_Shdr *shdr)
{
	uint64_t size = gelf_fsize(img->elf, ELF_T_RELA, 1, EV_CURRENT);
	uint64_t count = shdr->sh_type == SHT_RELA ? count_relative(img, shdr) : 0;

	return count < shdr->sh_size / size ? count * size : shdr->sh_size;
}

/* Returns the relocations of a section but for its first @skip. */
static Elf_Data *relocations_behind(const struct elf_image *img, Elf_Scn *scn,
				    const GElf_Shdr *shdr, uint64_t skip)
{
	uint64_t size = gelf_fsize(img->elf, ELF_T_RELA, 1, EV_CURRENT);
	bool whole = !skip || shdr->sh_type == SHT_NOBITS || (shdr->sh_flags & SHF_COMPRESSED) ||
		     shdr->sh_size > img->size || shdr->sh_offset > img->size - shdr->sh_size;
	Elf_Data *data;

	if (whole)
		return elf_section_data(scn, shdr);
	if (skip >= shdr->sh_size / size)
		return NULL;
	data = elf_getdata_rawchunk(img->elf, (int64_t)(shdr->sh_offset + skip * size),
				    shdr->sh_size - skip * size, ELF_T_RELA);
	return data && data->d_buf ? data : NULL;
}

/* Whether a relocation outside .rela.plt fills a slot of the GOT. */
static bool is_of_got(const struct elf_image *img, uint64_t type)
{
	if (img->ehdr.e_machine == EM_X86_64)
		return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT;
	return type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT;
}

/* Reads the relocations of one section. @in_order: its entries are in the order of .plt. */
static int read_relocations(struct plt *p, const char *section, bool rela, bool in_order)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(p->img, section, &shdr);
	uint64_t skip = scn && rela && !in_order ? count_relative(p->img, &shdr) : 0;
	Elf_Data *data = scn ? relocations_behind(p->img, scn, &shdr, skip) : NULL;
	size_t i, n;

	if (!data || shdr.sh_type != (rela ? SHT_RELA : SHT_REL))
		return 0;
	n = data->d_size / gelf_fsize(p->img->elf, rela ? ELF_T_RELA : ELF_T_REL, 1, EV_CURRENT);
	for (i = 0; i < n && i <= INT32_MAX; i++) {
		GElf_Rela r = {0};
		GElf_Rel rel;
		GElf_Sym sym = {0};

		if (rela) {
			if (!gelf_getrela(data, (int)i, &r))
				break;
		} else {
			if (!gelf_getrel(data, (int)i, &rel))
				break;
			r.r_offset = rel.r_offset;
			r.r_info = rel.r_info;
		}
		if (GELF_R_SYM(r.r_info) > INT32_MAX ||
		    (GELF_R_SYM(r.r_info) &&
		     !gelf_getsym(p->dynsym, (int)GELF_R_SYM(r.r_info), &sym)))
			continue;
		if (!in_order && (!sym.st_name || !is_of_got(p->img, GELF_R_TYPE(r.r_info))))
			continue; /* of any pointer */
		if (array_grow(&p->slots, &p->cap, p->count + 1, sizeof(*p->slots)))
			return -ENOMEM;
		p->slots[p->count++] = (struct plt_slot){
			.got = r.r_offset,
			.target = (uint64_t)r.r_addend,
			.name = sym.st_name < p->strings_len ? sym.st_name : 0,
			.seq = in_order ? (uint32_t)i : UINT32_MAX,
		};
	}
	return 0;
}

/* Removes the version, which names in .symtab may have: "memcpy@@GLIBC_2.14". */
static int strip_version(struct symtab_builder *b, uint32_t *name)
{
	const char *s = (const char *)b->names.data + *name;
	size_t len = strcspn(s, "@");
	char *copy;
	int rc;

	if (!len || !s[len])
		return 0;
	copy = strndup(s, len); /* symtab_name() may move the names */
	if (!copy)
		return -ENOMEM;
	rc = symtab_name(b, copy, len, name);
	free(copy);
	return rc;
}

/* Names an IRELATIVE entry after the function that chooses among implementations: "memcpy". */
static int name_target(struct plt *p, uint64_t target, uint32_t *ret_name)
{
	uint64_t start;
	char text[32];

	if (!p->sorted)
		p->sorted = symtab_sort(p->b);
	if (elf_space_map(p->space, SHN_XINDEX, target, &start) &&
	    symtab_name_at(p->b, p->sorted, start, ret_name))
		return strip_version(p->b, ret_name);
	snprintf(text, sizeof(text), "*ABS*+0x%" PRIx64, target);
	return symtab_name(p->b, text, strlen(text), ret_name);
}

static int add_entry(struct plt *p, uint64_t addr, uint64_t size, const struct plt_slot *slot)
{
	struct symtab_entry e = {.size = size, .binding = SYMTAB_GLOBAL, .plt = true};
	int rc;

	if (!elf_space_map(p->space, SHN_XINDEX, addr, &e.start))
		return 0;
	e.name = p->base + slot->name;
	if (!slot->name) {
		if (!slot->target)
			return 0;
		rc = name_target(p, slot->target, &e.name);
		if (rc)
			return rc;
	}
	rc = symtab_add(p->b, &e);
	*p->added += !rc;
	if (addr < p->first)
		p->first = addr;
	return rc;
}

/* The code before the entries of .plt, which calls the dynamic linker, has the name that perf gives
 * it. */
static int add_head(struct plt *p, uint64_t addr)
{
	struct symtab_entry e = {.size = p->first - addr, .binding = SYMTAB_GLOBAL};
	int rc;

	if (p->first == UINT64_MAX || p->first <= addr ||
	    !elf_space_map(p->space, SHN_XINDEX, addr, &e.start))
		return 0;
	rc = symtab_name(p->b, ".plt", strlen(".plt"), &e.name) ?: symtab_add(p->b, &e);
	*p->added += !rc;
	return rc;
}

static const struct plt_slot *slot_at(const struct plt *p, uint64_t got)
{
	struct plt_slot key = {.got = got};

	return bsearch(&key, p->slots, p->count, sizeof(*p->slots), slot_cmp);
}

static const struct plt_slot *slot_by_seq(const struct plt *p, const uint32_t *by_seq, size_t n,
					  uint32_t seq)
{
	return seq < n && by_seq[seq] < p->count ? &p->slots[by_seq[seq]] : NULL;
}

/* "jmp *disp(%rip)", with endbr64 and bnd before it or not. Returns whether it filled @ret_got. */
static bool x86_64_target(const uint8_t *code, size_t len, uint64_t addr, uint64_t *ret_got)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	int32_t disp;
	size_t i = 0;

	if (len >= 4 && !memcmp(code, endbr64, 4))
		i = 4;
	if (i < len && code[i] == 0xf2)
		i++;
	if (len - i < 6 || code[i] != 0xff || code[i + 1] != 0x25)
		return false;
	memcpy(&disp, code + i + 2, 4);
	*ret_got = addr + i + 6 + (uint64_t)(int64_t)disp;
	return true;
}

/* "endbr64; push n": the lazy half of an entry; .plt.sec has the other half. */
static bool x86_64_push(const uint8_t *code, size_t len, uint32_t *ret_n)
{
	if (len < 9 || code[0] != 0xf3 || code[4] != 0x68)
		return false;
	memcpy(ret_n, code + 5, 4);
	return true;
}

static int decode_x86_64(struct plt *p, const GElf_Shdr *shdr, const Elf_Data *data,
			 const uint32_t *by_seq, size_t nseq)
{
	size_t step = shdr->sh_entsize == 8 ? 8 : 16, pos;
	const uint8_t *code = data->d_buf;
	const struct plt_slot *slot;
	uint64_t got;
	uint32_t n;
	int rc = 0;

	for (pos = 0; !rc && pos + step <= data->d_size; pos += step) {
		slot = NULL;
		if (x86_64_target(code + pos, step, shdr->sh_addr + pos, &got))
			slot = slot_at(p, got);
		else if (pos && x86_64_push(code + pos, step, &n))
			slot = slot_by_seq(p, by_seq, nseq, n);
		if (slot)
			rc = add_entry(p, shdr->sh_addr + pos, step, slot);
	}
	return rc;
}

static uint32_t insn(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* "adrp x16, page; ldr x17, [x16, #off]" */
static bool aarch64_target(const uint8_t *code, uint64_t addr, uint64_t *ret_got)
{
	uint32_t adrp = insn(code), ldr = insn(code + 4);
	int64_t page;

	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	page = (int64_t)((uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 43) >> 31;
	*ret_got = (addr & ~0xfffull) + (uint64_t)page + (ldr >> 10 & 0xfff) * 8;
	return true;
}

/* An entry begins at its adrp (or the "bti c" before it) and ends behind its "br x17". */
static int decode_aarch64(struct plt *p, const GElf_Shdr *shdr, const Elf_Data *data)
{
	const uint8_t *code = data->d_buf;
	size_t pos, start, end;
	const struct plt_slot *slot;
	uint64_t got;
	int rc = 0;

	for (pos = 0; !rc && pos + 16 <= data->d_size; pos += 4) {
		if (!aarch64_target(code + pos, shdr->sh_addr + pos, &got))
			continue;
		slot = slot_at(p, got);
		if (!slot)
			continue;
		start = pos >= 4 && insn(code + pos - 4) == 0xd503245f ? pos - 4 : pos;
		for (end = pos + 8; end + 4 <= data->d_size && end < pos + 24; end += 4) {
			if (insn(code + end) == 0xd61f0220)
				break;
		}
		rc = add_entry(p, shdr->sh_addr + start, end + 4 - start, slot);
		pos = end;
	}
	return rc;
}

/* Bytes of the head and of an entry of .plt, by the ABI of each machine. */
static const struct {
	uint16_t machine, head, entry;
} counted[] = {
	{EM_386, 16, 16},
	{EM_ARM, 20, 12},
	{EM_S390, 32, 32},
	{EM_RISCV, 32, 16},
};

static int count_entries(struct plt *p, const uint32_t *by_seq, size_t nseq)
{
	GElf_Shdr shdr;
	size_t i, k;
	int rc = 0;

	if (!elf_section(p->img, ".plt", &shdr))
		return 0;
	for (k = 0; k < sizeof(counted) / sizeof(*counted); k++) {
		if (counted[k].machine == p->img->ehdr.e_machine)
			break;
	}
	if (k == sizeof(counted) / sizeof(*counted))
		return 0;
	for (i = 0; !rc && i < nseq; i++) {
		uint64_t at = counted[k].head + i * counted[k].entry;
		const struct plt_slot *slot = slot_by_seq(p, by_seq, nseq, (uint32_t)i);

		if (at + counted[k].entry > shdr.sh_size)
			break;
		if (slot)
			rc = add_entry(p, shdr.sh_addr + at, counted[k].entry, slot);
	}
	return rc ? rc : add_head(p, shdr.sh_addr);
}

static const char *const sections[] = {".plt", ".plt.sec", ".plt.got"};

#define NR_SECTIONS (sizeof(sections) / sizeof(*sections))

bool elf_plt_wanted(const struct elf_image *img, const struct elf_space *space,
		    const struct symtab_wanted *w)
{
	bool wanted = !w;
	uint64_t start;
	GElf_Shdr shdr;

	for (size_t i = 0; !wanted && i < NR_SECTIONS; i++)
		wanted = elf_section(img, sections[i], &shdr) &&
			 elf_space_map(space, SHN_XINDEX, shdr.sh_addr, &start) &&
			 symtab_wants(w, start, start + shdr.sh_size);
	return wanted;
}

static int decode_sections(struct plt *p, const uint32_t *by_seq, size_t nseq)
{
	GElf_Shdr shdr;
	Elf_Data *data;
	Elf_Scn *scn;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < NR_SECTIONS; i++) {
		scn = elf_section(p->img, sections[i], &shdr);
		data = scn ? elf_section_data(scn, &shdr) : NULL;
		if (!data)
			continue;
		p->first = UINT64_MAX;
		if (p->img->ehdr.e_machine == EM_X86_64)
			rc = decode_x86_64(p, &shdr, data, by_seq, nseq);
		else
			rc = decode_aarch64(p, &shdr, data);
		if (!rc && !i) /* the others have no head */
			rc = add_head(p, shdr.sh_addr);
	}
	return rc;
}

/* Returns an array: [n] is the slot of the n-th relocation of .plt. */
static uint32_t *index_by_seq(const struct plt *p, size_t n)
{
	uint32_t *by_seq = malloc((n + 1) * sizeof(*by_seq));
	size_t i;

	if (!by_seq)
		return NULL;
	memset(by_seq, 0xff, (n + 1) * sizeof(*by_seq));
	for (i = 0; i < p->count; i++) {
		if (p->slots[i].seq < n)
			by_seq[p->slots[i].seq] = (uint32_t)i;
	}
	return by_seq;
}

int elf_add_plt(const struct elf_image *img, const struct elf_space *space,
		struct symtab_builder *b, size_t *ret_count)
{
	struct plt p = {
		.img = img, .space = space, .b = b, .first = UINT64_MAX, .added = ret_count};
	bool decoded = img->ehdr.e_machine == EM_X86_64 || img->ehdr.e_machine == EM_AARCH64;
	uint32_t *by_seq = NULL;
	size_t nseq;
	int rc;

	if (!elf_plt_wanted(img, space, b->wanted) || !find_dynsym(&p))
		return 0;
	rc = read_relocations(&p, ".rela.plt", true, true);
	if (!rc && !p.count)
		rc = read_relocations(&p, ".rel.plt", false, true);
	nseq = p.count;
	if (!rc && decoded)
		rc = read_relocations(&p, ".rela.dyn", true, false);
	if (rc || !p.count)
		goto out;
	rc = symtab_blob(b, p.strings, p.strings_len, &p.base);
	if (rc)
		goto out;
	qsort(p.slots, p.count, sizeof(*p.slots), slot_cmp);
	by_seq = index_by_seq(&p, nseq);
	if (!by_seq)
		rc = -ENOMEM;
	else if (decoded)
		rc = decode_sections(&p, by_seq, nseq);
	else
		rc = count_entries(&p, by_seq, nseq);
out:
	free(by_seq);
	free(p.slots);
	return rc;
}
