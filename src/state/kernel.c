// SPDX-License-Identifier: Apache-2.0
/*
 * Maps of kernel code: of the host, and of each guest by the pid of its machine.
 *
 * The kernel records no map of itself and none of a module that it loads. Tools synthesize both, at
 * any moment. The image therefore applies to the whole recording, and a module to all addresses and
 * times that no other map covers. Only KSYMBOL records have a time of their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "state/state_priv.h"

#define KERNEL_NAME "[kernel.kallsyms]"
#define GUEST_NAME  "[guest.kernel.kallsyms"

static const struct moment end_of_time = {UINT64_MAX, UINT64_MAX};

/*
 * Returns the rest behind the kernel's name, as in "[kernel.kallsyms]_text" or
 * "[kernel.kallsyms._text]"; NULL if the name is not a kernel's.
 */
static const char *image_name_end(const char *name)
{
	size_t len = strlen(KERNEL_NAME);
	const char *end;

	if (!strncmp(name, KERNEL_NAME, len - 1))
		return name[len - 1] ? name + len : name + len - 1;
	if (strncmp(name, GUEST_NAME, strlen(GUEST_NAME)))
		return NULL;
	end = strchr(name, ']');
	return end ? end + 1 : name + strlen(name);
}

/* Returns the name of the reference symbol in @rest; NULL if there is none. */
static const char *reference_name(struct dso_table *t, const char *rest)
{
	char name[128];
	size_t len = strcspn(rest, "]");

	if (!len || len >= sizeof(name))
		return NULL;
	memcpy(name, rest, len);
	name[len] = '\0';
	return dso_intern(t, name);
}

static int image_mmap(struct state *s, struct kernel *k, const struct pd_mmap *mmap, bool guest,
		      struct moment at)
{
	const char *rest = image_name_end(mmap->filename);
	struct dso_want want = {.kind = guest ? DSO_GUEST : DSO_KERNEL, .mmap = mmap};
	char name[128] = KERNEL_NAME;
	struct space_map map;
	struct dso *dso;

	if (guest) {
		size_t len = (size_t)(rest - mmap->filename);

		if (len < sizeof(name)) {
			memcpy(name, mmap->filename, len);
			name[len] = '\0';
		}
	}
	dso = dso_get(&s->dsos, name, &want);
	if (!dso)
		return -ENOMEM;
	/* 0 with kptr_restrict: the recorder could not read the address */
	if (mmap->pgoff) {
		dso->ref_addr = mmap->pgoff;
		dso->ref_name = reference_name(&s->dsos, rest);
	}
	map = state_map(mmap, dso, at);
	if (!mmap->addr && !mmap->len)
		map.map.end = UINT64_MAX;
	if (k->image)
		*k->image = map;
	else
		k->image = state_map_keep(s, &map);
	return k->image ? 0 : -ENOMEM;
}

/* Returns the guest with that pid, made if needed. NULL when out of memory. */
static struct kernel *guest_get(struct state *s, uint32_t pid)
{
	size_t before = s->guest_capacity;
	uint32_t n = id_table_add(&s->guest_pids, pid);

	if (n == ID_TABLE_NONE ||
	    array_grow(&s->guests, &s->guest_capacity, (size_t)n + 1, sizeof(*s->guests)))
		return NULL;
	memset(s->guests + before, 0, (s->guest_capacity - before) * sizeof(*s->guests));
	return &s->guests[n];
}

/* Adds code beside the image. */
static int other_add(struct state *s, struct kernel *k, struct space *space,
		     const struct space_map *map)
{
	if (!k->others_end || map->map.start < k->others_start)
		k->others_start = map->map.start;
	if (map->map.end > k->others_end)
		k->others_end = map->map.end;
	return state_map_add(s, space, SPACE_CODE, map);
}

int kernel_mmap(struct state *s, const struct pd_mmap *mmap, bool guest, struct moment at)
{
	struct kernel *k = guest ? guest_get(s, mmap->pid) : &s->host;
	struct dso_want want = {.kind = guest ? DSO_GUEST : DSO_MODULE, .mmap = mmap};
	struct space_map map;
	struct dso *dso;

	if (!k)
		return -ENOMEM;
	if (image_name_end(mmap->filename))
		return image_mmap(s, k, mmap, guest, at);
	dso = dso_get(&s->dsos, mmap->filename, &want);
	if (!dso)
		return -ENOMEM;
	map = state_map(mmap, dso, at);
	return other_add(s, k, &k->modules, &map);
}

int kernel_ksymbol(struct state *s, const struct pd_ksymbol *sym, struct moment at)
{
	struct dso_want want = {.kind = DSO_KSYMBOL};
	struct pd_mmap mmap = {.addr = sym->addr, .len = sym->len};
	struct space_map map;
	struct dso *dso;

	if (sym->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
		return space_remove(&s->pool, &s->host.ksymbols, SPACE_CODE, sym->addr, at);
	dso = dso_get(&s->dsos, sym->name, &want);
	if (!dso)
		return -ENOMEM;
	map = state_map(&mmap, dso, at);
	return other_add(s, &s->host, &s->host.ksymbols, &map);
}

static int freeze(struct kernel *k)
{
	size_t count = k->modules.count + k->ksymbols.count;

	k->versions = calloc(count ? count : 1, sizeof(*k->versions));
	if (!k->versions)
		return -ENOMEM;
	space_freeze(&k->modules, k->versions);
	space_freeze(&k->ksymbols, k->versions + k->modules.count);
	return 0;
}

int kernel_finish(struct state *s)
{
	struct pd_mmap all = {.filename = KERNEL_NAME, .len = UINT64_MAX};
	uint32_t i;
	int rc = 0;

	if (!s->host.image)
		rc = image_mmap(s, &s->host, &all, false, (struct moment){0});
	if (!rc)
		rc = freeze(&s->host);
	for (i = 0; i < id_table_count(&s->guest_pids) && !rc; i++)
		rc = freeze(&s->guests[i]);
	return rc;
}

void kernel_release(struct state *s)
{
	size_t i;

	free(s->host.versions);
	for (i = 0; i < s->guest_capacity; i++)
		free(s->guests[i].versions);
	free(s->guests);
	id_table_release(&s->guest_pids);
}

static const struct space_map *find_other(const struct kernel *k, uint64_t ip, struct moment at)
{
	const struct space_map *found = space_find(&k->ksymbols, SPACE_CODE, ip, at);

	if (!found)
		found = space_find(&k->modules, SPACE_CODE, ip, at);
	return found ? found : space_find(&k->modules, SPACE_CODE, ip, end_of_time);
}

static const struct space_map *find_in(const struct kernel *k, uint64_t ip, struct moment at)
{
	const struct space_map *found = NULL;

	if (ip >= k->others_start && ip < k->others_end)
		found = find_other(k, ip, at);
	if (found)
		return found;
	return k->image && ip >= k->image->map.start && ip < k->image->map.end ? k->image : NULL;
}

const struct space_map *kernel_find(const struct state *s, uint32_t pid, bool guest, uint64_t ip,
				    struct moment at)
{
	const struct space_map *found = NULL;
	uint32_t n;

	if (!guest)
		return find_in(&s->host, ip, at);
	n = id_table_find(&s->guest_pids, pid);
	if (n != ID_TABLE_NONE)
		found = find_in(&s->guests[n], ip, at);
	/* perf records pid 0 for a guest whose machine it does not know. */
	n = id_table_find(&s->guest_pids, 0);
	if (!found && n != ID_TABLE_NONE)
		found = find_in(&s->guests[n], ip, at);
	return found;
}
