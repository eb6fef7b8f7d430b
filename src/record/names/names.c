// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "record/names/names_priv.h"

/* New maps or hits after which places are made. */
#define MAPS_MANY (64u << 10)
#define HITS_MANY (HITS_MAX / 2)
/* Hits without a map that are kept: it may come later, or be another lane's. */
#define HITS_LEFT_MAX (HITS_MAX / 8 * 3)

struct names *names_new(const struct pd_evlist *list, struct buildid_reader *reader,
			bool own_build_ids)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->reader = reader;
	code_maps_init(&n->maps, own_build_ids);
	n->hits = hits_new(list);
	n->places = hits_new(list);
	if (n->hits && n->places)
		return n;
	names_free(n);
	return NULL;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	hits_free(n->hits);
	hits_free(n->places);
	code_maps_release(&n->maps);
	free(n);
}

struct hits *names_hits(struct names *n)
{
	return n->hits;
}

/* What is at a page of a process, as far as that is one map or none. */
struct known_page {
	uint64_t page;
	uint32_t pid;		    /* 0: nothing is known */
	const struct code_map *map; /* NULL: none */
};

#define KNOWN_PAGES 1024u
#define PAGE_SHIFT  12

struct settling {
	struct names *names;
	uint64_t addr;
	uint32_t pid;
	const struct code_map *last; /* that add_place() was called with */
	struct known_page known[KNOWN_PAGES];
};

/* A process that was forked has its parent's file in memory as its own. */
static uint32_t own_file(const struct settling *s, uint32_t file)
{
	struct mapped_code own = *s->names->maps.files[file];
	uint32_t at;

	if (!own.moved || own.pid == s->pid)
		return file;
	own.pid = own.dso.jit_pid = s->pid;
	return code_maps_file(&s->names->maps, &own, &at) ? file : at;
}

static void add_place(const struct code_map *map, void *arg)
{
	struct settling *s = arg;

	s->last = map;
	hits_put(s->names->places, s->addr - map->start + map->pgoff, own_file(s, map->file));
}

/* Hits begin at most HIT_BYTES before the map: the kernel's does not begin with a page. */
static bool settle_kernel(struct settling *s)
{
	const struct code_maps *m = &s->names->maps;

	if (code_maps_find(m, s->pid, s->addr, add_place, s))
		return true;
	s->addr += HIT_BYTES - 1;
	return code_maps_find(m, s->pid, s->addr, add_place, s);
}

static bool settle_hit(struct settling *s)
{
	uint64_t page = s->addr >> PAGE_SHIFT;
	struct known_page *k = &s->known[(page ^ s->pid * 31) % KNOWN_PAGES];
	size_t found;

	if (!s->pid)
		return settle_kernel(s);
	if (k->page == page && k->pid == s->pid) {
		if (k->map)
			add_place(k->map, s);
		return k->map;
	}
	found = code_maps_find(&s->names->maps, s->pid, s->addr, add_place, s);
	if (found <= 1)
		*k = (struct known_page){page, s->pid, found ? s->last : NULL};
	return found;
}

/*
 * Puts @nr hits without a map back, but for the oldest if they are many: most are data that call
 * chains of code without frame pointers took for addresses, and in time they would fill the set.
 */
static void put_back(struct names *n, const struct hit *left, size_t nr)
{
	size_t dropped = nr > HITS_LEFT_MAX ? nr - HITS_LEFT_MAX : 0;

	for (size_t i = dropped; i < nr; i++)
		hits_put(n->hits, left[i].addr, left[i].pid);
	n->hits_dropped += dropped;
	n->hits_left = hits_count(n->hits);
}

void names_settle(struct names *n)
{
	struct settling s = {.names = n};
	size_t nr, left = 0;
	struct hit *hits = hits_take(n->hits, &nr);

	code_maps_sort(&n->maps);
	for (size_t i = 0; i < nr; i++) {
		s.addr = hits[i].addr;
		s.pid = hits[i].pid;
		if (!settle_hit(&s))
			hits[left++] = hits[i];
	}
	put_back(n, hits, left);
	free(hits);
}

void names_make_room(struct names *n)
{
	if (n->maps.nr_maps - n->maps_left <= MAPS_MANY &&
	    hits_count(n->hits) - n->hits_left <= HITS_MANY)
		return;
	names_settle(n);
	code_maps_forget(&n->maps);
	n->maps_left = n->maps.nr_maps;
}

int names_add(struct names *n, const struct perf_event_header *hdr)
{
	names_make_room(n);
	return code_maps_add(&n->maps, hdr);
}

/* Adds the places of @from, whose files have other numbers there. */
static int merge_places(struct names *n, const struct names *from)
{
	size_t nr;
	const struct hit *places = hits_list(from->places, &nr);
	uint32_t file;

	for (size_t i = 0; i < nr; i++) {
		if (code_maps_file(&n->maps, from->maps.files[places[i].pid], &file))
			return -ENOMEM;
		hits_put(n->places, places[i].addr, file);
	}
	return 0;
}

int names_merge(struct names *n, const struct names *from)
{
	int rc = code_maps_merge(&n->maps, &from->maps);

	if (!rc)
		rc = merge_places(n, from);
	if (!rc)
		hits_merge(n->hits, from->hits);
	n->hits_dropped += from->hits_dropped;
	n->merged = true;
	return rc;
}
