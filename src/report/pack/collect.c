// SPDX-License-Identifier: Apache-2.0
#include "report/pack/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "report/trace/frame.h"
#include "symbol/recorded/recorded.h"

#define ENTRY_BYTES 8u /* of a function in the table, besides its name; an estimate */

struct collected_symbol {
	const struct symbol *key; /* as frames give it */
	const struct dso *dso;
	uint32_t pid; /* of generated code; else 0 */
	uint64_t hits;
	bool doubtful; /* readers would take it for another */
	struct pd_symbols_object object;
	struct pd_symbols_function function;
};

struct symbol_collector {
	struct trace *trace;
	struct frames frames;
	struct hash_table table;
	struct collected_symbol *entry;
	size_t nr, cap;
	uint64_t key;
	struct collect_counts counts;
};

/* --- samples -------------------------------------------------------------------------------------
 */

static bool is_same(const void *entries, uint32_t number, const void *key)
{
	const struct collected_symbol *e = (const struct collected_symbol *)entries + number,
				      *k = key;

	return e->key == k->key && e->dso == k->dso && e->pid == k->pid;
}

static bool is_generated(const struct dso *dso)
{
	return dso->kind == DSO_ANON || dso->kind == DSO_JIT;
}

/*
 * Fills object and function of @e. Code of a jitdump gets its addresses in the process, where it
 * has a name without the jitdump, too. Returns false if the table has no names for such a dso.
 */
static bool describe(const struct symbol_collector *c, const struct frame *f,
		     struct collected_symbol *e)
{
	const struct symbol *sym = resolver_find(c->trace->resolver, e->dso, e->pid, f->addr);
	uint64_t start;

	if (!sym || sym->end <= sym->start || !*sym->name)
		return false;
	start = sym->start;
	if (e->dso->kind == DSO_JIT) {
		e->object = (struct pd_symbols_object){.kind = PD_SYMBOLS_PROCESS, .pid = e->pid};
		start += f->ip - f->addr;
	} else if (!recorded_symbols_object(e->dso, e->pid, &e->object)) {
		return false;
	}
	e->function = (struct pd_symbols_function){
		.start = start,
		.size = sym->end - sym->start,
		.name = sym->name,
		.name_len = strlen(sym->name),
	};
	return e->function.size <= UINT64_MAX - start;
}

static int take_frame(struct symbol_collector *c, uint32_t pid, const struct frame *f)
{
	struct collected_symbol e = {.key = f->sym, .dso = f->dso, .hits = 1};
	uint64_t hash;
	uint32_t at;

	if (!f->sym)
		return 0;
	e.pid = is_generated(f->dso) ? pid : 0;
	hash = hash_word(hash_word(c->key, (uintptr_t)f->sym),
			 (uint64_t)f->dso->index << 32 | e.pid);
	at = hash_table_find(&c->table, hash, is_same, c->entry, &e);
	if (at != HASH_TABLE_NONE) {
		c->entry[at].hits++;
		return 0;
	}
	if (!describe(c, f, &e))
		return 0;
	if (hash_table_reserve(&c->table, 1) ||
	    array_grow(&c->entry, &c->cap, c->nr + 1, sizeof(*c->entry)))
		return -ENOMEM;
	hash_table_add(&c->table, hash, (uint32_t)c->nr);
	c->entry[c->nr++] = e;
	return 0;
}

static int take_data(struct symbol_collector *c, const struct walk_sample *ws, uint64_t addr)
{
	struct frame f;

	frames_resolve_data(&c->frames, ws->s.pid, ws->s.cpumode, addr, ws->rec->at, &f);
	return take_frame(c, ws->s.pid, &f);
}

static int take_sample(const struct walk_sample *ws, void *arg)
{
	struct symbol_collector *c = arg;
	int rc = frames_of_sample(&c->frames, ws, FRAMES_MAX);

	for (size_t i = 0; !rc && i < c->frames.nr; i++) {
		c->counts.frames++;
		c->counts.unnamed += !c->frames.frame[i].sym;
		rc = take_frame(c, ws->s.pid, &c->frames.frame[i]);
	}
	if (!rc && c->frames.is_chain && (ws->s.type & PERF_SAMPLE_IP)) /* it may lack this */
		rc = take_data(c, ws, ws->s.ip);
	for (uint64_t i = 0; !rc && i < ws->s.branch_nr; i++)
		rc = take_data(c, ws, ws->s.branches[i].from)
			     ?: take_data(c, ws, ws->s.branches[i].to);
	if (!rc && (ws->s.type & PERF_SAMPLE_ADDR))
		rc = take_data(c, ws, ws->s.addr);
	return rc;
}

static int walk(struct symbol_collector *c, struct error *err)
{
	struct trace *t = c->trace;
	struct walker *w = NULL;
	int rc;

	if (t->untimed_samples)
		return walk_ordered(t, &(struct walk_takers){.sample = take_sample, .arg = c}, err);
	rc = walker_new(t, &w);
	for (size_t i = 0; !rc && i < t->nr_chunks; i++)
		rc = walk_chunk(w, &t->chunks[i], take_sample, c);
	walker_free(w);
	walk_hand_in_findings(t);
	return rc ? error_sys(err, rc, "%s", t->opts.path) : 0;
}

/* --- the table -----------------------------------------------------------------------------------
 */

static int compare_hits(const void *a, const void *b)
{
	const struct collected_symbol *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return strcmp(x->function.name, y->function.name);
}

static int compare_places(const void *a, const void *b)
{
	const struct collected_symbol *x = a, *y = b;
	int rc = recorded_symbols_compare(&x->object, &y->object);

	if (rc)
		return rc;
	if (x->function.start != y->function.start)
		return x->function.start < y->function.start ? -1 : 1;
	return compare_hits(a, b);
}

static size_t object_end(const struct symbol_collector *c, size_t i)
{
	size_t end = i + 1;

	while (end < c->nr && !recorded_symbols_compare(&c->entry[i].object, &c->entry[end].object))
		end++;
	return end;
}

/* Returns whether several files, such as a program and its successor, stand behind one object. */
static bool has_several_files(const struct trace *t, const struct pd_symbols_object *o)
{
	size_t n = state_dso_count(t->state), found = 0;
	struct pd_symbols_object other;

	if (o->kind == PD_SYMBOLS_PROCESS || o->build_id_size)
		return false;
	for (size_t i = 0; i < n && found < 2; i++)
		found += recorded_symbols_object(state_dso_at(t->state, i), 0, &other) &&
			 !recorded_symbols_compare(o, &other);
	return found > 1;
}

/* Marks generated functions that took the place of one another. */
static void mark_overlaps(struct collected_symbol *e, size_t n)
{
	struct collected_symbol *last = e; /* ends last of those before */

	for (size_t i = 1; i < n; i++) {
		uint64_t end = last->function.start + last->function.size;

		if (e[i].function.start < end && strcmp(e[i].function.name, last->function.name))
			e[i].doubtful = last->doubtful = true;
		if (e[i].function.start + e[i].function.size > end)
			last = &e[i];
	}
}

/* Drops the functions of which readers cannot tell whether an address belongs to them. */
static void drop_doubtful(struct symbol_collector *c)
{
	size_t end, nr = 0;

	qsort(c->entry, c->nr, sizeof(*c->entry), compare_places);
	for (size_t i = 0; i < c->nr; i = end) {
		bool several = has_several_files(c->trace, &c->entry[i].object);

		end = object_end(c, i);
		if (c->entry[i].object.kind == PD_SYMBOLS_PROCESS)
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
static void cut(struct symbol_collector *c, uint64_t budget)
{
	uint64_t sum = 0;
	size_t nr = 0;

	qsort(c->entry, c->nr, sizeof(*c->entry), compare_hits);
	for (; nr < c->nr; nr++) {
		sum += ENTRY_BYTES + c->entry[nr].function.name_len;
		if (sum > budget)
			break;
	}
	c->counts.left_out = c->nr - nr;
	c->nr = nr;
}

/* Appends the object of the entries from @from up to @to. Equal files give equal functions. */
static int put_object(struct symbol_collector *c, size_t from, size_t to, struct buf *table)
{
	struct pd_symbols_object o = c->entry[from].object;
	struct buf functions = {0};
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
		rc = pd_symbols_put_object(table, &o);
	c->counts.objects++;
	buf_release(&functions);
	return rc;
}

static int put_table(struct symbol_collector *c, struct buf *table)
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

int collect_symbols(struct trace *t, uint64_t budget, struct buf *table, struct collect_counts *ret,
		    struct error *err)
{
	struct symbol_collector c = {.trace = t, .key = hash_key()};
	int rc = frames_init(&c.frames, t);

	if (rc)
		error_sys(err, rc, "%s", t->opts.path);
	else
		rc = walk(&c, err);
	if (!rc) {
		if (c.nr) {
			drop_doubtful(&c);
			cut(&c, budget);
		}
		rc = put_table(&c, table);
		if (rc)
			error_sys(err, rc, "%s", t->opts.path);
		*ret = c.counts;
	}
	frames_release(&c.frames);
	hash_table_release(&c.table);
	free(c.entry);
	return rc;
}
