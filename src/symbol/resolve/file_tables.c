// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/file_tables.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/hash.h"

/* uthash's own function takes no key: see base/hash.h. */
#define HASH_FUNCTION(p, n, ret) ((ret) = (unsigned int)hash_bytes(hash_key(), p, n))
#include <uthash.h>

struct file_tables_entry {
	struct file_table t; /* first: callers hold pointers to it */
	bool done;
	struct buf key;
	UT_hash_handle hh;
};

struct file_tables {
	pthread_mutex_t lock; /* guards the whole struct */
	pthread_cond_t done;
	struct file_tables_entry *entries;
	size_t symbols;
};

struct file_tables *file_tables_new(void)
{
	struct file_tables *ft = calloc(1, sizeof(*ft));

	if (!ft)
		return NULL;
	pthread_mutex_init(&ft->lock, NULL);
	pthread_cond_init(&ft->done, NULL);
	return ft;
}

static void entry_free(struct file_tables_entry *e)
{
	symtab_free(e->t.table);
	buf_release(&e->key);
	free(e);
}

void file_tables_free(struct file_tables *ft)
{
	struct file_tables_entry *e, *next;

	if (!ft)
		return;
	HASH_ITER (hh, ft->entries, e, next) {
		HASH_DEL(ft->entries, e);
		entry_free(e);
	}
	pthread_cond_destroy(&ft->done);
	pthread_mutex_destroy(&ft->lock);
	free(ft);
}

size_t file_tables_symbols(struct file_tables *ft)
{
	size_t n;

	pthread_mutex_lock(&ft->lock);
	n = ft->symbols;
	pthread_mutex_unlock(&ft->lock);
	return n;
}

/*
 * Builds a key of everything that decides which debug file is used. A table of few addresses is of
 * one dso alone.
 */
static int make_key(const struct dso *dso, const struct elf_image *program, bool alone,
		    struct buf *ret)
{
	uint64_t words[7] = {dso->build_id_size, alone ? dso->index : UINT64_MAX};
	struct stat st;
	int rc;

	if (program->fd >= 0 && !fstat(program->fd, &st)) {
		words[2] = st.st_dev;
		words[3] = st.st_ino;
		words[4] = (uint64_t)st.st_size;
		words[5] = (uint64_t)st.st_mtim.tv_sec;
		words[6] = (uint64_t)st.st_mtim.tv_nsec;
	}
	rc = buf_append(ret, words, sizeof(words));
	if (!rc)
		rc = buf_append(ret, dso->build_id, dso->build_id_size);
	return rc ? rc : buf_append(ret, dso->name, strlen(dso->name));
}

static struct file_tables_entry *add(struct file_tables *ft, struct buf *key)
{
	struct file_tables_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->key = *key;
	*key = (struct buf){0};
	HASH_ADD_KEYPTR(hh, ft->entries, e->key.data, e->key.len, e);
	if (e->hh.tbl)
		return e;
	entry_free(e);
	return NULL;
}

const struct file_table *file_tables_take(struct file_tables *ft, const struct dso *dso,
					  const struct elf_image *program, bool alone,
					  bool *ret_mine)
{
	struct file_tables_entry *e = NULL;
	struct buf key = {0};

	if (make_key(dso, program, alone, &key))
		goto out;
	pthread_mutex_lock(&ft->lock);
	HASH_FIND(hh, ft->entries, key.data, key.len, e);
	*ret_mine = !e;
	if (!e)
		e = add(ft, &key);
	else
		while (!e->done)
			pthread_cond_wait(&ft->done, &ft->lock);
	pthread_mutex_unlock(&ft->lock);
out:
	buf_release(&key);
	return e ? &e->t : NULL;
}

void file_tables_done(struct file_tables *ft, const struct file_table *taken, int rc,
		      struct symtab *table, const struct error *why)
{
	struct file_tables_entry *e = (struct file_tables_entry *)(uintptr_t)taken;

	pthread_mutex_lock(&ft->lock);
	e->t = (struct file_table){.table = table, .code = rc, .why = *why};
	e->done = true;
	ft->symbols += table ? symtab_count(table) : 1;
	pthread_cond_broadcast(&ft->done);
	pthread_mutex_unlock(&ft->lock);
}
