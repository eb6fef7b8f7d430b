// SPDX-License-Identifier: Apache-2.0
#include "report/trace/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auxtrace/decoder/decoder.h"
#include "base/buf.h"

#define DUMPS_MAX 1024u /* more are ignored */

/* A file, and the process that mapped it. */
struct jit_dump {
	char *path;
	uint32_t pid;
};

struct jit_map {
	uint64_t time, order; /* the order of the file, among equal times */
	uint64_t addr, size, index, offset;
	uint32_t dump;
	bool moved;
};

struct jit_maps {
	struct state *state;
	const struct resolver *resolver;
	bool monotonic;
	bool has_conv;
	struct pd_time_conv conv;
	struct jit_dump *dumps;
	size_t nr_dumps, cap_dumps;
	struct jit_map *maps; /* the applied ones, then the others, sorted */
	size_t nr, cap, applied;
};

struct jit_maps *jit_maps_new(struct state *s, const struct resolver *r,
			      const struct pd_evlist *evlist)
{
	struct jit_maps *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->state = s;
	j->resolver = r;
	if (pd_evlist_count(evlist)) {
		const struct pd_attr *attr = &pd_evlist_at(evlist, 0)->attr;

		j->monotonic =
			attr->flags & PD_ATTR_USE_CLOCKID && attr->clockid == CLOCK_MONOTONIC;
	}
	return j;
}

void jit_maps_free(struct jit_maps *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->nr_dumps; i++)
		free(j->dumps[i].path);
	free(j->dumps);
	free(j->maps);
	free(j);
}

int jit_maps_apply(struct jit_maps *j, struct moment at)
{
	int rc = 0;

	for (; !rc && j->applied < j->nr && j->maps[j->applied].time < at.time; j->applied++) {
		const struct jit_map *map = &j->maps[j->applied];
		const struct jit_dump *dump = &j->dumps[map->dump];
		struct pd_mmap mmap = {
			.pid = dump->pid,
			.addr = map->addr,
			.len = map->size,
			.pgoff = map->offset,
			.filename = dump->path,
		};

		rc = state_apply_jit(j->state, &mmap, (struct moment){map->time, UINT64_MAX});
	}
	return rc;
}

/* --- reading a jitdump ---------------------------------------------------------------------------
 */

static int take(void *arg, const struct jitdump_code *code)
{
	struct jit_maps *j = arg;

	/* All files together have as many as one may have. */
	if (j->nr >= JITDUMP_CODES_MAX)
		return 1;
	if (array_grow(&j->maps, &j->cap, j->nr + 1, sizeof(*j->maps)))
		return -ENOMEM;
	j->maps[j->nr] = (struct jit_map){
		.time = code->time,
		.order = j->nr,
		.addr = code->addr,
		.size = code->size,
		.index = code->index,
		.offset = code->offset,
		.dump = (uint32_t)(j->nr_dumps - 1),
		.moved = code->moved,
	};
	j->nr++;
	return 0;
}

static int by_index(const void *a, const void *b)
{
	const struct jit_map *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_time(const void *a, const void *b)
{
	const struct jit_map *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Moved code has the bytes of the newest code with its index. Drops moves of unknown code. */
static void follow_moves(struct jit_maps *j, size_t first)
{
	const struct jit_map *made = NULL;
	size_t kept = first;

	if (j->nr == first)
		return;
	qsort(j->maps + first, j->nr - first, sizeof(*j->maps), by_index);
	for (size_t i = first; i < j->nr; i++) {
		struct jit_map map = j->maps[i];

		if (map.moved && (!made || made->index != map.index || made->size < map.size))
			continue;
		if (map.moved)
			map.offset = made->offset;
		j->maps[kept] = map;
		if (!map.moved)
			made = &j->maps[kept];
		kept++;
	}
	j->nr = kept;
}

/* Converts the times to the recording's. Code without a time has that of the dump's map. */
static void convert_times(struct jit_maps *j, size_t first, const struct jitdump_info *info,
			  struct moment mapped)
{
	for (size_t i = first; i < j->nr; i++) {
		uint64_t *time = &j->maps[i].time;
		bool timed = info->cpu_clock ? j->has_conv && aux_time(&j->conv, *time, time)
					     : j->monotonic;

		/* Maps are applied in order: nothing goes before what the state knows. */
		if (!timed || *time < mapped.time)
			*time = mapped.time;
	}
}

static bool is_known(const struct jit_maps *j, const struct pd_mmap *mmap)
{
	for (size_t i = 0; i < j->nr_dumps; i++)
		if (j->dumps[i].pid == mmap->pid && !strcmp(j->dumps[i].path, mmap->filename))
			return true;
	return false;
}

int jit_maps_note(struct jit_maps *j, const struct pd_record *rec, struct moment at)
{
	const struct pd_mmap *mmap = &rec->mmap;
	struct jitdump_info info = {0};
	struct jit_dump *dump;
	size_t first = j->nr;
	int rc;

	if (rec->hdr->type == PERF_RECORD_TIME_CONV) {
		j->conv = rec->time_conv;
		j->has_conv = true;
	}
	if ((rec->hdr->type != PERF_RECORD_MMAP && rec->hdr->type != PERF_RECORD_MMAP2) ||
	    !state_is_jitdump(mmap->filename) || is_known(j, mmap) || j->nr_dumps == DUMPS_MAX ||
	    j->nr >= JITDUMP_CODES_MAX)
		return 0;
	if (array_grow(&j->dumps, &j->cap_dumps, j->nr_dumps + 1, sizeof(*j->dumps)))
		return -ENOMEM;
	dump = &j->dumps[j->nr_dumps];
	*dump = (struct jit_dump){.path = strdup(mmap->filename), .pid = mmap->pid};
	if (!dump->path)
		return -ENOMEM;
	j->nr_dumps++;
	rc = resolver_read_jitdump(j->resolver, mmap->filename, mmap->pid, mmap->ino, &info, take,
				   j);
	if (rc == -ENOMEM)
		return rc;
	follow_moves(j, first);
	convert_times(j, first, &info, at);
	if (j->nr > j->applied)
		qsort(j->maps + j->applied, j->nr - j->applied, sizeof(*j->maps), by_time);
	return 0;
}
