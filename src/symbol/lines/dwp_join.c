// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "symbol/lines/dwp_priv.h"

#define HEADER4	   11 /* bytes of a unit's header: length, version, abbreviations, address size */
#define HEADER5	   20 /* length, version, type, address size, abbreviations, signature */
#define TYPE5	   6  /* offset of the type */
#define SIGNATURE  8
#define INDEX_BITS 28 /* of an address' number: LEB128 in 4 bytes */

/* A place in bytes that are read. */
struct reading {
	const uint8_t *at, *end;
};

/* Reads a LEB128; 0 at the end. */
static uint64_t read_leb(struct reading *r)
{
	uint64_t ret = 0;

	for (unsigned int shift = 0; r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		if (shift < 64)
			ret |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return ret;
}

/* Moves to the attributes of the abbreviation @code. Returns whether there is one. */
static bool find_abbreviation(struct reading *r, uint64_t code)
{
	while (r->at < r->end) {
		uint64_t here = read_leb(r);

		if (!here)
			return false;
		read_leb(r); /* the tag */
		if (r->at >= r->end)
			return false;
		r->at++; /* children */
		if (here == code)
			return true;
		for (;;) {
			uint64_t name = read_leb(r), form = read_leb(r);

			if (form == DW_FORM_implicit_const)
				read_leb(r);
			if ((!name && !form) || r->at >= r->end)
				break;
		}
	}
	return false;
}

/* Moves to the attribute @name. Returns whether it has the form @form; *@ret_len: bytes of the two.
 */
static bool find_attribute(struct reading *r, uint64_t name, uint64_t form, size_t *ret_len)
{
	while (r->at < r->end) {
		const uint8_t *begin = r->at;
		uint64_t n = read_leb(r), f = read_leb(r);

		*ret_len = (size_t)(r->at - begin);
		if (n == name) {
			r->at = begin;
			return f == form;
		}
		if (f == DW_FORM_implicit_const)
			read_leb(r);
		if (!n && !f)
			return false;
	}
	return false;
}

static int put_leb(struct buf *out, uint32_t value)
{
	int rc = 0;

	do {
		uint8_t byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);

		rc = buf_append(out, &byte, 1);
		value >>= 7;
	} while (!rc && value);
	return rc;
}

/* Replaces @old bytes at @at of the abbreviations by the two attributes. */
static int put_attributes(struct dwp_pieces *u, size_t at, size_t old)
{
	struct buf *b = &u->part[DWP_ABBREV], new = {0};
	uint32_t address = u->version < 5 ? DW_FORM_GNU_addr_index : DW_FORM_addrx;
	int rc = buf_append(&new, b->data, at)
			 ?: put_leb(&new, DW_AT_low_pc)
			 ?: put_leb(&new, address)
			 ?: put_leb(&new, DW_AT_stmt_list)
			 ?: put_leb(&new, DW_FORM_sec_offset)
			 ?: buf_append(&new, b->data + at + old, b->len - at - old);

	if (rc) {
		buf_release(&new);
		return rc;
	}
	buf_release(b);
	*b = new;
	return 0;
}

/* The values of the two: number of the last address, and the only table of lines. */
static void put_values(const struct dwp_pieces *u, uint8_t ret[SIGNATURE])
{
	for (unsigned int i = 0; i < 4; i++)
		ret[i] = (uint8_t)((u->nr_addresses >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
	memset(ret + 4, 0, 4);
}

/* DWARF 4: the signature is an attribute of the unit. */
static int join4(struct dwp_pieces *u, struct reading *abbrev)
{
	struct buf *info = &u->part[DWP_INFO];
	uint8_t *value =
		memmem(info->data + HEADER4, info->len - HEADER4, &u->signature, SIGNATURE);
	size_t old;

	if (!value || !find_attribute(abbrev, DW_AT_GNU_dwo_id, DW_FORM_data8, &old))
		return -EBADMSG;
	put_values(u, value);
	return put_attributes(u, (size_t)(abbrev->at - u->part[DWP_ABBREV].data), old);
}

/* DWARF 5: the signature is in the header, @code bytes before the code of the unit's abbreviation.
 */
static int join5(struct dwp_pieces *u, struct reading *abbrev, size_t code)
{
	uint8_t *info = u->part[DWP_INFO].data;

	if (info[TYPE5] != DW_UT_split_compile)
		return -EBADMSG;
	info[TYPE5] = DW_UT_compile;
	memmove(info + HEADER5 - SIGNATURE, info + HEADER5, code);
	put_values(u, info + HEADER5 - SIGNATURE + code);
	return put_attributes(u, (size_t)(abbrev->at - u->part[DWP_ABBREV].data), 0);
}

int dwp_join(struct dwp_pieces *u)
{
	const struct buf *info = &u->part[DWP_INFO], *abbrev = &u->part[DWP_ABBREV];
	size_t header = u->version < 5 ? HEADER4 : HEADER5;
	struct reading die, abbreviation;
	uint64_t code;
	uint16_t version;

	if (info->len <= header || !abbrev->len || u->nr_addresses >> INDEX_BITS)
		return -EBADMSG;
	die = (struct reading){info->data + header, info->data + info->len};
	abbreviation = (struct reading){abbrev->data, abbrev->data + abbrev->len};
	memcpy(&version, info->data + 4, sizeof(version)); /* of 64-bit DWARF it would be 0xffff */
	code = read_leb(&die);
	if (version != u->version || version < 4 || version > 5 ||
	    !find_abbreviation(&abbreviation, code))
		return -EBADMSG;
	if (version == 4)
		return join4(u, &abbreviation);
	return join5(u, &abbreviation, (size_t)(die.at - info->data) - header);
}

/* --- the file ------------------------------------------------------------------------------------
 */

struct file_part {
	const char *name;
	const struct buf *bytes;
};

static int put_section(struct buf *file, struct buf *headers, struct buf *names,
		       const struct file_part *p)
{
	Elf64_Shdr h = {
		.sh_name = (Elf64_Word)names->len,
		.sh_type = SHT_PROGBITS,
		.sh_offset = file->len,
		.sh_size = p->bytes->len,
		.sh_addralign = 1,
	};

	return buf_append(names, p->name, strlen(p->name) + 1)
		       ?: buf_append(file, p->bytes->data, p->bytes->len)
		       ?: buf_append(headers, &h, sizeof(h));
}

/* Puts the names and the headers behind the sections. */
static int put_end(struct buf *file, struct buf *headers, struct buf *names, Elf64_Ehdr *ehdr)
{
	Elf64_Shdr h = {
		.sh_name = (Elf64_Word)names->len, .sh_type = SHT_STRTAB, .sh_addralign = 1};
	int rc = buf_append(names, ".shstrtab", sizeof(".shstrtab"));

	h.sh_offset = file->len;
	h.sh_size = names->len;
	rc = rc ?: buf_append(headers, &h, sizeof(h))
		?: buf_append(file, names->data, names->len)
		?: buf_zero(file, -file->len % 8);
	ehdr->e_shoff = file->len;
	ehdr->e_shnum = (Elf64_Half)(headers->len / sizeof(h));
	ehdr->e_shstrndx = (Elf64_Half)(ehdr->e_shnum - 1);
	return rc ?: buf_append(file, headers->data, headers->len);
}

int dwp_make_file(const struct dwp_pieces *u, const struct elf_image *program, struct buf *out)
{
	const struct file_part pieces[] = {
		{".debug_info", &u->part[DWP_INFO]},
		{".debug_abbrev", &u->part[DWP_ABBREV]},
		{".debug_line", &u->part[DWP_LINE]},
		{".debug_str_offsets", &u->part[DWP_STR_OFFSETS]},
		{".debug_rnglists", &u->part[DWP_RNGLISTS]},
		{".debug_str", &u->strings},
		{".debug_addr", &u->addresses},
		{".debug_ranges", &u->ranges},
	};
	Elf64_Ehdr ehdr = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    program->ehdr.e_ident[EI_DATA], EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = program->ehdr.e_machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	struct buf headers = {0}, names = {0};
	int rc = buf_zero(out, sizeof(ehdr)) ?: buf_zero(&headers, sizeof(Elf64_Shdr)) ?: buf_zero(&names, 1);

	for (size_t i = 0; !rc && i < sizeof(pieces) / sizeof(pieces[0]); i++)
		if (pieces[i].bytes->len)
			rc = put_section(out, &headers, &names, &pieces[i]);
	if (!rc)
		rc = put_end(out, &headers, &names, &ehdr);
	if (!rc)
		memcpy(out->data, &ehdr, sizeof(ehdr));
	buf_release(&headers);
	buf_release(&names);
	return rc;
}
