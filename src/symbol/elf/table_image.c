// SPDX-License-Identifier: Apache-2.0
/*
 * Images of symbol tables, for a cache: the arrays as they are in memory.
 *
 * Layout: struct image_header, starts of segments (u64), symbols (struct packed_sym), symbols of
 * segments (u32), names. An image ends with a NUL.
 */
#include "symbol/elf/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/elf/table_priv.h"

struct image_header {
	uint64_t checksum; /* of all behind it */
	uint64_t from, to;
	uint64_t nsegs, nsyms, names; /* bytes of names */
};

#define SUMS  4 /* for speed */
#define BLOCK (SUMS * sizeof(uint64_t))
#define PIECE ((size_t)256 << 10) /* of a mapped image, in memory at once while it is checked */

/* Adds whole blocks. */
static void add_blocks(uint64_t sum[SUMS], const uint8_t *p, size_t len)
{
	uint64_t w[SUMS];

	for (size_t i = 0; i < len; i += BLOCK) {
		memcpy(w, p + i, BLOCK);
		for (size_t k = 0; k < SUMS; k++)
			sum[k] = (sum[k] ^ w[k]) * 0xff51afd7ed558ccdull;
	}
}

/* Takes pages of a mapped file from this process. Who needs one of them reads it anew. */
static void give_back(const uint8_t *p, size_t len)
{
	size_t before = (uintptr_t)p % (size_t)sysconf(_SC_PAGESIZE);

	madvise((uint8_t *)p - before, len + before, MADV_DONTNEED);
}

/* Finds damage, not malice: whoever can write the file can compute it. */
static uint64_t checksum(const uint8_t *p, size_t len, bool mapped)
{
	uint64_t sum[SUMS] = {1, 2, 3, 4}, all = len;
	size_t i = 0, left;

	for (; (left = (len - i) / BLOCK * BLOCK) > 0; i += left) {
		left = left < PIECE ? left : PIECE;
		add_blocks(sum, p + i, left);
		if (mapped)
			give_back(p + i, left);
	}
	for (; i < len; i++)
		all = (all ^ p[i]) * 0xc4ceb9fe1a85ec53ull;
	for (size_t k = 0; k < SUMS; k++)
		all = (all ^ sum[k] ^ sum[k] >> 32) * 0xff51afd7ed558ccdull;
	return all ^ all >> 32;
}

/* --- making --------------------------------------------------------------------------------------
 */

/* Returns the segment that starts at @addr, or -EINVAL. */
static ssize_t segment_from(const struct symtab *t, uint64_t addr)
{
	size_t low = 0, high = t->nsegs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->seg_start[mid] < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->nsegs && t->seg_start[low] == addr && t->seg_sym[low] != NO_SYM
		       ? (ssize_t)low
		       : -EINVAL;
}

struct image_parts {
	struct buf starts, syms, numbers, names;
};

/* Appends symbol @p of @t, whose number becomes @n. */
static int add_symbol(struct image_parts *parts, const struct symtab *t, const struct packed_sym *p)
{
	struct packed_sym copy = *p;
	const char *name = t->text + p->name;

	copy.name = (uint32_t)parts->names.len;
	return buf_append(&parts->names, name, strlen(name) + 1)
		       ?: buf_append(&parts->syms, &copy, sizeof(copy));
}

/* Copies segments @first to @last - 1, with the symbols in them, and ends the last one. */
static int add_segments(struct image_parts *parts, const struct symtab *t, size_t first,
			size_t last)
{
	uint32_t *number = malloc((t->nsyms + 1) * sizeof(*number)), none = NO_SYM, nr = 0;
	int rc = number ? 0 : -ENOMEM;

	if (!rc)
		memset(number, 0xff, (t->nsyms + 1) * sizeof(*number));
	for (size_t i = first; !rc && i < last; i++) {
		uint32_t sym = t->seg_sym[i];

		if (sym != NO_SYM && number[sym] == NO_SYM) {
			number[sym] = nr++;
			rc = add_symbol(parts, t, &t->syms[sym]);
		}
		if (!rc)
			rc = buf_append(&parts->starts, &t->seg_start[i], sizeof(*t->seg_start))
				     ?: buf_append(&parts->numbers,
						   sym == NO_SYM ? &none : &number[sym],
						   sizeof(none));
	}
	free(number);
	return rc ?: buf_append(&parts->starts, &t->seg_start[last], sizeof(*t->seg_start))
			     ?: buf_append(&parts->numbers, &none, sizeof(none));
}

/* Appends the image of the segments @first to @last - 1, with @h, whose addresses are set. */
static int append_image(const struct symtab *t, size_t first, size_t last, struct image_header *h,
			struct buf *out)
{
	struct image_parts parts = {0};
	size_t begin = out->len;
	int rc = add_segments(&parts, t, first, last);

	h->nsegs = parts.starts.len / sizeof(uint64_t);
	h->nsyms = parts.syms.len / sizeof(struct packed_sym);
	h->names = parts.names.len;
	if (!rc)
		rc = buf_append(out, h, sizeof(*h)) ?:
		     buf_append(out, parts.starts.data, parts.starts.len) ?:
		     buf_append(out, parts.syms.data, parts.syms.len) ?:
		     buf_append(out, parts.numbers.data, parts.numbers.len) ?:
		     buf_append(out, parts.names.data, parts.names.len);
	if (!rc) {
		h->checksum = checksum(out->data + begin + sizeof(h->checksum),
				       out->len - begin - sizeof(h->checksum), false);
		memcpy(out->data + begin, &h->checksum, sizeof(h->checksum));
	} else {
		out->len = begin;
	}
	buf_release(&parts.starts);
	buf_release(&parts.syms);
	buf_release(&parts.numbers);
	buf_release(&parts.names);
	return rc;
}

int symtab_to_image(const struct symtab *t, uint64_t from, uint64_t to, struct buf *out)
{
	ssize_t first = segment_from(t, from), last = segment_from(t, to);
	struct image_header h = {.from = from, .to = to};

	if (first < 0 || last <= first)
		return -EINVAL;
	return append_image(t, (size_t)first, (size_t)last, &h, out);
}

/* Behind the last symbol a table has a segment without one. */
int symtab_to_whole_image(const struct symtab *t, struct buf *out)
{
	struct image_header h = {.from = 0, .to = 0}; /* the end is 2^64 */

	if (t->nsegs < 2 || t->from || t->to != UINT64_MAX)
		return -EINVAL;
	return append_image(t, 0, t->nsegs - 1, &h, out);
}

/* --- taking --------------------------------------------------------------------------------------
 */

/* Finds the arrays in the image of @len bytes. Returns false if they do not fill it. */
static bool find_arrays(struct symtab *t, uint8_t *image, size_t len)
{
	struct image_header h;
	uint8_t *p = image;
	size_t left;

	if (len < sizeof(h))
		return false;
	memcpy(&h, p, sizeof(h));
	p += sizeof(h);
	left = len - sizeof(h);
	if (!h.nsegs || !h.names || h.nsegs > left / (sizeof(uint64_t) + sizeof(uint32_t)) ||
	    h.nsyms > left / sizeof(struct packed_sym) || h.names > left ||
	    h.nsegs * (sizeof(uint64_t) + sizeof(uint32_t)) + h.nsyms * sizeof(struct packed_sym) +
			    h.names !=
		    left ||
	    checksum(image + sizeof(h.checksum), len - sizeof(h.checksum), true) != h.checksum)
		return false;
	t->from = h.from;
	t->to = h.to - 1;
	t->nsegs = h.nsegs;
	t->nsyms = h.nsyms;
	t->seg_start = (uint64_t *)(void *)p;
	p += h.nsegs * sizeof(uint64_t);
	t->syms = (struct packed_sym *)(void *)p;
	p += h.nsyms * sizeof(struct packed_sym);
	t->seg_sym = (uint32_t *)(void *)p;
	p += h.nsegs * sizeof(uint32_t);
	t->text = (const char *)p;
	t->text_len = h.names;
	return t->from <= t->to && !p[h.names - 1];
}

int symtab_of_image(void *mapping, size_t size, size_t len, uint64_t delta, struct symtab **ret)
{
	struct symtab *t = calloc(1, sizeof(*t));
	int rc = 0;

	if (!t) {
		munmap(mapping, size);
		return -ENOMEM;
	}
	symtab_init(t);
	t->image = mapping;
	t->image_size = size;
	t->delta = delta;
	if (!find_arrays(t, mapping, len))
		rc = -EBADMSG;
	t->made = rc ? NULL : calloc(t->nsyms + 1, sizeof(*t->made));
	if (!rc && !t->made)
		rc = -ENOMEM;
	if (rc)
		symtab_free(t);
	else
		*ret = t;
	return rc;
}
