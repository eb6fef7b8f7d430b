// SPDX-License-Identifier: Apache-2.0
#include "report/trace/digest.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "perfdata/sample.h"

/* A part with more distinct samples gains too little from a digest to pay for its memory. */
#define MAX_ENTRIES 1024

static bool same(const struct digest_entry *e, const struct digest_entry *key)
{
	return e->ip == key->ip && e->tid == key->tid && e->pid == key->pid && e->cpu == key->cpu &&
	       e->cpumode == key->cpumode && e->evsel == key->evsel;
}

/* For hash_table_find(). */
static bool entry_same(const void *entries, uint32_t number, const void *key)
{
	return same((const struct digest_entry *)entries + number, key);
}

/* Without hash_key(): there are too few entries for a crafted file to do harm. */
static uint64_t entry_hash(const struct digest_entry *key)
{
	uint64_t task = (uint64_t)key->tid << 32 | key->cpu;

	return hash_word(key->ip ^ (uint64_t)key->evsel->index << 56,
			 task * 0x9e3779b97f4a7c15ull + key->cpumode + key->pid);
}

static void give_up(struct digest *d)
{
	digest_release(d);
	d->given_up = true;
}

/* Finds or makes the entry of @key; NULL: the digest is full or memory is short. */
static struct digest_entry *find(struct digest *d, const struct digest_entry *key)
{
	uint64_t hash = entry_hash(key);
	uint32_t found = hash_table_find(&d->table, hash, entry_same, d->entry, key);

	if (found == HASH_TABLE_NONE) {
		if (d->nr == MAX_ENTRIES ||
		    array_grow(&d->entry, &d->cap, d->nr + 1, sizeof(*d->entry)) ||
		    hash_table_reserve(&d->table, 1))
			return NULL;
		found = (uint32_t)d->nr++;
		d->entry[found] = *key;
		d->entry[found].samples = d->entry[found].period = 0;
		hash_table_add(&d->table, hash, found);
	}
	d->last = found;
	return &d->entry[found];
}

void digest_add_entry(struct digest *d, const struct digest_entry *entry)
{
	struct digest_entry *e;

	if (d->given_up)
		return;
	e = d->nr && same(&d->entry[d->last], entry) ? &d->entry[d->last] : find(d, entry);
	if (!e) {
		give_up(d);
		return;
	}
	if (moment_before(entry->first, e->first))
		e->first = entry->first;
	if (moment_before(e->last, entry->last))
		e->last = entry->last;
	e->samples += entry->samples;
	e->period += entry->period;
}

void digest_add(struct digest *d, const struct data_record *rec)
{
	struct digest_entry key;
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
		.samples = 1,
		.period = s.period,
	};
	digest_add_entry(d, &key);
}

void digest_clear(struct digest *d)
{
	hash_table_clear(&d->table);
	d->nr = d->last = 0;
	d->given_up = false;
}

void digest_seal(struct digest *d)
{
	struct digest_entry *less = d->nr ? realloc(d->entry, d->nr * sizeof(*less)) : NULL;

	if (less) {
		d->entry = less;
		d->cap = d->nr;
	}
	hash_table_release(&d->table);
}

void digest_release(struct digest *d)
{
	free(d->entry);
	hash_table_release(&d->table);
	*d = (struct digest){0};
}
