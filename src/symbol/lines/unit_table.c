// SPDX-License-Identifier: Apache-2.0
/*
 * Layout: struct table_head, starts of segments (u64), starts of rows (u64), rows, nodes, nodes of
 * segments (u32), text, zeroes up to a multiple of 8. The text ends with a NUL.
 */
#include "symbol/lines/unit_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct table_head {
	uint64_t checksum; /* of all behind it */
	uint32_t nr_segments, nr_rows, nr_nodes, nr_text;
};

static uint64_t checksum(const void *block, size_t len)
{
	size_t skip = sizeof(uint64_t);

	return hash_bytes(TABLE_SUM_KEY, (const uint8_t *)block + skip, len - skip);
}

static uint64_t padded(uint64_t len)
{
	return (len + 7) / 8 * 8;
}

static uint64_t block_size(const struct table_head *h)
{
	return padded(sizeof(*h) +
		      (uint64_t)h->nr_segments * (sizeof(uint64_t) + sizeof(uint32_t)) +
		      (uint64_t)h->nr_rows * (sizeof(uint64_t) + sizeof(struct table_row)) +
		      (uint64_t)h->nr_nodes * sizeof(struct table_node) + h->nr_text);
}

/* --- reading -------------------------------------------------------------------------------------
 */

static bool is_text(const struct unit_table *t, uint32_t at)
{
	return at == TEXT_NONE || at < t->nr_text;
}

static bool rises(const uint64_t *a, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (a[i - 1] >= a[i])
			return false;
	return true;
}

/* Returns whether look-ups stay within the arrays and end. */
static bool is_sound(const struct unit_table *t)
{
	bool good = rises(t->segment_start, t->nr_segments) && rises(t->row_start, t->nr_rows) &&
		    (!t->nr_text || !t->text[t->nr_text - 1]);

	for (uint32_t i = 0; good && i < t->nr_segments; i++)
		good = t->segment_node[i] < t->nr_nodes || t->segment_node[i] == RANGE_NONE;
	for (uint32_t i = 0; good && i < t->nr_rows; i++)
		good = is_text(t, t->rows[i].file);
	for (uint32_t i = 0; good && i < t->nr_nodes; i++)
		good = is_text(t, t->nodes[i].name) && is_text(t, t->nodes[i].call_file) &&
		       (t->nodes[i].parent < i || t->nodes[i].parent == RANGE_NONE);
	return good;
}

int table_open(const void *block, size_t len, struct unit_table *ret)
{
	const uint8_t *p = block;
	struct table_head h;
	struct unit_table t;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, p, sizeof(h));
	if (block_size(&h) != len || checksum(block, len) != h.checksum)
		return -EBADMSG;
	p += sizeof(h);
	t = (struct unit_table){.nr_segments = h.nr_segments,
				.nr_rows = h.nr_rows,
				.nr_nodes = h.nr_nodes,
				.nr_text = h.nr_text};
	t.segment_start = (const void *)p;
	t.row_start = t.segment_start + t.nr_segments;
	t.rows = (const void *)(t.row_start + t.nr_rows);
	t.nodes = (const void *)(t.rows + t.nr_rows);
	t.segment_node = (const void *)(t.nodes + t.nr_nodes);
	t.text = (const void *)(t.segment_node + t.nr_segments);
	if (!is_sound(&t))
		return -EBADMSG;
	*ret = t;
	return 0;
}

/* Returns the number of elements that are at most @key. */
static size_t count_up_to(const uint64_t *a, size_t n, uint64_t key)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a[mid] <= key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t table_node_at(const struct unit_table *t, uint64_t addr)
{
	size_t n = count_up_to(t->segment_start, t->nr_segments, addr);

	return n ? t->segment_node[n - 1] : RANGE_NONE;
}

const struct table_row *table_row_at(const struct unit_table *t, uint64_t addr)
{
	size_t n = count_up_to(t->row_start, t->nr_rows, addr);

	return n && t->rows[n - 1].file != TEXT_NONE ? &t->rows[n - 1] : NULL;
}

const char *table_text(const struct unit_table *t, uint32_t at)
{
	return at == TEXT_NONE ? NULL : t->text + at;
}

/* --- making --------------------------------------------------------------------------------------
 */

static bool is_source(const void *sources, uint32_t number, const void *key)
{
	return ((const struct table_source *)sources)[number].source == key;
}

bool table_find_source(const struct table_maker *m, const void *source, uint32_t *ret)
{
	uint64_t hash = hash_word(hash_key(), (uintptr_t)source);
	uint32_t found = hash_table_find(&m->by_source, hash, is_source, m->sources, source);

	if (found != HASH_TABLE_NONE)
		*ret = m->sources[found].at;
	return found != HASH_TABLE_NONE;
}

int table_add_source(struct table_maker *m, const void *source, uint32_t at)
{
	uint64_t hash = hash_word(hash_key(), (uintptr_t)source);

	if (hash_table_reserve(&m->by_source, 1) ||
	    array_grow(&m->sources, &m->cap_sources, m->nr_sources + 1, sizeof(*m->sources)))
		return -ENOMEM;
	hash_table_add(&m->by_source, hash, (uint32_t)m->nr_sources);
	m->sources[m->nr_sources++] = (struct table_source){source, at};
	return 0;
}

int table_add_text(struct table_maker *m, const char *s, uint32_t *ret)
{
	size_t len;

	*ret = TEXT_NONE;
	if (!s || table_find_source(m, s, ret))
		return 0;
	len = strnlen(s, *m->text_left) + 1;
	if (len > *m->text_left || m->text.len + len >= TEXT_NONE) {
		*m->text_left = 0; /* no more searches for the ends of long strings */
		return 0;
	}
	if (buf_append(&m->text, s, len))
		return -ENOMEM;
	*ret = (uint32_t)(m->text.len - len);
	*m->text_left -= len;
	return table_add_source(m, s, *ret);
}

static bool same_row(const struct table_row *a, const struct table_row *b)
{
	return a->file == b->file && a->line == b->line;
}

int table_add_row(struct table_maker *m, uint64_t addr, const struct table_row *row)
{
	if (m->nr_rows && m->row_start[m->nr_rows - 1] == addr)
		m->nr_rows--;
	if (m->nr_rows && same_row(&m->rows[m->nr_rows - 1], row))
		return 0;
	if (m->nr_rows && m->row_start[m->nr_rows - 1] > addr)
		return 0; /* libdw sorts, so this is no line table of sense */
	if (array_grow(&m->row_start, &m->cap_starts, m->nr_rows + 1, sizeof(*m->row_start)) ||
	    array_grow(&m->rows, &m->cap_rows, m->nr_rows + 1, sizeof(*m->rows)))
		return -ENOMEM;
	m->row_start[m->nr_rows] = addr;
	m->rows[m->nr_rows++] = *row;
	return 0;
}

/* Appends the segments' starts, or their nodes. */
static int put_segments(const struct range_set *r, bool starts, struct buf *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->nr; i++)
		rc = starts ? buf_append(out, &r->segments[i].start, sizeof(uint64_t))
			    : buf_append(out, &r->segments[i].value, sizeof(uint32_t));
	return rc;
}

int table_make(const struct table_maker *m, const struct range_set *ranges, struct buf *out)
{
	struct table_head h = {
		.nr_segments = (uint32_t)ranges->nr,
		.nr_rows = (uint32_t)m->nr_rows,
		.nr_nodes = (uint32_t)m->nr_nodes,
		.nr_text = (uint32_t)m->text.len,
	};
	size_t begin = out->len, len = block_size(&h);
	int rc = buf_reserve(out, len)
			 ?: buf_append(out, &h, sizeof(h))
			 ?: put_segments(ranges, true, out)
			 ?: buf_append(out, m->row_start, m->nr_rows * sizeof(*m->row_start))
			 ?: buf_append(out, m->rows, m->nr_rows * sizeof(*m->rows))
			 ?: buf_append(out, m->nodes, m->nr_nodes * sizeof(*m->nodes))
			 ?: put_segments(ranges, false, out)
			 ?: buf_append(out, m->text.data, m->text.len)
			 ?: buf_zero(out, begin + len - out->len);

	if (rc)
		return rc;
	h.checksum = checksum(out->data + begin, len);
	memcpy(out->data + begin, &h, sizeof(h));
	return 0;
}

void table_maker_release(struct table_maker *m)
{
	free(m->nodes);
	free(m->row_start);
	free(m->rows);
	free(m->sources);
	buf_release(&m->text);
	hash_table_release(&m->by_source);
	*m = (struct table_maker){0};
}
