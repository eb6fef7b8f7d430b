// SPDX-License-Identifier: Apache-2.0
#include "symbol/types/types.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/strpool.h"
#include "symbol/code/code.h"
#include "symbol/lines/debug_file.h"
#include "symbol/types/type_file.h"

/* The types of a dso's file. */
struct dso_types {
	const struct dso *dso;
	struct debug_space space;
	bool has_debug; /* @space is set */
	struct type_file *file;
};

struct found_type {
	uint32_t dso;
	uint64_t addr;
	const struct data_type *type;
};

struct data_types {
	const struct resolver *resolver;
	const struct dso *kernel;
	uint64_t key;		  /* of hashes */
	pthread_mutex_t lock;	  /* guards the rest */
	struct dso_types **files; /* by dso; NULL: not asked for */
	size_t nr_files;
	struct strpool *pool;
	struct found_type *found;
	size_t nr_found, cap_found;
	struct hash_table table; /* of @found */
};

static const struct data_type unknown = {.name = "(unknown)"};
static const struct data_type stack_operation = {.name = "(stack operation)"};
static const struct data_type stack_canary = {.name = "(stack canary)"};

int data_types_new(const struct resolver *r, const struct dso *kernel, struct data_types **ret)
{
	struct data_types *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->pool = strpool_new();
	if (!t->pool) {
		free(t);
		return -ENOMEM;
	}
	t->resolver = r;
	t->kernel = kernel;
	t->key = hash_key();
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

static void file_free(struct dso_types *f)
{
	if (!f)
		return;
	type_file_free(f->file);
	debug_space_release(&f->space);
	free(f);
}

void data_types_free(struct data_types *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_files; i++)
		file_free(t->files[i]);
	for (size_t i = 0; i < t->nr_found; i++)
		if (t->found[i].type->is_known)
			free((void *)t->found[i].type);
	free(t->files);
	free(t->found);
	hash_table_release(&t->table);
	strpool_free(t->pool);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static struct dso_types *file_new(const struct data_types *t, const struct dso *dso)
{
	struct elf_image debug = ELF_IMAGE_INIT, program = ELF_IMAGE_INIT;
	struct dso_types *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->dso = dso;
	f->has_debug = !debug_file_open(t->resolver, dso, NULL, &debug, &f->space);
	if (f->has_debug && dso->kind == DSO_ELF)
		resolver_open_image(t->resolver, dso, &program);
	if (!type_file_new(&debug, &program, &f->file))
		return f;
	debug_space_release(&f->space);
	free(f);
	return NULL;
}

static struct dso_types *file_of(struct data_types *t, const struct dso *dso)
{
	size_t old = t->nr_files;

	if (dso->index >= t->nr_files) {
		if (array_grow(&t->files, &t->nr_files, dso->index + 1, sizeof(*t->files)))
			return NULL;
		memset(t->files + old, 0, (t->nr_files - old) * sizeof(*t->files));
	}
	if (!t->files[dso->index])
		t->files[dso->index] = file_new(t, dso);
	return t->files[dso->index];
}

/* Returns the address as linked; without debug information as it is. */
static bool to_linked(const struct dso_types *f, uint64_t addr, uint64_t *ret)
{
	*ret = addr;
	return !f->has_debug || debug_space_linked(&f->space, addr, ret);
}

/* Reads the function at [@start, @end) as linked. Of other machines no code is known. */
static struct type_function *read_function(const struct data_types *t, struct dso_types *f,
					   const struct symbol *sym, uint64_t start, uint64_t end)
{
	const struct code_source source = {t->resolver, t->kernel};
	struct function_code code = {0};
	struct type_function *ret;
	struct error unused;
	size_t len = 0;

	if (!function_code_load(&source, f->dso, sym, 0, &code, &unused) &&
	    code.machine.machine == EM_X86_64 && code.machine.is_64)
		len = code.bytes.len;
	ret = type_file_read(f->file, start, end, code.bytes.data, len);
	function_code_release(&code);
	return ret;
}

static const struct data_type *make_type(struct data_types *t, struct typed *typed)
{
	struct data_type *ret = calloc(1, sizeof(*ret));
	struct buf name = {0}, field = {0};
	int rc = ret ? 0 : -ENOMEM;

	if (!rc)
		rc = type_put_name(&typed->type, &name);
	if (!rc)
		rc = type_put_members(&typed->type, (uint64_t)typed->offset, &field);
	if (!rc) {
		*ret = (struct data_type){
			.name = strpool_intern_len(t->pool, (const char *)name.data, name.len),
			.offset = (uint64_t)typed->offset,
			.is_known = true,
		};
		if (field.len)
			ret->field =
				strpool_intern_len(t->pool, (const char *)field.data, field.len);
		if (!ret->name || (field.len && !ret->field))
			rc = -ENOMEM;
	}
	buf_release(&name);
	buf_release(&field);
	if (!rc)
		return ret;
	free(ret);
	return &unknown;
}

static const struct data_type *find_type(struct data_types *t, const struct dso *dso,
					 const struct symbol *sym, uint64_t addr)
{
	struct dso_types *f = file_of(t, dso);
	struct type_function *fn;
	uint64_t linked, start, end;
	struct typed typed;

	if (!f || !to_linked(f, addr, &linked) || !to_linked(f, sym->start, &start))
		return &unknown;
	end = start + (sym->end - sym->start);
	fn = type_file_kept(f->file, start, end);
	if (!fn)
		fn = read_function(t, f, sym, start, end);
	switch (type_file_find(f->file, fn, linked, &typed)) {
	case ACCESSED_STACK: return &stack_operation;
	case ACCESSED_CANARY: return &stack_canary;
	case ACCESSED_TYPED: return make_type(t, &typed);
	case ACCESSED_UNKNOWN: break;
	}
	return &unknown;
}

static bool is_found(const void *found, uint32_t number, const void *key)
{
	const struct found_type *a = (const struct found_type *)found + number, *b = key;

	return a->dso == b->dso && a->addr == b->addr;
}

/* Keeps what was found, as far as memory allows. */
static const struct data_type *look_up(struct data_types *t, const struct dso *dso,
				       const struct symbol *sym, uint64_t addr)
{
	struct found_type key = {(uint32_t)dso->index, addr, NULL};
	uint64_t hash = hash_word(t->key, addr ^ (uint64_t)dso->index << 48);
	uint32_t at = hash_table_find(&t->table, hash, is_found, t->found, &key);

	if (at != HASH_TABLE_NONE)
		return t->found[at].type;
	if (hash_table_reserve(&t->table, 1) ||
	    array_grow(&t->found, &t->cap_found, t->nr_found + 1, sizeof(*t->found)))
		return &unknown;
	key.type = find_type(t, dso, sym, addr);
	hash_table_add(&t->table, hash, (uint32_t)t->nr_found);
	t->found[t->nr_found++] = key;
	return key.type;
}

const struct data_type *data_types_find(struct data_types *t, const struct dso *dso,
					const struct symbol *sym, uint64_t addr)
{
	const struct data_type *ret;

	if (!dso || !sym || !sym->end || (dso->kind != DSO_ELF && dso->kind != DSO_KERNEL))
		return &unknown;
	pthread_mutex_lock(&t->lock);
	ret = look_up(t, dso, sym, addr);
	pthread_mutex_unlock(&t->lock);
	return ret;
}
