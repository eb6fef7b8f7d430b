// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/dwp.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "symbol/lines/debug.h"
#include "symbol/lines/dwp_priv.h"
#include "symbol/lines/strings.h"

#define COLUMNS_MAX 16 /* 8 kinds of sections are defined */
#define PART_MAX    ((uint64_t)1 << 30)

static const char *const part_sections[DWP_PARTS] = {
	[DWP_INFO] = ".debug_info.dwo",		[DWP_ABBREV] = ".debug_abbrev.dwo",
	[DWP_LINE] = ".debug_line.dwo",		[DWP_STR_OFFSETS] = ".debug_str_offsets.dwo",
	[DWP_RNGLISTS] = ".debug_rnglists.dwo",
};

/* Numbers of the sections in an index (DW_SECT_*), equal in both versions; of version 5 only:
 * RNGLISTS. */
static const uint32_t part_numbers[DWP_PARTS] = {
	[DWP_INFO] = 1, [DWP_ABBREV] = 3, [DWP_LINE] = 4, [DWP_STR_OFFSETS] = 6, [DWP_RNGLISTS] = 8,
};

/* Returns the bytes of a section, decompressed; NULL if there is none. */
static const Elf_Data *section_bytes(const struct elf_image *img, const char *name)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(img, name, &shdr);
	const Elf_Data *data;

	if (!scn || shdr.sh_type == SHT_NOBITS ||
	    (shdr.sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0))
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf ? data : NULL;
}

/* Appends @size bytes at @at of a section of the package. Returns 0, -ENOENT, -EBADMSG or -ENOMEM.
 */
static int read_section(const struct dwp *p, const char *name, uint64_t at, uint64_t size,
			struct buf *ret)
{
	const Elf_Data *data = p->is_compressed ? section_bytes(&p->image, name) : NULL;
	GElf_Shdr shdr;
	uint64_t all;
	int rc;

	if (!elf_section(&p->image, name, &shdr) || shdr.sh_type == SHT_NOBITS)
		return -ENOENT;
	if (p->is_compressed && !data)
		return -EBADMSG;
	all = data ? data->d_size : shdr.sh_size;
	if (size == UINT64_MAX)
		size = all;
	if (at > all || size > all - at || size > PART_MAX)
		return -EBADMSG;
	if (!size)
		return 0;
	if (data)
		return buf_append(ret, (const uint8_t *)data->d_buf + at, size);
	if (shdr.sh_offset > p->image.size || at + size > p->image.size - shdr.sh_offset)
		return -EBADMSG;
	rc = buf_reserve(ret, size);
	if (rc)
		return rc;
	if (elf_image_read(&p->image, shdr.sh_offset + at, ret->data + ret->len, size) !=
	    (ssize_t)size)
		return -EBADMSG;
	ret->len += size;
	return 0;
}

static bool is_compressed(const struct elf_image *img)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(img->elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_COMPRESSED)
			return true;
	return false;
}

int dwp_open_image(struct elf_image *img, struct dwp *ret)
{
	static const uint16_t one = 1;
	struct dwp p = {.image = *img, .is_compressed = is_compressed(img)};
	int rc = 0;

	*img = (struct elf_image)ELF_IMAGE_INIT;
	if ((p.image.ehdr.e_ident[EI_DATA] == ELFDATA2LSB) != *(const uint8_t *)&one)
		rc = -ENOTSUP;
	if (p.is_compressed && debug_size(&p.image) >= PART_MAX)
		rc = -EFBIG; /* libelf decompresses whole sections */
	if (!rc)
		rc = read_section(&p, ".debug_cu_index", 0, UINT64_MAX, &p.index);
	if (!rc)
		rc = read_section(&p, ".debug_str.dwo", 0, UINT64_MAX, &p.strings);
	if (!rc)
		rc = buf_zero(&p.strings, 1);
	if (rc)
		dwp_close(&p);
	else
		*ret = p;
	return rc;
}

int dwp_open(const char *path, struct dwp *ret)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc = elf_image_open(path, &img, NULL);

	return rc ? rc : dwp_open_image(&img, ret);
}

void dwp_close(struct dwp *p)
{
	elf_image_close(&p->image);
	buf_release(&p->index);
	buf_release(&p->strings);
	*p = (struct dwp){.image = ELF_IMAGE_INIT};
}

/* --- the index -----------------------------------------------------------------------------------
 */

/* Its header, as both versions have it but for the size of the first number. */
struct index_header {
	uint32_t version; /* 2, or 5 as a u16 with padding */
	uint32_t nr_columns, nr_units, nr_slots;
};

static uint32_t u32_at(const struct buf *b, uint64_t at)
{
	uint32_t ret;

	memcpy(&ret, b->data + at, sizeof(ret));
	return ret;
}

static bool read_header(const struct buf *index, struct index_header *ret)
{
	uint64_t need;

	if (index->len < sizeof(*ret))
		return false;
	memcpy(ret, index->data, sizeof(*ret));
	need = sizeof(*ret) + (uint64_t)ret->nr_slots * 12 + (uint64_t)ret->nr_columns * 4 +
	       2 * (uint64_t)ret->nr_units * ret->nr_columns * 4;
	return (ret->version == 2 || (ret->version & 0xffff) == 5) &&
	       ret->nr_columns <= COLUMNS_MAX && need <= index->len &&
	       !(ret->nr_slots & (ret->nr_slots - 1));
}

/* Returns the row of the unit, from 0; -ENOENT. */
static int64_t find_row(const struct buf *index, const struct index_header *h, uint64_t signature)
{
	uint64_t mask = (uint64_t)h->nr_slots - 1, at = signature & mask;
	uint64_t step = ((signature >> 32) & mask) | 1;

	for (uint32_t i = 0; i < h->nr_slots; i++, at = (at + step) & mask) {
		uint32_t row = u32_at(index, sizeof(*h) + (uint64_t)h->nr_slots * 8 + at * 4);
		uint64_t there;

		if (!row)
			return -ENOENT;
		memcpy(&there, index->data + sizeof(*h) + at * 8, sizeof(there));
		if (there == signature)
			return row <= h->nr_units ? (int64_t)row - 1 : -EBADMSG;
	}
	return -ENOENT;
}

static enum dwp_part part_of(const struct index_header *h, uint32_t number)
{
	for (enum dwp_part i = 0; i < DWP_PARTS; i++)
		if (part_numbers[i] == number)
			return i == DWP_RNGLISTS && h->version == 2 ? DWP_PARTS : i;
	return DWP_PARTS;
}

int dwp_read_parts(struct dwp *p, struct dwp_pieces *ret)
{
	struct index_header h;
	uint64_t columns, offsets, sizes;
	int64_t row;
	int rc = 0;

	if (!read_header(&p->index, &h))
		return -EBADMSG;
	row = find_row(&p->index, &h, ret->signature);
	if (row < 0)
		return (int)row;
	columns = sizeof(h) + (uint64_t)h.nr_slots * 12;
	offsets = columns + ((uint64_t)row + 1) * h.nr_columns * 4;
	sizes = offsets + (uint64_t)h.nr_units * h.nr_columns * 4;
	for (uint32_t i = 0; !rc && i < h.nr_columns; i++) {
		enum dwp_part part = part_of(&h, u32_at(&p->index, columns + i * 4));
		uint32_t size = u32_at(&p->index, sizes + i * 4);

		if (part == DWP_PARTS || !size || ret->part[part].len)
			continue;
		rc = read_section(p, part_sections[part], u32_at(&p->index, offsets + i * 4), size,
				  &ret->part[part]);
	}
	return rc == -ENOENT ? -EBADMSG : rc;
}

int dwp_take_strings(const struct dwp *p, struct dwp_pieces *u)
{
	struct buf *offsets = &u->part[DWP_STR_OFFSETS];
	size_t at = u->version < 5 ? 0 : 8; /* a header */
	/* Few strings share their ends with others; hostile ones might be copied without end. */
	uint64_t left = 4 * (uint64_t)p->strings.len;

	for (; at + 4 <= offsets->len; at += 4) {
		uint32_t from = u32_at(offsets, at), to = (uint32_t)u->strings.len;
		size_t len;

		if (from >= p->strings.len)
			return -EBADMSG;
		len = strlen((const char *)p->strings.data + from) + 1;
		if (len > left || u->strings.len + len > UINT32_MAX)
			return -EBADMSG;
		left -= len;
		if (buf_append(&u->strings, p->strings.data + from, len))
			return -ENOMEM;
		memcpy(offsets->data + at, &to, sizeof(to));
	}
	return 0;
}

/* --- what the program has ------------------------------------------------------------------------
 */

static uint64_t base_of(Dwarf_Die *die, unsigned int name, unsigned int gnu_name)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if ((!dwarf_attr(die, name, &attr) && !dwarf_attr(die, gnu_name, &attr)) ||
	    dwarf_formudata(&attr, &word))
		return 0;
	return word;
}

/* Takes the addresses of the unit, and behind them that of its code. */
static int take_addresses(struct dwp_pieces *u, const struct elf_image *program, Dwarf_Die *die)
{
	uint64_t base = base_of(die, DW_AT_addr_base, DW_AT_GNU_addr_base), size;
	const Elf_Data *all = section_bytes(program, ".debug_addr");
	Dwarf_Addr code = 0;
	uint32_t code4, length;
	int rc = 0;

	if (all && base <= all->d_size) {
		const uint8_t *at = (const uint8_t *)all->d_buf + base;

		size = all->d_size - base;
		/* DWARF 5: the length of the table, without itself, is 8 bytes before */
		if (u->version >= 5 && base >= 8) {
			memcpy(&length, at - 8, sizeof(length));
			if (length >= 4 && length - 4 < size)
				size = length - 4;
		}
		rc = buf_append(&u->addresses, at, size - size % u->address_size);
	}
	if (rc)
		return rc;
	u->nr_addresses = (uint32_t)(u->addresses.len / u->address_size);
	dwarf_lowpc(die, &code);
	code4 = (uint32_t)code;
	return buf_append(&u->addresses, u->address_size == 4 ? (void *)&code4 : (void *)&code,
			  u->address_size);
}

static int take_ranges(struct dwp_pieces *u, const struct elf_image *program, Dwarf_Die *die)
{
	uint64_t base = base_of(die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
	const Elf_Data *all = u->version < 5 ? section_bytes(program, ".debug_ranges") : NULL;

	if (!all || base >= all->d_size)
		return 0;
	return buf_append(&u->ranges, (const uint8_t *)all->d_buf + base, all->d_size - base);
}

static void pieces_release(struct dwp_pieces *u)
{
	for (size_t i = 0; i < DWP_PARTS; i++)
		buf_release(&u->part[i]);
	buf_release(&u->strings);
	buf_release(&u->addresses);
	buf_release(&u->ranges);
}

/* Opens the file in @file, which it takes over. */
static int open_file(struct buf *file, struct dwp_unit *ret)
{
	struct dwp_unit u = {.image = ELF_IMAGE_INIT};
	Dwarf_CU *cu = NULL;
	int rc = elf_image_memory(file, &u.image, NULL);

	if (!rc && !strings_are_sound(u.image.elf))
		rc = -EBADMSG;
	if (!rc) {
		u.dwarf = dwarf_begin_elf(u.image.elf, DWARF_C_READ, NULL);
		rc = u.dwarf && !dwarf_get_units(u.dwarf, NULL, &cu, NULL, NULL, &u.die, NULL)
			     ? 0
			     : -EBADMSG;
	}
	if (rc)
		dwp_unit_release(&u);
	else
		*ret = u;
	return rc;
}

int dwp_unit_open(struct dwp *p, const struct elf_image *program, Dwarf_Die *die,
		  struct dwp_unit *ret)
{
	struct dwp_pieces u = {0};
	struct buf file = {0};
	int rc;

	if (dwarf_cu_info(die->cu, &u.version, NULL, NULL, NULL, &u.signature, &u.address_size,
			  NULL) ||
	    (u.address_size != 4 && u.address_size != 8))
		return -EBADMSG;
	rc = dwp_read_parts(p, &u)
		     ?: dwp_take_strings(p, &u)
		     ?: take_addresses(&u, program, die)
		     ?: take_ranges(&u, program, die)
		     ?: dwp_join(&u)
		     ?: dwp_make_file(&u, program, &file);
	pieces_release(&u);
	if (rc) {
		buf_release(&file);
		return rc;
	}
	return open_file(&file, ret);
}

void dwp_unit_release(struct dwp_unit *u)
{
	dwarf_end(u->dwarf);
	elf_image_close(&u->image);
	*u = (struct dwp_unit){.image = ELF_IMAGE_INIT};
}
