// SPDX-License-Identifier: Apache-2.0
#include "unwind/section.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "unwind/program.h"

#define SECTION_MAX ((uint64_t)64 << 20) /* bytes, unpacked; a browser has 20 MB */
#define LETTERS_MAX 16

/* Place of the entry for a range of code. */
struct cfi_fde {
	uint64_t start, end; /* as linked, end exclusive */
	size_t at;
};

/* A raw entry of the section: its length and id are read. */
struct raw_entry {
	struct unwind_reader body; /* behind the id */
	size_t next;		   /* offset of the next entry */
	size_t cie;		   /* of an FDE: offset of its common entry */
	bool is_cie;
};

/* Reads the entry at @at. Returns false at the end, and where the rest cannot be read. */
static bool raw_entry_read(const struct cfi_section *s, size_t at, struct raw_entry *ret)
{
	struct unwind_reader r = {.p = s->data.data + at, .end = s->data.data + s->data.len};
	unsigned int word = 4;
	uint64_t len, id, mark;
	size_t id_at;

	if (reader_left(&r) < 4)
		return false;
	len = reader_word(&r, 4);
	if (len == UINT32_MAX) {
		len = reader_word(&r, 8);
		word = s->eh ? 4 : 8;
	}
	if (r.bad || !len || len > reader_left(&r))
		return false;
	id_at = (size_t)(r.p - s->data.data);
	r.end = r.p + len;
	id = reader_word(&r, word);
	mark = s->eh ? 0 : word == 4 ? UINT32_MAX : UINT64_MAX;
	*ret = (struct raw_entry){.body = r, .next = id_at + len, .is_cie = id == mark};
	/* an invalid offset: reading an entry there fails */
	ret->cie = s->eh ? (id <= id_at ? id_at - id : s->data.len)
			 : (id <= s->data.len ? id : s->data.len);
	return !r.bad;
}

/* Reads the data of the augmentation @letters. Returns false if a needed letter is unknown. */
static bool read_augmentation(const char *letters, struct unwind_reader *r, struct cfi_entry *e)
{
	struct unwind_reader aug;
	uint64_t len;

	if (!*letters)
		return true;
	if (*letters != 'z')
		return false;
	len = reader_uleb(r);
	aug = (struct unwind_reader){.p = r->p, .end = r->p + (len <= reader_left(r) ? len : 0)};
	reader_skip(r, len);
	for (letters++; *letters; letters++)
		switch (*letters) {
		case 'R': e->encoding = reader_byte(&aug); break;
		case 'L': reader_byte(&aug); break;
		case 'P': cfi_entry_address(e, &aug, reader_byte(&aug) & 0x0f); break;
		case 'S': e->signal = true; break;
		/* Skip unknown letters: the length gives the end. */
		default: return !aug.bad && !r->bad;
		}
	return !aug.bad && !r->bad;
}

/* Reads the common entry at @at. Returns false if there is none, or an unsupported one. */
static bool read_cie(const struct cfi_section *s, size_t at, struct cfi_entry *ret,
		     bool *ret_augmented)
{
	char letters[LETTERS_MAX] = "";
	struct raw_entry raw;
	struct unwind_reader r;
	uint8_t version;
	size_t n = 0;

	if (at >= s->data.len || !raw_entry_read(s, at, &raw) || !raw.is_cie)
		return false;
	r = raw.body;
	*ret = (struct cfi_entry){.section = s->data.data,
				  .section_addr = s->addr,
				  .encoding = DW_EH_PE_absptr,
				  .word = s->word};
	version = reader_byte(&r);
	do
		letters[n] = (char)reader_byte(&r);
	while (letters[n] && ++n < LETTERS_MAX);
	if (n == LETTERS_MAX)
		return false;
	if (version == 4 && (reader_byte(&r) != s->word || reader_byte(&r)))
		return false; /* segments are not supported */
	ret->code_align = reader_uleb(&r);
	ret->data_align = reader_sleb(&r);
	ret->ra = version == 1 ? reader_byte(&r) : reader_uleb(&r);
	*ret_augmented = *letters;
	if ((version != 1 && version != 3 && version != 4) || !read_augmentation(letters, &r, ret))
		return false;
	ret->initial = r;
	return !r.bad;
}

static bool read_fde(const struct cfi_section *s, const struct raw_entry *raw,
		     struct cfi_entry *ret)
{
	struct unwind_reader r = raw->body;
	bool augmented;

	if (!read_cie(s, raw->cie, ret, &augmented))
		return false;
	ret->start = cfi_entry_address(ret, &r, ret->encoding);
	ret->end = ret->start + cfi_entry_address(ret, &r, ret->encoding & 0x0f);
	if (augmented)
		reader_skip(&r, reader_uleb(&r));
	ret->instructions = r;
	return !r.bad && ret->end > ret->start;
}

static int by_start(const void *va, const void *vb)
{
	const struct cfi_fde *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int make_index(struct cfi_section *s)
{
	struct raw_entry raw;
	struct cfi_entry e;
	bool ordered = true;

	for (size_t at = 0; at < s->data.len; at = raw.next) {
		raw.next = at + 4; /* zeros end the part of one input of the linker */
		if (!raw_entry_read(s, at, &raw)) {
			if (raw.next > s->data.len || memcmp(s->data.data + at, "\0\0\0", 4) != 0)
				break;
			continue;
		}
		if (raw.is_cie || !read_fde(s, &raw, &e))
			continue;
		if (array_grow(&s->fde, &s->cap, s->nr + 1, sizeof(*s->fde)))
			return -ENOMEM;
		ordered &= !s->nr || s->fde[s->nr - 1].start <= e.start;
		s->fde[s->nr++] = (struct cfi_fde){e.start, e.end, at};
	}
	if (!ordered)
		qsort(s->fde, s->nr, sizeof(*s->fde), by_start);
	return 0;
}

/* Reads all of a section into @ret. Returns 0, -ENOENT or -ENOMEM. */
static int read_section(const struct elf_image *img, const GElf_Shdr *shdr, struct buf *ret)
{
	if (shdr->sh_type == SHT_NOBITS || !shdr->sh_size)
		return -ENOENT;
	if (buf_reserve(ret, shdr->sh_size))
		return -ENOMEM;
	if (elf_image_read(img, shdr->sh_offset, ret->data, shdr->sh_size) !=
	    (ssize_t)shdr->sh_size)
		return -ENOENT;
	ret->len = shdr->sh_size;
	return 0;
}

/*
 * The linker's index, .eh_frame_hdr (LSB 5.0, Core, 10.6.2): four bytes of version and encodings,
 * the address of .eh_frame, the number of entries, and for each the address of its code and its
 * own, relative to the index, ascending. Linkers write no other encodings.
 */
#define SEARCH_HEAD  12
#define SEARCH_ENTRY 8
static const uint8_t search_encodings[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					   DW_EH_PE_datarel | DW_EH_PE_sdata4};

/* Returns half @which of entry @i of the linker's index. */
static int32_t search_word(const struct cfi_section *s, size_t i, unsigned int which)
{
	uint32_t word;

	memcpy(&word, s->search.data + SEARCH_HEAD + i * SEARCH_ENTRY + which * sizeof(word),
	       sizeof(word));
	return (int32_t)le32toh(word);
}

/* Whether the linker's index is one that can be searched. Sets its number of entries. */
static bool search_is_good(struct cfi_section *s)
{
	const struct buf *b = &s->search;
	uint32_t nr;

	if (b->len < SEARCH_HEAD ||
	    memcmp(b->data, search_encodings, sizeof(search_encodings)) != 0)
		return false;
	memcpy(&nr, b->data + SEARCH_HEAD - sizeof(nr), sizeof(nr));
	s->search_nr = le32toh(nr);
	if (s->search_nr > (b->len - SEARCH_HEAD) / SEARCH_ENTRY)
		return false;
	for (size_t i = 1; i < s->search_nr; i++)
		if (search_word(s, i, 0) <= search_word(s, i - 1, 0))
			return false;
	return s->search_nr;
}

/* Loads the linker's index; without a good one, makes an own one. Returns 0 or -ENOMEM. */
static int load_index(struct cfi_section *s, const struct elf_image *img)
{
	GElf_Shdr shdr;
	int rc = -ENOENT;

	if (s->eh && elf_section(img, ".eh_frame_hdr", &shdr) && shdr.sh_size <= SECTION_MAX)
		rc = read_section(img, &shdr, &s->search);
	if (rc == -ENOMEM)
		return rc;
	if (!rc && search_is_good(s)) {
		s->search_addr = shdr.sh_addr;
		return 0;
	}
	buf_release(&s->search);
	s->search_nr = 0;
	return make_index(s);
}

static int unpack(Elf_Scn *scn, struct buf *ret)
{
	GElf_Shdr shdr;
	GElf_Chdr chdr;
	Elf_Data *data;

	if (!gelf_getchdr(scn, &chdr) || chdr.ch_size > SECTION_MAX ||
	    elf_compress(scn, 0, 0) < 0 || !gelf_getshdr(scn, &shdr))
		return -EBADMSG;
	data = elf_section_data(scn, &shdr);
	return data ? buf_append(ret, data->d_buf, data->d_size) : -ENOENT;
}

int cfi_section_load(struct cfi_section *s, const struct elf_image *img, const char *name)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(img, name, &shdr);
	int rc;

	if (!scn || shdr.sh_size > SECTION_MAX || img->ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOENT;
	s->eh = !strcmp(name, ".eh_frame");
	s->addr = shdr.sh_addr;
	s->word = img->ehdr.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	if (shdr.sh_flags & SHF_COMPRESSED)
		rc = unpack(scn, &s->data);
	else
		rc = read_section(img, &shdr, &s->data);
	return rc ? rc : load_index(s, img);
}

void cfi_section_release(struct cfi_section *s)
{
	buf_release(&s->data);
	buf_release(&s->search);
	free(s->fde);
	*s = (struct cfi_section){0};
}

size_t cfi_section_memory(const struct cfi_section *s)
{
	return s->data.cap + s->search.cap + s->cap * sizeof(*s->fde);
}

/*
 * Reads the entry at @at. BOLT leaves an empty entry right before another one with the same start,
 * and the index has only the first of them: then reads the second.
 */
static bool read_indexed(const struct cfi_section *s, uint64_t at, struct cfi_entry *ret)
{
	struct raw_entry raw;

	*ret = (struct cfi_entry){0};
	if (at >= s->data.len || !raw_entry_read(s, at, &raw) || raw.is_cie)
		return false;
	if (read_fde(s, &raw, ret))
		return true;
	return ret->start && ret->start == ret->end && raw_entry_read(s, raw.next, &raw) &&
	       !raw.is_cie && read_fde(s, &raw, ret);
}

/* Finds the entry of @addr in the linker's index. Returns as cfi_section_row() does. */
static int search_entry(const struct cfi_section *s, uint64_t addr, struct cfi_entry *ret)
{
	size_t lo = 0, hi = s->search_nr;
	uint64_t at;

	/* the last entry that begins at or before @addr */
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if ((int64_t)(addr - s->search_addr) >= search_word(s, mid, 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return -ENOENT;
	at = s->search_addr + (uint64_t)(int64_t)search_word(s, lo - 1, 1) - s->addr;
	return read_indexed(s, at, ret) && addr >= ret->start && addr < ret->end ? 0 : -ENOENT;
}

/* The same in the own index. */
static int index_entry(const struct cfi_section *s, uint64_t addr, struct cfi_entry *ret)
{
	size_t lo = 0, hi = s->nr;
	struct raw_entry raw;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->fde[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr >= s->fde[lo - 1].end)
		return -ENOENT;
	return raw_entry_read(s, s->fde[lo - 1].at, &raw) && read_fde(s, &raw, ret) ? 0 : -EBADMSG;
}

int cfi_section_row(const struct cfi_section *s, const struct unwind_arch *arch, uint64_t addr,
		    struct cfi_row **ret)
{
	struct cfi_entry e;
	int rc = s->search_nr ? search_entry(s, addr, &e) : index_entry(s, addr, &e);

	return rc ? rc : cfi_program_run(&e, arch, addr, ret);
}
