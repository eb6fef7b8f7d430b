// SPDX-License-Identifier: Apache-2.0
#include "symbol/recorded/compose.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/recorded/recorded.h"

#define ENTRY_BYTES 8u /* of a function in the table, besides its name; an estimate */

struct composer {
	struct recorded_entry *entry;
	size_t nr;
	const struct recorded_entries *from;
	uint64_t room; /* bytes for lines */
	struct compose_counts counts;
};

static int compare_names(const struct pd_symbols_function *a, const struct pd_symbols_function *b)
{
	size_t len = a->name_len < b->name_len ? a->name_len : b->name_len;
	int rc = memcmp(a->name, b->name, len);

	if (rc)
		return rc;
	return a->name_len < b->name_len ? -1 : a->name_len > b->name_len;
}

static int compare_hits(const void *a, const void *b)
{
	const struct recorded_entry *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return compare_names(&x->function, &y->function);
}

static int compare_places(const void *a, const void *b)
{
	const struct recorded_entry *x = a, *y = b;
	int rc = recorded_symbols_compare(&x->object, &y->object);

	if (rc)
		return rc;
	if (x->function.start != y->function.start)
		return x->function.start < y->function.start ? -1 : 1;
	return compare_hits(a, b);
}

static size_t object_end(const struct composer *c, size_t i)
{
	size_t end = i + 1;

	while (end < c->nr && !recorded_symbols_compare(&c->entry[i].object, &c->entry[end].object))
		end++;
	return end;
}

static bool is_equal(const struct recorded_entry *a, const struct recorded_entry *b)
{
	return a->function.start == b->function.start && a->function.size == b->function.size &&
	       !compare_names(&a->function, &b->function) &&
	       !recorded_symbols_compare(&a->object, &b->object);
}

/* Makes one entry of equal ones. */
static void join_equal(struct composer *c)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		if (nr && is_equal(&c->entry[nr - 1], &c->entry[i]))
			c->entry[nr - 1].hits += c->entry[i].hits;
		else
			c->entry[nr++] = c->entry[i];
	}
	c->nr = nr;
}

/* Marks generated functions that took the place of one another. */
static void mark_overlaps(struct recorded_entry *e, size_t n)
{
	struct recorded_entry *last = e; /* ends last of those before */

	for (size_t i = 1; i < n; i++) {
		uint64_t end = last->function.start + last->function.size;

		if (e[i].function.start < end && compare_names(&e[i].function, &last->function))
			e[i].doubtful = last->doubtful = true;
		if (e[i].function.start + e[i].function.size > end)
			last = &e[i];
	}
}

/* Drops the functions of which readers cannot tell whether an address belongs to them. */
static void drop_doubtful(struct composer *c, const struct recorded_entries *e)
{
	size_t end, nr = 0;

	for (size_t i = 0; i < c->nr; i = end) {
		const struct pd_symbols_object *o = &c->entry[i].object;
		bool generated = o->kind == PD_SYMBOLS_PROCESS;
		bool several = !generated && !o->build_id_size && e->several(o, e->arg);

		end = object_end(c, i);
		if (generated)
			mark_overlaps(&c->entry[i], end - i);
		for (size_t n = i; several && n < end; n++)
			c->entry[n].doubtful = true;
	}
	for (size_t i = 0; i < c->nr; i++)
		if (!c->entry[i].doubtful)
			c->entry[nr++] = c->entry[i];
	c->counts.doubtful = c->nr - nr;
	c->nr = nr;
}

/* Drops the functions that the budget has no room for. */
static void cut(struct composer *c, uint64_t budget)
{
	uint64_t sum = 0;
	size_t nr = 0;

	qsort(c->entry, c->nr, sizeof(*c->entry), compare_hits);
	for (; nr < c->nr; nr++) {
		uint64_t more = ENTRY_BYTES + c->entry[nr].function.name_len;

		if (more > budget - sum)
			break;
		sum += more;
	}
	c->room = budget - sum;
	c->counts.left_out = c->nr - nr;
	c->nr = nr;
}

/* Appends the lines of @o, if there is room for them. */
static int add_lines(struct composer *c, const struct pd_symbols_object *o, struct buf *ret)
{
	uint64_t pieces = 0;
	int rc = c->from->lines ? c->from->lines(o, ret, &pieces, c->from->arg) : 0;

	if (rc || !ret->len)
		return rc;
	if (ret->len > c->room) {
		c->counts.unlined += pieces;
		ret->len = 0;
		return 0;
	}
	c->room -= ret->len;
	c->counts.lined += pieces;
	return 0;
}

/* Appends the object of the entries from @from up to @to. Equal files give equal functions. */
static int put_object(struct composer *c, size_t from, size_t to, struct buf *table)
{
	struct pd_symbols_object o = c->entry[from].object;
	struct buf functions = {0}, lines = {0};
	uint64_t last = 0;
	int rc = 0;

	for (size_t i = from; !rc && i < to; i++) {
		const struct pd_symbols_function *f = &c->entry[i].function;

		if (i > from && f->start == last)
			continue;
		rc = pd_symbols_put_function(&functions, &last, f);
		c->counts.functions++;
	}
	o.functions = functions.data;
	o.functions_len = functions.len;
	if (!rc)
		rc = add_lines(c, &o, &lines);
	o.lines = lines.data;
	o.lines_len = lines.len;
	if (!rc)
		rc = pd_symbols_put_object(table, &o);
	c->counts.objects++;
	buf_release(&functions);
	buf_release(&lines);
	return rc;
}

static int put_table(struct composer *c, struct buf *table)
{
	int rc = pd_symbols_begin(table, c->counts.left_out + c->counts.doubtful);
	size_t end;

	if (c->nr)
		qsort(c->entry, c->nr, sizeof(*c->entry), compare_places);
	for (size_t i = 0; !rc && i < c->nr; i = end) {
		end = object_end(c, i);
		rc = put_object(c, i, end, table);
	}
	return rc;
}

int recorded_compose(const struct recorded_entries *e, uint64_t budget, struct buf *table,
		     struct compose_counts *ret)
{
	struct composer c = {.entry = e->entry, .nr = e->nr, .from = e, .room = budget};
	int rc;

	if (c.nr) {
		qsort(c.entry, c.nr, sizeof(*c.entry), compare_places);
		join_equal(&c);
		drop_doubtful(&c, e);
		cut(&c, budget);
	}
	rc = put_table(&c, table);
	*ret = c.counts;
	return rc;
}
