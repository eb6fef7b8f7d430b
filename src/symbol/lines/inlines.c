// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/inlines.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/strpool.h"
#include "symbol/lines/lines.h"

struct inline_file {
	const struct dso *dso; /* the first that has this file */
	pthread_mutex_t lock;  /* guards the rest */
	bool opened;
	struct source_lines *lines; /* NULL: no debug information */
	struct strpool *pool;
	struct symbol **syms; /* of inlined functions, by name */
	size_t nr_syms, cap_syms;
	struct hash_table sym_table;
	struct inline_chain **chains;
	size_t nr_chains, cap_chains;
	struct hash_table chain_table;
};

struct inlines {
	const struct resolver *resolver;
	struct inlines_opts opts;
	uint64_t key;		    /* of hashes */
	pthread_rwlock_t lock;	    /* guards the rest */
	struct inline_file **files; /* all */
	size_t nr_files, cap_files;
	struct inline_file **by_dso; /* NULL: not asked for */
	size_t nr_dsos;
};

int inlines_new(const struct resolver *r, const struct inlines_opts *opts, struct inlines **ret)
{
	struct inlines *in = calloc(1, sizeof(*in));

	if (!in)
		return -ENOMEM;
	in->resolver = r;
	in->opts = *opts;
	in->key = hash_key();
	pthread_rwlock_init(&in->lock, NULL);
	*ret = in;
	return 0;
}

static void file_free(struct inline_file *f)
{
	for (size_t i = 0; i < f->nr_syms; i++)
		free(f->syms[i]);
	for (size_t i = 0; i < f->nr_chains; i++)
		free(f->chains[i]);
	free(f->syms);
	free(f->chains);
	hash_table_release(&f->sym_table);
	hash_table_release(&f->chain_table);
	lines_free(f->lines);
	strpool_free(f->pool);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void inlines_free(struct inlines *in)
{
	if (!in)
		return;
	for (size_t i = 0; i < in->nr_files; i++)
		file_free(in->files[i]);
	free(in->files);
	free(in->by_dso);
	pthread_rwlock_destroy(&in->lock);
	free(in);
}

/* Returns whether the dsos are one file. Its copies elsewhere may be gone. */
static bool is_same_file(const struct dso *a, const struct dso *b)
{
	return a->kind == b->kind && a->build_id_size && a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size) && !strcmp(a->name, b->name);
}

static struct inline_file *add_file(struct inlines *in, const struct dso *dso)
{
	struct inline_file *f;

	for (size_t i = 0; i < in->nr_files; i++)
		if (is_same_file(in->files[i]->dso, dso))
			return in->files[i];
	f = calloc(1, sizeof(*f));
	if (!f || array_grow(&in->files, &in->cap_files, in->nr_files + 1, sizeof(*in->files))) {
		free(f);
		return NULL;
	}
	f->dso = dso;
	pthread_mutex_init(&f->lock, NULL);
	in->files[in->nr_files++] = f;
	return f;
}

static struct inline_file *make_file(struct inlines *in, const struct dso *dso)
{
	size_t old = in->nr_dsos;

	if (dso->index >= in->nr_dsos) {
		if (array_grow(&in->by_dso, &in->nr_dsos, dso->index + 1, sizeof(*in->by_dso)))
			return NULL;
		memset(in->by_dso + old, 0, (in->nr_dsos - old) * sizeof(*in->by_dso));
	}
	if (!in->by_dso[dso->index])
		in->by_dso[dso->index] = add_file(in, dso);
	return in->by_dso[dso->index];
}

static struct inline_file *file_of(struct inlines *in, const struct dso *dso)
{
	struct inline_file *f = NULL;

	pthread_rwlock_rdlock(&in->lock);
	if (dso->index < in->nr_dsos)
		f = in->by_dso[dso->index];
	pthread_rwlock_unlock(&in->lock);
	if (f)
		return f;
	pthread_rwlock_wrlock(&in->lock);
	f = make_file(in, dso);
	pthread_rwlock_unlock(&in->lock);
	return f;
}

static bool is_symbol(const void *syms, uint32_t number, const void *name)
{
	return ((struct symbol *const *)syms)[number]->name == name;
}

/* Returns the symbol of that name. Names of files are interned by the file's lines. */
static const struct symbol *intern_symbol(const struct inlines *in, struct inline_file *f,
					  const char *name)
{
	struct symbol *sym;
	uint64_t hash;
	uint32_t found;

	if (lines_are_recorded(f->lines))
		name = strpool_intern(f->pool, name);
	if (!name)
		return NULL;
	hash = hash_word(in->key, (uintptr_t)name);
	found = hash_table_find(&f->sym_table, hash, is_symbol, f->syms, name);
	if (found != HASH_TABLE_NONE)
		return f->syms[found];
	sym = calloc(1, sizeof(*sym));
	if (!sym || hash_table_reserve(&f->sym_table, 1) ||
	    array_grow(&f->syms, &f->cap_syms, f->nr_syms + 1, sizeof(*f->syms))) {
		free(sym);
		return NULL;
	}
	sym->name = name;
	hash_table_add(&f->sym_table, hash, (uint32_t)f->nr_syms);
	f->syms[f->nr_syms++] = sym;
	return sym;
}

static size_t chain_bytes(size_t nr)
{
	return sizeof(struct inline_chain) + nr * sizeof(struct inline_frame);
}

static bool is_chain(const void *chains, uint32_t number, const void *key)
{
	const struct inline_chain *a = ((struct inline_chain *const *)chains)[number], *b = key;

	return a->nr == b->nr && !memcmp(a, b, chain_bytes(a->nr));
}

static const struct inline_chain *intern_chain(const struct inlines *in, struct inline_file *f,
					       const struct inline_chain *chain)
{
	uint64_t hash = hash_bytes(in->key, chain, chain_bytes(chain->nr));
	uint32_t found = hash_table_find(&f->chain_table, hash, is_chain, f->chains, chain);
	struct inline_chain *copy;

	if (found != HASH_TABLE_NONE)
		return f->chains[found];
	copy = malloc(chain_bytes(chain->nr));
	if (!copy || hash_table_reserve(&f->chain_table, 1) ||
	    array_grow(&f->chains, &f->cap_chains, f->nr_chains + 1, sizeof(*f->chains))) {
		free(copy);
		return NULL;
	}
	memcpy(copy, chain, chain_bytes(chain->nr));
	hash_table_add(&f->chain_table, hash, (uint32_t)f->nr_chains);
	f->chains[f->nr_chains++] = copy;
	return copy;
}

/* As perf, names the file of a line without its folders, unless they are wanted. */
static int set_place(const struct inlines *in, struct inline_file *f, const struct line_frame *from,
		     struct inline_frame *ret)
{
	const char *slash = from->file ? strrchr(from->file, '/') : NULL;
	const char *name = slash ? slash + 1 : from->file;
	struct buf text = {0};

	if (!name)
		return 0;
	ret->srcfile = strpool_intern(f->pool, name);
	ret->srcpath = strpool_intern(f->pool, from->file);
	if (!buf_printf(&text, "%s:%" PRIu32, in->opts.full_paths ? from->file : name, from->line))
		ret->srcline = strpool_intern_len(f->pool, (const char *)text.data, text.len);
	buf_release(&text);
	return ret->srcfile && ret->srcpath && ret->srcline ? 0 : -ENOMEM;
}

static const struct inline_chain *make_chain(const struct inlines *in, struct inline_file *f,
					     const struct line_frame *from, size_t nr)
{
	struct inline_chain *chain = calloc(1, chain_bytes(nr));
	const struct inline_chain *ret = NULL;
	int rc = chain ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < nr; i++) {
		struct inline_frame *frame = &chain->frame[chain->nr];

		rc = set_place(in, f, &from[i], frame);
		if (i + 1 < nr && !rc) {
			frame->sym = intern_symbol(in, f, from[i].function ?: "[unknown]");
			rc = frame->sym ? 0 : -ENOMEM;
		}
		chain->nr++;
	}
	if (!rc)
		ret = intern_chain(in, f, chain);
	free(chain);
	return ret;
}

static void open_file(const struct inlines *in, struct inline_file *f)
{
	f->opened = true;
	if (lines_open(in->resolver, f->dso, in->opts.demangle, &f->lines))
		f->lines = NULL;
	f->pool = strpool_new();
}

const struct inline_chain *inlines_find(struct inlines *in, const struct dso *dso, uint64_t addr)
{
	struct inline_file *f = file_of(in, dso);
	const struct inline_chain *ret = NULL;
	struct line_frame frame[INLINED_MAX];
	size_t nr;

	if (!f)
		return NULL;
	pthread_mutex_lock(&f->lock);
	if (!f->opened)
		open_file(in, f);
	nr = f->lines && f->pool ? lines_find(f->lines, addr, frame, INLINED_MAX) : 0;
	if (nr)
		ret = make_chain(in, f, frame, nr);
	pthread_mutex_unlock(&f->lock);
	return ret;
}
