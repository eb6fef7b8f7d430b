// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/id_table.h"
#include "symbol/demangle/demangle.h"
#include "symbol/lines/unit_list.h"

#define NODES_MAX ((size_t)4 << 20)
#define NEST_MAX  256 /* DIEs in DIEs; real code has some 40 */

/* Reads a unit: walks over its DIEs. */
struct unit_reader {
	struct table_maker maker;
	struct range_set ranges; /* of nodes */
	size_t ranges_read;
	const char *folder;	 /* of the compiler; NULL: not recorded */
	struct id_table sources; /* addresses of relative names */
	char **absolute;	 /* by number in @sources */
	size_t cap_absolute;
	Dwarf_Files *files; /* that calls refer to; NULL: none */
	size_t nr_files;
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

static int add_ranges(struct unit_reader *r, Dwarf_Die *die, uint32_t node, bool *ret_any)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	*ret_any = false;
	while (!rc && r->ranges_read < RANGES_READ_MAX &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		r->ranges_read++;
		*ret_any |= start < end;
		rc = range_set_add(&r->ranges, &(struct range){start, end, r->depth, node});
	}
	return rc == -E2BIG ? 0 : rc;
}

static uint32_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &word) || word > UINT32_MAX)
		return 0;
	return (uint32_t)word;
}

/*
 * Adds the name of a source file. In DWARF 5 one may be relative to the compiler's folder. Equal
 * names have equal addresses, and there are few of them.
 */
static int add_file(struct unit_reader *r, const char *name, uint32_t *ret)
{
	uint32_t before = id_table_count(&r->sources), n;

	if (!name || *name == '/' || !r->folder)
		return table_add_text(&r->maker, name, ret);
	if (array_grow(&r->absolute, &r->cap_absolute, before + 1, sizeof(*r->absolute)))
		return -ENOMEM;
	n = id_table_add(&r->sources, (uintptr_t)name);
	if (n == ID_TABLE_NONE)
		return -ENOMEM;
	if (n == before && asprintf(&r->absolute[n], "%s/%s", r->folder, name) < 0)
		r->absolute[n] = NULL;
	return table_add_text(&r->maker, r->absolute[n] ? r->absolute[n] : name, ret);
}

/* Adds the place of an inlined call. */
static int add_call(struct unit_reader *r, Dwarf_Die *die, struct table_node *ret)
{
	uint32_t file = number_of(die, DW_AT_call_file);
	const char *name = NULL;

	ret->call_line = number_of(die, DW_AT_call_line);
	if (r->files && file < r->nr_files && dwarf_hasattr(die, DW_AT_call_file))
		name = dwarf_filesrc(r->files, file, NULL, NULL);
	return add_file(r, name, &ret->call_file);
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

/* Adds the name of a function. Of an inlined one, many calls have the same origin. */
static int add_name(struct unit_reader *r, Dwarf_Die *die, uint32_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin = *die;
	int rc;

	if (dwarf_attr(die, DW_AT_abstract_origin, &attr))
		dwarf_formref_die(&attr, &origin);
	if (table_find_source(&r->maker, origin.addr, ret))
		return 0;
	rc = table_add_text(&r->maker, linkage_name(die), ret);
	return rc ? rc : table_add_source(&r->maker, origin.addr, *ret);
}

/* Adds a function with code. *@node becomes its number. */
static int add_node(struct unit_reader *r, Dwarf_Die *die, bool inlined, uint32_t *node)
{
	struct table_maker *m = &r->maker;
	struct table_node new = {
		.parent = inlined ? *node : RANGE_NONE,
		.inlined = inlined,
		.call_file = TEXT_NONE,
	};
	bool any;
	int rc;

	if (m->nr_nodes >= NODES_MAX)
		return 0;
	if (array_grow(&m->nodes, &m->cap_nodes, m->nr_nodes + 1, sizeof(*m->nodes)) < 0)
		return -ENOMEM;
	rc = add_ranges(r, die, (uint32_t)m->nr_nodes, &any);
	if (rc < 0 || !any)
		return rc;
	rc = add_name(r, die, &new.name);
	if (!rc && inlined)
		rc = add_call(r, die, &new);
	if (rc)
		return rc;
	*node = (uint32_t)m->nr_nodes;
	m->nodes[m->nr_nodes++] = new;
	return 0;
}

/* Moves to the DIE behind @die in the same one. A damaged file may point back. */
static bool next_die(Dwarf_Die *die)
{
	Dwarf_Off at = dwarf_dieoffset(die);

	return !dwarf_siblingof(die, die) && dwarf_dieoffset(die) > at;
}

/* Adds the function at @die. Returns 0 or -ENOMEM, with *@ret_inside: functions may be inside. */
static int visit(struct unit_reader *r, Dwarf_Die *die, uint32_t *node, bool *ret_inside)
{
	int tag = dwarf_tag(die);

	*ret_inside = has_functions(tag) && dwarf_haschildren(die) > 0 && r->depth + 1 < NEST_MAX;
	if (tag == DW_TAG_subprogram)
		return add_node(r, die, false, node);
	if (tag == DW_TAG_inlined_subroutine)
		return add_node(r, die, true, node);
	return 0;
}

static int walk_functions(struct unit_reader *r, Dwarf_Die *top)
{
	Dwarf_Die die, child;

	r->stack[0].die = *top;
	r->stack[0].node = RANGE_NONE;
	if (dwarf_child(top, &die))
		return 0;
	for (;;) {
		uint32_t node = r->stack[r->depth].node;
		bool inside;
		int rc;

		/* Damaged: siblings that lead into what was read would be read again and again. */
		if (dwarf_dieoffset(&die) <= r->newest)
			return 0;
		r->newest = dwarf_dieoffset(&die);
		rc = visit(r, &die, &node, &inside);
		if (rc < 0)
			return rc;
		if (inside && !dwarf_child(&die, &child)) {
			r->depth++;
			r->stack[r->depth].die = die;
			r->stack[r->depth].node = node;
			die = child;
			continue;
		}
		while (!next_die(&die)) {
			if (!r->depth)
				return 0;
			die = r->stack[r->depth--].die;
		}
	}
}

/* Adds the rows of the line table, which libdw has sorted. */
static int add_rows(struct unit_reader *r, Dwarf_Die *die)
{
	Dwarf_Lines *lines;
	size_t nr;
	int rc = 0;

	if (dwarf_getsrclines(die, &lines, &nr))
		return 0;
	for (size_t i = 0; !rc && i < nr; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct table_row row = {.file = TEXT_NONE};
		Dwarf_Addr start;
		int number;
		bool ends;

		if (!line || dwarf_lineaddr(line, &start))
			continue;
		if (!dwarf_lineendsequence(line, &ends) && !ends) {
			rc = add_file(r, dwarf_linesrc(line, NULL, NULL), &row.file);
			if (!dwarf_lineno(line, &number) && number > 0)
				row.line = (uint32_t)number;
		}
		if (!rc)
			rc = table_add_row(&r->maker, start, &row);
	}
	return rc;
}

static int read_functions(struct unit *u, struct split_files *files, struct unit_reader *r)
{
	struct split_unit split;
	int rc = split_unit_open(files, &u->die, &split);

	u->is_partial = rc == -ENOENT;
	if (rc)
		return u->is_partial ? 0 : rc;
	if (dwarf_getsrcfiles(&split.die, &r->files, &r->nr_files) &&
	    dwarf_getsrcfiles(&u->die, &r->files, &r->nr_files))
		r->files = NULL;
	rc = walk_functions(r, &split.die);
	r->files = NULL;
	split_unit_close(&split);
	return rc;
}

static int read_into(struct unit *u, struct split_files *files, struct unit_reader *r)
{
	/* Functions last: the addresses of their names, which stand for these, are valid no more.
	 */
	return add_rows(r, &u->die)
		       ?: read_functions(u, files, r)
		       ?: range_set_build(&r->ranges)
		       ?: table_make(&r->maker, &r->ranges, &u->own);
}

int unit_open(struct unit *u)
{
	int rc = table_open(u->block, u->block_size, &u->table);

	u->is_open = !rc;
	return rc;
}

int unit_read(struct unit *u, struct split_files *files, size_t *text_left)
{
	struct unit_reader *r = calloc(1, sizeof(*r));
	Dwarf_Attribute folder;
	int rc;

	if (!r)
		return -ENOMEM;
	r->maker.text_left = text_left;
	r->folder = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &folder));
	rc = read_into(u, files, r);
	for (size_t i = 0; i < id_table_count(&r->sources); i++)
		free(r->absolute[i]);
	free(r->absolute);
	id_table_release(&r->sources);
	table_maker_release(&r->maker);
	range_set_release(&r->ranges);
	free(r);
	if (rc) {
		buf_release(&u->own);
		return rc;
	}
	u->block = u->own.data;
	u->block_size = u->own.len;
	return unit_open(u);
}

void unit_release(struct unit *u)
{
	buf_release(&u->own);
	free(u->function);
	*u = (struct unit){0};
}

/* Returns the name of a function to show. */
static const char *function_of(struct unit *u, const struct unit_names *names, uint32_t node)
{
	const char *raw = table_text(&u->table, u->table.nodes[node].name);
	char *text;

	if (!raw)
		return NULL;
	if (!u->function)
		u->function = calloc(u->table.nr_nodes, sizeof(*u->function));
	if (!u->function)
		return NULL;
	if (!u->function[node]) {
		text = names->demangle ? demangle_text(raw) : NULL;
		u->function[node] = strpool_intern(names->pool, text ? text : raw);
		free(text);
	}
	return u->function[node];
}

size_t unit_find(struct unit *u, const struct unit_names *names, uint64_t addr,
		 struct line_frame *ret, size_t max)
{
	const struct table_row *row = table_row_at(&u->table, addr);
	uint32_t node = table_node_at(&u->table, addr);
	struct line_frame place = {0};
	size_t nr = 0;

	if (row)
		place = (struct line_frame){.file = table_text(&u->table, row->file),
					    .line = row->line};
	if (node == RANGE_NONE && place.file && max)
		ret[nr++] = place;
	while (node != RANGE_NONE && nr < max) {
		const struct table_node *n = &u->table.nodes[node];

		ret[nr] = place;
		ret[nr].function = function_of(u, names, node);
		ret[nr++].inlined = n->inlined && n->parent != RANGE_NONE;
		place = (struct line_frame){.file = table_text(&u->table, n->call_file),
					    .line = n->call_line};
		node = n->parent;
	}
	return nr;
}
