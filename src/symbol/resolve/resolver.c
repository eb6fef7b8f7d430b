// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/resolver.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sys/io/cache.h"
#include "symbol/resolve/resolver_binding.h"
#include "symbol/resolve/resolver_pool_priv.h"
#include "symbol/resolve/sources.h"

/* Slots are allocated in blocks, each twice as large as the one before. Blocks never move. */
#define BLOCK0	   64
#define BLOCKS_MAX 24

#define PID_BUCKETS 1024

/* Result of loading a dso. Read-only once it is published. */
struct loaded {
	struct symtab *table; /* NULL: no symbols */
	bool borrowed;	      /* the pool owns the table */
	struct symbol whole;  /* DSO_KSYMBOL: this symbol covers every address */
	bool few;	      /* it has only the exported symbols */
	char why[512];	      /* reason for none or few symbols; else empty */
};

struct resolver_slot {
	/* Published with release under the lock; read with acquire. */
	_Atomic(struct loaded *) loaded;
	_Atomic(struct loaded *) whole; /* where the table of @loaded does not cover an address */
	_Atomic(bool) recorded_asked;	/* published as @loaded is */
	struct symtab *recorded;	/* the recording's own; NULL: none */
	pthread_mutex_t lock;		/* guards the loading */
};

/* perf-PID.map of a process. Nodes are only ever added in front. */
struct pid_map {
	struct pid_map *next;
	uint32_t pid;
	struct symtab *table;
	struct symtab *recorded; /* the recording's own; NULL: none */
	char *why;		 /* why there is no @table */
};

struct resolver {
	struct sources src;
	struct resolver_pool *pool;
	struct utsname uts;
	char *home, *build_ids, *cache;
	_Atomic(struct resolver_slot *) blocks[BLOCKS_MAX];
	_Atomic(struct pid_map *) pids[PID_BUCKETS];
	/*
	 * Lock order: after a slot's lock. Guards the growing of @blocks and @pids, and the fields
	 * below.
	 */
	pthread_mutex_t lock;
	_Atomic bool any_perfmap;
	struct pid_map *unmapped; /* of the lowest number among those with a @why */
	uint64_t perfmaps_left;	  /* bytes */
	char refused[512];	  /* the first symbol file that exceeds the limit for one file */
};

static const struct loaded out_of_memory = {.why = "out of memory"};

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Finds whether the recording is of the host. */
static void compare_host(struct sources *src)
{
	const struct symbol_host *host = &src->host;
	enum origin_kind kind = src->opts.origin.kind;

	if (kind == ORIGIN_HERE)
		src->opts.osrelease = host->osrelease;
	src->same_machine = kind == ORIGIN_NAMED
				    ? same(src->opts.hostname, host->hostname) &&
					      same(src->opts.osrelease, host->osrelease)
				    : kind == ORIGIN_HERE;
}

int resolver_new_on(const struct resolver_opts *opts, const struct symbol_host *host,
		    struct resolver **ret, struct error *err)
{
	struct resolver *r;
	int rc;

	elf_version(EV_CURRENT);
	rc = kernel_check_named(opts, err);
	if (rc < 0)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->pool = opts->pool ? resolver_pool_get(opts->pool) : resolver_pool_new(host->root);
	if (!r->pool) {
		free(r);
		return error_set(err, -ENOMEM, "out of memory");
	}
	r->src.modules = resolver_pool_modules(r->pool);
	r->src.files = resolver_pool_files(r->pool);
	pthread_mutex_init(&r->lock, NULL);
	r->perfmaps_left = opts->wanted ? PERFMAPS_WANTED_MAX : PERFMAPS_MAX;
	r->src.opts = *opts;
	r->src.host = *host;
	if (r->src.opts.symfs && !strcmp(r->src.opts.symfs, "/"))
		r->src.opts.symfs = "";
	compare_host(&r->src);
	*ret = r;
	return 0;
}

int resolver_new(const struct resolver_opts *opts, struct resolver **ret, struct error *err)
{
	const char *home = getenv("HOME"), *build_ids = getenv("PERF_BUILDID_DIR");
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct symbol_host host = {.root = "", .debuginfod = urls && *urls && !opts->no_debuginfod};
	struct resolver *r;
	int e = resolver_new_on(opts, &host, &r, err);

	if (e)
		return e;
	/* the strings of @host must live as long as the resolver, so it has copies */
	if (home && *home)
		r->home = strdup(home);
	r->src.host.home = r->home;
	if (build_ids)
		r->build_ids = strdup(build_ids);
	r->src.host.build_ids = r->build_ids;
	r->cache = cache_base();
	r->src.host.cache = r->cache;
	if (!uname(&r->uts)) {
		r->src.host.hostname = r->uts.nodename;
		r->src.host.osrelease = r->uts.release;
	}
	compare_host(&r->src);
	*ret = r;
	return 0;
}

static void loaded_free(struct loaded *l)
{
	if (!l || l == &out_of_memory)
		return;
	if (!l->borrowed)
		symtab_free(l->table);
	free(l);
}

static void block_free(struct resolver_slot *block, size_t n)
{
	size_t i;

	for (i = 0; block && i < n; i++) {
		loaded_free(atomic_load_explicit(&block[i].loaded, memory_order_relaxed));
		loaded_free(atomic_load_explicit(&block[i].whole, memory_order_relaxed));
		pthread_mutex_destroy(&block[i].lock);
	}
	free(block);
}

void resolver_free(struct resolver *r)
{
	struct pid_map *p, *next;
	size_t i;

	if (!r)
		return;
	for (i = 0; i < BLOCKS_MAX; i++)
		block_free(atomic_load(&r->blocks[i]), (size_t)BLOCK0 << i);
	for (i = 0; i < PID_BUCKETS; i++) {
		for (p = atomic_load(&r->pids[i]); p; p = next) {
			next = p->next;
			symtab_free(p->table);
			free(p->why);
			free(p);
		}
	}
	pthread_mutex_destroy(&r->lock);
	resolver_pool_put(r->pool);
	free(r->home);
	free(r->build_ids);
	free(r->cache);
	free(r);
}

static struct resolver_slot *block_new(size_t n)
{
	struct resolver_slot *b = calloc(n, sizeof(*b));
	size_t i;

	for (i = 0; b && i < n; i++)
		pthread_mutex_init(&b[i].lock, NULL);
	return b;
}

/* Returns the number of the block of dso @index; *@ret is the slot's index in it. */
static unsigned int block_of(unsigned int index, size_t *ret)
{
	uint64_t n = (uint64_t)index + BLOCK0;
	unsigned int k = 63 - (unsigned int)__builtin_clzll(n) - 6; /* log2(n / BLOCK0) */

	*ret = n - ((uint64_t)BLOCK0 << k);
	return k;
}

/* Returns the slot of dso @index, or NULL if it has not been made. */
static const struct resolver_slot *slot_find(const struct resolver *r, unsigned int index)
{
	size_t at;
	unsigned int k = block_of(index, &at);
	const struct resolver_slot *b;

	if (k >= BLOCKS_MAX)
		return NULL;
	b = atomic_load_explicit(&r->blocks[k], memory_order_acquire);
	return b ? b + at : NULL;
}

/* Returns the slot of dso @index; NULL when out of memory. Lock-free if it exists already. */
static struct resolver_slot *slot_get(struct resolver *r, unsigned int index)
{
	size_t at;
	unsigned int k = block_of(index, &at);
	struct resolver_slot *b;

	if (k >= BLOCKS_MAX)
		return NULL;
	b = atomic_load_explicit(&r->blocks[k], memory_order_acquire);
	if (!b) {
		pthread_mutex_lock(&r->lock);
		b = atomic_load_explicit(&r->blocks[k], memory_order_relaxed);
		if (!b) {
			b = block_new((size_t)BLOCK0 << k);
			atomic_store_explicit(&r->blocks[k], b, memory_order_release);
		}
		pthread_mutex_unlock(&r->lock);
	}
	return b ? b + at : NULL;
}

static int load_none(const struct sources *src, const struct dso *dso, struct symtab **ret,
		     struct error *why)
{
	return error_set(why, -ENOENT, "it belongs to a guest, whose files are not here");
}

/* DSO_KSYMBOL and DSO_ANON have no file; the pool loads the kernel's. */
static int (*const loaders[])(const struct sources *src, const struct dso *dso, struct symtab **ret,
			      struct error *why) = {
	[DSO_MODULE] = module_load, [DSO_ELF] = file_load,    [DSO_VDSO] = vdso_load,
	[DSO_GUEST] = load_none,    [DSO_JIT] = jitdump_load,
};

static struct loaded *load(struct resolver *r, const struct dso *dso)
{
	struct loaded *l = calloc(1, sizeof(*l));
	struct error why = ERROR_INIT;
	int e = -ENOENT;

	if (!l)
		return (struct loaded *)(uintptr_t)&out_of_memory;
	l->borrowed = dso->kind == DSO_ELF;
	if (dso->kind == DSO_KSYMBOL)
		l->whole = (struct symbol){.start = 0, .end = UINT64_MAX, .name = dso->name};
	else if (dso->kind == DSO_KERNEL)
		e = resolver_pool_kernel(r->pool, &r->src, dso, false, &l->table, &l->borrowed,
					 &why);
	else if ((size_t)dso->kind < sizeof(loaders) / sizeof(*loaders) && loaders[dso->kind])
		e = loaders[dso->kind](&r->src, dso, &l->table, &why);
	if (!l->table && !l->whole.name)
		snprintf(l->why, sizeof(l->why), "%s",
			 *why.text	? why.text
			 : e == -ENOMEM ? "out of memory"
					: "not found");
	l->few = l->table && dso->kind == DSO_ELF && *why.text;
	if (l->few)
		snprintf(l->why, sizeof(l->why), "%s", why.text);
	return l;
}

/* Returns the recording's own table for @dso, which may have the name of an address; or NULL. */
static struct symtab *recorded_get(struct resolver *r, const struct dso *dso)
{
	struct resolver_slot *s = r->src.opts.recorded ? slot_get(r, dso->index) : NULL;

	if (!s)
		return NULL;
	if (atomic_load_explicit(&s->recorded_asked,
				 memory_order_acquire)) /* pairs with the release below */
		return s->recorded;
	pthread_mutex_lock(&s->lock);
	if (!atomic_load_explicit(&s->recorded_asked, memory_order_relaxed)) {
		s->recorded = recorded_symbols_table(r->src.opts.recorded, dso, 0);
		atomic_store_explicit(&s->recorded_asked, true, memory_order_release);
	}
	pthread_mutex_unlock(&s->lock);
	return s->recorded;
}

static const struct loaded *loaded_get(struct resolver *r, const struct dso *dso)
{
	struct resolver_slot *s = slot_get(r, dso->index);
	struct loaded *l;

	if (!s)
		return &out_of_memory;
	l = atomic_load_explicit(&s->loaded,
				 memory_order_acquire); /* pairs with the release below */
	if (l)
		return l;
	pthread_mutex_lock(&s->lock);
	l = atomic_load_explicit(&s->loaded, memory_order_relaxed);
	if (!l) {
		l = load(r, dso);
		atomic_store_explicit(&s->loaded, l, memory_order_release);
	}
	pthread_mutex_unlock(&s->lock);
	return l;
}

/* Loads all symbols of a dso of which a part is loaded. */
static struct loaded *load_whole(struct resolver *r, const struct dso *dso)
{
	struct loaded *l = calloc(1, sizeof(*l));
	struct error unused = ERROR_INIT;

	if (!l)
		return (struct loaded *)(uintptr_t)&out_of_memory;
	resolver_pool_kernel(r->pool, &r->src, dso, true, &l->table, &l->borrowed, &unused);
	return l;
}

static const struct loaded *whole_get(struct resolver *r, const struct dso *dso)
{
	struct resolver_slot *s = slot_get(r, dso->index);
	struct loaded *l;

	if (!s)
		return &out_of_memory;
	l = atomic_load_explicit(&s->whole,
				 memory_order_acquire); /* pairs with the release below */
	if (l)
		return l;
	pthread_mutex_lock(&s->lock);
	l = atomic_load_explicit(&s->whole, memory_order_relaxed);
	if (!l) {
		l = load_whole(r, dso);
		atomic_store_explicit(&s->whole, l, memory_order_release);
	}
	pthread_mutex_unlock(&s->lock);
	return l;
}

static struct pid_map *pid_find(struct resolver *r, uint32_t pid)
{
	struct pid_map *p;

	p = atomic_load_explicit(&r->pids[pid % PID_BUCKETS], memory_order_acquire);
	while (p && p->pid != pid)
		p = p->next;
	return p;
}

/* Loads a process's map, or remembers that the process has none. */
static struct pid_map *pid_load(struct resolver *r, const struct dso *dso, uint32_t pid)
{
	struct error why = ERROR_INIT;
	struct pid_map *p;
	int e;

	pthread_mutex_lock(&r->lock);
	p = pid_find(r, pid);
	if (p)
		goto out;
	p = calloc(1, sizeof(*p));
	if (!p)
		goto out;
	p->pid = pid;
	if (r->src.opts.recorded)
		p->recorded = recorded_symbols_table(r->src.opts.recorded, dso, pid);
	e = perfmap_load(&r->src, pid, &r->perfmaps_left, &p->table, &why);
	if ((e == -EFBIG || e == -EBADMSG) && !*r->refused)
		snprintf(r->refused, sizeof(r->refused), "%s", why.text);
	if (!e)
		atomic_store(&r->any_perfmap, true);
	else
		p->why = strdup(*why.text ? why.text : "out of memory");
	/* Not the first one: threads load in any order. */
	if (p->why && (!r->unmapped || pid < r->unmapped->pid))
		r->unmapped = p;
	p->next = atomic_load_explicit(&r->pids[pid % PID_BUCKETS], memory_order_relaxed);
	atomic_store_explicit(&r->pids[pid % PID_BUCKETS], p, memory_order_release);
out:
	pthread_mutex_unlock(&r->lock);
	return p;
}

static const struct symbol *find_in(const struct resolver *r, const struct dso *dso,
				    struct symtab *t, uint64_t addr)
{
	bool kernel = dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;
	bool mangled = r->src.opts.no_demangle || (kernel && r->src.opts.no_demangle_kernel);

	return t ? symtab_find(t, addr, !mangled) : NULL;
}

static const struct symbol *find_anon(struct resolver *r, const struct dso *dso, uint32_t pid,
				      uint64_t addr)
{
	struct pid_map *p = pid_find(r, pid);
	const struct symbol *sym;

	if (!p)
		p = pid_load(r, dso, pid);
	if (!p)
		return NULL;
	sym = find_in(r, dso, p->recorded, addr);
	return sym ? sym : find_in(r, dso, p->table, addr);
}

/* A forked child runs the code of its parent, until it makes some of its own. */
static const struct symbol *find_jit(struct resolver *r, const struct dso *dso, uint32_t pid,
				     uint64_t addr)
{
	const struct symbol *sym = find_anon(r, dso, pid, addr);

	if (!sym && dso->jit_pid && dso->jit_pid != pid)
		sym = find_anon(r, dso, dso->jit_pid, addr);
	return sym;
}

const struct symbol *resolver_find(struct resolver *r, const struct dso *dso, uint32_t pid,
				   uint64_t addr)
{
	const struct symbol *sym;
	const struct loaded *l;

	if (dso->kind == DSO_ANON)
		return find_jit(r, dso, pid, addr);
	sym = find_in(r, dso, recorded_get(r, dso), addr);
	if (sym)
		return sym;
	l = loaded_get(r, dso);
	if (l->table && !symtab_covers(l->table, addr) && !r->src.opts.wanted)
		l = whole_get(r, dso);
	if (l->table)
		return find_in(r, dso, l->table, addr);
	return l->whole.name ? &l->whole : NULL;
}

static int open_image(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
		      struct error *why)
{
	switch (dso->kind) {
	case DSO_ELF: return source_open_program(&r->src, dso, ret, why);
	case DSO_VDSO: return source_open_vdso(&r->src, dso, ret, why);
	default: return error_set(why, -ENOENT, "it has no file");
	}
}

int resolver_open_image(const struct resolver *r, const struct dso *dso, struct elf_image *ret)
{
	struct error unused = ERROR_INIT;

	return open_image(r, dso, ret, &unused);
}

int resolver_open_code_why(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
			   struct error *why)
{
	int rc;

	if (dso->kind == DSO_JIT) {
		rc = jitdump_open(&r->src, dso->name, dso->pids, DSO_PIDS, why);
		if (rc >= 0)
			ret->fd = rc;
		return rc < 0 ? rc : 0;
	}
	rc = open_image(r, dso, ret, why);
	return rc && dso->kind == DSO_ELF && !source_open_downloaded(&r->src, dso, ret) ? 0 : rc;
}

int resolver_open_code(const struct resolver *r, const struct dso *dso, struct elf_image *ret)
{
	struct error unused = ERROR_INIT;

	return resolver_open_code_why(r, dso, ret, &unused);
}

int resolver_read_jitdump(const struct resolver *r, const char *path, uint32_t pid, uint64_t ino,
			  struct jitdump_info *ret, jitdump_fn fn, void *arg)
{
	int rc, fd = jitdump_open(&r->src, path, &pid, 1, NULL);
	struct stat st;

	if (fd < 0)
		return fd;
	if (r->src.opts.origin.kind == ORIGIN_HERE && !r->src.opts.symfs && ino &&
	    (fstat(fd, &st) || st.st_ino != ino))
		rc = -ESTALE;
	else
		rc = jitdump_read(fd, ret, fn, arg, NULL);
	close(fd);
	return rc;
}

bool resolver_names_vmlinux(const struct resolver *r)
{
	return r->src.opts.vmlinux;
}

int resolver_open_kcore(const struct resolver *r, const struct dso *dso, struct elf_image *ret)
{
	return dso->kind == DSO_KERNEL ? kernel_open_kcore(&r->src, dso, ret) : -ENOENT;
}

int resolver_open_kernel(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
			 uint64_t *ret_delta)
{
	return dso->kind == DSO_KERNEL ? kernel_open_image(&r->src, dso, ret, ret_delta) : -ENOENT;
}

int resolver_kallsyms(const struct resolver *r, const struct dso *dso, struct buf *ret,
		      struct error *why)
{
	return kernel_kallsyms(&r->src, dso, ret, why);
}

int resolver_open_module(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
			 struct error *why)
{
	return module_open(&r->src, dso, ret, why);
}

int resolver_open_debug(const struct resolver *r, const struct dso *dso,
			const struct elf_image *program, struct elf_image *ret)
{
	return source_open_debug(&r->src, dso, program, ret);
}

const char *resolver_cache(const struct resolver *r)
{
	return r->src.host.cache;
}

static bool any_pid_asked(const struct resolver *r)
{
	for (size_t i = 0; i < PID_BUCKETS; i++)
		if (atomic_load_explicit(&r->pids[i], memory_order_acquire))
			return true;
	return false;
}

bool resolver_was_asked(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_slot *s;

	if (dso->kind == DSO_ANON)
		return any_pid_asked(r);
	s = slot_find(r, dso->index);
	return s && atomic_load_explicit(&s->loaded, memory_order_acquire);
}

size_t resolver_recorded(const struct resolver *r, const struct dso *dso)
{
	const struct resolver_slot *s = slot_find(r, dso->index);

	if (!s || !atomic_load_explicit(&s->recorded_asked, memory_order_acquire))
		return 0;
	return s->recorded ? symtab_count(s->recorded) : 0;
}

const struct pd_symbol_lines *resolver_recorded_lines(const struct resolver *r,
						      const struct dso *dso)
{
	return r->src.opts.recorded ? recorded_symbols_lines(r->src.opts.recorded, dso) : NULL;
}

static const char *why_no_perfmap(struct resolver *r, const struct dso *dso)
{
	const struct pid_map *own;
	const char *why;

	if (atomic_load(&r->any_perfmap))
		return NULL;
	pthread_mutex_lock(&r->lock);
	own = dso->jit_pid ? pid_find(r, dso->jit_pid) : NULL;
	if (!own || !own->why)
		own = r->unmapped;
	why = own ? own->why : "no perf-PID.map of its processes was found";
	pthread_mutex_unlock(&r->lock);
	return why;
}

const char *resolver_why_not(struct resolver *r, const struct dso *dso)
{
	const struct loaded *l;

	if (dso->kind == DSO_ANON)
		return why_no_perfmap(r, dso);
	l = loaded_get(r, dso);
	return *l->why && !l->few ? l->why : NULL;
}

const char *resolver_refused(struct resolver *r)
{
	const char *text;

	/* it is written once; the lock orders this read after it */
	pthread_mutex_lock(&r->lock);
	text = *r->refused ? r->refused : NULL;
	pthread_mutex_unlock(&r->lock);
	return text;
}

const char *resolver_why_few(struct resolver *r, const struct dso *dso)
{
	const struct loaded *l = dso->kind == DSO_ELF ? loaded_get(r, dso) : NULL;

	return l && l->few ? l->why : NULL;
}

enum symtab_binding resolver_binding(struct resolver *r, const struct dso *dso, uint64_t addr)
{
	const struct symtab *tables[] = {recorded_get(r, dso), loaded_get(r, dso)->table,
					 dso->kind == DSO_KERNEL ? whole_get(r, dso)->table : NULL};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		int binding = tables[i] ? symtab_binding(tables[i], addr) : -ENOENT;

		if (binding >= 0)
			return (enum symtab_binding)binding;
	}
	return SYMTAB_GLOBAL;
}
