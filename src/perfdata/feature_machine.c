// SPDX-License-Identifier: Apache-2.0
/* Feature sections that describe the machine: CPUs, NUMA nodes, PMUs, caches. */
#include "perfdata/feature.h"

#include <errno.h>
#include <stdlib.h>

#include "perfdata/feature_codec.h"

/*
 * perf writes the ids by CPU number since 3.19, the dies since 5.2. A section of an older file ends
 * before them, or has a few bytes of padding there (in a HEADER_FEATURE record).
 */
static int cpu_ids_get(struct cursor *c, uint32_t nr_cpus, struct pd_cpu_topology *ret)
{
	const size_t pair = 2 * sizeof(uint32_t);
	int err;

	if (cursor_left(c) < pair || !nr_cpus)
		return 0;
	if (nr_cpus > cursor_left(c) / pair)
		return -EBADMSG;
	ret->ids = calloc(nr_cpus, sizeof(*ret->ids));
	if (!ret->ids)
		return -ENOMEM;
	ret->nr_ids = nr_cpus;
	for (uint32_t i = 0; i < nr_cpus; i++) {
		uint32_t core = 0, socket = 0;

		cursor_u32(c, &core);
		cursor_u32(c, &socket);
		ret->ids[i] = (struct pd_cpu_ids){(int32_t)core, (int32_t)socket, -1};
	}

	if (cursor_left(c) < sizeof(uint32_t))
		return 0;
	err = pd_strings_get(c, &ret->dies);
	if (err || !ret->dies.nr)
		return err;
	for (uint32_t i = 0, die = 0; i < nr_cpus; i++) {
		if (!cursor_u32(c, &die))
			return -EBADMSG;
		ret->ids[i].die = (int32_t)die;
	}
	return 0;
}

int pd_feature_cpu_topology_decode(const uint8_t *p, size_t len, bool swap, uint32_t nr_cpus,
				   struct pd_cpu_topology *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	int err;

	*ret = (struct pd_cpu_topology){0};
	err = pd_strings_get(&c, &ret->cores);
	if (!err)
		err = pd_strings_get(&c, &ret->threads);
	if (!err)
		err = cpu_ids_get(&c, nr_cpus, ret);
	return err;
}

int pd_feature_cpu_topology_encode(struct buf *b, const struct pd_cpu_topology *v)
{
	int err = pd_strings_put(b, &v->cores);

	if (!err)
		err = pd_strings_put(b, &v->threads);
	for (size_t i = 0; !err && i < v->nr_ids; i++) {
		err = pd_u32_put(b, (uint32_t)v->ids[i].core);
		if (!err)
			err = pd_u32_put(b, (uint32_t)v->ids[i].socket);
	}
	if (err || !v->dies.nr)
		return err;
	err = pd_strings_put(b, &v->dies);
	for (size_t i = 0; !err && i < v->nr_ids; i++)
		err = pd_u32_put(b, (uint32_t)v->ids[i].die);
	return err;
}

void pd_cpu_topology_release(struct pd_cpu_topology *v)
{
	pd_strings_release(&v->cores);
	pd_strings_release(&v->threads);
	pd_strings_release(&v->dies);
	free(v->ids);
	*v = (struct pd_cpu_topology){0};
}

int pd_feature_numa_topology_decode(const uint8_t *p, size_t len, bool swap,
				    struct pd_numa_topology *ret)
{
	const size_t min = sizeof(uint32_t) + 2 * sizeof(uint64_t) + PD_STRING_MIN;
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t nr;
	int err;

	*ret = (struct pd_numa_topology){0};
	err = pd_array_get(&c, min, sizeof(*ret->nodes), &ret->nodes, &nr);
	while (!err && ret->nr < nr) {
		struct pd_numa_node *n = &ret->nodes[ret->nr];

		cursor_u32(&c, &n->node);
		cursor_u64(&c, &n->mem_total);
		cursor_u64(&c, &n->mem_free);
		err = pd_string_get(&c, &n->cpus);
		ret->nr += !err;
	}
	return err;
}

int pd_feature_numa_topology_encode(struct buf *b, const struct pd_numa_topology *v)
{
	int err = pd_u32_put(b, (uint32_t)v->nr);

	for (size_t i = 0; !err && i < v->nr; i++) {
		const struct pd_numa_node *n = &v->nodes[i];

		err = pd_u32_put(b, n->node);
		if (!err)
			err = pd_u64_put(b, n->mem_total);
		if (!err)
			err = pd_u64_put(b, n->mem_free);
		if (!err)
			err = pd_string_put(b, n->cpus);
	}
	return err;
}

void pd_numa_topology_release(struct pd_numa_topology *v)
{
	for (size_t i = 0; i < v->nr; i++)
		free(v->nodes[i].cpus);
	free(v->nodes);
	*v = (struct pd_numa_topology){0};
}

int pd_feature_pmu_mappings_decode(const uint8_t *p, size_t len, bool swap,
				   struct pd_pmu_mappings *ret)
{
	const size_t min = sizeof(uint32_t) + PD_STRING_MIN;
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t nr;
	int err;

	*ret = (struct pd_pmu_mappings){0};
	err = pd_array_get(&c, min, sizeof(*ret->pmus), &ret->pmus, &nr);
	while (!err && ret->nr < nr) {
		struct pd_pmu_mapping *pmu = &ret->pmus[ret->nr];

		cursor_u32(&c, &pmu->type);
		err = pd_string_get(&c, &pmu->name);
		ret->nr += !err;
	}
	return err;
}

int pd_feature_pmu_mappings_encode(struct buf *b, const struct pd_pmu_mappings *v)
{
	int err = pd_u32_put(b, (uint32_t)v->nr);

	for (size_t i = 0; !err && i < v->nr; i++) {
		err = pd_u32_put(b, v->pmus[i].type);
		if (!err)
			err = pd_string_put(b, v->pmus[i].name);
	}
	return err;
}

void pd_pmu_mappings_release(struct pd_pmu_mappings *v)
{
	for (size_t i = 0; i < v->nr; i++)
		free(v->pmus[i].name);
	free(v->pmus);
	*v = (struct pd_pmu_mappings){0};
}

#define CACHES_VERSION 1

static void cache_release(struct pd_cache *cache)
{
	free(cache->type);
	free(cache->size);
	free(cache->map);
	*cache = (struct pd_cache){0};
}

static int cache_get(struct cursor *c, struct pd_cache *ret)
{
	int err;

	cursor_u32(c, &ret->level);
	cursor_u32(c, &ret->line_size);
	cursor_u32(c, &ret->sets);
	cursor_u32(c, &ret->ways);
	err = pd_string_get(c, &ret->type);
	if (!err)
		err = pd_string_get(c, &ret->size);
	if (!err)
		err = pd_string_get(c, &ret->map);
	if (err)
		cache_release(ret);
	return err;
}

int pd_feature_caches_decode(const uint8_t *p, size_t len, bool swap, struct pd_caches *ret)
{
	const size_t min = 4 * sizeof(uint32_t) + 3 * PD_STRING_MIN;
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t version, nr;
	int err;

	*ret = (struct pd_caches){0};
	if (!cursor_u32(&c, &version) || version != CACHES_VERSION)
		return -EBADMSG;
	err = pd_array_get(&c, min, sizeof(*ret->caches), &ret->caches, &nr);
	while (!err && ret->nr < nr) {
		err = cache_get(&c, &ret->caches[ret->nr]);
		ret->nr += !err;
	}
	return err;
}

int pd_feature_caches_encode(struct buf *b, const struct pd_caches *v)
{
	int err = pd_u32_put(b, CACHES_VERSION);

	if (!err)
		err = pd_u32_put(b, (uint32_t)v->nr);
	for (size_t i = 0; !err && i < v->nr; i++) {
		const struct pd_cache *k = &v->caches[i];
		const uint32_t words[] = {k->level, k->line_size, k->sets, k->ways};

		err = buf_append(b, words, sizeof(words));
		if (!err)
			err = pd_string_put(b, k->type);
		if (!err)
			err = pd_string_put(b, k->size);
		if (!err)
			err = pd_string_put(b, k->map);
	}
	return err;
}

void pd_caches_release(struct pd_caches *v)
{
	for (size_t i = 0; i < v->nr; i++)
		cache_release(&v->caches[i]);
	free(v->caches);
	*v = (struct pd_caches){0};
}
