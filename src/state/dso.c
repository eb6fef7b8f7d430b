// SPDX-License-Identifier: Apache-2.0
#include "state/dso.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

/* uthash's own function takes no key: see base/hash.h. */
#define HASH_FUNCTION(p, n, ret) ((ret) = (unsigned int)hash_bytes(hash_key(), p, n))
#include <uthash.h>

/* An identity of a dso; one dso may have several. Hashed as bytes, so it has no padding. */
struct dso_key {
	const char *name; /* interned */
	uint64_t ino, ino_generation;
	uint32_t maj, min;
	uint32_t kind, pid;
	uint8_t build_id[PD_BUILD_ID_MAX];
	uint32_t build_id_size;
};

_Static_assert(sizeof(struct dso_key) == 64, "no padding in a key");

struct dso_by_name {
	struct dso_key key;
	struct dso *dso;
	UT_hash_handle hh;
};

/* The newest dso with a name. */
struct dso_family {
	struct dso_key key; /* name, kind and pid only */
	struct dso *last;
	UT_hash_handle hh;
};

struct dso_build_id {
	const char *name; /* interned; its address is the key */
	uint8_t size;
	uint8_t id[PD_BUILD_ID_MAX];
	bool of_files; /* several files have the name, each with its build-id */
	UT_hash_handle hh;
};

/* Build-id of one of several files with the same name. The key is hashed as bytes: no padding. */
struct file_build_id {
	struct file_key {
		const char *name; /* interned */
		uint64_t ino;
		uint64_t ino_generation; /* 0: any file with the inode */
		uint32_t maj, min;
	} key;
	uint8_t size;
	uint8_t id[PD_BUILD_ID_MAX];
	UT_hash_handle hh;
};

_Static_assert(sizeof(struct file_key) == 32, "no padding in a key");

int dso_table_init(struct dso_table *t)
{
	*t = (struct dso_table){0};
	t->names = strpool_new();
	return t->names ? 0 : -ENOMEM;
}

void dso_table_release(struct dso_table *t)
{
	HASH_CLEAR(hh, t->aliases);
	HASH_CLEAR(hh, t->families);
	HASH_CLEAR(hh, t->build_ids);
	HASH_CLEAR(hh, t->file_build_ids);
	strpool_free(t->names);
	free(t->dsos);
	arena_release(&t->arena);
}

const char *dso_intern(struct dso_table *t, const char *name)
{
	return strpool_intern(t->names, name);
}

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Names that are no paths of files. Source: the kernel's d_path() and perf_event_mmap_event(). */
static const struct {
	const char *prefix;
	enum dso_kind kind;
	bool jit; /* if executable, tools/perf/util/map.c treats it as memory of a JIT */
} special_names[] = {
	{"[vdso", DSO_VDSO, false},	  {"[vsyscall]", DSO_VDSO, false},
	{"[heap]", DSO_ANON, true},	  {"[stack", DSO_ANON, true},
	{"[", DSO_ANON, false}, /* [uprobes], [anon:…], [unknown] */
	{"//anon", DSO_ANON, true},	  {"//", DSO_ANON, false}, /* //toolong, //enomem */
	{"anon_inode:", DSO_ANON, false}, {"/anon_hugepage", DSO_ANON, true},
	{"/memfd:", DSO_ANON, false},	  {"/dev/zero", DSO_ANON, true},
	{"/SYSV", DSO_ANON, true},
};

#define FLAG_HUGETLB 0x40000 /* MAP_HUGETLB */

static int special_name(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(special_names) / sizeof(special_names[0]); i++) {
		if (starts(name, special_names[i].prefix))
			return (int)i;
	}
	return -1;
}

bool state_is_jitdump(const char *name)
{
	const char *base = strrchr(name, '/');
	size_t digits;

	if (!base || !starts(base, "/jit-"))
		return false;
	base += strlen("/jit-");
	digits = strspn(base, "0123456789");
	return digits && !strcmp(base + digits, ".dump");
}

enum dso_kind dso_kind_of_user(const char *name, uint32_t flags)
{
	int i = special_name(name);

	if (i >= 0)
		return special_names[i].kind;
	if (flags & FLAG_HUGETLB || !*name)
		return DSO_ANON;
	return state_is_jitdump(name) ? DSO_JIT : DSO_ELF;
}

bool dso_is_jit_memory(const char *name, uint32_t flags)
{
	int i = special_name(name);

	return i >= 0 ? special_names[i].jit : flags & FLAG_HUGETLB;
}

/* Length of the module's name in a file name, without .ko and compression; 0: not a module. */
static size_t module_name_len(const char *base)
{
	static const char *const suffixes[] = {".ko", ".ko.xz", ".ko.gz", ".ko.zst"};
	size_t i, len = strlen(base), n;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		n = strlen(suffixes[i]);
		if (len > n && !strcmp(base + len - n, suffixes[i]))
			return len - n;
	}
	return 0;
}

static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash && slash[1] ? slash + 1 : name;
}

/* The name that perf prints in tables. */
static const char *short_name(struct dso_table *t, const char *name, const struct dso_want *want)
{
	const char *base = base_name(name), *ret;
	char jit[32], *module;
	size_t len, i;

	if (want->pid) {
		snprintf(jit, sizeof(jit), "[JIT] tid %d", (int)want->pid);
		return dso_intern(t, jit);
	}
	if (want->kind == DSO_KERNEL || want->kind == DSO_KSYMBOL || name[0] == '[')
		return name;
	len = want->kind == DSO_MODULE || want->kind == DSO_GUEST ? module_name_len(base) : 0;
	if (!len)
		return base;
	if (asprintf(&module, "[%.*s]", (int)len, base) < 0)
		return NULL;
	for (i = 0; module[i]; i++) {
		if (module[i] == '-')
			module[i] = '_';
	}
	ret = dso_intern(t, module);
	free(module);
	return ret;
}

/* The name that perf prints in lines of perf script. */
static const char *line_name(struct dso_table *t, const struct dso *dso)
{
	char map[32];

	if (dso->jit_pid) {
		snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)dso->jit_pid);
		return dso_intern(t, map);
	}
	if ((dso->kind == DSO_MODULE || dso->kind == DSO_GUEST) && dso->short_name[0] == '[')
		return dso->short_name;
	return dso->name;
}

/* Whether @dso may be the dso of @key: no property that both have differs. */
static bool compatible(const struct dso *dso, const struct dso_key *key)
{
	if (dso->build_id_size && key->build_id_size &&
	    (dso->build_id_size != key->build_id_size ||
	     memcmp(dso->build_id, key->build_id, key->build_id_size)))
		return false;
	if (!dso->ino || !key->ino)
		return true;
	/* Records that a recorder synthesizes from /proc/PID/maps have no generation. */
	return dso->ino == key->ino && dso->maj == key->maj && dso->min == key->min &&
	       (dso->ino_generation == key->ino_generation || !dso->ino_generation ||
		!key->ino_generation);
}

static void learn(struct dso *dso, const struct dso_key *key)
{
	if (key->build_id_size && !dso->build_id_size) {
		dso->build_id_size = (uint8_t)key->build_id_size;
		memcpy(dso->build_id, key->build_id, sizeof(dso->build_id));
	}
	if (key->ino && !dso->ino) {
		dso->maj = key->maj;
		dso->min = key->min;
		dso->ino = key->ino;
	}
	if (key->ino_generation && !dso->ino_generation)
		dso->ino_generation = key->ino_generation;
}

static struct dso *dso_new(struct dso_table *t, const char *name, const struct dso_want *want)
{
	struct dso *dso = arena_alloc(&t->arena, sizeof(*dso));

	if (!dso || array_grow(&t->dsos, &t->capacity, t->count + 1, sizeof(*t->dsos)))
		return NULL;
	dso->name = name;
	dso->short_name = short_name(t, name, want);
	if (!dso->short_name)
		return NULL;
	dso->kind = want->kind;
	dso->jit_pid = want->pid;
	dso->line_name = line_name(t, dso);
	if (!dso->line_name)
		return NULL;
	dso->index = (unsigned int)t->count;
	t->dsos[t->count++] = dso;
	return dso;
}

/*
 * Finds the dso for an identity that is not in the table yet: the newest dso of that name unless it
 * contradicts, else a new one. Returns NULL when out of memory.
 */
static struct dso *dso_by_name(struct dso_table *t, const struct dso_key *key,
			       const struct dso_want *want)
{
	struct dso_key family_key;
	struct dso_family *family;

	memset(&family_key, 0, sizeof(family_key));
	family_key.name = key->name;
	family_key.kind = key->kind;
	family_key.pid = key->pid;
	HASH_FIND(hh, t->families, &family_key, sizeof(family_key), family);
	if (!family) {
		family = arena_alloc(&t->arena, sizeof(*family));
		if (!family)
			return NULL;
		family->key = family_key;
		HASH_ADD(hh, t->families, key, sizeof(family->key), family);
		if (!family->hh.tbl)
			return NULL;
	}
	if (!family->last || !compatible(family->last, key)) {
		struct dso *dso = dso_new(t, key->name, want);

		if (!dso)
			return NULL;
		family->last = dso;
	}
	learn(family->last, key);
	return family->last;
}

/*
 * Remembers processes that mapped the file: the resolver may open it through one that still runs.
 */
static struct dso *seen_by(struct dso *dso, const struct pd_mmap *mmap)
{
	if (!dso || !mmap || (dso->kind != DSO_ELF && dso->kind != DSO_JIT))
		return dso;
	for (size_t i = 0; i < DSO_PIDS; i++)
		if (dso->pids[i] == mmap->pid)
			return dso;
	dso->pids[dso->next_pid] = mmap->pid;
	dso->next_pid = (dso->next_pid + 1) % DSO_PIDS;
	return dso;
}

struct dso *dso_get(struct dso_table *t, const char *name, const struct dso_want *want)
{
	const struct pd_mmap *mmap = want->mmap;
	struct dso_by_name *alias;
	struct dso_key key;

	memset(&key, 0, sizeof(key));
	key.name = dso_intern(t, name);
	if (!key.name)
		return NULL;
	key.kind = want->kind;
	key.pid = want->pid;
	if (mmap && want->kind != DSO_ANON && want->kind != DSO_VDSO) {
		key.ino = mmap->ino;
		key.ino_generation = mmap->ino_generation;
		key.maj = mmap->maj;
		key.min = mmap->min;
	}
	if (mmap && mmap->build_id_size <= PD_BUILD_ID_MAX) {
		key.build_id_size = mmap->build_id_size;
		memcpy(key.build_id, mmap->build_id, mmap->build_id_size);
	}
	HASH_FIND(hh, t->aliases, &key, sizeof(key), alias);
	if (alias)
		return seen_by(alias->dso, mmap);
	alias = arena_alloc(&t->arena, sizeof(*alias));
	if (!alias)
		return NULL;
	alias->key = key;
	alias->dso = dso_by_name(t, &key, want);
	if (!alias->dso)
		return NULL;
	HASH_ADD(hh, t->aliases, key, sizeof(alias->key), alias);
	return alias->hh.tbl ? seen_by(alias->dso, mmap) : NULL;
}

/* Whether a build-id is the kernel's own, not a module's or the vdso's. */
static bool names_kernel(const char *name, uint16_t misc)
{
	if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
		return false;
	if (name[0] == '[')
		return starts(name, "[kernel");
	return !module_name_len(base_name(name));
}

static struct file_build_id *find_file(const struct dso_table *t, const struct file_key *key)
{
	struct file_build_id *f;

	HASH_FIND(hh, t->file_build_ids, key, sizeof(*key), f);
	return f;
}

static int set_of_file(struct dso_table *t, const struct file_key *key,
		       const struct pd_build_id *id)
{
	struct file_build_id *f = find_file(t, key);

	if (!f) {
		f = arena_alloc(&t->arena, sizeof(*f));
		if (!f)
			return -ENOMEM;
		f->key = *key;
		HASH_ADD(hh, t->file_build_ids, key, sizeof(f->key), f);
		if (!f->hh.tbl)
			return -ENOMEM;
	}
	f->size = id->size;
	memcpy(f->id, id->build_id, id->size);
	return 0;
}

/*
 * Stores the build-id of one of several files with the same name. When a file replaces another, it
 * may get the same inode, but not the same generation. Maps synthesized from /proc have no
 * generation; they get the last build-id that was stored for the inode.
 */
static int set_of_name(struct dso_table *t, const char *name, const struct pd_build_id *id)
{
	struct file_key key = {name, id->ino, id->ino_generation, id->maj, id->min};
	int rc = set_of_file(t, &key, id);

	key.ino_generation = 0;
	return rc ? rc : set_of_file(t, &key, id);
}

int dso_set_build_id(struct dso_table *t, const struct pd_build_id *id, uint16_t misc)
{
	const char *name = dso_intern(t, id->filename);
	struct dso_build_id *b;

	if (!name)
		return -ENOMEM;
	if (id->size > PD_BUILD_ID_MAX)
		return 0;
	HASH_FIND_PTR(t->build_ids, &name, b);
	if (!b) {
		b = arena_alloc(&t->arena, sizeof(*b));
		if (!b)
			return -ENOMEM;
		b->name = name;
		HASH_ADD_PTR(t->build_ids, name, b);
		if (!b->hh.tbl)
			return -ENOMEM;
	}
	b->size = id->size;
	memcpy(b->id, id->build_id, id->size);
	if (names_kernel(name, misc))
		t->kernel_build_id = b;
	if (!id->ino)
		return 0;
	b->of_files = true;
	return set_of_name(t, name, id);
}

/* Returns the remembered build-id of @dso; *@ret_size is 0 if there is none. */
static const uint8_t *remembered(const struct dso_table *t, const struct dso *dso,
				 uint8_t *ret_size)
{
	const struct file_key key = {dso->name, dso->ino, dso->ino_generation, dso->maj, dso->min};
	const struct file_build_id *f;
	const struct dso_build_id *b;

	*ret_size = 0;
	if (dso->kind == DSO_KERNEL)
		b = t->kernel_build_id;
	else
		HASH_FIND_PTR(t->build_ids, &dso->name, b);
	if (b && b->of_files && dso->ino) {
		f = find_file(t, &key);
		*ret_size = f ? f->size : 0;
		return f ? f->id : NULL;
	}
	*ret_size = b ? b->size : 0;
	return b ? b->id : NULL;
}

void dso_apply_build_ids(struct dso_table *t, size_t from)
{
	size_t i;

	for (i = from; i < t->count; i++) {
		struct dso *dso = t->dsos[i];
		const uint8_t *id;
		uint8_t size;

		if (dso->build_id_size || dso->kind == DSO_ANON)
			continue;
		id = remembered(t, dso, &size);
		if (!id)
			continue;
		dso->build_id_size = size;
		memcpy(dso->build_id, id, size);
	}
}

size_t dso_memory(const struct dso_table *t)
{
	size_t tables = HASH_OVERHEAD(hh, t->aliases) + HASH_OVERHEAD(hh, t->families) +
			HASH_OVERHEAD(hh, t->build_ids) + HASH_OVERHEAD(hh, t->file_build_ids);

	return t->arena.total + strpool_memory(t->names) + t->capacity * sizeof(*t->dsos) + tables;
}
