// SPDX-License-Identifier: Apache-2.0
#include "symbol/recorded/recorded.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_table.h"

struct recorded {
	struct pd_symbols_object object;
	_Atomic bool made;    /* published with release under the lock; read with acquire */
	struct symtab *table; /* NULL: no functions */
	struct pd_symbol_lines lines;
};

struct recorded_symbols {
	struct recorded *objects;
	size_t nr, cap;
	struct hash_table by_object;
	uint64_t key, left_out;
	bool damaged;
	pthread_mutex_t lock; /* guards the making of tables */
};

/* --- objects -------------------------------------------------------------------------------------
 */

bool recorded_symbols_object(const struct dso *dso, uint32_t pid, struct pd_symbols_object *ret)
{
	static const uint8_t kinds[] = {
		[DSO_KERNEL] = PD_SYMBOLS_KERNEL, [DSO_MODULE] = PD_SYMBOLS_MODULE,
		[DSO_ELF] = PD_SYMBOLS_FILE,	  [DSO_VDSO] = PD_SYMBOLS_VDSO,
		[DSO_ANON] = PD_SYMBOLS_PROCESS,
	};

	if ((size_t)dso->kind >= sizeof(kinds) || !kinds[dso->kind])
		return false;
	*ret = (struct pd_symbols_object){.kind = kinds[dso->kind]};
	if (dso->kind == DSO_ANON) {
		ret->pid = pid;
		return true;
	}
	ret->name = dso->name;
	ret->name_len = strlen(dso->name);
	ret->build_id = dso->build_id;
	ret->build_id_size = dso->build_id_size;
	return true;
}

static int compare_bytes(const void *a, size_t a_len, const void *b, size_t b_len)
{
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return a_len ? memcmp(a, b, a_len) : 0;
}

int recorded_symbols_compare(const struct pd_symbols_object *a, const struct pd_symbols_object *b)
{
	int rc;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	rc = compare_bytes(a->build_id, a->build_id_size, b->build_id, b->build_id_size);
	if (rc || a->build_id_size)
		return rc;
	return compare_bytes(a->name, a->name_len, b->name, b->name_len);
}

static uint64_t hash_object(const struct recorded_symbols *rs, const struct pd_symbols_object *o)
{
	uint64_t h = hash_word(hash_word(rs->key, o->kind), o->pid);

	if (o->build_id_size)
		return hash_bytes(h, o->build_id, o->build_id_size);
	return o->name_len ? hash_bytes(h, o->name, o->name_len) : h;
}

static bool is_same(const void *objects, uint32_t number, const void *key)
{
	const struct recorded *r = objects;

	return !recorded_symbols_compare(&r[number].object, key);
}

/* Of several objects for the same dsos the first counts. */
static int add_object(struct recorded_symbols *rs, const struct pd_symbols_object *o)
{
	uint64_t hash = hash_object(rs, o);

	if (hash_table_find(&rs->by_object, hash, is_same, rs->objects, o) != HASH_TABLE_NONE)
		return 0;
	if (hash_table_reserve(&rs->by_object, 1) ||
	    array_grow(&rs->objects, &rs->cap, rs->nr + 1, sizeof(*rs->objects)))
		return -ENOMEM;
	memset(&rs->objects[rs->nr], 0, sizeof(*rs->objects));
	rs->objects[rs->nr].object = *o;
	hash_table_add(&rs->by_object, hash, (uint32_t)rs->nr++);
	return 0;
}

int recorded_symbols_new(const uint8_t *p, size_t len, struct recorded_symbols **ret)
{
	struct recorded_symbols *rs;
	struct pd_symbols_cursor c;
	struct pd_symbols_object o;
	uint64_t left_out;
	int rc = pd_symbols_open(p, len, &c, &left_out), more;

	if (rc)
		return rc;
	rs = calloc(1, sizeof(*rs));
	if (!rs)
		return -ENOMEM;
	pthread_mutex_init(&rs->lock, NULL);
	rs->key = hash_key();
	rs->left_out = left_out;
	while ((more = pd_symbols_next_object(&c, &o)) > 0) {
		rc = add_object(rs, &o);
		if (rc) {
			recorded_symbols_free(rs);
			return rc;
		}
	}
	rs->damaged = more < 0;
	*ret = rs;
	return 0;
}

void recorded_symbols_free(struct recorded_symbols *rs)
{
	if (!rs)
		return;
	for (size_t i = 0; i < rs->nr; i++) {
		symtab_free(rs->objects[i].table);
		pd_symbol_lines_release(&rs->objects[i].lines);
	}
	free(rs->objects);
	hash_table_release(&rs->by_object);
	pthread_mutex_destroy(&rs->lock);
	free(rs);
}

bool recorded_symbols_damaged(const struct recorded_symbols *rs)
{
	return rs->damaged;
}

bool recorded_symbols_lined(const struct recorded_symbols *rs)
{
	for (size_t i = 0; i < rs->nr; i++)
		if (rs->objects[i].object.lines_len)
			return true;
	return false;
}

uint64_t recorded_symbols_left_out(const struct recorded_symbols *rs)
{
	return rs->left_out;
}

/* --- tables --------------------------------------------------------------------------------------
 */

static int add_function(struct symtab_builder *b, const struct pd_symbols_function *f)
{
	static const char plt[] = "@plt";
	const size_t plt_len = sizeof(plt) - 1;
	struct symtab_entry e = {.start = f->start, .size = f->size, .binding = SYMTAB_GLOBAL};
	size_t len = f->name_len;
	int rc;

	e.plt = len > plt_len && !memcmp(f->name + len - plt_len, plt, plt_len);
	rc = symtab_name(b, f->name, len - (e.plt ? plt_len : 0), &e.name);
	return rc ? rc : symtab_add(b, &e);
}

static struct symtab *make_table(const struct pd_symbols_object *o)
{
	struct symtab_builder b = {0};
	struct pd_symbols_cursor c;
	struct pd_symbols_function f;
	struct symtab *t = NULL;

	pd_symbols_functions(o, &c);
	while (pd_symbols_next_function(&c, &f) > 0) {
		if (add_function(&b, &f)) {
			symtab_builder_release(&b);
			return NULL;
		}
	}
	return symtab_build(&b, &t) ? NULL : t;
}

/* Returns the object that stands for @dso, with its tables made; NULL: there is none. */
static struct recorded *made_object(struct recorded_symbols *rs, const struct dso *dso,
				    uint32_t pid)
{
	struct pd_symbols_object key;
	struct recorded *r;
	uint32_t number;

	if (!recorded_symbols_object(dso, pid, &key))
		return NULL;
	number = hash_table_find(&rs->by_object, hash_object(rs, &key), is_same, rs->objects, &key);
	if (number == HASH_TABLE_NONE)
		return NULL;
	r = &rs->objects[number];
	if (atomic_load_explicit(&r->made, memory_order_acquire))
		return r;
	pthread_mutex_lock(&rs->lock);
	if (!atomic_load_explicit(&r->made, memory_order_relaxed)) {
		r->table = make_table(&r->object);
		if (r->object.lines_len)
			pd_symbol_lines_decode(r->object.lines, r->object.lines_len, &r->lines);
		atomic_store_explicit(&r->made, true, memory_order_release);
	}
	pthread_mutex_unlock(&rs->lock);
	return r;
}

struct symtab *recorded_symbols_table(struct recorded_symbols *rs, const struct dso *dso,
				      uint32_t pid)
{
	const struct recorded *r = made_object(rs, dso, pid);

	return r ? r->table : NULL;
}

const struct pd_symbol_lines *recorded_symbols_lines(struct recorded_symbols *rs,
						     const struct dso *dso)
{
	const struct recorded *r = dso->kind == DSO_ANON ? NULL : made_object(rs, dso, 0);

	return r && r->lines.nr_runs ? &r->lines : NULL;
}
