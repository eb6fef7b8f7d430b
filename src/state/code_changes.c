// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel's own code as of any time, as far as it changed while it was recorded.
 *
 * TEXT_POKE records have the bytes before and after a change. When the records are complete, they
 * become versions of small blocks of code: each version has all bytes that are known at its time.
 * So a reader searches once for each block, however often the code has changed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "state/state_priv.h"

#define BLOCK 64u /* bytes; a mask of them is one word */

struct code_change {
	struct moment at;
	uint64_t addr;
	uint16_t old_len, new_len;
	size_t bytes; /* place in code_changes.bytes */
};

struct code_version {
	struct moment at;
	uint64_t block;
	uint64_t known; /* a bit for each byte */
	uint8_t bytes[BLOCK];
};

/* A part of a change, within a block. */
struct change_part {
	uint64_t block;
	size_t change;
};

int code_changes_count(struct code_changes *c, struct moment at)
{
	int rc = array_grow(&c->times, &c->cap_times, c->nr_times + 1, sizeof(*c->times));

	if (!rc)
		c->times[c->nr_times++] = at;
	return rc;
}

int code_changes_add(struct code_changes *c, const struct pd_text_poke *poke, struct moment at)
{
	size_t n = (size_t)poke->old_len + poke->new_len;
	struct code_change *change;
	int rc = code_changes_count(c, at);

	if (!rc)
		rc = array_grow(&c->changes, &c->cap, c->nr + 1, sizeof(*c->changes));
	if (rc)
		return rc;
	change = &c->changes[c->nr];
	*change = (struct code_change){at, poke->addr, poke->old_len, poke->new_len, c->bytes.len};
	rc = buf_append(&c->bytes, poke->bytes, n);
	if (!rc)
		c->nr++;
	return rc;
}

void code_changes_release(struct code_changes *c)
{
	free(c->changes);
	free(c->versions);
	free(c->times);
	buf_release(&c->bytes);
	*c = (struct code_changes){0};
}

size_t code_changes_memory(const struct code_changes *c)
{
	/* The versions of a change of n bytes are less than two blocks longer. */
	return c->cap * (sizeof(*c->changes) + 4 * sizeof(*c->versions)) + 3 * c->bytes.cap +
	       c->cap_times * sizeof(*c->times);
}

static int by_block_and_time(const void *a, const void *b)
{
	const struct change_part *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->change < y->change ? -1 : x->change > y->change;
}

/* Returns the changes by block, or NULL when memory is short. */
static struct change_part *make_parts(const struct code_changes *c, size_t *ret_nr)
{
	struct change_part *parts = NULL;
	size_t nr = 0, cap = 0;

	for (size_t i = 0; i < c->nr; i++) {
		const struct code_change *change = &c->changes[i];
		uint64_t len =
			change->old_len > change->new_len ? change->old_len : change->new_len;
		uint64_t last = change->addr + (len ? len - 1 : 0);

		if (!len || last < change->addr)
			continue;
		for (uint64_t block = change->addr / BLOCK; block <= last / BLOCK; block++) {
			if (array_grow(&parts, &cap, nr + 1, sizeof(*parts))) {
				free(parts);
				return NULL;
			}
			parts[nr++] = (struct change_part){block, i};
		}
	}
	if (nr)
		qsort(parts, nr, sizeof(*parts), by_block_and_time);
	*ret_nr = nr;
	return parts ? parts : calloc(1, sizeof(*parts));
}

/* Copies those of the @len bytes of code at @addr that are in the version's block, but for @keep.
 */
static uint64_t put_bytes(struct code_version *v, uint64_t addr, const uint8_t *bytes, size_t len,
			  uint64_t keep)
{
	uint64_t start = v->block * BLOCK, mask = 0;
	size_t from = addr < start ? start - addr : 0;

	for (size_t i = from; i < len && addr + i - start < BLOCK; i++) {
		uint64_t bit = 1ull << (addr + i - start);

		mask |= bit;
		if (keep & bit)
			continue;
		v->bytes[addr + i - start] = bytes[i];
		v->known |= bit;
	}
	return mask;
}

/* Makes the versions of one block of @nr parts: one before all changes, and one after each. */
static void make_versions(const struct code_changes *c, const struct change_part *parts, size_t nr,
			  struct code_version *v)
{
	struct code_version made = {.block = parts->block};
	uint64_t changed = 0;

	v[0] = made;
	for (size_t i = 0; i < nr; i++) {
		const struct code_change *change = &c->changes[parts[i].change];
		const uint8_t *old = c->bytes.data + change->bytes, *new = old + change->old_len;

		/* Bytes that the first change made had no contents before it. */
		changed |= put_bytes(&v[0], change->addr, old, change->old_len, changed);
		changed |= put_bytes(&made, change->addr, new, change->new_len, 0);
	}
	for (size_t i = 0; i < nr; i++) {
		const struct code_change *change = &c->changes[parts[i].change];
		const uint8_t *new = c->bytes.data + change->bytes + change->old_len;

		v[i + 1] = v[i];
		v[i + 1].at = change->at;
		put_bytes(&v[i + 1], change->addr, new, change->new_len, 0);
	}
}

int code_changes_freeze(struct code_changes *c)
{
	size_t nr, first = 0, blocks = 0;
	struct change_part *parts = make_parts(c, &nr);

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		blocks += !i || parts[i].block != parts[i - 1].block;
	c->versions = calloc(nr + blocks + 1, sizeof(*c->versions));
	for (size_t i = 1; c->versions && i <= nr; i++) {
		if (i < nr && parts[i].block == parts[first].block)
			continue;
		make_versions(c, parts + first, i - first, c->versions + c->nr_versions);
		c->nr_versions += i - first + 1;
		first = i;
	}
	free(parts);
	return c->versions ? 0 : -ENOMEM;
}

/* Returns the version of @block as of @at, or NULL. */
static const struct code_version *find(const struct code_changes *c, uint64_t block,
				       struct moment at)
{
	size_t lo = 0, hi = c->nr_versions;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct code_version *v = &c->versions[mid];

		if (v->block < block || (v->block == block && !moment_before(at, v->at)))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && c->versions[lo - 1].block == block ? &c->versions[lo - 1] : NULL;
}

size_t code_changes_patch(const struct code_changes *c, uint64_t addr, struct moment at,
			  uint8_t *buf, size_t known, size_t len)
{
	size_t i = 0;

	while (c->nr_versions && i < len && i <= known) {
		const struct code_version *v = find(c, (addr + i) / BLOCK, at);
		size_t end = i + BLOCK - (addr + i) % BLOCK;

		for (; i < end && i < len && i <= known; i++) {
			size_t byte = (addr + i) % BLOCK;

			if (!v || !(v->known >> byte & 1))
				continue;
			buf[i] = v->bytes[byte];
			known += i == known;
		}
	}
	return known;
}

uint64_t code_changes_until(const struct code_changes *c, struct moment at)
{
	size_t lo = 0, hi = c->nr_times;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (moment_before(at, c->times[mid]))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}
