// SPDX-License-Identifier: Apache-2.0
/* Feature sections that only other recorders write: CPUs and capabilities of PMUs, memory of nodes.
 */
#include "perfdata/feature.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/feature_codec.h"

int pd_feature_hybrid_topology_decode(const uint8_t *p, size_t len, bool swap,
				      struct pd_hybrid_topology *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t nr;
	int err;

	*ret = (struct pd_hybrid_topology){0};
	err = pd_array_get(&c, 2 * PD_STRING_MIN, sizeof(*ret->pmus), &ret->pmus, &nr);
	while (!err && ret->nr < nr) {
		struct pd_hybrid_pmu *pmu = &ret->pmus[ret->nr++];

		err = pd_string_get(&c, &pmu->name);
		if (!err)
			err = pd_string_get(&c, &pmu->cpus);
	}
	return err;
}

void pd_hybrid_topology_release(struct pd_hybrid_topology *v)
{
	for (size_t i = 0; i < v->nr; i++) {
		free(v->pmus[i].name);
		free(v->pmus[i].cpus);
	}
	free(v->pmus);
	*v = (struct pd_hybrid_topology){0};
}

/* Names and values alternate. */
static int caps_get(struct cursor *c, struct pd_strings *ret)
{
	uint32_t nr;
	int err = pd_array_get(c, 2 * PD_STRING_MIN, 2 * sizeof(*ret->s), &ret->s, &nr);

	while (!err && ret->nr < 2 * (size_t)nr) {
		err = pd_string_get(c, &ret->s[ret->nr]);
		ret->nr += !err;
	}
	return err;
}

int pd_feature_cpu_pmu_caps_decode(const uint8_t *p, size_t len, bool swap, struct pd_pmu_caps *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};

	*ret = (struct pd_pmu_caps){.pmus = calloc(1, sizeof(*ret->pmus))};
	if (!ret->pmus)
		return -ENOMEM;
	ret->nr = 1;
	ret->pmus[0].name = strdup("cpu");
	return ret->pmus[0].name ? caps_get(&c, &ret->pmus[0].caps) : -ENOMEM;
}

int pd_feature_pmu_caps_decode(const uint8_t *p, size_t len, bool swap, struct pd_pmu_caps *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t nr;
	int err;

	*ret = (struct pd_pmu_caps){0};
	err = pd_array_get(&c, sizeof(uint32_t) + PD_STRING_MIN, sizeof(*ret->pmus), &ret->pmus,
			   &nr);
	while (!err && ret->nr < nr) {
		struct pd_pmu_with_caps *pmu = &ret->pmus[ret->nr++];

		err = caps_get(&c, &pmu->caps);
		if (!err)
			err = pd_string_get(&c, &pmu->name);
	}
	return err;
}

void pd_pmu_caps_release(struct pd_pmu_caps *v)
{
	for (size_t i = 0; i < v->nr; i++) {
		free(v->pmus[i].name);
		pd_strings_release(&v->pmus[i].caps);
	}
	free(v->pmus);
	*v = (struct pd_pmu_caps){0};
}

#define MEM_TOPOLOGY_VERSION 1
#define MEM_NODE_MIN	     (3 * sizeof(uint64_t)) /* bytes on the wire */

/* The number of bits is there twice; the second one belongs to the bitmap that follows. */
static int mem_node_get(struct cursor *c, struct pd_mem_node *ret)
{
	uint64_t bits = 0, words;

	cursor_u64(c, &ret->node);
	cursor_u64(c, &bits);
	cursor_u64(c, &bits);
	words = bits / 64 + (bits % 64 != 0);
	if (c->bad || words > cursor_left(c) / sizeof(uint64_t))
		return -EBADMSG;
	ret->blocks = calloc(words ? words : 1, sizeof(*ret->blocks));
	if (!ret->blocks)
		return -ENOMEM;
	for (uint64_t i = 0; i < words; i++)
		cursor_u64(c, &ret->blocks[i]);
	ret->nr_blocks = bits;
	return 0;
}

int pd_feature_mem_topology_decode(const uint8_t *p, size_t len, bool swap,
				   struct pd_mem_topology *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint64_t version = 0, nr = 0;
	int err = 0;

	*ret = (struct pd_mem_topology){0};
	cursor_u64(&c, &version);
	cursor_u64(&c, &ret->block_size);
	cursor_u64(&c, &nr);
	if (c.bad || version != MEM_TOPOLOGY_VERSION || nr > cursor_left(&c) / MEM_NODE_MIN)
		return -EBADMSG;
	ret->nodes = calloc(nr ? nr : 1, sizeof(*ret->nodes));
	if (!ret->nodes)
		return -ENOMEM;
	while (!err && ret->nr < nr)
		err = mem_node_get(&c, &ret->nodes[ret->nr++]);
	return err;
}

void pd_mem_topology_release(struct pd_mem_topology *v)
{
	for (size_t i = 0; i < v->nr; i++)
		free(v->nodes[i].blocks);
	free(v->nodes);
	*v = (struct pd_mem_topology){0};
}
