// SPDX-License-Identifier: Apache-2.0
/*
 * Reads CPUs, NUMA nodes, memory blocks and caches from sysfs, not from hwloc: the features hold
 * sysfs's own strings, and reporters compare them.
 */
#include "record/initial/machine_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/feature.h"
#include "sys/kernel/cpus.h"
#include "sys/io/file.h"

#define CPU_DIR	 "%s/devices/system/cpu"
#define NODE_DIR "%s/devices/system/node"

static int read_list(struct cpus *ret, const char *path, const char *root)
{
	char full[4096], *text;
	int rc;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	rc = file_text(&text, "%s", full);
	if (rc)
		return rc;
	rc = cpus_parse(text, ret, NULL);
	free(text);
	return rc;
}

int machine_nr_cpus(const struct machine_roots *roots, const char *which)
{
	struct cpus set = {0};
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "devices/system/cpu/%s", which);
	rc = read_list(&set, path, roots->sys);
	if (!rc)
		rc = set.ids[set.nr - 1] + 1;
	cpus_release(&set);
	return rc;
}

/* Takes over @s; drops it when the list has it. Returns 0 or -ENOMEM. */
static int add_unique(struct pd_strings *list, size_t *capacity, char *s)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (!strcmp(list->s[i], s)) {
			free(s);
			return 0;
		}
	}
	if (array_grow(&list->s, capacity, list->nr + 1, sizeof(*list->s))) {
		free(s);
		return -ENOMEM;
	}
	list->s[list->nr++] = s;
	return 0;
}

/* Adds the sibling list of @cpu, under its newer or older name in sysfs. */
static int add_siblings(const struct machine_roots *roots, int cpu, const char *name,
			const char *old_name, struct pd_strings *list, size_t *capacity)
{
	char *text;
	int rc;

	rc = file_text(&text, CPU_DIR "/cpu%d/topology/%s", roots->sys, cpu, name);
	if (rc == -ENOENT && old_name)
		rc = file_text(&text, CPU_DIR "/cpu%d/topology/%s", roots->sys, cpu, old_name);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	return add_unique(list, capacity, text);
}

static int32_t topology_id(const struct machine_roots *roots, int cpu, const char *name)
{
	long long v;

	if (file_number(&v, CPU_DIR "/cpu%d/topology/%s", roots->sys, cpu, name) || v < INT32_MIN ||
	    v > INT32_MAX)
		return -1;
	return (int32_t)v;
}

/* Fills @topo for the CPUs of @online; those in between that are not keep the ids -1. */
static int read_cpu_topology(const struct machine_roots *roots, const struct cpus *online,
			     struct pd_cpu_topology *topo)
{
	size_t caps[3] = {0};
	int rc = 0;

	for (size_t i = 0; i < topo->nr_ids; i++)
		topo->ids[i] = (struct pd_cpu_ids){-1, -1, -1};
	for (size_t i = 0; !rc && i < online->nr; i++) {
		int cpu = online->ids[i];

		if ((size_t)cpu >= topo->nr_ids)
			break;
		rc = add_siblings(roots, cpu, "package_cpus_list", "core_siblings_list",
				  &topo->cores, &caps[0]);
		if (!rc)
			rc = add_siblings(roots, cpu, "core_cpus_list", "thread_siblings_list",
					  &topo->threads, &caps[1]);
		if (!rc)
			rc = add_siblings(roots, cpu, "die_cpus_list", NULL, &topo->dies, &caps[2]);
		topo->ids[cpu] = (struct pd_cpu_ids){
			.core = topology_id(roots, cpu, "core_id"),
			.socket = topology_id(roots, cpu, "physical_package_id"),
			.die = topology_id(roots, cpu, "die_id"),
		};
	}
	return rc;
}

/*
 * Appends an empty list of dies, and no die for each CPU. perf takes all bytes behind the cores and
 * sockets for this list, also those that fill a record of a stream up to a multiple of 8: without
 * it perf does not open the stream.
 */
static int put_no_dies(struct buf *b, size_t nr_cpus)
{
	const uint32_t dies = 0, no_die = UINT32_MAX;
	int rc = buf_append(b, &dies, sizeof(dies));

	for (size_t i = 0; !rc && i < nr_cpus; i++)
		rc = buf_append(b, &no_die, sizeof(no_die));
	return rc;
}

int machine_cpu_topology(const struct machine_roots *roots, struct buf *b)
{
	struct pd_cpu_topology topo = {0};
	struct cpus online = {0};
	int rc = machine_nr_cpus(roots, "present");

	if (rc < 0)
		return rc;
	topo.ids = calloc((size_t)rc, sizeof(*topo.ids));
	if (!topo.ids)
		return -ENOMEM;
	topo.nr_ids = (size_t)rc;
	rc = read_list(&online, "devices/system/cpu/online", roots->sys);
	if (!rc)
		rc = read_cpu_topology(roots, &online, &topo);
	if (!rc)
		rc = topo.cores.nr || topo.threads.nr ? pd_feature_cpu_topology_encode(b, &topo)
						      : -ENODATA;
	if (!rc && !topo.dies.nr)
		rc = put_no_dies(b, topo.nr_ids);
	cpus_release(&online);
	pd_cpu_topology_release(&topo);
	return rc;
}

/* "Node 0 MemTotal:  4679892 kB": the number, 0 if there is none. */
static uint64_t node_memory(const char *meminfo, const char *key)
{
	const char *p = strstr(meminfo, key);

	return p ? strtoull(p + strlen(key), NULL, 10) : 0;
}

static int read_node(const struct machine_roots *roots, int nr, struct pd_numa_node *node)
{
	char *meminfo;
	int rc;

	rc = file_text(&meminfo, NODE_DIR "/node%d/meminfo", roots->sys, nr);
	if (rc)
		return rc;
	node->node = (uint32_t)nr;
	node->mem_total = node_memory(meminfo, "MemTotal:");
	node->mem_free = node_memory(meminfo, "MemFree:");
	free(meminfo);
	return file_text(&node->cpus, NODE_DIR "/node%d/cpulist", roots->sys, nr);
}

int machine_numa_topology(const struct machine_roots *roots, struct buf *b)
{
	struct pd_numa_topology topo = {0};
	struct cpus nodes = {0}; /* lists of nodes have the same form */
	int rc;

	rc = read_list(&nodes, "devices/system/node/online", roots->sys);
	if (rc)
		return rc;
	topo.nodes = calloc(nodes.nr, sizeof(*topo.nodes));
	if (!topo.nodes)
		rc = -ENOMEM;
	for (size_t i = 0; !rc && i < nodes.nr; i++) {
		rc = read_node(roots, nodes.ids[i], &topo.nodes[i]);
		topo.nr = i + 1;
	}
	if (!rc)
		rc = pd_feature_numa_topology_encode(b, &topo);
	cpus_release(&nodes);
	pd_numa_topology_release(&topo);
	return rc;
}

/* The numbers of the entries PREFIXn of a directory, as a bitmap of *@ret_span bits. */
static int read_numbered(const char *path, const char *prefix, struct buf *bits, uint64_t *ret_span)
{
	size_t prefix_len = strlen(prefix);
	struct dirent *ent;
	DIR *dir = opendir(path);
	int rc = 0;

	if (!dir)
		return -errno;
	*ret_span = 0;
	while (!rc && (ent = readdir(dir))) {
		unsigned long n;
		char *end;

		if (strncmp(ent->d_name, prefix, prefix_len))
			continue;
		n = strtoul(ent->d_name + prefix_len, &end, 10);
		if (end == ent->d_name + prefix_len || *end || n > 1UL << 30)
			continue;
		if (n / 64 * 8 + 8 > bits->len)
			rc = buf_zero(bits, n / 64 * 8 + 8 - bits->len);
		if (rc)
			break;
		((uint64_t *)bits->data)[n / 64] |= 1ULL << n % 64;
		if (n + 1 > *ret_span)
			*ret_span = n + 1;
	}
	closedir(dir);
	return rc;
}

/* Node number, bits of its map (twice: perf's node and its bitmap each have a size), the map. */
static int put_memory_node(const struct machine_roots *roots, uint64_t node, struct buf *b)
{
	struct buf bits = {0};
	uint64_t span, head[3];
	char path[4096];
	int rc;

	snprintf(path, sizeof(path), NODE_DIR "/node%llu", roots->sys, (unsigned long long)node);
	rc = read_numbered(path, "memory", &bits, &span);
	if (!rc && !span) { /* a node without memory: perf writes one empty bit */
		span = 1;
		rc = buf_zero(&bits, 8);
	}
	head[0] = node;
	head[1] = head[2] = span;
	if (!rc)
		rc = buf_append(b, head, sizeof(head));
	if (!rc)
		rc = buf_append(b, bits.data, bits.len);
	buf_release(&bits);
	return rc;
}

/* MEM_TOPOLOGY: version 1, block size in bytes, number of nodes, the nodes. All u64. */
int machine_mem_topology(const struct machine_roots *roots, struct buf *b)
{
	struct buf nodes = {0};
	uint64_t span, head[3] = {1};
	char path[4096], *block_size;
	int rc;

	rc = file_text(&block_size, "%s/devices/system/memory/block_size_bytes", roots->sys);
	if (rc)
		return rc;
	head[1] = strtoull(block_size, NULL, 16);
	free(block_size);
	snprintf(path, sizeof(path), NODE_DIR, roots->sys);
	rc = read_numbered(path, "node", &nodes, &span);
	for (size_t i = 0; !rc && i < nodes.len / 8; i++)
		head[2] += (uint64_t)__builtin_popcountll(((uint64_t *)nodes.data)[i]);
	if (!rc)
		rc = buf_append(b, head, sizeof(head));
	for (uint64_t n = 0; !rc && n < span; n++) {
		if (((uint64_t *)nodes.data)[n / 64] >> n % 64 & 1)
			rc = put_memory_node(roots, n, b);
	}
	buf_release(&nodes);
	return rc;
}

static void cache_release(struct pd_cache *c)
{
	free(c->type);
	free(c->size);
	free(c->map);
	*c = (struct pd_cache){0};
}

/* Fills @ret, to be released in any case. -ENOENT: no such index. */
static int read_cache(const struct machine_roots *roots, int cpu, int index, struct pd_cache *ret)
{
	const struct {
		const char *name;
		uint32_t *value;
	} numbers[] = {
		{"level", &ret->level},
		{"coherency_line_size", &ret->line_size},
		{"number_of_sets", &ret->sets},
		{"ways_of_associativity", &ret->ways},
	};
	const struct {
		const char *name;
		char **value;
	} texts[] = {{"type", &ret->type}, {"size", &ret->size}, {"shared_cpu_list", &ret->map}};
	char dir[4096];
	int rc = 0;

	snprintf(dir, sizeof(dir), CPU_DIR "/cpu%d/cache/index%d", roots->sys, cpu, index);
	for (size_t i = 0; !rc && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		long long v = 0;

		rc = file_number(&v, "%s/%s", dir, numbers[i].name);
		*numbers[i].value = (uint32_t)v;
	}
	for (size_t i = 0; !rc && i < sizeof(texts) / sizeof(texts[0]); i++)
		rc = file_text(texts[i].value, "%s/%s", dir, texts[i].name);
	return rc;
}

static bool cache_equal(const struct pd_cache *a, const struct pd_cache *b)
{
	return a->level == b->level && a->line_size == b->line_size && a->sets == b->sets &&
	       a->ways == b->ways && !strcmp(a->type, b->type) && !strcmp(a->size, b->size) &&
	       !strcmp(a->map, b->map);
}

/* Takes over @c: into the list, behind those of its level, unless it is known from another CPU. */
static int cache_add(struct pd_caches *list, size_t *capacity, struct pd_cache *c)
{
	size_t at = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (cache_equal(&list->caches[i], c)) {
			cache_release(c);
			return 0;
		}
		if (list->caches[i].level <= c->level)
			at = i + 1;
	}
	if (array_grow(&list->caches, capacity, list->nr + 1, sizeof(*list->caches)))
		return -ENOMEM;
	memmove(list->caches + at + 1, list->caches + at, (list->nr - at) * sizeof(*list->caches));
	list->caches[at] = *c;
	list->nr++;
	*c = (struct pd_cache){0};
	return 0;
}

#define CACHE_INDEXES 4 /* index0 … index3, as perf reads */

int machine_cache(const struct machine_roots *roots, struct buf *b)
{
	int rc = 0, nr_cpus = machine_nr_cpus(roots, "possible");
	struct pd_caches list = {0};
	size_t capacity = 0;

	if (nr_cpus < 0)
		return nr_cpus;
	for (int cpu = 0; rc != -ENOMEM && cpu < nr_cpus; cpu++) {
		rc = 0;
		for (int index = 0; !rc && index < CACHE_INDEXES; index++) {
			struct pd_cache c = {0};

			rc = read_cache(roots, cpu, index, &c);
			if (!rc)
				rc = cache_add(&list, &capacity, &c);
			cache_release(&c);
		}
	}
	if (rc != -ENOMEM)
		rc = list.nr ? pd_feature_caches_encode(b, &list) : -ENODATA;
	pd_caches_release(&list);
	return rc;
}
