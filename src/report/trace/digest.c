// SPDX-License-Identifier: Apache-2.0
#include "report/trace/digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/sample.h"

/* A part with more distinct samples gains too little from a digest to pay for its memory. */
#define MAX_ENTRIES 1024
#define TABLE_SIZE  (2 * MAX_ENTRIES)

static bool same(const struct digest_entry *e, const struct digest_entry *key)
{
	return e->ip == key->ip && e->tid == key->tid && e->pid == key->pid && e->cpu == key->cpu &&
	       e->cpumode == key->cpumode && e->evsel == key->evsel;
}

static size_t slot_of(const struct digest_entry *key)
{
	uint64_t h = key->ip * 0x9e3779b97f4a7c15ull;

	h ^= ((uint64_t)key->tid << 32 | key->cpu) + key->evsel->index;
	h = (h ^ h >> 29) * 0xd6e8feb86659fd93ull;
	return (h ^ key->cpumode ^ key->pid) >> 32 & (TABLE_SIZE - 1);
}

static void give_up(struct digest *d)
{
	digest_release(d);
	d->given_up = true;
}

/* Finds or makes the entry of @key; NULL: the digest is full or memory is short. */
static struct digest_entry *find(struct digest *d, const struct digest_entry *key)
{
	size_t at = slot_of(key);

	if (!d->table)
		d->table = calloc(TABLE_SIZE, sizeof(*d->table));
	if (!d->table)
		return NULL;
	for (; d->table[at]; at = (at + 1) & (TABLE_SIZE - 1))
		if (same(&d->entry[d->table[at] - 1], key)) {
			d->last = d->table[at] - 1u;
			return &d->entry[d->last];
		}
	if (d->nr == MAX_ENTRIES || array_grow(&d->entry, &d->cap, d->nr + 1, sizeof(*d->entry)))
		return NULL;
	d->entry[d->nr] = *key;
	d->last = d->nr++;
	d->table[at] = (uint16_t)d->nr;
	return &d->entry[d->last];
}

void digest_add(struct digest *d, const struct data_record *rec)
{
	struct digest_entry *e, key;
	struct pd_sample s;

	if (d->given_up)
		return;
	if (!rec->evsel || pd_sample_decode(rec->hdr, rec->evsel, &s, NULL) < 0) {
		give_up(d);
		return;
	}
	key = (struct digest_entry){
		.evsel = rec->evsel,
		.ip = s.ip,
		.pid = s.pid,
		.tid = s.tid,
		.cpu = s.cpu,
		.cpumode = s.cpumode,
		.first = rec->at,
		.last = rec->at,
	};
	e = d->nr && same(&d->entry[d->last], &key) ? &d->entry[d->last] : find(d, &key);
	if (!e) {
		give_up(d);
		return;
	}
	if (moment_before(rec->at, e->first))
		e->first = rec->at;
	if (moment_before(e->last, rec->at))
		e->last = rec->at;
	e->samples++;
	e->period += s.period;
}

void digest_seal(struct digest *d)
{
	struct digest_entry *less = d->nr ? realloc(d->entry, d->nr * sizeof(*less)) : NULL;

	if (less) {
		d->entry = less;
		d->cap = d->nr;
	}
	free(d->table);
	d->table = NULL;
}

void digest_release(struct digest *d)
{
	free(d->entry);
	free(d->table);
	*d = (struct digest){0};
}
