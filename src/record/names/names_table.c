// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "record/initial/buildid_reader.h"
#include "record/names/names_priv.h"
#include "symbol/elf/table.h"
#include "symbol/recorded/recorded.h"
#include "symbol/resolve/resolver.h"

/* The table while it is made. */
struct namer {
	struct names *names;
	struct buildid_reader *reader;
	struct resolver *resolver;
	struct utsname uts;
	struct recorded_entry *entry;
	size_t nr, cap;
	struct names_counts counts;
};

static int init(struct namer *r)
{
	struct resolver_opts opts = {.no_demangle = true, .no_debuginfod = true};
	struct error unused = ERROR_INIT;

	if (!uname(&r->uts)) {
		opts.hostname = r->uts.nodename;
		opts.osrelease = r->uts.release;
		opts.arch = r->uts.machine;
	}
	return resolver_new(&opts, &r->resolver, &unused);
}

/* Gives all files the build-ids that the recording has for them. */
static void learn_build_ids(const struct namer *r)
{
	const struct code_maps *m = &r->names->maps;

	for (size_t i = 0; r->reader && i < m->nr_files; i++) {
		struct mapped_code *f = m->files[i];
		struct build_id id = {0};

		if (f->dso.build_id_size || f->dso.kind == DSO_ANON || f->dso.kind == DSO_VDSO ||
		    buildid_reader_find(r->reader, &f->key, &id) != ID_READ)
			continue;
		f->dso.build_id_size = id.size;
		memcpy(f->dso.build_id, id.id, id.size);
	}
}

/* Returns whether another file of the recording has the name of object @o, which has no build-id.
 */
static bool has_several_files(const struct pd_symbols_object *o, void *arg)
{
	const struct code_maps *m = &((const struct namer *)arg)->names->maps;
	struct pd_symbols_object other;
	size_t found = 0;

	for (size_t i = 0; i < m->nr_files && found < 2; i++)
		found += recorded_symbols_object(&m->files[i]->dso, 0, &other) &&
			 !recorded_symbols_compare(o, &other);
	return found > 1;
}

static const struct symbol *find(const struct namer *r, const struct mapped_code *f, uint64_t addr)
{
	struct symtab *early = r->reader ? buildid_reader_table(r->reader, &f->key) : NULL;

	if (early && f->dso.kind == DSO_ELF)
		return symtab_find(early, addr, false);
	return resolver_find(r->resolver, &f->dso, f->pid, addr);
}

/* Adds the function at @addr, unless it is the last one. Returns 1, 0: it has no name, or -ENOMEM.
 */
static int put(struct namer *r, const struct mapped_code *f, uint64_t addr)
{
	const struct symbol *s = find(r, f, addr);
	struct recorded_entry e = {.hits = 1};

	if (!s || s->end <= s->start || !*s->name ||
	    !recorded_symbols_object(&f->dso, f->pid, &e.object))
		return 0;
	e.function = (struct pd_symbols_function){
		.start = s->start,
		.size = s->end - s->start,
		.name = s->name,
		.name_len = strlen(s->name),
	};
	if (r->nr && r->entry[r->nr - 1].function.name == s->name &&
	    r->entry[r->nr - 1].function.start == s->start) {
		r->entry[r->nr - 1].hits++;
		return 1;
	}
	if (array_grow(&r->entry, &r->cap, r->nr + 1, sizeof(*r->entry)))
		return -ENOMEM;
	r->entry[r->nr++] = e;
	return 1;
}

static int compare_places(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* A piece of code may have the end of one function and the beginning of another. */
static int put_place(struct namer *r, const struct hit *place)
{
	const struct mapped_code *f = r->names->maps.files[place->pid];
	int first = put(r, f, place->addr), last;

	if (first < 0)
		return first;
	last = put(r, f, place->addr + HIT_BYTES - 1);
	if (last < 0)
		return last;
	r->counts.places++;
	r->counts.unnamed += !first && !last;
	return 0;
}

static int put_places(struct namer *r)
{
	size_t nr, used = 0;
	struct hit *places = hits_take(r->names->places, &nr);
	int rc = places ? 0 : -ENOMEM;

	for (size_t i = 0; places && i < nr; i++)
		if (places[i].addr)
			places[used++] = places[i];
	if (used)
		qsort(places, used, sizeof(*places), compare_places);
	for (size_t i = 0; !rc && i < used; i++)
		rc = put_place(r, &places[i]);
	free(places);
	return rc;
}

int names_table(struct names *n, struct buildid_reader *reader, uint64_t budget, struct buf *table,
		struct names_counts *ret)
{
	struct namer r = {.names = n, .reader = reader};
	int rc = init(&r);

	if (rc)
		return -ENOMEM;
	names_settle(n);
	learn_build_ids(&r);
	rc = put_places(&r);
	if (!rc)
		rc = recorded_compose(&(struct recorded_entries){.entry = r.entry,
								 .nr = r.nr,
								 .several = has_several_files,
								 .arg = &r},
				      budget, table, &r.counts.table);
	r.counts.missed = hits_missed(n->hits) + hits_missed(n->places);
	*ret = r.counts;
	resolver_free(r.resolver);
	free(r.entry);
	return rc;
}
