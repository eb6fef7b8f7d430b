// SPDX-License-Identifier: Apache-2.0
#include "report/pack/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "report/pack/collect_lines.h"
#include "report/trace/frame.h"
#include "symbol/recorded/compose.h"
#include "symbol/recorded/recorded.h"

struct collected_symbol {
	const struct symbol *symbol; /* as frames give it */
	const struct dso *dso;
	uint32_t pid; /* of generated code; else 0 */
};

struct symbol_collector {
	struct trace *trace;
	struct frames frames;
	struct hash_table table;
	struct collected_symbol *key; /* of each entry */
	struct recorded_entry *entry;
	size_t nr, key_cap, entry_cap;
	uint64_t hash_key;
	bool lines;
	struct code_pieces pieces;
	struct collect_counts counts;
};

/* --- samples -------------------------------------------------------------------------------------
 */

static bool is_same(const void *keys, uint32_t number, const void *key)
{
	const struct collected_symbol *e = (const struct collected_symbol *)keys + number, *k = key;

	return e->symbol == k->symbol && e->dso == k->dso && e->pid == k->pid;
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
		     const struct collected_symbol *key, struct recorded_entry *e)
{
	const struct symbol *sym = resolver_find(c->trace->resolver, key->dso, key->pid, f->addr);
	uint64_t start;

	if (!sym || sym->end <= sym->start || !*sym->name)
		return false;
	start = sym->start;
	if (key->dso->kind == DSO_JIT) {
		e->object = (struct pd_symbols_object){.kind = PD_SYMBOLS_PROCESS, .pid = key->pid};
		start += f->ip - f->addr;
	} else if (!recorded_symbols_object(key->dso, key->pid, &e->object)) {
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

/* Reports ask for the lines of a caller before its return address. */
static int take_piece(struct symbol_collector *c, const struct frame *f)
{
	int rc = code_pieces_add(&c->pieces, f->dso, f->addr);

	return !rc && f->is_return && f->addr ? code_pieces_add(&c->pieces, f->dso, f->addr - 1)
					      : rc;
}

static int take_frame(struct symbol_collector *c, uint32_t pid, const struct frame *f)
{
	struct collected_symbol key = {.symbol = f->sym, .dso = f->dso};
	struct recorded_entry e = {.hits = 1};
	uint64_t hash;
	uint32_t at;

	if (!f->sym)
		return 0;
	if (c->lines && take_piece(c, f))
		return -ENOMEM;
	key.pid = is_generated(f->dso) ? pid : 0;
	hash = hash_word(hash_word(c->hash_key, (uintptr_t)f->sym),
			 (uint64_t)f->dso->index << 32 | key.pid);
	at = hash_table_find(&c->table, hash, is_same, c->key, &key);
	if (at != HASH_TABLE_NONE) {
		c->entry[at].hits++;
		return 0;
	}
	if (!describe(c, f, &key, &e))
		return 0;
	if (hash_table_reserve(&c->table, 1) ||
	    array_grow(&c->key, &c->key_cap, c->nr + 1, sizeof(*c->key)) ||
	    array_grow(&c->entry, &c->entry_cap, c->nr + 1, sizeof(*c->entry)))
		return -ENOMEM;
	hash_table_add(&c->table, hash, (uint32_t)c->nr);
	c->key[c->nr] = key;
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

/* Returns whether several files, such as a program and its successor, stand behind one object. */
static bool has_several_files(const struct pd_symbols_object *o, void *arg)
{
	const struct trace *t = ((const struct symbol_collector *)arg)->trace;
	size_t n = state_dso_count(t->state), found = 0;
	struct pd_symbols_object other;

	for (size_t i = 0; i < n && found < 2; i++)
		found += recorded_symbols_object(state_dso_at(t->state, i), 0, &other) &&
			 !recorded_symbols_compare(o, &other);
	return found > 1;
}

static int add_lines(const struct pd_symbols_object *o, struct buf *ret, uint64_t *pieces,
		     void *arg)
{
	const struct symbol_collector *c = arg;

	if (o->kind != PD_SYMBOLS_FILE && o->kind != PD_SYMBOLS_KERNEL)
		return 0;
	return code_pieces_lines(&c->pieces, c->trace->resolver, o, ret, pieces);
}

int collect_symbols(struct trace *t, uint64_t budget, bool lines, struct buf *table,
		    struct collect_counts *ret, struct error *err)
{
	struct symbol_collector c = {
		.trace = t,
		.hash_key = hash_key(),
		.lines = lines,
		.pieces.key = hash_key(),
	};
	int rc = frames_init(&c.frames, t);

	if (rc)
		error_sys(err, rc, "%s", t->opts.path);
	else
		rc = walk(&c, err);
	if (!rc) {
		code_pieces_sort(&c.pieces);
		rc = recorded_compose(&(struct recorded_entries){.entry = c.entry,
								 .nr = c.nr,
								 .several = has_several_files,
								 .lines = lines ? add_lines : NULL,
								 .arg = &c},
				      budget, table, &c.counts.table);
		if (rc)
			error_sys(err, rc, "%s", t->opts.path);
		*ret = c.counts;
	}
	frames_release(&c.frames);
	hash_table_release(&c.table);
	code_pieces_release(&c.pieces);
	free(c.key);
	free(c.entry);
	return rc;
}
