// SPDX-License-Identifier: Apache-2.0
#include "record/hits/hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash_table.h"
#include "perfdata/sample.h"

#define KERNEL_BIT (1ull << 63)
#define FIRST_PAGE 4096u
#define RECENT	   1024u
#define IN_USE	   1u /* in an address of hits.recent: those of pieces of code are even */

/* header, IDENTIFIER, IP, TID: alike in all events (record/plan/attributes.c, set_common()) */
#define IP_AT  16u
#define PID_AT 24u

struct hits {
	const struct pd_evlist *list;
	struct hit *hit;
	size_t nr, cap;
	struct hash_table by_place;
	struct hit recent[RECENT]; /* some that are in the set, by hash: most samples are like
				      others */
	struct hit last;	   /* address, not rounded, and process of the last sample */
	uint64_t missed;
	bool decode;	       /* samples differ or have more addresses: decode each */
	unsigned int chain_at; /* bytes, in all samples; 0: they have no chain */
};

/* Bits of sample_type before CALLCHAIN that take a word each, behind TID. */
#define WORDS_BEFORE                                                                    \
	(PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define DECODED (PERF_SAMPLE_READ | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_ADDR)
#define FIXED	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID)

/* The event that carries sideband has no samples, so their layout is not its own. */
static bool has_samples(const struct pd_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_DUMMY;
}

static void learn_layout(struct hits *h)
{
	size_t first = 0, nr = pd_evlist_count(h->list);
	uint64_t type;

	while (first + 1 < nr && !has_samples(&pd_evlist_at(h->list, first)->attr))
		first++;
	type = pd_evlist_at(h->list, first)->attr.sample_type;
	for (size_t i = first; i < nr; i++) {
		const struct pd_attr *attr = &pd_evlist_at(h->list, i)->attr;
		uint64_t other = attr->sample_type;

		if (!has_samples(attr))
			continue;
		h->decode |= (other ^ type) & (WORDS_BEFORE | PERF_SAMPLE_CALLCHAIN) ||
			     other & DECODED || (other & FIXED) != FIXED;
	}
	if (type & PERF_SAMPLE_CALLCHAIN)
		h->chain_at =
			PID_AT + 8 + 8 * (unsigned int)__builtin_popcountll(type & WORDS_BEFORE);
}

struct hits *hits_new(const struct pd_evlist *list)
{
	struct hits *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->list = list;
	if (pd_evlist_count(list))
		learn_layout(h);
	return h;
}

void hits_free(struct hits *h)
{
	if (!h)
		return;
	free(h->hit);
	hash_table_release(&h->by_place);
	free(h);
}

/*
 * Odd constants of many bits; the high bits of a product depend on all bits. The table takes the
 * low bits of the hash: so the places of a large set, in order, do not crowd a small one.
 */
static inline uint64_t hash_of(uint64_t addr, uint32_t pid)
{
	uint64_t hash = (addr + pid * 0xd6e8feb86659fd93ull) * 0x9e3779b97f4a7c15ull;

	return hash ^ hash >> 32;
}

static inline bool is_same(const void *hits, uint32_t number, const void *key)
{
	const struct hit *a = (const struct hit *)hits + number, *b = key;

	return a->addr == b->addr && a->pid == b->pid;
}

static __attribute__((noinline)) bool insert(struct hits *h, const struct hit *hit, uint64_t hash)
{
	if (h->nr == HITS_MAX || hash_table_reserve(&h->by_place, 1) ||
	    array_grow(&h->hit, &h->cap, h->nr + 1, sizeof(*h->hit))) {
		h->missed++;
		return false;
	}
	hash_table_add(&h->by_place, hash, (uint32_t)h->nr);
	h->hit[h->nr++] = *hit;
	return true;
}

static inline void put(struct hits *h, uint64_t addr, uint32_t pid)
{
	struct hit hit = {addr & ~(uint64_t)(HIT_BYTES - 1), pid};
	uint64_t hash = hash_of(hit.addr, pid);
	struct hit *recent = &h->recent[hash % RECENT];

	if (recent->addr == (hit.addr | IN_USE) && recent->pid == pid)
		return;
	if (hash_table_find(&h->by_place, hash, is_same, h->hit, &hit) == HASH_TABLE_NONE &&
	    !insert(h, &hit, hash))
		return;
	*recent = (struct hit){hit.addr | IN_USE, pid};
}

void hits_put(struct hits *h, uint64_t addr, uint32_t pid)
{
	put(h, addr, pid);
}

/*
 * Markers in call chains (PERF_CONTEXT_*) are in the last page of addresses, where no code is. The
 * chains of programs without frame pointers have any data for addresses; those between user and
 * kernel space and in the first page are left out.
 */
static inline void take(struct hits *h, uint64_t addr, uint32_t pid)
{
	bool kernel = addr & KERNEL_BIT;

	if (addr < (uint64_t)PERF_CONTEXT_MAX && addr >= FIRST_PAGE &&
	    addr >> 56 == (kernel ? 0xff : 0))
		put(h, addr, kernel ? 0 : pid);
}

static void take_decoded(struct hits *h, const struct perf_event_header *hdr)
{
	uint64_t id;
	const struct pd_evsel *evsel;
	struct pd_sample s;

	if (hdr->size < IP_AT)
		return;
	memcpy(&id, (const uint8_t *)hdr + sizeof(*hdr), sizeof(id));
	evsel = pd_evlist_by_id(h->list, id);
	if (!evsel || pd_sample_decode(hdr, evsel, &s, NULL))
		return;
	if (s.type & PERF_SAMPLE_IP)
		take(h, s.ip, s.pid);
	for (uint64_t i = 0; i < s.callchain_nr; i++)
		take(h, s.callchain[i], s.pid);
	for (uint64_t i = 0; i < s.branch_nr; i++) {
		take(h, s.branches[i].from, s.pid);
		take(h, s.branches[i].to, s.pid);
	}
	if (s.type & PERF_SAMPLE_ADDR)
		take(h, s.addr, s.pid);
}

void hits_add(struct hits *h, const struct perf_event_header *hdr)
{
	const uint8_t *p = (const uint8_t *)hdr;
	unsigned int mode = hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	uint64_t ip, nr;
	uint32_t pid;

	if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
		return;
	if (h->decode) {
		take_decoded(h, hdr);
		return;
	}
	if (hdr->size < PID_AT + sizeof(ip))
		return;
	memcpy(&ip, p + IP_AT, sizeof(ip));
	memcpy(&pid, p + PID_AT, sizeof(pid));
	if (ip != h->last.addr || pid != h->last.pid)
		take(h, ip, pid);
	h->last = (struct hit){ip, pid};
	if (!h->chain_at || hdr->size < h->chain_at + sizeof(nr))
		return;
	memcpy(&nr, p + h->chain_at, sizeof(nr));
	p += h->chain_at + sizeof(nr);
	if (nr > (hdr->size - h->chain_at) / sizeof(ip) - 1)
		return;
	for (uint64_t i = 0; i < nr; i++, p += sizeof(ip)) {
		memcpy(&ip, p, sizeof(ip));
		take(h, ip, pid);
	}
}

void hits_merge(struct hits *h, const struct hits *from)
{
	for (size_t i = 0; i < from->nr; i++)
		put(h, from->hit[i].addr, from->hit[i].pid);
	h->missed += from->missed;
}

const struct hit *hits_list(const struct hits *h, size_t *ret_nr)
{
	*ret_nr = h->nr;
	return h->hit;
}

struct hit *hits_take(struct hits *h, size_t *ret_nr)
{
	struct hit *taken = h->hit;

	*ret_nr = h->nr;
	h->hit = NULL;
	h->nr = h->cap = 0;
	mem_zero(h->recent, sizeof(h->recent));
	h->last = (struct hit){0};
	hash_table_release(&h->by_place);
	return taken;
}

size_t hits_count(const struct hits *h)
{
	return h->nr;
}

uint64_t hits_missed(const struct hits *h)
{
	return h->missed;
}
