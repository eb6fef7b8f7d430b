// SPDX-License-Identifier: Apache-2.0
#include "state/state.h"

#include <errno.h>
#include <stdlib.h>

#include "state/state_priv.h"

struct state *state_new(void)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	space_pool_init(&s->pool);
	if (dso_table_init(&s->dsos)) {
		state_free(s);
		return NULL;
	}
	return s;
}

void state_free(struct state *s)
{
	if (!s)
		return;
	threads_release(&s->threads);
	cgroups_release(s);
	cpu_tasks_release(&s->cpu_tasks);
	parallelism_release(&s->parallelism);
	namespaces_release(&s->namespaces);
	code_changes_release(&s->code_changes);
	dso_table_release(&s->dsos);
	space_pool_release(&s->pool);
	arena_release(&s->maps);
	kernel_release(s);
	free(s);
}

struct space_map state_map(const struct pd_mmap *mmap, const struct dso *dso, struct moment at)
{
	struct space_map map = {
		.map =
			{
				.start = mmap->addr,
				.pgoff = mmap->pgoff,
				.dso = dso,
				.prot = mmap->prot,
				.flags = mmap->flags,
			},
		.born = at,
	};

	if (__builtin_add_overflow(mmap->addr, mmap->len, &map.map.end))
		map.map.end = UINT64_MAX;
	return map;
}

struct space_map *state_map_keep(struct state *s, const struct space_map *map)
{
	struct space_map *kept = arena_alloc(&s->maps, sizeof(*kept));

	if (kept)
		*kept = *map;
	return kept;
}

int state_map_add(struct state *s, struct space *space, enum space_tree tree,
		  const struct space_map *map)
{
	const struct space_map *kept;

	if (space_has(space, tree, &map->map))
		return 0;
	kept = state_map_keep(s, map);
	return kept ? space_add(&s->pool, space, tree, kept) : -ENOMEM;
}

static int user_mmap(struct state *s, const struct pd_mmap *mmap, bool data, struct moment at)
{
	struct dso_want want = {.mmap = mmap};
	struct space_map map;
	struct space *space;
	struct dso *dso;

	want.kind = dso_kind_of_user(mmap->filename, mmap->flags);
	if (!data && want.kind == DSO_ANON && dso_is_jit_memory(mmap->filename, mmap->flags))
		want.pid = mmap->pid;
	space = threads_space_get(&s->threads, mmap->pid);
	dso = space ? dso_get(&s->dsos, mmap->filename, &want) : NULL;
	if (!dso)
		return -ENOMEM;
	map = state_map(mmap, dso, at);
	if (want.kind == DSO_VDSO)
		map.map.pgoff = 0; /* the recorded value is not an offset in the vdso's image */
	return state_map_add(s, space, data ? SPACE_DATA : SPACE_CODE, &map);
}

static int jit_mmap(struct state *s, const struct pd_mmap *mmap, struct moment at)
{
	struct dso_want want = {.kind = DSO_JIT, .mmap = mmap};
	struct space *space = threads_space_get(&s->threads, mmap->pid);
	struct dso *dso = space ? dso_get(&s->dsos, mmap->filename, &want) : NULL;
	struct space_map map;

	if (!dso)
		return -ENOMEM;
	if (s->keep_code_changes && code_changes_count(&s->code_changes, at))
		return -ENOMEM;
	map = state_map(mmap, dso, at);
	return state_map_add(s, space, SPACE_JIT, &map);
}

static int apply_mmap(struct state *s, const struct pd_record *rec, struct moment at)
{
	uint16_t misc = rec->hdr->misc;

	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_GUEST_KERNEL: return kernel_mmap(s, &rec->mmap, true, at);
	case PERF_RECORD_MISC_GUEST_USER: return 0; /* its pids are those of the guest */
	case PERF_RECORD_MISC_KERNEL: return kernel_mmap(s, &rec->mmap, false, at);
	}
	if (rec->mmap.pid == UINT32_MAX)
		return kernel_mmap(s, &rec->mmap, false, at);
	return user_mmap(s, &rec->mmap, misc & PERF_RECORD_MISC_MMAP_DATA, at);
}

/* A record that says who runs. */
static int apply_switch(struct state *s, const struct pd_record *rec, uint64_t time)
{
	int rc = s->keep_cpu_tasks ? cpu_tasks_take(&s->cpu_tasks, rec, time) : 0;

	return !rc && s->keep_parallelism ? parallelism_take(&s->parallelism, rec, time) : rc;
}

static int apply(struct state *s, const struct pd_record *rec, struct moment at)
{
	bool share_maps;

	switch (rec->hdr->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: return apply_mmap(s, rec, at);
	case PERF_RECORD_COMM: return threads_comm(&s->threads, &s->dsos, &s->pool, &rec->comm, at);
	case PERF_RECORD_FORK:
		/* After a synthesized FORK, records for all maps of the child follow. */
		share_maps = !(rec->hdr->misc & PERF_RECORD_MISC_FORK_EXEC);
		return threads_fork(&s->threads, &s->pool, &rec->task, share_maps, at);
	case PERF_RECORD_CGROUP: return cgroups_add(s, &rec->cgroup);
	case PERF_RECORD_NAMESPACES:
		return s->keep_namespaces ? namespaces_add(&s->namespaces, &rec->namespaces, at)
					  : 0;
	case PERF_RECORD_KSYMBOL: return kernel_ksymbol(s, &rec->ksymbol, at);
	case PERF_RECORD_HEADER_BUILD_ID:
		return dso_set_build_id(&s->dsos, &rec->build_id, rec->hdr->misc);
	case PERF_RECORD_TEXT_POKE:
		return s->keep_code_changes
			       ? code_changes_add(&s->code_changes, &rec->text_poke, at)
			       : 0;
	default: return apply_switch(s, rec, at.time);
	}
}

void state_keep_cpu_tasks(struct state *s)
{
	s->keep_cpu_tasks = true;
}

void state_keep_namespaces(struct state *s)
{
	s->keep_namespaces = true;
}

void state_keep_parallelism(struct state *s)
{
	s->keep_parallelism = true;
}

void state_keep_code_changes(struct state *s)
{
	s->keep_code_changes = true;
}

void state_limit(struct state *s, size_t bytes)
{
	s->limit = bytes;
}

uint64_t state_refused(const struct state *s)
{
	return s->refused;
}

static bool is_full(const struct state *s)
{
	return s->limit && state_memory(s) >= s->limit;
}

/* Whether apply() uses records of this type. */
static bool has_meaning(const struct state *s, const struct pd_record *rec)
{
	switch (rec->hdr->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_HEADER_BUILD_ID: return true;
	case PERF_RECORD_TEXT_POKE: return s->keep_code_changes;
	case PERF_RECORD_NAMESPACES: return s->keep_namespaces;
	case PERF_RECORD_EXIT: return s->keep_parallelism;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: return s->keep_cpu_tasks || s->keep_parallelism;
	case PERF_RECORD_ITRACE_START: return s->keep_cpu_tasks;
	default: return false;
	}
}

/* The histories must stay sorted, even if a caller passes a time that is too early. */
static struct moment advance(struct state *s, struct moment at)
{
	if (moment_before(s->last, at))
		s->last = at;
	return s->last;
}

int state_apply(struct state *s, const struct pd_record *rec, struct moment at)
{
	int rc;

	if (s->failed)
		return -ENOMEM;
	if (is_full(s)) {
		s->refused += has_meaning(s, rec);
		return 0;
	}
	rc = apply(s, rec, advance(s, at));
	if (rc)
		s->failed = true;
	return rc;
}

int state_add_cpu_tasks(struct state *s, const struct cpu_tasks *tasks)
{
	int rc;

	if (s->failed)
		return -ENOMEM;
	if (is_full(s)) {
		s->refused += tasks->nr;
		return 0;
	}
	rc = cpu_tasks_merge(&s->cpu_tasks, tasks);
	if (rc)
		s->failed = true;
	return rc;
}

int state_add_parallelism(struct state *s, const struct parallelism *part)
{
	int rc;

	if (s->failed)
		return -ENOMEM;
	if (is_full(s)) {
		s->refused += part->changes.nr;
		return 0;
	}
	rc = parallelism_merge(&s->parallelism, part);
	if (rc)
		s->failed = true;
	return rc;
}

int state_apply_jit(struct state *s, const struct pd_mmap *mmap, struct moment at)
{
	int rc;

	if (s->failed)
		return -ENOMEM;
	if (is_full(s)) {
		s->refused++;
		return 0;
	}
	rc = jit_mmap(s, mmap, advance(s, at));
	if (rc)
		s->failed = true;
	return rc;
}

int state_set_build_id(struct state *s, const struct pd_build_id *id, uint16_t misc)
{
	int rc;

	if (is_full(s)) {
		s->refused++;
		return 0;
	}
	rc = dso_set_build_id(&s->dsos, id, misc);

	if (!rc && s->finished)
		dso_apply_build_ids(&s->dsos, 0);
	return rc;
}

void state_apply_build_ids(struct state *s, size_t from)
{
	dso_apply_build_ids(&s->dsos, from);
}

int state_finish(struct state *s)
{
	int rc;

	if (s->finished)
		return 0;
	if (s->failed)
		return -ENOMEM;
	rc = kernel_finish(s);
	if (!rc)
		rc = threads_freeze(&s->threads);
	if (!rc)
		rc = code_changes_freeze(&s->code_changes);
	if (!rc)
		rc = cpu_tasks_freeze(&s->cpu_tasks);
	if (!rc)
		rc = parallelism_freeze(&s->parallelism);
	if (rc) {
		s->failed = true;
		return rc;
	}
	namespaces_freeze(&s->namespaces);
	arena_release(&s->pool.links);
	dso_apply_build_ids(&s->dsos, 0);
	s->finished = true;
	return 0;
}

const char *state_comm(const struct state *s, uint32_t pid, uint32_t tid, struct moment at)
{
	return tid ? threads_comm_find(&s->threads, tid, at) : "swapper";
}

const char *state_comm_span(const struct state *s, uint32_t tid, struct moment at,
			    struct moment *ret_from, struct moment *ret_until)
{
	if (tid)
		return threads_comm_span(&s->threads, tid, at, ret_from, ret_until);
	*ret_from = (struct moment){0};
	*ret_until = (struct moment){UINT64_MAX, UINT64_MAX};
	return "swapper";
}

size_t state_task_count(const struct state *s)
{
	return id_table_count(&s->threads.tids);
}

struct state_task state_task_at(const struct state *s, size_t index)
{
	return threads_task(&s->threads, index);
}

int state_each_map(const struct state *s, uint32_t pid, state_map_fn fn, void *arg)
{
	const struct space *space = threads_space(&s->threads, pid);

	return space ? space_each(space, SPACE_CODE, fn, arg) : 0;
}

bool state_pid(const struct state *s, uint32_t tid, struct moment at, uint32_t *ret)
{
	return threads_pid_find(&s->threads, tid, at, ret);
}

size_t state_patch_code(const struct state *s, uint64_t addr, struct moment at, uint8_t *buf,
			size_t known, size_t len)
{
	return code_changes_patch(&s->code_changes, addr, at, buf, known, len);
}

uint64_t state_code_version(const struct state *s, struct moment at)
{
	return code_changes_until(&s->code_changes, at);
}

bool state_task_on(const struct state *s, uint32_t cpu, uint64_t time, uint32_t *ret_pid,
		   uint32_t *ret_tid)
{
	return cpu_tasks_find(&s->cpu_tasks, cpu, time, ret_pid, ret_tid);
}

struct namespace_id state_cgroup_namespace(const struct state *s, uint32_t tid, struct moment at)
{
	return namespaces_cgroup(&s->namespaces, tid, at);
}

const struct parallelism *state_parallelism(const struct state *s)
{
	return &s->parallelism;
}

/* Kinds whose symbols are known by address, not by offset into a file. */
static bool is_absolute(enum dso_kind kind)
{
	switch (kind) {
	case DSO_KERNEL:
	case DSO_ANON:
	case DSO_GUEST: return true;
	case DSO_MODULE:
	case DSO_KSYMBOL:
	case DSO_ELF:
	case DSO_JIT:
	case DSO_VDSO: break;
	}
	return false;
}

/* As find_user(), where the last range does not do. */
static const struct space_map *search_user(struct state_view *v, uint64_t ip)
{
	struct space_range range;
	const struct space_map *found, *jit;

	found = space_version_find(v->maps, SPACE_CODE, ip, v->at, &range);
	if (found && found->map.dso->kind != DSO_ANON) {
		v->start = range.start;
		v->end = range.end;
		v->found = found;
		return found;
	}
	if (!found)
		found = space_version_find(v->maps, SPACE_DATA, ip, v->at, &range);
	if (found && found->map.dso->kind != DSO_ANON)
		return found;
	jit = space_version_find(v->maps, SPACE_JIT, ip, v->at, &range);
	return jit ? jit : found;
}

static const struct space_map *find_user(struct state_view *v, uint64_t ip)
{
	if (!v->has_maps) {
		const struct space *space = threads_space(&v->state->threads, v->pid);

		v->maps = space ? space_version(space, v->at) : NULL;
		v->has_maps = true;
	}
	if (v->found && ip >= v->start && ip < v->end)
		return v->found;
	return search_user(v, ip);
}

static bool locate(const struct space_map *found, uint64_t ip, struct location *ret)
{
	*ret = (struct location){.map = found ? &found->map : NULL, .addr = ip};
	if (found && !is_absolute(found->map.dso->kind))
		ret->addr = ip - found->map.start + found->map.pgoff;
	return found;
}

struct state_view state_view(const struct state *s, uint32_t pid, struct moment at)
{
	return (struct state_view){.state = s, .pid = pid, .at = at};
}

bool state_view_find(struct state_view *v, uint8_t cpumode, uint64_t ip, struct location *ret)
{
	const struct space_map *found = NULL;
	bool guest = cpumode == PERF_RECORD_MISC_GUEST_KERNEL;

	if (cpumode == PERF_RECORD_MISC_USER)
		found = find_user(v, ip);
	else if (cpumode == PERF_RECORD_MISC_KERNEL || guest)
		found = kernel_find(v->state, v->pid, guest, ip, v->at);
	return locate(found, ip, ret);
}

bool state_find(const struct state *s, uint32_t pid, uint8_t cpumode, uint64_t ip, struct moment at,
		struct location *ret)
{
	struct state_view v = state_view(s, pid, at);

	return state_view_find(&v, cpumode, ip, ret);
}

bool state_find_replaced(const struct state *s, uint32_t pid, uint64_t ip, struct moment at,
			 struct location *ret)
{
	const struct space *space = threads_space(&s->threads, pid);

	return locate(space ? space_find_replaced(space, SPACE_CODE, ip, at) : NULL, ip, ret);
}

const struct map *state_image(const struct state *s)
{
	return s->host.image ? &s->host.image->map : NULL;
}

static bool kernel_steady(const struct kernel *k, struct moment first, struct moment last)
{
	return space_is_steady(&k->ksymbols, first, last) &&
	       space_is_steady(&k->modules, first, last);
}

bool state_calm(const struct state *s, uint32_t pid, struct moment at, struct moment *ret_from,
		struct moment *ret_until)
{
	const struct space *space = threads_space(&s->threads, pid);
	struct space_span span = {.until = {UINT64_MAX, UINT64_MAX}};

	if (!s->finished || (space && !space_calm(space, at, &span)) ||
	    !space_calm(&s->host.ksymbols, at, &span) || !space_calm(&s->host.modules, at, &span))
		return false;
	*ret_from = span.from;
	*ret_until = span.until;
	return true;
}

bool state_maps_steady(const struct state *s, uint32_t pid, uint8_t cpumode, struct moment first,
		       struct moment last)
{
	const struct space *space;

	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL: return kernel_steady(&s->host, first, last);
	case PERF_RECORD_MISC_USER:
		space = threads_space(&s->threads, pid);
		return !space || space_is_steady(space, first, last);
	case PERF_RECORD_MISC_GUEST_KERNEL: return false;
	default: return true;
	}
}

/* Returns the map that is known to hold all addresses from @low to @high in @version; or NULL. */
static const struct map *holds_all(const struct state *s, const struct space_version *version,
				   struct moment at, uint64_t low, uint64_t high,
				   struct location *ret)
{
	struct state_view v = {.state = s, .maps = version, .has_maps = true, .at = at};

	state_view_find(&v, PERF_RECORD_MISC_USER, low, ret);
	return low == high || (v.found && high >= v.start && high < v.end) ? ret->map : NULL;
}

#define VERSIONS_MAX 64 /* a program that maps its libraries makes some for each */

bool state_find_steady(const struct state *s, uint32_t pid, uint64_t low, uint64_t high,
		       struct moment first, struct moment last, struct location *ret)
{
	const struct space *space = threads_space(&s->threads, pid);
	const struct space_version *from = space ? space_version(space, first) : NULL;
	const struct space_version *to = space ? space_version(space, last) : NULL;
	const struct map *map = holds_all(s, from, first, low, high, ret);
	struct location later;

	/* As in state_steady(), what is mapped in a version stays until the next one. */
	if (holds_all(s, to, last, low, high, &later) != map)
		return false;
	if (!from || !map)
		return from == to && low == high && !later.map;
	if (to - from > VERSIONS_MAX)
		return false;
	for (const struct space_version *v = from; v < to; v++)
		if (holds_all(s, v + 1, v[1].at, low, high, &later) != map)
			return false;
	return true;
}

bool state_steady(const struct state *s, uint32_t pid, uint32_t tid, uint8_t cpumode, uint64_t ip,
		  struct moment first, struct moment last)
{
	struct location a, b;

	if (tid && !threads_comm_is_steady(&s->threads, tid, first, last))
		return false;
	if (!state_maps_steady(s, pid, cpumode, first, last))
		return cpumode == PERF_RECORD_MISC_USER &&
		       state_find_steady(s, pid, ip, ip, first, last, &a) && a.map;
	/*
	 * Within one version maps are only added, so equal answers at both ends hold in between,
	 * too.
	 */
	state_find(s, pid, cpumode, ip, first, &a);
	state_find(s, pid, cpumode, ip, last, &b);
	return a.map == b.map;
}

void state_show_kernel_paths(struct state *s, const char *vmlinux)
{
	for (size_t i = 0; i < s->dsos.count; i++) {
		struct dso *dso = s->dsos.dsos[i];

		if (dso->kind == DSO_MODULE)
			dso->line_name = dso->name;
		else if (dso->kind == DSO_KERNEL && vmlinux)
			dso->line_name = vmlinux;
	}
}

size_t state_dso_count(const struct state *s)
{
	return s->dsos.count;
}

const struct dso *state_dso_at(const struct state *s, size_t index)
{
	return s->dsos.dsos[index];
}

size_t state_memory(const struct state *s)
{
	const struct threads *t = &s->threads;

	return sizeof(*s) + s->maps.total + s->pool.nodes.total + s->pool.links.total +
	       dso_memory(&s->dsos) + t->links.total + id_table_memory(&t->tids) +
	       id_table_memory(&t->pids) + t->thread_capacity * sizeof(*t->threads) +
	       t->process_capacity * sizeof(*t->processes) + t->comm_count * sizeof(*t->comms) +
	       t->version_count * sizeof(*t->versions) + id_table_memory(&s->guest_pids) +
	       s->guest_capacity * sizeof(*s->guests) + cgroups_memory(s) +
	       cpu_tasks_memory(&s->cpu_tasks) + parallelism_memory(&s->parallelism) +
	       namespaces_memory(&s->namespaces) + code_changes_memory(&s->code_changes);
}
