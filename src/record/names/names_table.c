// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "record/initial/buildid_reader.h"
#include "record/initial/early_table.h"
#include "record/names/names_priv.h"
#include "symbol/elf/wanted.h"
#include "symbol/lines/lines_record.h"
#include "symbol/recorded/recorded.h"
#include "symbol/resolve/perfmap.h"
#include "symbol/resolve/resolver.h"

/* Bytes for the symbols of all perf-PID.map files that were kept. */
#define PERFMAPS_MAX (64u << 20)

/* What is known of a mapped file while the table is made. */
struct named_file {
	struct symtab_wanted wanted;	 /* the addresses that were hit */
	const struct early_table *early; /* NULL: none was read */
	bool tried;			 /* to make the table */
	bool few;			 /* of @early: it was stripped */
	struct symtab *table;		 /* of @early; NULL: none */
	size_t first;			 /* of its places */
	bool checked;			 /* whether it is @rewritten */
	bool rewritten;			 /* in place: its names would be wrong */
};

/* A process with generated code. */
struct named_process {
	uint32_t pid;
	struct symtab_wanted wanted; /* the addresses that were hit in such code */
	bool tried;		     /* to make the table */
	struct symtab *table;	     /* of the perf-PID.map that was kept; NULL: none */
};

/* The lines of an object, encoded. */
struct kept_lines {
	struct pd_symbols_object object;
	struct buf lines;
	uint64_t pieces, unreached;
};

struct namer_device {
	uint32_t maj, min;
};

struct namer {
	struct names *names;
	struct names_opts opts;
	_Atomic uint64_t deadline; /* ms, of now_ms() */
	struct namer_device skipped[NAMES_LEFT_MAX];
	size_t nr_skipped;
	struct resolver *resolver;
	struct utsname uts;
	struct hit *places; /* by file and address */
	uint64_t *addr;	    /* of each place, in its file */
	size_t nr_places;
	struct named_file *file;       /* of each of the maps' files */
	struct named_process *process; /* by pid */
	size_t nr_processes, processes_cap;
	uint64_t *process_addr; /* of all of them */
	uint64_t perfmaps_left; /* bytes */
	struct buf table;	/* made by namer_run() */
	struct names_counts made;

	pthread_mutex_t lock; /* guards the rest, which another thread may take */
	struct recorded_entry *entry;
	size_t nr, cap;
	struct names_counts counts;
	const struct mapped_code *at; /* the file that it is at; NULL: none */
	size_t looked_up;	      /* of the places, in their order */
	struct kept_lines *kept;      /* while the table is composed */
	size_t nr_kept, kept_cap;
};

static const struct symtab_wanted *wanted(const struct dso *dso, void *arg)
{
	return &((const struct namer *)arg)->file[dso->index].wanted;
}

static int init(struct namer *r)
{
	struct resolver_opts opts = {
		.no_demangle = true,
		.no_debuginfod = true,
		.vmlinux = r->opts.vmlinux,
		.wanted = wanted,
		.wanted_arg = r,
	};
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

	for (size_t i = 0; r->names->reader && i < m->nr_files; i++) {
		struct mapped_code *f = m->files[i];
		struct build_id id = {0};

		if (f->dso.build_id_size || f->dso.kind == DSO_ANON || f->dso.kind == DSO_VDSO ||
		    buildid_reader_find(r->names->reader, &f->key, &id) != ID_READ)
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

/* Makes the table of what was kept of a file, once. */
static void take_early(struct named_file *n)
{
	if (!n->tried)
		early_table_symbols(n->early, &n->wanted, &n->table, &n->few);
	n->tried = true;
}

static int compare_pid(const void *pid, const void *process)
{
	uint32_t a = *(const uint32_t *)pid, b = ((const struct named_process *)process)->pid;

	return a < b ? -1 : a > b;
}

/* Makes the table of the perf-PID.map that was kept of a process, once. */
static struct symtab *jit_table(struct namer *r, uint32_t pid)
{
	struct named_process *p = NULL;
	int fd;

	if (r->names->reader && r->nr_processes)
		p = bsearch(&pid, r->process, r->nr_processes, sizeof(*p), compare_pid);
	if (!p)
		return NULL;
	if (p->tried)
		return p->table;
	p->tried = true;
	fd = buildid_reader_jit_map(r->names->reader, pid);
	if (fd < 0)
		return NULL;
	perfmap_read(fd, &p->wanted, &r->perfmaps_left, &p->table);
	close(fd);
	return p->table;
}

/* Finds the function at @addr in what was kept. Returns whether it has one. */
static bool find_early(struct namer *r, const struct mapped_code *f, uint64_t addr,
		       struct symbol *ret)
{
	struct named_file *n = &r->file[f->dso.index];
	struct symtab *t = n->early ? n->table : jit_table(r, f->pid);
	uint64_t moved = n->early ? f->moved : 0;
	const struct symbol *s = t ? symtab_find(t, addr - moved, false) : NULL;

	if (s)
		*ret = (struct symbol){s->start + moved, s->end + moved, s->name};
	return s;
}

/* What was kept comes first, but a debug file tells more than a stripped program. */
static bool find(struct namer *r, const struct mapped_code *f, uint64_t addr, struct symbol *ret)
{
	struct named_file *n = &r->file[f->dso.index];
	const struct symbol *s;

	if (n->early)
		take_early(n);
	if (!n->few && find_early(r, f, addr, ret))
		return true;
	if (n->early && !n->few)
		return false;
	s = resolver_find(r->resolver, &f->dso, f->pid, addr);
	if (s)
		*ret = *s;
	return s || (n->few && find_early(r, f, addr, ret));
}

/* Adds function @s of object @o, unless it is the last one. The lock is held. */
static int put(struct namer *r, const struct pd_symbols_object *o, const struct symbol *s)
{
	struct recorded_entry *last = r->nr ? &r->entry[r->nr - 1] : NULL;

	if (last && last->function.name == s->name && last->function.start == s->start) {
		last->hits++;
		return 0;
	}
	if (array_grow(&r->entry, &r->cap, r->nr + 1, sizeof(*r->entry)))
		return -ENOMEM;
	r->entry[r->nr++] = (struct recorded_entry){
		.object = *o,
		.function = {s->start, s->end - s->start, s->name, strlen(s->name)},
		.hits = 1,
	};
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool is_gone(const struct namer *r, const struct mapped_code *f)
{
	struct build_id unused;

	return r->names->reader && f->key.ino &&
	       buildid_reader_find(r->names->reader, &f->key, &unused) == ID_GONE;
}

static bool is_rewritten(const struct namer *r, uint32_t number)
{
	const struct mapped_code *f = r->names->maps.files[number];
	struct named_file *n = &r->file[number];

	if (!n->checked)
		n->rewritten = r->names->reader && f->key.ino &&
			       buildid_reader_overwritten(r->names->reader, &f->key, f->dso.name);
	n->checked = true;
	return n->rewritten;
}

static bool is_skipped(const struct namer *r, const struct mapped_code *f)
{
	for (size_t i = 0; i < r->nr_skipped; i++)
		if (f->key.maj == r->skipped[i].maj && f->key.min == r->skipped[i].min)
			return true;
	return false;
}

static void go_to(struct namer *r, const struct mapped_code *f)
{
	pthread_mutex_lock(&r->lock);
	r->at = f;
	pthread_mutex_unlock(&r->lock);
}

/* Finds the function at @addr. Returns whether it has a name. */
static bool find_named(struct namer *r, const struct mapped_code *f, uint64_t addr,
		       struct symbol *ret)
{
	return find(r, f, addr, ret) && ret->end > ret->start && *ret->name;
}

/* Looks up a place. A piece of code may have the end of one function and the beginning of another.
 */
static int name_place(struct namer *r, const struct hit *place)
{
	const struct mapped_code *f = r->names->maps.files[place->pid];
	bool rewritten = is_rewritten(r, place->pid), first, last, gone;
	struct pd_symbols_object object;
	struct symbol s, t;
	int rc = 0;

	first = last = !rewritten && recorded_symbols_object(&f->dso, f->pid, &object);
	first = first && find_named(r, f, place->addr, &s);
	last = last && find_named(r, f, place->addr + HIT_BYTES - 1, &t);
	gone = !first && !last && is_gone(r, f);
	pthread_mutex_lock(&r->lock);
	if (first)
		rc = put(r, &object, &s);
	if (last && !rc)
		rc = put(r, &object, &t);
	r->counts.places++;
	r->counts.unreached--;
	r->counts.unnamed += !first && !last;
	r->counts.gone += gone;
	r->counts.rewritten += rewritten;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* Goes to the next place, which may be of another file. */
static int put_place(struct namer *r, const struct hit *place)
{
	const struct mapped_code *f = r->names->maps.files[place->pid];
	int rc;

	if (r->at != f)
		go_to(r, f);
	rc = is_skipped(r, f) ? 0 : name_place(r, place);
	pthread_mutex_lock(&r->lock);
	r->looked_up++;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* Takes the places, in order. */
static void take_places(struct namer *r)
{
	r->places = hits_take(r->names->places, &r->nr_places);
	if (r->nr_places)
		qsort(r->places, r->nr_places, sizeof(*r->places), compare_places);
}

/* Finds what is wanted of each file, and whether it was read early. */
static int sort_by_file(struct namer *r)
{
	const struct code_maps *m = &r->names->maps;

	r->addr = calloc(r->nr_places + 1, sizeof(*r->addr));
	r->file = calloc(m->nr_files + 1, sizeof(*r->file));
	if (!r->addr || !r->file)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_places; i++) {
		const struct mapped_code *f = m->files[r->places[i].pid];
		struct named_file *n = &r->file[r->places[i].pid];

		r->addr[i] = r->places[i].addr - f->moved;
		if (!n->wanted.nr++) {
			n->wanted.addr = &r->addr[i];
			n->first = i;
		}
		n->wanted.bytes = HIT_BYTES;
	}
	for (size_t i = 0; r->names->reader && i < m->nr_files; i++)
		if (r->file[i].wanted.nr && m->files[i]->key.ino)
			r->file[i].early =
				buildid_reader_table(r->names->reader, &m->files[i]->key);
	return 0;
}

static int add_process(struct namer *r, uint32_t pid, const uint64_t *addr)
{
	if (array_grow(&r->process, &r->processes_cap, r->nr_processes + 1, sizeof(*r->process)))
		return -ENOMEM;
	r->process[r->nr_processes++] =
		(struct named_process){.pid = pid, .wanted = {.addr = addr, .bytes = HIT_BYTES}};
	return 0;
}

/* Finds what is wanted of each process with generated code, in whichever of its maps it is. */
static int sort_by_process(struct namer *r)
{
	struct hit *code = calloc(r->nr_places + 1, sizeof(*code));
	size_t nr = 0, used = 0;
	int rc = 0;

	r->process_addr = calloc(r->nr_places + 1, sizeof(*r->process_addr));
	if (!code || !r->process_addr)
		rc = -ENOMEM;
	for (size_t i = 0; !rc && i < r->nr_places; i++) {
		code[nr] = r->places[i];
		code[nr].pid = r->names->maps.files[r->places[i].pid]->pid;
		nr += code[nr].pid != 0;
	}
	if (nr)
		qsort(code, nr, sizeof(*code), compare_places);
	for (size_t i = 0; !rc && i < nr; i++) {
		bool same = i && code[i].pid == code[i - 1].pid;

		if (same && code[i].addr == code[i - 1].addr)
			continue;
		if (!same)
			rc = add_process(r, code[i].pid, &r->process_addr[used]);
		if (rc)
			break;
		r->process_addr[used++] = code[i].addr;
		r->process[r->nr_processes - 1].wanted.nr++;
	}
	free(code);
	return rc;
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* Returns how many places of file @number were looked up: the others are unreached anyway. */
static uint64_t looked_up(const struct namer *r, size_t number)
{
	const struct named_file *n = &r->file[number];
	size_t nr = r->looked_up > n->first ? r->looked_up - n->first : 0;

	return nr < n->wanted.nr ? nr : n->wanted.nr;
}

/* Whether file @number has lines for object @o. */
static bool gives_lines(const struct namer *r, size_t number, const struct pd_symbols_object *o)
{
	const struct mapped_code *f = r->names->maps.files[number];
	struct pd_symbols_object other;

	return r->file[number].wanted.nr && !f->moved && !is_skipped(r, f) &&
	       recorded_symbols_object(&f->dso, 0, &other) && !recorded_symbols_compare(o, &other);
}

/* Takes the lines of one of the files. */
static int take_lines(struct namer *r, size_t number, struct lines_recorder *lines,
		      struct kept_lines *kept)
{
	const struct named_file *n = &r->file[number];
	const struct mapped_code *f = r->names->maps.files[number];
	struct source_lines *l = NULL;
	int rc;

	if (now_ms() >= r->deadline) {
		kept->unreached += looked_up(r, number);
		return 0;
	}
	go_to(r, f);
	rc = lines_open_kept(r->resolver, &f->dso,
			     n->early && n->early->whole ? &n->early->image : NULL, false, &l);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	for (size_t i = 0; !rc && i < n->wanted.nr; i++) {
		if (now_ms() >= r->deadline) {
			kept->unreached += n->wanted.nr - i;
			break;
		}
		rc = lines_record(lines, l, r->places[n->first + i].addr, HIT_BYTES);
		kept->pieces++;
	}
	lines_free(l);
	return rc;
}

/* Keeps the lines of an object, for a thread that does not wait for the rest. */
static int keep_lines(struct namer *r, struct kept_lines *kept)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = array_grow(&r->kept, &r->kept_cap, r->nr_kept + 1, sizeof(*r->kept));
	if (!rc)
		r->kept[r->nr_kept++] = *kept;
	pthread_mutex_unlock(&r->lock);
	if (rc)
		buf_release(&kept->lines);
	return rc;
}

static bool may_have_lines(const struct pd_symbols_object *o)
{
	return o->kind == PD_SYMBOLS_FILE || o->kind == PD_SYMBOLS_KERNEL;
}

/*
 * Appends the lines of object @o. Files of one build-id have the same lines; the first that has any
 * gives them all.
 */
static int add_lines(const struct pd_symbols_object *o, struct buf *ret, uint64_t *pieces,
		     void *arg)
{
	struct namer *r = arg;
	struct kept_lines kept = {.object = *o};
	struct lines_recorder *lines;
	int rc = 0;

	if (!may_have_lines(o))
		return 0;
	lines = lines_recorder_new();
	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < r->names->maps.nr_files; i++)
		if (gives_lines(r, i, o))
			rc = take_lines(r, i, lines, &kept);
	if (!rc)
		rc = lines_recorder_encode(lines, &kept.lines);
	lines_recorder_free(lines);
	*pieces += kept.pieces;
	r->made.unreached += kept.unreached;
	if (!rc)
		rc = buf_append(ret, kept.lines.data, kept.lines.len);
	if (rc)
		buf_release(&kept.lines);
	return rc ?: keep_lines(r, &kept);
}

/* As add_lines(), of what was kept. The lock is held. */
static int add_kept_lines(const struct pd_symbols_object *o, struct buf *ret, uint64_t *pieces,
			  void *arg)
{
	struct namer *r = arg;

	for (size_t i = 0; i < r->nr_kept; i++) {
		const struct kept_lines *k = &r->kept[i];

		if (recorded_symbols_compare(o, &k->object) != 0)
			continue;
		*pieces += k->pieces;
		r->counts.unreached += k->unreached;
		return buf_append(ret, k->lines.data, k->lines.len);
	}
	for (size_t i = 0; may_have_lines(o) && i < r->names->maps.nr_files; i++)
		if (gives_lines(r, i, o))
			r->counts.unreached += looked_up(r, i);
	return 0;
}

/* --- the whole -----------------------------------------------------------------------------------
 */

/* Composes a table of a copy of the entries, which changes their order. */
static int compose(struct namer *r,
		   int (*lines)(const struct pd_symbols_object *o, struct buf *ret,
				uint64_t *pieces, void *arg),
		   struct buf *table, struct compose_counts *ret)
{
	struct recorded_entries e = {
		.entry = calloc(r->nr + 1, sizeof(*e.entry)),
		.nr = r->nr,
		.several = has_several_files,
		.lines = r->opts.lines ? lines : NULL,
		.arg = r,
	};
	int rc;

	if (!e.entry)
		return -ENOMEM;
	if (r->nr)
		memcpy(e.entry, r->entry, r->nr * sizeof(*r->entry));
	rc = recorded_compose(&e, r->opts.budget, table, ret);
	free(e.entry);
	return rc;
}

struct namer *namer_new(struct names *n, const struct names_opts *opts)
{
	struct namer *r = calloc(1, sizeof(*r));

	if (!r) {
		names_free(n);
		return NULL;
	}
	r->names = n;
	r->opts = *opts;
	r->opts.wait = NULL; /* it may outlive that */
	r->perfmaps_left = PERFMAPS_MAX;
	r->deadline = now_ms() + opts->ms;
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void namer_free(struct namer *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_processes; i++)
		symtab_free(r->process[i].table);
	free(r->process);
	free(r->process_addr);
	for (size_t i = 0; r->file && i < r->names->maps.nr_files; i++)
		symtab_free(r->file[i].table);
	for (size_t i = 0; i < r->nr_kept; i++)
		buf_release(&r->kept[i].lines);
	free(r->kept);
	resolver_free(r->resolver);
	names_free(r->names);
	buf_release(&r->table);
	free(r->places);
	free(r->addr);
	free(r->file);
	free(r->entry);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* Finds the maps of all addresses, and what is wanted of each file. Reads no file. */
static int prepare(struct namer *r)
{
	int rc = init(r);
	uint64_t dropped = r->names->merged ? r->names->hits_dropped : 0;

	if (rc)
		return -ENOMEM;
	pthread_mutex_lock(&r->lock);
	names_settle(r->names);
	learn_build_ids(r);
	take_places(r);
	rc = sort_by_file(r) ?: sort_by_process(r);
	r->counts.missed = hits_missed(r->names->hits) + hits_missed(r->names->places) + dropped;
	r->counts.unreached = r->nr_places;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

int namer_run(struct namer *r)
{
	int rc = prepare(r);

	for (size_t i = 0; !rc && i < r->nr_places && now_ms() < r->deadline; i++)
		rc = put_place(r, &r->places[i]);
	if (rc)
		return rc;
	r->made = r->counts;
	return compose(r, add_lines, &r->table, &r->made.table);
}

int namer_take(struct namer *r, struct buf *table, struct names_counts *ret)
{
	*ret = r->made;
	return buf_append(table, r->table.data, r->table.len);
}

int namer_take_part(struct namer *r, struct buf *table, struct names_counts *ret)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = compose(r, add_kept_lines, table, &r->counts.table);
	*ret = r->counts;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

void namer_skip(struct namer *r, uint32_t maj, uint32_t min)
{
	if (r->nr_skipped < NAMES_LEFT_MAX)
		r->skipped[r->nr_skipped++] = (struct namer_device){maj, min};
}

void namer_hurry(struct namer *r)
{
	r->deadline = 0;
}

bool namer_at(struct namer *r, uint32_t *maj, uint32_t *min)
{
	const struct mapped_code *f;

	pthread_mutex_lock(&r->lock);
	f = r->at;
	if (f) {
		*maj = f->key.maj;
		*min = f->key.min;
	}
	pthread_mutex_unlock(&r->lock);
	return f;
}
