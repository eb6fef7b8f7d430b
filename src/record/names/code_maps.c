// SPDX-License-Identifier: Apache-2.0
#include "record/names/code_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/hash.h"
#include "record/initial/mapped.h"
#include "state/dso.h"

#define KERNEL_PID  0u /* of the task with the kernel's maps */
#define PARENTS_MAX 16u
#define KERNEL_NAME "[kernel.kallsyms]"

void code_maps_init(struct code_maps *m, bool own_build_ids)
{
	*m = (struct code_maps){.own_build_ids = own_build_ids, .key = hash_key()};
}

void code_maps_release(struct code_maps *m)
{
	for (size_t i = 0; i < m->nr_files; i++) {
		free((char *)(uintptr_t)m->files[i]->dso.name);
		free(m->files[i]);
	}
	free(m->files);
	free(m->maps);
	free(m->tasks);
	hash_table_release(&m->by_file);
	id_table_release(&m->by_pid);
	*m = (struct code_maps){0};
}

/* --- files ---------------------------------------------------------------------------------------
 */

static bool is_same_file(const void *files, uint32_t number, const void *key)
{
	const struct mapped_code *a = ((struct mapped_code *const *)files)[number], *b = key;

	return !strcmp(a->dso.name, b->dso.name) && a->dso.kind == b->dso.kind &&
	       a->pid == b->pid && a->moved == b->moved &&
	       !memcmp(&a->key, &b->key, sizeof(a->key)) &&
	       a->dso.build_id_size == b->dso.build_id_size &&
	       !memcmp(a->dso.build_id, b->dso.build_id, a->dso.build_id_size);
}

static struct mapped_code *file_copy(const struct mapped_code *want)
{
	struct mapped_code *f = malloc(sizeof(*f));

	if (!f)
		return NULL;
	*f = *want;
	f->dso.name = strdup(want->dso.name);
	if (f->dso.name)
		return f;
	free(f);
	return NULL;
}

int code_maps_file(struct code_maps *m, const struct mapped_code *want, uint32_t *ret)
{
	uint64_t hash = hash_bytes(m->key, want->dso.name, strlen(want->dso.name));
	struct mapped_code *f;
	uint32_t at;

	hash = hash_word(hash_word(hash_word(hash, want->key.ino), want->pid), want->moved);
	at = hash_table_find(&m->by_file, hash, is_same_file, m->files, want);
	if (at != HASH_TABLE_NONE) {
		*ret = at;
		return 0;
	}
	if (hash_table_reserve(&m->by_file, 1) ||
	    array_grow(&m->files, &m->files_cap, m->nr_files + 1, sizeof(*m->files)))
		return -ENOMEM;
	f = file_copy(want);
	if (!f)
		return -ENOMEM;
	f->dso.index = (unsigned int)m->nr_files;
	hash_table_add(&m->by_file, hash, (uint32_t)m->nr_files);
	*ret = (uint32_t)m->nr_files;
	m->files[m->nr_files++] = f;
	return 0;
}

static void describe_kernel(const struct pd_mmap *mmap, struct mapped_code *f)
{
	const size_t len = sizeof(KERNEL_NAME) - 1;

	f->dso.kind = DSO_MODULE;
	if (!strncmp(mmap->filename, KERNEL_NAME, len)) {
		f->dso.kind = DSO_KERNEL;
		f->dso.name = KERNEL_NAME;
	}
	f->key = buildid_reader_kernel_key(f->dso.name);
}

/* Fills @f, whose name is @mmap's. Returns false for a map without code. */
static bool describe(const struct perf_event_header *hdr, const struct pd_mmap *mmap,
		     struct mapped_code *f)
{
	unsigned int mode = hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	bool in_memory;

	*f = (struct mapped_code){.dso = {.name = mmap->filename}};
	if (mode == PERF_RECORD_MISC_KERNEL) {
		describe_kernel(mmap, f);
		return true;
	}
	if (mode != PERF_RECORD_MISC_USER || !(mmap->prot & PROT_EXEC))
		return false;
	f->dso.kind = dso_kind_of_user(mmap->filename, mmap->flags);
	if (f->dso.kind == DSO_ANON) {
		f->pid = f->dso.jit_pid = mmap->pid;
		f->dso.name = "//anon";
	}
	/* A program in memory (memfd) is code of its process in recordings, at process addresses.
	 */
	in_memory = f->dso.kind == DSO_ANON && !strncmp(mmap->filename, "/memfd:", 7);
	if (in_memory)
		f->moved = mmap->addr - mmap->pgoff;
	if (in_memory || f->dso.kind == DSO_ELF)
		f->key = (struct build_id_key){mmap->maj, mmap->min, mmap->ino,
					       mmap->ino_generation};
	if (f->dso.kind == DSO_ELF) {
		f->dso.build_id_size = mmap->build_id_size;
		memcpy(f->dso.build_id, mmap->build_id, mmap->build_id_size);
	}
	return f->dso.kind != DSO_JIT;
}

/* --- tasks and maps ------------------------------------------------------------------------------
 */

/* Finds or adds a task. Returns its index, or ID_TABLE_NONE when out of memory. */
static uint32_t task_get(struct code_maps *m, uint32_t pid)
{
	uint32_t at = id_table_find(&m->by_pid, pid);

	if (at != ID_TABLE_NONE)
		return at;
	if (array_grow(&m->tasks, &m->tasks_cap, m->nr_tasks + 1, sizeof(*m->tasks)) ||
	    id_table_put(&m->by_pid, pid, (uint32_t)m->nr_tasks))
		return ID_TABLE_NONE;
	m->tasks[m->nr_tasks] = (struct code_task){.pid = pid, .parent = pid};
	return (uint32_t)m->nr_tasks++;
}

static int put_map(struct code_maps *m, const struct code_map *map)
{
	if (array_grow(&m->maps, &m->maps_cap, m->nr_maps + 1, sizeof(*m->maps)))
		return -ENOMEM;
	m->maps[m->nr_maps++] = *map;
	return 0;
}

/* In the map of the kernel's image pgoff is the address of the reference symbol. */
static void learn_kernel(struct mapped_code *f, const struct pd_mmap *mmap, struct code_map *map)
{
	map->pgoff = map->start;
	if (!mmap->len)
		map->end = UINT64_MAX;
	if (!mmap->pgoff || f->dso.ref_name)
		return;
	f->dso.ref_addr = mmap->pgoff;
	f->dso.ref_name = strstr(mmap->filename, "_stext") ? "_stext" : "_text";
}

static int add_map(struct code_maps *m, const struct perf_event_header *hdr,
		   const struct pd_mmap *mmap)
{
	struct code_map map = {
		.start = mmap->addr, .end = mmap->addr + mmap->len, .pgoff = mmap->pgoff};
	struct mapped_code want, *f;
	int rc;

	if (map.end < map.start || !describe(hdr, mmap, &want))
		return 0;
	map.task = task_get(m, want.dso.kind <= DSO_MODULE ? KERNEL_PID : mmap->pid);
	rc = map.task == ID_TABLE_NONE ? -ENOMEM : code_maps_file(m, &want, &map.file);
	if (rc)
		return rc;
	f = m->files[map.file];
	f->dso.pids[f->dso.next_pid++ % DSO_PIDS] = mmap->pid;
	if (f->dso.kind == DSO_KERNEL)
		learn_kernel(f, mmap, &map);
	else if (f->dso.kind == DSO_ANON)
		map.pgoff = map.start;
	return put_map(m, &map);
}

static int add_fork(struct code_maps *m, const struct pd_task *task)
{
	uint32_t at;

	if (task->pid == task->ppid || task->pid != task->tid)
		return 0;
	at = task_get(m, task->pid);
	if (at == ID_TABLE_NONE)
		return -ENOMEM;
	m->tasks[at].parent = task->ppid;
	m->tasks[at].exited = false;
	return 0;
}

static void add_exit(struct code_maps *m, const struct pd_task *task)
{
	uint32_t at = id_table_find(&m->by_pid, task->pid);

	if (at != ID_TABLE_NONE && task->pid == task->tid)
		m->tasks[at].exited = true;
}

int code_maps_add(struct code_maps *m, const struct perf_event_header *hdr)
{
	const struct pd_evsel evsel = {.attr.flags = PD_ATTR_MMAP2 |
						     (m->own_build_ids ? PD_ATTR_BUILD_ID : 0)};
	struct pd_record rec;

	if (hdr->type != PERF_RECORD_MMAP && hdr->type != PERF_RECORD_MMAP2 &&
	    hdr->type != PERF_RECORD_FORK && hdr->type != PERF_RECORD_EXIT)
		return 0;
	if (pd_record_decode(hdr, &evsel, &rec))
		return 0;
	if (hdr->type == PERF_RECORD_FORK)
		return add_fork(m, &rec.task);
	if (hdr->type != PERF_RECORD_EXIT)
		return add_map(m, hdr, &rec.mmap);
	add_exit(m, &rec.task);
	return 0;
}

int code_maps_merge(struct code_maps *m, const struct code_maps *from)
{
	for (size_t i = 0; i < from->nr_tasks; i++) {
		uint32_t at = task_get(m, from->tasks[i].pid);

		if (at == ID_TABLE_NONE)
			return -ENOMEM;
		if (from->tasks[i].parent != from->tasks[i].pid)
			m->tasks[at].parent = from->tasks[i].parent;
	}
	for (size_t i = 0; i < from->nr_maps; i++) {
		struct code_map map = from->maps[i];

		if (code_maps_file(m, from->files[map.file], &map.file))
			return -ENOMEM;
		map.task = task_get(m, from->tasks[map.task].pid);
		if (map.task == ID_TABLE_NONE || put_map(m, &map))
			return -ENOMEM;
	}
	return 0;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct code_map *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->pgoff != y->pgoff)
		return x->pgoff < y->pgoff ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* A file that is mapped again and again at one address is one map. */
static void join_equal(struct code_maps *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->nr_maps; i++)
		if (!i || compare_tasks(&m->maps[kept - 1], &m->maps[i]))
			m->maps[kept++] = m->maps[i];
	m->nr_maps = kept;
}

void code_maps_sort(struct code_maps *m)
{
	if (m->nr_maps)
		qsort(m->maps, m->nr_maps, sizeof(*m->maps), compare_tasks);
	join_equal(m);
	for (size_t i = 0; i < m->nr_tasks; i++)
		m->tasks[i].nr = 0;
	for (size_t i = 0; i < m->nr_maps; i++) {
		struct code_task *t = &m->tasks[m->maps[i].task];
		uint64_t before = t->nr ? m->maps[i - 1].reach : 0;

		m->maps[i].reach = m->maps[i].end > before ? m->maps[i].end : before;
		if (!t->nr++)
			t->first = i;
	}
}

/* Returns how many of the task's maps start at @addr or before. */
static size_t count_started(const struct code_maps *m, const struct code_task *t, uint64_t addr)
{
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->maps[t->first + mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t code_maps_find(const struct code_maps *m, uint32_t pid, uint64_t addr,
		      void (*fn)(const struct code_map *map, void *arg), void *arg)
{
	size_t found = 0;

	for (unsigned int n = 0; !found && n < PARENTS_MAX; n++) {
		uint32_t at = id_table_find(&m->by_pid, pid);
		const struct code_task *t = at == ID_TABLE_NONE ? NULL : &m->tasks[at];

		for (size_t i = t ? count_started(m, t, addr) : 0; i-- > 0;) {
			const struct code_map *map = &m->maps[t->first + i];

			if (map->reach <= addr)
				break;
			if (map->end <= addr)
				continue;
			fn(map, arg);
			found++;
		}
		if (!t || t->parent == pid)
			break;
		pid = t->parent;
	}
	return found;
}

void code_maps_forget(struct code_maps *m)
{
	size_t maps = 0, tasks = 0;
	uint32_t *moved = calloc(m->nr_tasks + 1, sizeof(*moved));

	if (!moved)
		return;
	/* A task that lives needs its ancestors' maps; they come before it. */
	for (size_t i = m->nr_tasks; i-- > 0;) {
		uint32_t parent = id_table_find(&m->by_pid, m->tasks[i].parent);

		if (!m->tasks[i].exited && parent != ID_TABLE_NONE)
			m->tasks[parent].exited = false;
	}
	id_table_release(&m->by_pid);
	for (size_t i = 0; i < m->nr_tasks; i++) {
		moved[i] = ID_TABLE_NONE;
		if (m->tasks[i].exited ||
		    id_table_put(&m->by_pid, m->tasks[i].pid, (uint32_t)tasks))
			continue;
		moved[i] = (uint32_t)tasks;
		m->tasks[tasks++] = m->tasks[i];
	}
	for (size_t i = 0; i < m->nr_maps; i++) {
		struct code_map map = m->maps[i];

		map.task = moved[map.task];
		if (map.task != ID_TABLE_NONE)
			m->maps[maps++] = map;
	}
	free(moved);
	m->nr_maps = maps;
	m->nr_tasks = tasks;
	code_maps_sort(m);
}
