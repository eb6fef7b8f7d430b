// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbol/demangle/demangle.h"

#define NODES_MAX ((size_t)4 << 20)
#define NEST_MAX  256 /* DIEs in DIEs; real code has some 40 */

/* A walk over the DIEs of a unit. */
struct unit_walk {
	struct unit *u;
	Dwarf_Off newest; /* offset of a DIE; in a sound file each is behind the one before */
	unsigned int depth;
	struct {
		Dwarf_Die die;
		uint32_t node; /* the innermost function around */
	} stack[NEST_MAX];
};

/* Returns whether functions with code can be inside. */
static bool has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* of Rust */
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block: return true;
	}
	return false;
}

static int add_ranges(struct unit *u, Dwarf_Die *die, uint32_t depth, uint32_t node, bool *ret_any)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	*ret_any = false;
	while (!rc && u->ranges_read < RANGES_READ_MAX &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		u->ranges_read++;
		*ret_any |= start < end;
		rc = range_set_add(&u->ranges, &(struct range){start, end, depth, node});
	}
	return rc == -E2BIG ? 0 : rc;
}

/* Adds a function with code. *@node becomes its number. */
static int add_node(struct unit_walk *w, Dwarf_Die *die, bool inlined, uint32_t *node)
{
	struct unit *u = w->u;
	bool any;
	int rc;

	if (u->nr_nodes >= NODES_MAX)
		return 0;
	if (array_grow(&u->nodes, &u->cap_nodes, u->nr_nodes + 1, sizeof(*u->nodes)) < 0)
		return -ENOMEM;
	rc = add_ranges(u, die, w->depth, (uint32_t)u->nr_nodes, &any);
	if (rc < 0 || !any)
		return rc;
	u->nodes[u->nr_nodes] = (struct unit_node){
		.die = *die,
		.parent = inlined ? *node : RANGE_NONE,
		.inlined = inlined,
	};
	*node = (uint32_t)u->nr_nodes++;
	return 0;
}

/* Moves to the DIE behind @die in the same one. A damaged file may point back. */
static bool next_die(Dwarf_Die *die)
{
	Dwarf_Off at = dwarf_dieoffset(die);

	return !dwarf_siblingof(die, die) && dwarf_dieoffset(die) > at;
}

/* Adds the function at @die. Returns 0 or -ENOMEM, with *@ret_inside: functions may be inside. */
static int visit(struct unit_walk *w, Dwarf_Die *die, uint32_t *node, bool *ret_inside)
{
	int tag = dwarf_tag(die);

	*ret_inside = has_functions(tag) && dwarf_haschildren(die) > 0 && w->depth + 1 < NEST_MAX;
	if (tag == DW_TAG_subprogram)
		return add_node(w, die, false, node);
	if (tag == DW_TAG_inlined_subroutine)
		return add_node(w, die, true, node);
	return 0;
}

static int walk_functions(struct unit_walk *w, Dwarf_Die *top)
{
	Dwarf_Die die, child;

	w->stack[0].die = *top;
	w->stack[0].node = RANGE_NONE;
	if (dwarf_child(top, &die))
		return 0;
	for (;;) {
		uint32_t node = w->stack[w->depth].node;
		bool inside;
		int rc;

		/* Damaged: siblings that lead into what was read would be read again and again. */
		if (dwarf_dieoffset(&die) <= w->newest)
			return 0;
		w->newest = dwarf_dieoffset(&die);
		rc = visit(w, &die, &node, &inside);
		if (rc < 0)
			return rc;
		if (inside && !dwarf_child(&die, &child)) {
			w->depth++;
			w->stack[w->depth].die = die;
			w->stack[w->depth].node = node;
			die = child;
			continue;
		}
		while (!next_die(&die)) {
			if (!w->depth)
				return 0;
			die = w->stack[w->depth--].die;
		}
	}
}

int unit_read(struct unit *u)
{
	struct unit_walk *w;
	int rc;

	u->is_read = true;
	if (dwarf_getsrclines(&u->die, &u->lines, &u->nr_lines))
		u->lines = NULL;
	if (!unit_open_split(&u->die, u->home, &u->full))
		return 0;
	if (dwarf_getsrcfiles(&u->full, &u->files, &u->nr_files))
		u->files = NULL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->u = u;
	rc = walk_functions(w, &u->full);
	free(w);
	return rc ? rc : range_set_build(&u->ranges);
}

void unit_release(struct unit *u)
{
	range_set_release(&u->ranges);
	free(u->nodes);
	*u = (struct unit){0};
}

/* Finds the row of the line table for @addr: the last that starts there or before. */
static void find_line(const struct unit *u, uint64_t addr, struct line_frame *ret)
{
	size_t lo = 0, hi = u->lines ? u->nr_lines : 0;
	Dwarf_Line *line;
	Dwarf_Addr start;
	bool ends;
	int number;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		line = dwarf_onesrcline(u->lines, mid);
		if (line && !dwarf_lineaddr(line, &start) && start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	line = lo ? dwarf_onesrcline(u->lines, lo - 1) : NULL;
	if (!line || dwarf_lineendsequence(line, &ends) || ends)
		return;
	ret->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &number) && number > 0)
		ret->line = (uint32_t)number;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &word) || word > UINT32_MAX)
		return 0;
	return (uint32_t)word;
}

/* The place of an inlined call. */
static void find_call(const struct unit *u, Dwarf_Die *die, struct line_frame *ret)
{
	uint32_t file = number_of(die, DW_AT_call_file);

	ret->line = number_of(die, DW_AT_call_line);
	if (u->files && file < u->nr_files && dwarf_hasattr(die, DW_AT_call_file))
		ret->file = dwarf_filesrc(u->files, file, NULL, NULL);
}

/* Returns the name as in a symbol table: those of C++ without mangled name are unqualified. */
static const char *linkage_name(Dwarf_Die *die)
{
	static const unsigned int names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	Dwarf_Attribute attr;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *s =
			dwarf_attr_integrate(die, names[i], &attr) ? dwarf_formstring(&attr) : NULL;

		if (s && *s)
			return s;
	}
	return NULL;
}

static const char *name_of(struct unit_node *n, const struct unit_names *names)
{
	const char *raw;
	char *text;

	if (n->name)
		return n->name;
	raw = linkage_name(&n->die);
	if (!raw)
		return NULL;
	text = names->demangle ? demangle_text(raw) : NULL;
	n->name = strpool_intern(names->pool, text ? text : raw);
	free(text);
	return n->name;
}

size_t unit_find(struct unit *u, const struct unit_names *names, uint64_t addr,
		 struct line_frame *ret, size_t max)
{
	struct line_frame place = {0};
	uint32_t node = range_set_find(&u->ranges, addr);
	size_t nr = 0;

	find_line(u, addr, &place);
	if (node == RANGE_NONE && place.file && max)
		ret[nr++] = place;
	while (node != RANGE_NONE && nr < max) {
		struct unit_node *n = &u->nodes[node];

		ret[nr] = place;
		ret[nr].function = name_of(n, names);
		ret[nr++].inlined = n->inlined && n->parent != RANGE_NONE;
		place = (struct line_frame){0};
		find_call(u, &n->die, &place);
		node = n->parent;
	}
	return nr;
}
