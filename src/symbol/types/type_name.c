// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/type_name.h"

#include <dwarf.h>
#include <string.h>

#include "symbol/types/die_order.h"

#define NEST_MAX 64 /* types in types: damaged ones may be in themselves */

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

static bool is_struct(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

/* Fills *@ret with the DIE that DW_AT_type names. */
static bool named_type(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Die at = *die;

	for (int i = 0; i < NEST_MAX; i++) {
		if (!named_type(&at, ret))
			return false;
		if (!is_qualifier(dwarf_tag(ret)))
			return true;
		at = *ret;
	}
	return false;
}

/* Removes typedefs, too. */
static bool peel(const Dwarf_Die *type, Dwarf_Die *ret)
{
	*ret = *type;
	for (int i = 0; i < NEST_MAX; i++) {
		int tag = dwarf_tag(ret);
		Dwarf_Die at = *ret;

		if (tag != DW_TAG_typedef && !is_qualifier(tag))
			return true;
		if (!named_type(&at, ret))
			return false;
	}
	return false;
}

bool type_pointed(Dwarf_Die *type, Dwarf_Die *ret)
{
	Dwarf_Die real;
	int tag;

	if (!peel(type, &real))
		return false;
	tag = dwarf_tag(&real);
	return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
		tag == DW_TAG_rvalue_reference_type) &&
	       type_of(&real, ret);
}

uint64_t type_size(Dwarf_Die *type)
{
	Dwarf_Die real;
	Dwarf_Word size;

	if (!peel(type, &real) || dwarf_aggregate_size(&real, &size))
		return 0;
	return size;
}

bool typed_is_inside(struct typed *t)
{
	return t->offset >= 0 && (uint64_t)t->offset < type_size(&t->type);
}

/* Finds the bytes of @member, [*ret_start, *ret_end); bits of a bit field may share them. */
static bool member_bytes(Dwarf_Die *member, Dwarf_Die *type, uint64_t *ret_start, uint64_t *ret_end)
{
	Dwarf_Attribute attr;
	Dwarf_Word at = 0, bits;

	if (dwarf_attr_integrate(member, DW_AT_data_bit_offset, &attr)) {
		if (dwarf_formudata(&attr, &at) ||
		    !dwarf_attr_integrate(member, DW_AT_bit_size, &attr) ||
		    dwarf_formudata(&attr, &bits))
			return false;
		*ret_start = at / 8;
		*ret_end = (at + bits + 7) / 8;
		return true;
	}
	/* A member of a union may have no place of its own. */
	if (dwarf_attr_integrate(member, DW_AT_data_member_location, &attr) &&
	    dwarf_formudata(&attr, &at))
		return false;
	*ret_start = at;
	*ret_end = at + type_size(type);
	return true;
}

/* Finds the member of the struct or union @type that has the byte at @offset. */
static bool find_member(Dwarf_Die *type, uint64_t offset, Dwarf_Die *ret, Dwarf_Die *ret_type,
			uint64_t *ret_start)
{
	Dwarf_Off newest = 0;
	uint64_t end;

	if (dwarf_child(type, ret))
		return false;
	do {
		int tag = dwarf_tag(ret);

		if (!die_is_newer(ret, &newest))
			return false;
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && type_of(ret, ret_type) &&
		    member_bytes(ret, ret_type, ret_start, &end) && offset >= *ret_start &&
		    offset < end)
			return true;
	} while (!dwarf_siblingof(ret, ret));
	return false;
}

bool typed_descend(struct typed *t)
{
	Dwarf_Die real, member, type;
	uint64_t start, size;

	for (int i = 0; i < NEST_MAX; i++) {
		if (!typed_is_inside(t) || !peel(&t->type, &real))
			return false;
		if (is_struct(dwarf_tag(&real))) {
			if (!find_member(&real, (uint64_t)t->offset, &member, &type, &start))
				return false;
			t->offset -= (int64_t)start;
		} else if (dwarf_tag(&real) == DW_TAG_array_type) {
			if (!type_of(&real, &type))
				return false;
			size = type_size(&type);
			if (!size)
				return false;
			t->offset = (int64_t)((uint64_t)t->offset % size);
		} else {
			return true;
		}
		t->type = type;
	}
	return false;
}

static const char *kind_word(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type: return "struct ";
	case DW_TAG_union_type: return "union ";
	case DW_TAG_enumeration_type: return "enum ";
	}
	return "";
}

/* The marks behind a name are those of the types on the way to it, the outermost last. */
int type_put_name(Dwarf_Die *type, struct buf *out)
{
	const char *marks[NEST_MAX], *name;
	Dwarf_Die at = *type, next;
	int nr = 0, rc = 0;
	bool is_void = false;

	while (nr < NEST_MAX) {
		int tag = dwarf_tag(&at);

		if (tag == DW_TAG_pointer_type)
			marks[nr++] = "*";
		else if (tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)
			marks[nr++] = tag == DW_TAG_reference_type ? "&" : "&&";
		else if (tag == DW_TAG_array_type)
			marks[nr++] = "[]";
		else
			break;
		is_void = !type_of(&at, &next);
		if (is_void)
			break;
		at = next;
	}
	name = is_void ? "void" : dwarf_diename(&at);
	if (!is_void && dwarf_tag(&at) == DW_TAG_subroutine_type)
		name = "(function_type)";
	rc = buf_printf(out, "%s%s", is_void ? "" : kind_word(dwarf_tag(&at)), name ? name : "");
	while (!rc && nr--)
		rc = buf_printf(out, "%s", marks[nr]);
	return rc;
}

int type_put_members(const Dwarf_Die *type, uint64_t offset, struct buf *out)
{
	Dwarf_Die at = *type, real, member, next;
	Dwarf_Attribute attr;
	Dwarf_Word bits;
	uint64_t start;
	int rc = 0;

	for (int i = 0; !rc && i < NEST_MAX; i++) {
		const char *name;

		if (!peel(&at, &real) || !is_struct(dwarf_tag(&real)) ||
		    !find_member(&real, offset, &member, &next, &start))
			break;
		name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : NULL;
		if (name)
			rc = buf_printf(out, "%s%s", out->len ? "." : "", name);
		if (!rc && name && dwarf_attr_integrate(&member, DW_AT_bit_size, &attr) &&
		    !dwarf_formudata(&attr, &bits))
			rc = buf_printf(out, ":%u", (unsigned int)bits);
		offset -= start;
		at = next;
	}
	return rc;
}
