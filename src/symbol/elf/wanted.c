// SPDX-License-Identifier: Apache-2.0
#include "symbol/elf/wanted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/table_priv.h"

#define BUCKETS_MAX 65536u

/* Returns how many of the sorted numbers from index @low to @high (exclusive) and before are less
 * than @x. */
static size_t count_less(const uint64_t *v, size_t low, size_t high, uint64_t x)
{
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v[mid] < x)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool symtab_wants(const struct symtab_wanted *w, uint64_t start, uint64_t end)
{
	uint64_t first = start < w->bytes ? 0 : start - w->bytes + 1;
	size_t i = count_less(w->addr, 0, w->nr, first);

	return i < w->nr && w->addr[i] < end;
}

/* --- windows -------------------------------------------------------------------------------------
 */

static void fill_index(struct symtab_windows *v)
{
	const struct symtab_wanted *w = v->w;
	size_t bucket = 0;

	for (size_t i = 0; i < w->nr; i++)
		while (bucket <= (w->addr[i] - w->addr[0]) >> v->shift)
			v->index[bucket++] = (uint32_t)i;
	while (bucket <= v->buckets)
		v->index[bucket++] = (uint32_t)w->nr;
}

int symtab_windows_init(struct symtab_windows *v, const struct symtab_wanted *w)
{
	uint64_t span = w->addr[w->nr - 1] - w->addr[0];

	*v = (struct symtab_windows){.w = w};
	while (span >> v->shift >= BUCKETS_MAX || span >> v->shift >= 2 * w->nr)
		v->shift++;
	v->buckets = (size_t)(span >> v->shift) + 1;
	v->low = calloc(w->nr, 2 * sizeof(*v->low));
	v->index = calloc(v->buckets + 1, sizeof(*v->index));
	if (!v->low || !v->index || w->nr > UINT32_MAX) {
		symtab_windows_release(v);
		return -ENOMEM;
	}
	v->high = v->low + w->nr;
	memset(v->high, 0xff, w->nr * sizeof(*v->high));
	fill_index(v);
	return 0;
}

void symtab_windows_release(struct symtab_windows *v)
{
	free(v->low);
	free(v->index);
	*v = (struct symtab_windows){0};
}

/* Returns the number of pieces that begin before @addr. */
static size_t pieces_before(const struct symtab_windows *v, uint64_t addr)
{
	const struct symtab_wanted *w = v->w;
	size_t bucket;

	if (addr <= w->addr[0])
		return 0;
	bucket = (size_t)((addr - w->addr[0]) >> v->shift);
	if (bucket >= v->buckets)
		return w->nr;
	return count_less(w->addr, v->index[bucket], v->index[bucket + 1], addr);
}

/* Of the @n pieces that begin before @addr, returns how many end there or before. */
static size_t pieces_behind(const struct symtab_windows *v, size_t n, uint64_t addr)
{
	while (n && addr - v->w->addr[n - 1] < v->w->bytes)
		n--;
	return n;
}

void symtab_windows_narrow(const struct symtab_windows *v, uint64_t start)
{
	size_t i = pieces_before(v, start);

	if (i < v->w->nr && v->low[i] < start)
		v->low[i] = start;
	i = pieces_behind(v, i, start);
	if (i && v->high[i - 1] > start)
		v->high[i - 1] = start;
}

/* A start bounds the windows of all pieces behind it, or before it. */
void symtab_windows_settle(const struct symtab_windows *v)
{
	size_t nr = v->w->nr;

	for (size_t i = 1; i < nr; i++)
		if (v->low[i] < v->low[i - 1])
			v->low[i] = v->low[i - 1];
	for (size_t i = nr - 1; i-- > 0;)
		if (v->high[i] > v->high[i + 1])
			v->high[i] = v->high[i + 1];
}

/* The first piece that ends behind @start may have it; the last one before ends its window there.
 */
bool symtab_windows_have(const struct symtab_windows *v, uint64_t start, uint64_t end)
{
	size_t i = pieces_behind(v, pieces_before(v, start), start);

	return (i < v->w->nr && (v->low[i] <= start || v->low[i] < end)) ||
	       (i && v->high[i - 1] >= start);
}

/* --- picking -------------------------------------------------------------------------------------
 */

static bool is_needed(const struct symtab_windows *v, const struct symtab_sym *s)
{
	return symtab_windows_have(v, s->start, s->flags & SYM_UNSIZED ? s->start : s->end);
}

static int copy_needed(const struct symtab_windows *v, const struct symtab_builder *from,
		       struct symtab_builder *to)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < from->count; i++) {
		struct symtab_sym s = from->syms[i];
		const char *name = (const char *)from->names.data + s.name;

		if (is_needed(v, &s))
			rc = symtab_name(to, name, strlen(name), &s.name) ?: symtab_put(to, &s);
	}
	return rc;
}

int symtab_pick(const struct symtab_builder *from, const struct symtab_wanted *w,
		struct symtab_builder *to)
{
	struct symtab_windows v;
	int rc = symtab_windows_init(&v, w);

	if (rc)
		return rc;
	to->last_wins = from->last_wins;
	for (size_t i = 0; i < from->count; i++)
		symtab_windows_narrow(&v, from->syms[i].start);
	symtab_windows_settle(&v);
	rc = copy_needed(&v, from, to);
	symtab_windows_release(&v);
	return rc;
}
