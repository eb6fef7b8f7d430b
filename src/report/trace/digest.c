// SPDX-License-Identifier: Apache-2.0
#include "report/trace/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

/*
 * A part with more distinct samples gains too little from a digest to pay for its memory. Copies of
 * stacks are large, so a part has few, and reading it again takes long.
 */
#define MAX_ENTRIES 1024
#define MAX_STACKS  4096

/* What is looked up: an entry without sums, and its chain. */
struct digest_key {
	struct digest_entry e;
	const uint64_t *chain;
};

/* Whether two chains go on alike: chains of equal words may yet differ in what is a frame. */
static inline bool same_stack(const struct digest_stack *a, const struct digest_stack *b)
{
	return a->frames == b->frames && a->copied == b->copied && a->walked == b->walked &&
	       a->full == b->full && a->ended == b->ended;
}

static inline bool same(const struct digest *d, const struct digest_entry *e,
			const struct digest_key *key)
{
	const struct digest_entry *k = &key->e;

	return e->ip == k->ip && e->tid == k->tid && e->pid == k->pid && e->cpu == k->cpu &&
	       e->cpumode == k->cpumode && e->evsel == k->evsel && e->chain_nr == k->chain_nr &&
	       same_stack(&e->stack, &k->stack) &&
	       (!k->chain_nr ||
		!memcmp(digest_chain(d, e), key->chain, k->chain_nr * sizeof(*key->chain)));
}

/* For hash_table_find(). */
static bool entry_same(const void *digest, uint32_t number, const void *key)
{
	const struct digest *d = digest;

	return same(d, &d->entry[number], key);
}

/* Without hash_key(): there are too few entries for a crafted file to do harm. */
static uint64_t entry_hash(const struct digest_key *key)
{
	const struct digest_entry *e = &key->e;
	uint64_t task = (uint64_t)e->tid << 32 | e->cpu;
	uint64_t h = hash_word(e->ip ^ (uint64_t)e->evsel->index << 56,
			       task * 0x9e3779b97f4a7c15ull + e->cpumode + e->pid);

	for (uint32_t i = 0; i < e->chain_nr; i++) {
		h = (h ^ key->chain[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return h;
}

void digest_give_up(struct digest *d)
{
	digest_release(d);
	d->given_up = true;
}

/* Appends an entry without sums. */
static int append(struct digest *d, const struct digest_key *key, uint64_t hash)
{
	uint32_t nr = key->e.chain_nr;
	struct digest_entry *e;

	if (d->nr == (key->e.stack.copied ? MAX_STACKS : MAX_ENTRIES) ||
	    array_grow(&d->entry, &d->cap, d->nr + 1, sizeof(*d->entry)) ||
	    array_grow(&d->words, &d->cap_words, d->nr_words + nr, sizeof(*d->words)) ||
	    hash_table_reserve(&d->table, 1))
		return -ENOMEM;
	hash_table_add(&d->table, hash, (uint32_t)d->nr);
	e = &d->entry[d->nr++];
	*e = key->e;
	e->samples = e->period = 0;
	e->chain = d->nr_words;
	if (nr)
		memcpy(d->words + d->nr_words, key->chain, nr * sizeof(*d->words));
	d->nr_words += nr;
	return 0;
}

/* Finds or makes the entry of @key; NULL: the digest is full or memory is short. */
static __attribute__((noinline)) struct digest_entry *find(struct digest *d,
							   const struct digest_key *key)
{
	uint64_t hash = entry_hash(key);
	uint32_t found = hash_table_find(&d->table, hash, entry_same, d, key);

	if (found == HASH_TABLE_NONE) {
		found = (uint32_t)d->nr;
		if (append(d, key, hash))
			return NULL;
	}
	d->last = found;
	return &d->entry[found];
}

static inline void credit(struct digest_entry *e, struct moment first, struct moment last,
			  uint64_t samples, uint64_t period)
{
	if (moment_before(first, e->first))
		e->first = first;
	if (moment_before(e->last, last))
		e->last = last;
	e->samples += samples;
	e->period += period;
}

void digest_add_entry(struct digest *d, const struct digest_entry *entry)
{
	const struct digest_key key = {.e = *entry};
	struct digest_entry *e;

	if (d->given_up)
		return;
	e = d->nr && same(d, &d->entry[d->last], &key) ? &d->entry[d->last] : find(d, &key);
	if (e)
		credit(e, entry->first, entry->last, entry->samples, entry->period);
	else
		digest_give_up(d);
}

/* Whether @e is of the sample @s of @evsel. As same(), without a key, for most samples. */
static inline bool is_of(const struct digest *d, const struct digest_entry *e,
			 const struct pd_evsel *evsel, const struct pd_sample *s,
			 const struct digest_stack *stack)
{
	if (e->ip != s->ip || e->tid != s->tid || e->pid != s->pid || e->cpu != s->cpu ||
	    e->cpumode != s->cpumode || e->evsel != evsel ||
	    (stack && !same_stack(&e->stack, stack)))
		return false;
	return !d->chains || (e->chain_nr == s->callchain_nr &&
			      (!e->chain_nr || !memcmp(digest_chain(d, e), s->callchain,
						       e->chain_nr * sizeof(*s->callchain))));
}

static inline struct digest_entry *entry_of(struct digest *d, const struct data_record *rec,
					    const struct pd_sample *s,
					    const struct digest_stack *stack)
{
	struct digest_entry *last = d->nr ? &d->entry[d->last] : NULL;

	if (last && is_of(d, last, rec->evsel, s, stack))
		return last;
	return find(d,
		    &(struct digest_key){
			    .e =
				    {
					    .evsel = rec->evsel,
					    .ip = s->ip,
					    .pid = s->pid,
					    .tid = s->tid,
					    .cpu = s->cpu,
					    .cpumode = s->cpumode,
					    .chain_nr = d->chains ? (uint32_t)s->callchain_nr : 0,
					    .stack = stack ? *stack : (struct digest_stack){0},
					    .first = rec->at,
					    .last = rec->at,
				    },
			    .chain = s->callchain,
		    });
}

static inline void add(struct digest *d, const struct data_record *rec, const struct pd_sample *s,
		       const struct digest_stack *stack)
{
	struct digest_entry *e = entry_of(d, rec, s, stack);

	if (e)
		credit(e, rec->at, rec->at, 1, s->period);
	else
		digest_give_up(d);
}

void digest_add_sample(struct digest *d, const struct data_record *rec, const struct pd_sample *s,
		       const struct digest_stack *stack)
{
	if (!d->given_up)
		add(d, rec, s, stack);
}

void digest_add(struct digest *d, const struct data_record *rec)
{
	struct pd_sample s;

	if (d->given_up)
		return;
	if (!rec->evsel || pd_sample_decode(rec->hdr, rec->evsel, &s, NULL) < 0)
		digest_give_up(d);
	else
		add(d, rec, &s, NULL);
}

void digest_clear(struct digest *d)
{
	hash_table_clear(&d->table);
	d->nr = d->nr_words = d->last = 0;
	d->given_up = false;
}

/* Gives back what an array has too much. */
static void *shrink(void *array, size_t *cap, size_t nr, size_t size)
{
	void *less = nr && nr < *cap ? realloc(array, nr * size) : NULL;

	if (less)
		*cap = nr;
	return less ?: array;
}

void digest_seal(struct digest *d)
{
	d->entry = shrink(d->entry, &d->cap, d->nr, sizeof(*d->entry));
	d->words = shrink(d->words, &d->cap_words, d->nr_words, sizeof(*d->words));
	hash_table_release(&d->table);
}

void digest_release(struct digest *d)
{
	free(d->entry);
	free(d->words);
	hash_table_release(&d->table);
	*d = (struct digest){.chains = d->chains};
}
