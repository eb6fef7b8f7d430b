// SPDX-License-Identifier: Apache-2.0
#include "record/output/dsos.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "perfdata/feature.h"
#include "record/initial/mapped.h"

/* How long the end waits without progress of the buildid_reader, ms. */
#define SETTLE_MS 1000
/* Files that the end asks for at a time: fewer than the buildid_reader's queue holds. */
#define BATCH 1024u

struct dso_name {
	UT_hash_handle hh;	/* by key and name, which are adjacent */
	struct dso_name *first; /* the first entry of this name */
	bool kernel;
	bool several; /* in the first entry: other files have this name, too */
	bool put;     /* in the first entry, without @several: its build-id is written */
	struct build_id_key key;
	char name[];
};

struct dso_names {
	struct dso_name *table; /* in the order of arrival */
	struct buildid_reader *reader;
	bool own_build_ids;
	struct mapped_filter filter;
};

struct dso_names *dso_names_new(struct buildid_reader *reader, bool own_build_ids)
{
	struct dso_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->reader = reader;
	names->own_build_ids = own_build_ids;
	return names;
}

void dso_names_free(struct dso_names *names)
{
	struct dso_name *n, *next;

	if (!names)
		return;
	HASH_ITER (hh, names->table, n, next) {
		HASH_DEL(names->table, n);
		free(n);
	}
	free(names);
}

static int add_name(struct dso_names *names, const char *name, const struct build_id_key *key,
		    bool kernel)
{
	size_t len = strlen(name), whole = sizeof(*key) + len;
	struct dso_name *n = calloc(1, sizeof(*n) + len + 1), *known;

	if (!n)
		return -ENOMEM;
	memcpy(n->name, name, len);
	n->kernel = kernel;
	n->key = *key;
	HASH_FIND(hh, names->table, &n->key, whole, known);
	if (!known)
		HASH_ADD_KEYPTR(hh, names->table, &n->key, whole, n);
	if (!known && n->hh.tbl)
		return 0;
	free(n);
	return known ? 0 : -ENOMEM;
}

_Static_assert(offsetof(struct dso_name, name) ==
		       offsetof(struct dso_name, key) + sizeof(struct build_id_key),
	       "what is hashed is one piece");

int dso_names_add(struct dso_names *names, const struct perf_event_header *hdr)
{
	struct mapped m;
	uint32_t seen;

	mapped_watch_jit(names->reader, hdr, &names->filter);
	if (!mapped_decode(hdr, names->own_build_ids, &m))
		return 0;
	seen = mapped_seen(&names->filter, &m);
	mapped_ask(names->reader, &m, seen);
	return seen > 1 ? 0 : add_name(names, m.map.filename, &m.key, m.kernel);
}

int dso_names_merge(struct dso_names *names, const struct dso_names *from)
{
	int rc = 0;

	for (const struct dso_name *n = from->table; n && !rc; n = n->hh.next)
		rc = add_name(names, n->name, &n->key, n->kernel);
	return rc;
}

/* Finds the build-id of a file. Returns false if it cannot be read. */
static bool find_build_id(const struct dso_names *names, const struct dso_name *n,
			  struct build_id *ret)
{
	*ret = (struct build_id){0};
	if (names->reader)
		return buildid_reader_find(names->reader, &n->key, ret) == ID_READ && ret->size;
	if (n->kernel)
		build_id_of_kernel_map(n->name, ret);
	else if (build_id_of_file(n->name, &n->key, ret))
		ret->size = 0;
	return ret->size;
}

static bool same_file(const struct build_id_key *a, const struct build_id_key *b)
{
	return a->maj == b->maj && a->min == b->min && a->ino == b->ino &&
	       (a->generation == b->generation || !a->generation || !b->generation);
}

struct by_name {
	UT_hash_handle hh;
	struct dso_name *first;
};

static struct by_name *by_name_add(struct by_name **table, struct dso_name *n)
{
	struct by_name *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->first = n;
	HASH_ADD_KEYPTR(hh, *table, n->name, strlen(n->name), b);
	if (b->hh.tbl)
		return b;
	free(b);
	return NULL;
}

/* Marks names that several files have; a difference in the generation alone does not count. */
static int find_namesakes(struct dso_names *names)
{
	struct by_name *table = NULL, *b, *next;
	int rc = 0;

	for (struct dso_name *n = names->table; n && !rc; n = n->hh.next) {
		HASH_FIND_STR(table, n->name, b);
		if (!b)
			b = by_name_add(&table, n);
		rc = b ? 0 : -ENOMEM;
		if (rc)
			break;
		n->first = b->first;
		n->several = n->put = false;
		b->first->several |= !same_file(&b->first->key, &n->key);
	}
	HASH_ITER (hh, table, b, next) {
		HASH_DEL(table, b);
		free(b);
	}
	return rc;
}

/* Writes an entry, but not twice for a file seen with its generation and without. */
static int put(const struct dso_name *n, const struct build_id *found, struct buf *out)
{
	struct pd_build_id id = {.pid = -1, .size = found->size, .filename = n->name};

	memcpy(id.build_id, found->id, found->size);
	if (!n->first->several && n->first->put)
		return 0;
	n->first->put = true;
	if (n->first->several) {
		id.maj = n->key.maj;
		id.min = n->key.min;
		id.ino = n->key.ino;
		id.ino_generation = n->key.generation;
	}
	return pd_feature_build_id_encode(
		out, &id, n->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
}

/*
 * Asks again for the files before @last, at most BATCH of them, that have no answer: the queue was
 * full, or the answer was evicted. This thread must not wait for a file system, nor for a reader
 * that hangs, once for each batch. Returns the last one that it did not come to, or NULL.
 */
static const struct dso_name *ask_rest(const struct dso_names *names, const struct dso_name *last,
				       const struct patience *p)
{
	struct build_id unused;
	bool asked = false;

	for (size_t i = 0; i < BATCH && last; i++, last = last->hh.prev) {
		const struct pd_mmap map = {.filename = last->name};

		if (buildid_reader_find(names->reader, &last->key, &unused) == ID_UNASKED)
			asked |= buildid_reader_ask(names->reader, &last->key, &map, last->kernel);
	}
	if (asked)
		buildid_reader_settle(names->reader, SETTLE_MS, p);
	return last;
}

int dso_names_build_ids(struct dso_names *names, const struct patience *p, struct buf *out)
{
	const struct dso_name *n = names->table, *asked;
	struct build_id found;
	int rc = find_namesakes(names);

	if (names->reader)
		buildid_reader_settle(names->reader, SETTLE_MS, p);
	while (n && n->hh.next)
		n = n->hh.next;
	asked = n;
	for (; n && !rc; n = n->hh.prev) {
		if (names->reader && n == asked)
			asked = ask_rest(names, n, p);
		if (find_build_id(names, n, &found))
			rc = put(n, &found, out);
	}
	return rc;
}
