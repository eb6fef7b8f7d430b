// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/globals.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/types/die_order.h"
#include "symbol/types/place.h"

#define NEST_MAX    32		      /* namespaces in namespaces */
#define GLOBALS_MAX ((size_t)1 << 20) /* of a unit */
#define OBJECTS_MAX ((size_t)4 << 20)

static uint64_t fixed_address(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t nr;
	struct var_place p;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &nr))
		return UINT64_MAX;
	p = place_read(&attr, ops, nr);
	return p.kind == PLACE_FIXED ? (uint64_t)p.offset : UINT64_MAX;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : dwarf_diename(die);
}

static int add_global(struct globals *g, Dwarf_Die *die)
{
	struct global global = {.addr = fixed_address(die), .name = linkage_name(die)};

	if (!type_of(die, &global.type) || g->nr >= GLOBALS_MAX)
		return 0;
	if (array_grow(&g->global, &g->cap, g->nr + 1, sizeof(*g->global)) < 0)
		return -ENOMEM;
	g->global[g->nr++] = global;
	return 0;
}

static int read_level(Dwarf_Die *parent, int depth, Dwarf_Off *newest, struct globals *ret)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > NEST_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		if (!die_is_newer(&die, newest))
			return 0;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable: rc = add_global(ret, &die); break;
		case DW_TAG_namespace:
		case DW_TAG_module: rc = read_level(&die, depth + 1, newest, ret); break;
		}
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

int globals_read(Dwarf_Die *unit, struct globals *ret)
{
	Dwarf_Off newest = 0;

	return read_level(unit, 0, &newest, ret);
}

void globals_release(struct globals *g)
{
	free(g->global);
	*g = (struct globals){0};
}

struct object_reader {
	struct objects *objects;
	int rc;
};

static bool add_object(void *arg, const struct elf_symbol *s)
{
	struct object_reader *r = arg;
	struct objects *o = r->objects;

	if (GELF_ST_TYPE(s->sym.st_info) != STT_OBJECT || !s->sym.st_size ||
	    s->sym.st_shndx == SHN_UNDEF)
		return true;
	if (o->nr >= OBJECTS_MAX)
		return false;
	if (array_grow(&o->object, &o->cap, o->nr + 1, sizeof(*o->object)) < 0) {
		r->rc = -ENOMEM;
		return false;
	}
	o->object[o->nr++] = (struct object){s->sym.st_value, s->sym.st_size, s->name};
	return true;
}

static int compare_objects(const void *a, const void *b)
{
	const struct object *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int objects_read(const struct elf_image *img, struct objects *ret)
{
	struct object_reader r = {ret, 0};

	elf_each_symbol(img, SHT_SYMTAB, add_object, &r);
	if (!ret->nr)
		elf_each_symbol(img, SHT_DYNSYM, add_object, &r);
	if (ret->nr)
		qsort(ret->object, ret->nr, sizeof(*ret->object), compare_objects);
	return r.rc;
}

void objects_release(struct objects *o)
{
	free(o->object);
	*o = (struct objects){0};
}

/* Returns the index behind the last object that begins at @addr or before. */
static size_t objects_up_to(const struct objects *o, uint64_t addr)
{
	size_t low = 0, high = o->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o->object[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool find_declared(const struct globals *g, const struct object *object, uint64_t addr,
			  struct typed *ret)
{
	for (size_t i = 0; i < g->nr; i++) {
		if (g->global[i].addr != UINT64_MAX || !g->global[i].name ||
		    strcmp(g->global[i].name, object->name) != 0)
			continue;
		*ret = (struct typed){g->global[i].type, (int64_t)(addr - object->addr)};
		if (typed_is_inside(ret))
			return true;
	}
	return false;
}

bool globals_find(const struct globals *g, const struct objects *o, uint64_t addr,
		  struct typed *ret)
{
	size_t last = objects_up_to(o, addr);

	for (size_t i = 0; i < g->nr; i++) {
		*ret = (struct typed){g->global[i].type, (int64_t)(addr - g->global[i].addr)};
		if (g->global[i].addr <= addr && typed_is_inside(ret))
			return true;
	}
	/* An object may have several names. */
	for (size_t i = last; i && o->object[i - 1].addr == o->object[last - 1].addr; i--)
		if (find_declared(g, &o->object[i - 1], addr, ret))
			return true;
	return false;
}
