// SPDX-License-Identifier: Apache-2.0
/*
 * Layout: struct index_head, ranges (struct index_range), places of blocks (struct index_block),
 * blocks. Each block has a checksum of its own, which is checked when the block is needed.
 */
#include "symbol/lines/unit_index.h"

#include <assert.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "symbol/lines/debug.h"
#include "sys/io/cache.h"

struct index_head {
	struct index_key key;
	uint64_t checksum; /* of ranges and places */
	uint64_t nr_ranges, nr_units;
};

struct index_range {
	uint64_t start;
	uint64_t unit; /* RANGE_NONE: none */
};

struct index_block {
	uint64_t at, size; /* bytes from the beginning; 0: not read yet */
};

static_assert(sizeof(struct index_key) == 104, "no padding");

#define CHECKSUM_KEY 0x696e646578ull
#define NAME_MAX_LEN (sizeof("lines-") + 2 * ELF_BUILD_ID_MAX)

static const char magic[8] = "RTLINE3";

int index_key_of(const struct elf_image *img, struct index_key *ret)
{
	const char *libdw = dwfl_version(NULL);

	*ret = (struct index_key){
		.size = img->size,
		.debug_size = debug_size(img),
		.build_id_size = img->build_id_size,
		.libdw = hash_bytes(CHECKSUM_KEY, libdw, strlen(libdw)),
	};
	if (!img->build_id_size || img->build_id_size > sizeof(ret->build_id))
		return -ENOENT;
	memcpy(ret->magic, magic, sizeof(magic));
	memcpy(ret->build_id, img->build_id, img->build_id_size);
	return 0;
}

static void name_index(const struct index_key *key, char ret[NAME_MAX_LEN])
{
	size_t n = (size_t)snprintf(ret, NAME_MAX_LEN, "lines-");

	for (size_t i = 0; i < key->build_id_size; i++)
		n += (size_t)snprintf(ret + n, NAME_MAX_LEN - n, "%02x", key->build_id[i]);
}

/* --- reading -------------------------------------------------------------------------------------
 */

/* The arrays of a mapped index. */
struct index_parts {
	struct index_head head;
	const struct index_range *ranges;
	const struct index_block *blocks;
	size_t fixed; /* bytes before the first block */
};

static bool find_parts(const struct unit_index *x, const struct index_key *key,
		       struct index_parts *ret)
{
	const uint8_t *p = x->map;
	struct index_head *h = &ret->head;
	size_t left = x->size - sizeof(*h);

	if (x->size < sizeof(*h))
		return false;
	memcpy(h, p, sizeof(*h));
	if (memcmp(&h->key, key, sizeof(*key)) || h->nr_ranges > left / sizeof(*ret->ranges) ||
	    h->nr_units > left / sizeof(*ret->blocks))
		return false;
	ret->ranges = (const void *)(p + sizeof(*h));
	ret->blocks = (const void *)(ret->ranges + h->nr_ranges);
	ret->fixed = sizeof(*h) + h->nr_ranges * sizeof(*ret->ranges) +
		     h->nr_units * sizeof(*ret->blocks);
	return ret->fixed <= x->size &&
	       hash_bytes(CHECKSUM_KEY, p + sizeof(*h), ret->fixed - sizeof(*h)) == h->checksum;
}

static int take_ranges(const struct index_parts *parts, struct range_set *ret)
{
	size_t n = parts->head.nr_ranges;

	for (size_t i = 0; i < n; i++) {
		const struct index_range *r = &parts->ranges[i];

		if ((r->unit >= parts->head.nr_units && r->unit != RANGE_NONE) ||
		    (i && r[-1].start >= r->start))
			return -EBADMSG;
	}
	ret->segments = calloc(n + 1, sizeof(*ret->segments));
	if (!ret->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ret->segments[i] = (struct range_segment){parts->ranges[i].start,
							  (uint32_t)parts->ranges[i].unit};
	ret->nr = n;
	ret->cap = n + 1;
	return 0;
}

static int take_units(const struct unit_index *x, const struct index_parts *parts,
		      struct unit **ret)
{
	struct unit *units = calloc(parts->head.nr_units + 1, sizeof(*units));

	if (!units)
		return -ENOMEM;
	for (size_t i = 0; i < parts->head.nr_units; i++) {
		const struct index_block *b = &parts->blocks[i];

		if (!b->at)
			continue;
		if (b->at < parts->fixed || b->at % 8 || b->at > x->size ||
		    b->size > x->size - b->at) {
			free(units);
			return -EBADMSG;
		}
		units[i].block = (const uint8_t *)x->map + b->at;
		units[i].block_size = b->size;
	}
	*ret = units;
	return 0;
}

int index_load(const char *base, const struct index_key *key, struct unit_index *ret,
	       struct range_set *ret_ranges, struct unit **ret_units, size_t *ret_nr)
{
	struct index_parts parts = {0};
	struct range_set ranges = {0};
	struct unit *units = NULL;
	struct unit_index x = {0};
	char name[NAME_MAX_LEN];
	int rc;

	name_index(key, name);
	rc = cache_map(base, name, INDEX_MAX, &x.map, &x.size);
	if (rc)
		return rc;
	if (!find_parts(&x, key, &parts))
		rc = -ESTALE;
	if (!rc)
		rc = take_ranges(&parts, &ranges) ?: take_units(&x, &parts, &units);
	if (rc) {
		range_set_release(&ranges);
		index_release(&x);
		return rc;
	}
	*ret = x;
	*ret_ranges = ranges;
	*ret_units = units;
	*ret_nr = parts.head.nr_units;
	return 0;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static int put_ranges(const struct range_set *ranges, struct buf *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < ranges->nr; i++) {
		struct index_range r = {ranges->segments[i].start, ranges->segments[i].value};

		rc = buf_append(out, &r, sizeof(r));
	}
	return rc;
}

/* Appends the places that the blocks will have behind @at, as far as there is room. */
static int put_places(const struct unit *units, size_t nr, uint64_t at, struct buf *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++) {
		struct index_block b = {0};

		if (units[i].block && !units[i].is_partial &&
		    units[i].block_size <= INDEX_MAX - at) {
			b = (struct index_block){at, units[i].block_size};
			at += b.size;
		}
		rc = buf_append(out, &b, sizeof(b));
	}
	return rc;
}

static int put_blocks(const struct unit *units, size_t nr, size_t places, struct buf *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i++) {
		struct index_block b;

		memcpy(&b, out->data + places + i * sizeof(b), sizeof(b));
		if (b.at)
			rc = buf_append(out, units[i].block, b.size);
	}
	return rc;
}

void index_store(const char *base, const struct index_key *key, const struct range_set *ranges,
		 const struct unit *units, size_t nr)
{
	struct index_head h = {.key = *key, .nr_ranges = ranges->nr, .nr_units = nr};
	size_t places = sizeof(h) + ranges->nr * sizeof(struct index_range);
	size_t fixed = places + nr * sizeof(struct index_block);
	struct buf out = {0};
	char name[NAME_MAX_LEN];

	if (fixed > INDEX_MAX || !cache_writable(base))
		return;
	name_index(key, name);
	if (!buf_append(&out, &h, sizeof(h)) && !put_ranges(ranges, &out) &&
	    !put_places(units, nr, fixed, &out) && !put_blocks(units, nr, places, &out)) {
		h.checksum = hash_bytes(CHECKSUM_KEY, out.data + sizeof(h), fixed - sizeof(h));
		memcpy(out.data, &h, sizeof(h));
		cache_write(base, name, &out);
	}
	buf_release(&out);
}

void index_release(struct unit_index *x)
{
	if (x->map)
		munmap(x->map, x->size);
	*x = (struct unit_index){0};
}
