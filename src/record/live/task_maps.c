// SPDX-License-Identifier: Apache-2.0
#include "record/live/task_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static struct live_file *file_new(uint16_t misc, const struct pd_mmap *mmap)
{
	size_t len = strlen(mmap->filename) + 1;
	struct live_file *file = malloc(sizeof(*file) + len);

	if (!file)
		return NULL;
	file->refs = 1;
	file->misc = misc;
	file->mmap = *mmap;
	memcpy(file->name, mmap->filename, len);
	file->mmap.filename = file->name;
	return file;
}

static void file_put(struct live_file *file)
{
	if (!--file->refs)
		free(file);
}

struct task_maps *task_maps_get(struct task_maps *maps)
{
	if (maps)
		maps->refs++;
	return maps;
}

void task_maps_put(struct task_maps *maps)
{
	if (!maps || --maps->refs)
		return;
	for (size_t i = 0; i < maps->nr; i++)
		file_put(maps->map[i].file);
	free(maps->map);
	free(maps);
}

/* Makes *@maps one without other users. */
static int make_own(struct task_maps **maps)
{
	struct task_maps *from = *maps, *own;

	if (from && from->refs == 1)
		return 0;
	own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	own->refs = 1;
	if (from && array_grow(&own->map, &own->capacity, from->nr, sizeof(*own->map))) {
		free(own);
		return -ENOMEM;
	}
	for (size_t i = 0; from && i < from->nr; i++) {
		own->map[i] = from->map[i];
		own->map[i].file->refs++;
	}
	own->nr = from ? from->nr : 0;
	task_maps_put(from);
	*maps = own;
	return 0;
}

/* Returns the index of the first map that ends behind @addr. */
static size_t find(const struct task_maps *maps, uint64_t addr)
{
	size_t low = 0, high = maps->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (maps->map[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Replaces the @old maps at @at by the @nr maps @by. There is room. */
static void splice(struct task_maps *maps, size_t at, size_t old, const struct live_map *by,
		   size_t nr)
{
	memmove(&maps->map[at + nr], &maps->map[at + old],
		(maps->nr - at - old) * sizeof(*maps->map));
	if (nr)
		memcpy(&maps->map[at], by, nr * sizeof(*by));
	maps->nr += nr - old;
}

int task_maps_add(struct task_maps **ret, uint16_t misc, const struct pd_mmap *mmap)
{
	struct live_map new = {.addr = mmap->addr, .pgoff = mmap->pgoff}, by[3];
	struct task_maps *maps;
	size_t first, last, nr = 0;

	if (__builtin_add_overflow(mmap->addr, mmap->len, &new.end) || !mmap->len)
		return 0;
	if (make_own(ret))
		return -ENOMEM;
	maps = *ret;
	/* The new map, and one more if it cuts an old one in two. */
	if (array_grow(&maps->map, &maps->capacity, maps->nr + 2, sizeof(*maps->map)))
		return -ENOMEM;
	new.file = file_new(misc, mmap);
	if (!new.file)
		return -ENOMEM;
	first = find(maps, new.addr);
	for (last = first; last < maps->nr && maps->map[last].addr < new.end; last++)
		;
	if (first < last && maps->map[first].addr < new.addr) {
		by[nr] = maps->map[first];
		by[nr].file->refs++;
		by[nr++].end = new.addr;
	}
	by[nr++] = new;
	if (first < last && maps->map[last - 1].end > new.end) {
		by[nr] = maps->map[last - 1];
		by[nr].file->refs++;
		by[nr].pgoff += new.end - by[nr].addr;
		by[nr++].addr = new.end;
	}
	for (size_t i = first; i < last; i++)
		file_put(maps->map[i].file);
	splice(maps, first, last - first, by, nr);
	return 0;
}
