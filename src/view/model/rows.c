// SPDX-License-Identifier: Apache-2.0
#include "view/model/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "render/table.h"
#include "render/text.h"

struct rows_opened {
	size_t at;	 /* in rows.shown */
	uint64_t before; /* lines of the trees of earlier rows */
};

/* Rows of one task or file are many: what was found for their cells is kept. */
#define MEMO_SLOTS 256u
struct rows_memo {
	struct {
		struct hist_cell cell;
		bool known, passes;
	} slot[ROWS_ZOOMS_MAX][MEMO_SLOTS];
};

#define NAMES_MAX	  64	/* rows that stay open from table to table */
#define NAMED_ROWS_MAX	  10000 /* rows among which they are looked for */
#define CHILDREN_OPEN_MAX 1000	/* rows whose trees rows_open_all() makes with --children */

static bool has_children(const struct rows *r)
{
	return r->report->opts->children;
}

const struct callgraph *rows_graph(const struct rows *r)
{
	return has_children(r) ? &r->own : &r->hist->graph;
}

/* Makes room for the state of all nodes. */
static int grow_nodes(struct rows *r)
{
	const size_t nr = rows_graph(r)->nr;

	if (array_grow(&r->open, &r->cap_open, nr, sizeof(*r->open)) ||
	    array_grow(&r->below, &r->cap_below, nr, sizeof(*r->below)))
		return -ENOMEM;
	for (; r->nr_nodes < nr; r->nr_nodes++) {
		r->open[r->nr_nodes] = 0;
		r->below[r->nr_nodes] = 0;
	}
	return 0;
}

int rows_init(struct rows *r, struct report *report, size_t event, double percent_limit)
{
	const struct trace *t = report->trace;

	*r = (struct rows){
		.report = report,
		.hist = &report->tables.hists[event],
		.event = event,
		.percent_limit = percent_limit,
	};
	columns_of_event(report->columns, t, pd_evlist_at(t->evlist, event), &r->columns);
	r->memo = calloc(1, sizeof(*r->memo));
	if (!r->memo)
		return -ENOMEM;
	if (!has_children(r))
		return grow_nodes(r);
	r->own.by = report->opts->graph_key;
	r->own_root = malloc((r->hist->nr + 1) * sizeof(*r->own_root));
	if (!r->own_root)
		return -ENOMEM;
	memset(r->own_root, 0xff, (r->hist->nr + 1) * sizeof(*r->own_root));
	return 0;
}

void rows_release(struct rows *r)
{
	free(r->memo);
	free(r->shown);
	free(r->opened);
	free(r->open);
	free(r->below);
	free(r->own_root);
	callgraph_release(&r->own);
	buf_release(&r->text);
	*r = (struct rows){0};
}

/* --- choosing ------------------------------------------------------------------------------------
 */

static size_t cell_of(const struct hist *h, const struct sort_key *key)
{
	size_t i = 0;

	while (i < h->nr_keys && h->keys[i] != key)
		i++;
	return i;
}

char *rows_key_text(const struct rows *r, const struct hist_entry *e, const struct sort_key *key)
{
	size_t cell = cell_of(r->hist, key);
	struct buf out = {0};

	if (cell == r->hist->nr_keys ||
	    key->text(r->report->trace, hist_cells(r->hist, e)[cell], &out) ||
	    buf_append(&out, "", 1)) {
		buf_release(&out);
		return NULL;
	}
	return (char *)out.data;
}

static bool has_value(struct rows *r, const struct hist_entry *e, size_t zoom)
{
	const struct rows_zoom *z = &r->zooms[zoom];
	const size_t cell = cell_of(r->hist, z->key);
	struct hist_cell c;
	unsigned int slot;
	char *text;

	if (cell == r->hist->nr_keys)
		return true; /* another event, which lacks the key */
	c = hist_cells(r->hist, e)[cell];
	slot = (unsigned int)((c.a ^ c.a >> 12 ^ c.b) % MEMO_SLOTS);
	if (!r->memo->slot[zoom][slot].known || r->memo->slot[zoom][slot].cell.a != c.a ||
	    r->memo->slot[zoom][slot].cell.b != c.b) {
		text = rows_key_text(r, e, z->key);
		r->memo->slot[zoom][slot].cell = c;
		r->memo->slot[zoom][slot].known = true;
		r->memo->slot[zoom][slot].passes = text && !strcmp(text, z->text);
		free(text);
	}
	return r->memo->slot[zoom][slot].passes;
}

/* Returns the name by which a row is found: its function, or the text of all keys. */
static const char *row_name(struct rows *r, const struct hist_entry *e)
{
	const struct hist_cell *cells = hist_cells(r->hist, e);
	uint64_t addr;
	uint8_t mode;

	for (size_t i = 0; i < r->hist->nr_keys; i++) {
		const struct symbol *sym =
			sort_key_symbol(r->hist->keys[i], cells[i], &mode, &addr);

		if (sym)
			return sym->name;
	}
	r->text.len = 0;
	for (size_t i = 0; i < r->hist->nr_keys; i++)
		if ((i && buf_append(&r->text, " ", 1)) ||
		    r->hist->keys[i]->text(r->report->trace, cells[i], &r->text))
			return "";
	return buf_append(&r->text, "", 1) ? "" : (const char *)r->text.data;
}

static bool is_chosen(struct rows *r, const struct hist_entry *e)
{
	uint64_t all, share = columns_share(&r->columns, has_children(r), r->hist, e, &all);

	if (r->percent_limit > 0 &&
	    (!all || 100.0 * (double)share / (double)all < r->percent_limit))
		return false;
	for (size_t i = 0; i < r->nr_zooms; i++)
		if (!has_value(r, e, i))
			return false;
	return !r->match || !match_is_set(r->match) || match_has(r->match, row_name(r, e));
}

void rows_choose(struct rows *r, const struct rows_zoom *zooms, size_t nr,
		 const struct view_match *match)
{
	r->zooms = zooms;
	r->nr_zooms = nr < ROWS_ZOOMS_MAX ? nr : ROWS_ZOOMS_MAX;
	r->match = match;
	r->nr_shown = r->scanned = r->nr_opened = 0;
	r->tree_lines = r->shown_self = r->shown_samples = 0;
	mem_zero(r->memo, sizeof(*r->memo));
}

/* Returns the root of a row's tree, CALLGRAPH_NONE if it has none, or none was made. */
static uint32_t root_of(const struct rows *r, const struct hist_entry *e)
{
	return has_children(r) ? r->own_root[e - r->hist->entry] : e->root;
}

static int add_opened(struct rows *r, size_t at, uint32_t root)
{
	if (array_grow(&r->opened, &r->cap_opened, r->nr_opened + 1, sizeof(*r->opened)))
		return -ENOMEM;
	r->opened[r->nr_opened++] = (struct rows_opened){at, r->tree_lines};
	r->tree_lines += r->below[root];
	return 0;
}

static int show_row(struct rows *r, uint32_t i)
{
	const struct hist_entry *e = &r->hist->entry[i];
	uint32_t root = root_of(r, e);

	if (array_grow(&r->shown, &r->cap_shown, r->nr_shown + 1, sizeof(*r->shown)))
		return -ENOMEM;
	r->shown[r->nr_shown++] = i;
	r->shown_self += e->self;
	r->shown_samples += e->samples;
	return root != CALLGRAPH_NONE && r->open[root] ? add_opened(r, r->nr_shown - 1, root) : 0;
}

int rows_step(struct rows *r, size_t n)
{
	for (; n && r->scanned < r->hist->nr; n--, r->scanned++)
		if (is_chosen(r, &r->hist->entry[r->scanned]) &&
		    show_row(r, (uint32_t)r->scanned) < 0)
			return -ENOMEM;
	return r->scanned == r->hist->nr;
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* Returns the opened row at or before the position @at; SIZE_MAX: there is none. */
static size_t opened_before(const struct rows *r, size_t at)
{
	size_t lo = 0, hi = r->nr_opened;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->opened[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : SIZE_MAX;
}

/* The same by the number of a line. */
static size_t opened_at_line(const struct rows *r, uint64_t line)
{
	size_t lo = 0, hi = r->nr_opened;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->opened[mid].at + r->opened[mid].before <= line)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? lo - 1 : SIZE_MAX;
}

static uint32_t root_at(const struct rows *r, size_t at)
{
	return root_of(r, &r->hist->entry[r->shown[at]]);
}

uint64_t rows_line_of(const struct rows *r, size_t at)
{
	size_t i = at ? opened_before(r, at - 1) : SIZE_MAX;

	if (i == SIZE_MAX)
		return at;
	return at + r->opened[i].before + r->below[root_at(r, r->opened[i].at)];
}

static bool has_siblings(const struct callgraph *g, uint32_t n)
{
	uint32_t p = g->node[n].parent;

	return p == CALLGRAPH_NONE || g->node[g->node[p].child].sibling != CALLGRAPH_NONE;
}

/* Returns the node that is @k lines below the first line of the tree @root. */
static uint32_t node_at(const struct rows *r, uint32_t root, uint64_t k, unsigned int *ret_depth)
{
	const struct callgraph *g = rows_graph(r);
	uint32_t c = g->node[root].child;

	*ret_depth = 1;
	while (c != CALLGRAPH_NONE) {
		if (!k)
			return c;
		k--;
		if (r->open[c] && k < r->below[c]) {
			c = g->node[c].child;
			*ret_depth += c != CALLGRAPH_NONE && has_siblings(g, c);
			continue;
		}
		k -= r->open[c] ? r->below[c] : 0;
		c = g->node[c].sibling;
	}
	return CALLGRAPH_NONE;
}

static bool row_can_open(const struct rows *r, const struct hist_entry *e)
{
	const struct callgraph *g = rows_graph(r);
	uint32_t root = root_of(r, e);

	if (has_children(r) && root == CALLGRAPH_NONE)
		return r->report->opts->graph != REPORT_GRAPH_NONE;
	return root != CALLGRAPH_NONE && g->node[root].child != CALLGRAPH_NONE;
}

bool rows_at(struct rows *r, uint64_t number, struct rows_line *ret)
{
	const struct callgraph *g = rows_graph(r);
	size_t i = opened_at_line(r, number);
	uint64_t offset = 0;
	uint32_t root;

	*ret = (struct rows_line){.at = (size_t)number, .node = CALLGRAPH_NONE};
	if (number >= rows_count(r))
		return false;
	if (i != SIZE_MAX) {
		root = root_at(r, r->opened[i].at);
		offset = number - r->opened[i].at - r->opened[i].before;
		ret->at = r->opened[i].at;
		if (offset > r->below[root])
			ret->at += (size_t)(offset - r->below[root]);
		else if (offset)
			ret->node = node_at(r, root, offset - 1, &ret->depth);
	}
	ret->entry = &r->hist->entry[r->shown[ret->at]];
	root = root_of(r, ret->entry);
	if (ret->node != CALLGRAPH_NONE) {
		ret->can_open = g->node[ret->node].child != CALLGRAPH_NONE;
		ret->is_open = r->open[ret->node];
	} else {
		ret->can_open = row_can_open(r, ret->entry);
		ret->is_open = root != CALLGRAPH_NONE && r->open[root];
	}
	return true;
}

/* Returns how many lines below its row's line a node is. */
static uint64_t node_offset(const struct rows *r, uint32_t node)
{
	const struct callgraph *g = rows_graph(r);
	uint64_t k = 0;

	for (; g->node[node].parent != CALLGRAPH_NONE; node = g->node[node].parent, k++)
		for (uint32_t c = g->node[g->node[node].parent].child; c != node;
		     c = g->node[c].sibling)
			k += 1 + (r->open[c] ? r->below[c] : 0);
	return k;
}

uint64_t rows_parent_of(struct rows *r, uint64_t number)
{
	const struct callgraph *g = rows_graph(r);
	struct rows_line line;
	uint32_t up;

	if (!rows_at(r, number, &line) || line.node == CALLGRAPH_NONE)
		return number;
	/* Chains without a branch have one indentation: go to where it began. */
	for (up = g->node[line.node].parent;
	     g->node[up].parent != CALLGRAPH_NONE && !has_siblings(g, up);)
		up = g->node[up].parent;
	return rows_line_of(r, line.at) + node_offset(r, up);
}

/* --- opening -------------------------------------------------------------------------------------
 */

/* Adds to the lines below the open nodes above @n. */
static void spread(struct rows *r, uint32_t n, int64_t lines)
{
	const struct callgraph *g = rows_graph(r);

	for (n = g->node[n].parent; n != CALLGRAPH_NONE && r->open[n]; n = g->node[n].parent)
		r->below[n] = (uint32_t)(r->below[n] + lines);
}

/* Opens a node whose children are as they are. */
static void open_node(struct rows *r, uint32_t n)
{
	const struct callgraph *g = rows_graph(r);
	uint32_t lines = 0;

	if (r->open[n] || g->node[n].child == CALLGRAPH_NONE)
		return;
	for (uint32_t c = g->node[n].child; c != CALLGRAPH_NONE; c = g->node[c].sibling)
		lines += 1 + (r->open[c] ? r->below[c] : 0);
	r->open[n] = 1;
	r->below[n] = lines;
	spread(r, n, lines);
}

static void close_node(struct rows *r, uint32_t n)
{
	if (!r->open[n])
		return;
	r->open[n] = 0;
	spread(r, n, -(int64_t)r->below[n]);
}

/* Opens @n, and the chain below it up to the next branch. */
static void open_chain(struct rows *r, uint32_t n)
{
	const struct callgraph *g = rows_graph(r);

	for (;;) {
		open_node(r, n);
		n = g->node[n].child;
		if (n == CALLGRAPH_NONE || g->node[n].sibling != CALLGRAPH_NONE)
			return;
	}
}

/* Opens or closes all nodes below @top and it itself, children first. */
static void set_whole(struct rows *r, uint32_t top, bool open)
{
	const struct callgraph *g = rows_graph(r);
	uint32_t n = top;

	close_node(r, top);
	for (;;) {
		while (g->node[n].child != CALLGRAPH_NONE)
			n = g->node[n].child;
		for (;;) {
			r->open[n] = 0; /* what is above it is closed: no sum counts it */
			if (open && n != top)
				open_node(r, n);
			if (n == top)
				goto out;
			if (g->node[n].sibling != CALLGRAPH_NONE)
				break;
			n = g->node[n].parent;
		}
		n = g->node[n].sibling;
	}
out:
	if (open)
		open_node(r, top);
}

/* Puts the row at @at into the list of opened rows, or out of it, and adds the lists' sums up. */
static int note_opened(struct rows *r, size_t at)
{
	uint32_t root = root_at(r, at);
	size_t i = opened_before(r, at), place = i == SIZE_MAX ? 0 : i + 1;
	bool listed = i != SIZE_MAX && r->opened[i].at == at;

	if (r->open[root] && !listed) {
		if (array_grow(&r->opened, &r->cap_opened, r->nr_opened + 1, sizeof(*r->opened)))
			return -ENOMEM;
		memmove(&r->opened[place + 1], &r->opened[place],
			(r->nr_opened++ - place) * sizeof(*r->opened));
		r->opened[place].at = at;
	} else if (!r->open[root] && listed) {
		memmove(&r->opened[i], &r->opened[i + 1],
			(--r->nr_opened - i) * sizeof(*r->opened));
	}
	r->tree_lines = 0;
	for (i = 0; i < r->nr_opened; i++) {
		r->opened[i].before = r->tree_lines;
		r->tree_lines += r->below[root_at(r, r->opened[i].at)];
	}
	return 0;
}

/* With --children: makes the tree of a row. */
static int make_tree(struct rows *r, const struct hist_entry *e)
{
	const struct callers_bounds bounds = {.percent = 0.5, .all = r->hist->period};
	uint32_t *own = &r->own_root[e - r->hist->entry], root;
	const struct callgraph *g;
	int rc;

	if (*own != CALLGRAPH_NONE)
		return 0;
	rc = report_tree(r->report, r->event, e, &bounds, &g, &root);
	if (!rc)
		rc = callgraph_root(&r->own, own);
	if (!rc && root != CALLGRAPH_NONE)
		rc = callgraph_merge(&r->own, *own, g, root);
	return rc ?: grow_nodes(r);
}

int rows_open(struct rows *r, uint64_t number, bool open, bool whole)
{
	struct rows_line line;
	uint32_t n;
	int rc;

	if (!rows_at(r, number, &line))
		return 0;
	if (has_children(r)) {
		rc = make_tree(r, line.entry);
		if (rc < 0)
			return rc;
	}
	n = line.node == CALLGRAPH_NONE ? root_of(r, line.entry) : line.node;
	if (n == CALLGRAPH_NONE)
		return 0;
	if (whole)
		set_whole(r, n, open);
	else if (open)
		open_chain(r, n);
	else
		close_node(r, n);
	return note_opened(r, line.at);
}

/* Puts the texts of all keys of a row into r->text, with a NUL. */
static int full_name(struct rows *r, const struct hist_entry *e)
{
	const struct hist_cell *cells = hist_cells(r->hist, e);
	int rc = 0;

	r->text.len = 0;
	for (size_t i = 0; !rc && i < r->hist->nr_keys; i++)
		rc = r->hist->keys[i]->text(r->report->trace, cells[i], &r->text)
			     ?: buf_append(&r->text, "\t", 1);
	return rc ?: buf_append(&r->text, "", 1);
}

/* Returns whether every node below @top that has children is open, as is @top. */
static bool is_whole(const struct rows *r, uint32_t top)
{
	const struct callgraph *g = rows_graph(r);

	for (uint32_t n = top;;) {
		uint32_t child = g->node[n].child;

		if (child != CALLGRAPH_NONE && !r->open[n])
			return false;
		if (child != CALLGRAPH_NONE) {
			n = child;
			continue;
		}
		while (n != top && g->node[n].sibling == CALLGRAPH_NONE)
			n = g->node[n].parent;
		if (n == top)
			return true;
		n = g->node[n].sibling;
	}
}

int rows_opened_names(struct rows *r, struct buf *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->nr_opened && i < NAMES_MAX; i++) {
		const struct hist_entry *e = &r->hist->entry[r->shown[r->opened[i].at]];

		rc = buf_append(out, is_whole(r, root_of(r, e)) ? "+" : "-", 1)
			     ?: full_name(r, e)
			     ?: buf_append(out, r->text.data, r->text.len);
	}
	return rc;
}

int rows_open_names(struct rows *r, const struct buf *names)
{
	const char *end = (const char *)names->data + names->len;
	int rc = 0;

	for (size_t at = 0; !rc && names->len && at < r->nr_shown && at < NAMED_ROWS_MAX; at++) {
		rc = full_name(r, &r->hist->entry[r->shown[at]]);
		for (const char *s = (const char *)names->data; !rc && s < end; s += strlen(s) + 1)
			if (!strcmp(s + 1, (const char *)r->text.data)) {
				rc = rows_open(r, rows_line_of(r, at), true, *s == '+');
				break;
			}
	}
	return rc;
}

/* Opens all nodes of all trees: a node's number is above its parent's. */
static void open_nodes(struct rows *r)
{
	const struct callgraph *g = rows_graph(r);

	memset(r->below, 0, g->nr * sizeof(*r->below));
	for (size_t n = g->nr; n--;) {
		r->open[n] = g->node[n].child != CALLGRAPH_NONE;
		if (g->node[n].parent != CALLGRAPH_NONE)
			r->below[g->node[n].parent] += 1 + r->below[n];
	}
}

int rows_open_all(struct rows *r, bool open)
{
	int rc = 0;

	for (size_t i = 0; has_children(r) && open && i < r->nr_shown && i < CHILDREN_OPEN_MAX;
	     i++) {
		rc = make_tree(r, &r->hist->entry[r->shown[i]]);
		if (rc < 0)
			return rc;
	}
	if (!open)
		memset(r->open, 0, r->nr_nodes);
	else if (r->nr_nodes)
		open_nodes(r);
	r->nr_opened = 0;
	r->tree_lines = 0;
	for (size_t i = 0; !rc && open && i < r->nr_shown; i++) {
		uint32_t root = root_at(r, i);

		if (root != CALLGRAPH_NONE && r->open[root])
			rc = add_opened(r, i, root);
	}
	return rc;
}

/* --- text ----------------------------------------------------------------------------------------
 */

uint64_t rows_whole(const struct rows *r, bool relative)
{
	return relative ? r->shown_self : r->hist->period;
}

int rows_cell(struct rows *r, const struct hist_entry *e, const struct column *c, bool relative,
	      struct buf *out)
{
	const struct field *f = c->field;
	uint64_t value, all;

	if (c->key) {
		r->text.len = 0;
		return c->key->text(r->report->trace,
				    hist_cells(r->hist, e)[cell_of(r->hist, c->key)], &r->text)
			       ?: text_escape_len(out, (const char *)r->text.data, r->text.len);
	}
	if (f->children && !has_children(r))
		return buf_printf(out, "N/A");
	value = f->value(r->hist, e);
	all = f->kind == FIELD_LATENCY ? r->hist->latency : rows_whole(r, relative);
	switch (f->kind) {
	case FIELD_COUNT: return buf_printf(out, "%" PRIu64, value);
	case FIELD_TIME: return buf_printf(out, "%.3f ms", (double)value / 1e6);
	case FIELD_AVERAGE: return buf_printf(out, "%.1f", field_ratio(f, r->hist, e));
	case FIELD_SHARE:
		if (isnan(field_ratio(f, r->hist, e)))
			return buf_printf(out, "-");
		return buf_printf(out, "%.1f%%", field_ratio(f, r->hist, e));
	case FIELD_PERCENT:
	case FIELD_LATENCY: break;
	}
	return buf_printf(out, "%.2f%%", all ? 100.0 * (double)value / (double)all : 0);
}

const struct symbol *rows_symbol(const struct rows *r, const struct rows_line *line)
{
	const struct hist_cell *cells;
	const struct symbol *sym = NULL;
	uint64_t addr;
	uint8_t mode;

	if (line->node != CALLGRAPH_NONE)
		return rows_graph(r)->node[line->node].sym;
	cells = hist_cells(r->hist, line->entry);
	for (size_t i = 0; !sym && i < r->hist->nr_keys; i++)
		sym = sort_key_symbol(r->hist->keys[i], cells[i], &mode, &addr);
	return sym;
}

bool rows_matches(struct rows *r, const struct rows_line *line, const struct view_match *match)
{
	const struct symbol *sym;

	if (line->node == CALLGRAPH_NONE)
		return match_has(match, row_name(r, line->entry));
	sym = rows_symbol(r, line);
	return sym && match_has(match, sym->name);
}

const struct sort_key *rows_key(const struct rows *r, const char *const *names, size_t nr)
{
	for (size_t n = 0; n < nr; n++)
		for (size_t i = 0; i < r->hist->nr_keys; i++)
			if (!strcmp(r->hist->keys[i]->name, names[n]))
				return r->hist->keys[i];
	return NULL;
}

int rows_stack(struct rows *r, const struct rows_line *line, struct buf *out)
{
	const struct callgraph *g = rows_graph(r);
	int rc = 0;

	for (size_t i = 0; !rc && i < r->hist->nr_keys; i++) {
		char *text = rows_key_text(r, line->entry, r->hist->keys[i]);

		rc = text ? (i ? buf_append(out, " ", 1) : 0) ?: text_escape(out, text) : -ENOMEM;
		free(text);
	}
	if (!rc)
		rc = buf_append(out, "\n", 1);
	for (uint32_t n = line->node;
	     !rc && n != CALLGRAPH_NONE && g->node[n].parent != CALLGRAPH_NONE;
	     n = g->node[n].parent) {
		rc = buf_append(out, "\t", 1);
		if (!rc)
			rc = graph_name(out, g->by, &g->node[n]);
		if (!rc)
			rc = buf_append(out, "\n", 1);
	}
	return rc;
}
