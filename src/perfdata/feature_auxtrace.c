// SPDX-License-Identifier: Apache-2.0
/*
 * The AUXTRACE feature:
 *
 *   u64 nr; {u64 offset, size}[nr]                 of the file with the header
 *   u64 magic, nr; {u64 part, offset, size}[nr]    of data.N; our own addition, not always there
 *
 * Source of the first list: auxtrace_index__write() in tools/perf/util/auxtrace.c. perf accepts
 * bytes behind it.
 */
#include "perfdata/feature.h"

#include <errno.h>
#include <stdlib.h>

#include "perfdata/feature_codec.h"

#define PARTS_MAGIC 0x3158495855414752ull /* "RGAUXIX1", little-endian */

#define PLACE_SIZE	(2 * sizeof(uint64_t))
#define PART_PLACE_SIZE (3 * sizeof(uint64_t))

/* Reads @nr places of @size bytes each, with their part if that is larger than PLACE_SIZE. */
static int places_get(struct cursor *c, uint64_t nr, size_t size, struct pd_auxtrace_index *ret)
{
	struct pd_auxtrace_place *places;

	if (nr > cursor_left(c) / size)
		return -EBADMSG;
	places = reallocarray(ret->places, ret->nr + nr + 1, sizeof(*places));
	if (!places)
		return -ENOMEM;
	ret->places = places;
	for (uint64_t i = 0; i < nr; i++) {
		struct pd_auxtrace_place *p = &places[ret->nr];
		uint64_t part = 0;

		if (size == PART_PLACE_SIZE)
			cursor_u64(c, &part);
		cursor_u64(c, &p->offset);
		cursor_u64(c, &p->size);
		if (part > UINT32_MAX)
			return -EBADMSG;
		p->part = (uint32_t)part;
		ret->nr++;
	}
	return 0;
}

int pd_feature_auxtrace_decode(const uint8_t *p, size_t len, bool swap,
			       struct pd_auxtrace_index *ret)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint64_t nr = 0, magic = 0;
	int rc;

	*ret = (struct pd_auxtrace_index){0};
	if (!cursor_u64(&c, &nr))
		return -EBADMSG;
	rc = places_get(&c, nr, PLACE_SIZE, ret);
	if (rc || cursor_left(&c) < 2 * sizeof(uint64_t))
		return rc;
	cursor_u64(&c, &magic);
	cursor_u64(&c, &nr);
	return magic == PARTS_MAGIC ? places_get(&c, nr, PART_PLACE_SIZE, ret) : 0;
}

int pd_feature_auxtrace_encode(struct buf *b, const struct pd_auxtrace_index *v)
{
	uint64_t own = 0;
	int rc;

	for (size_t i = 0; i < v->nr; i++)
		own += !v->places[i].part;
	rc = pd_u64_put(b, own);
	for (size_t i = 0; i < v->nr && !rc; i++) {
		const uint64_t words[] = {v->places[i].offset, v->places[i].size};

		if (!v->places[i].part)
			rc = buf_append(b, words, sizeof(words));
	}
	if (own == v->nr || rc)
		return rc;
	rc = pd_u64_put(b, PARTS_MAGIC);
	if (!rc)
		rc = pd_u64_put(b, v->nr - own);
	for (size_t i = 0; i < v->nr && !rc; i++) {
		const struct pd_auxtrace_place *p = &v->places[i];
		const uint64_t words[] = {p->part, p->offset, p->size};

		if (p->part)
			rc = buf_append(b, words, sizeof(words));
	}
	return rc;
}

void pd_auxtrace_index_release(struct pd_auxtrace_index *v)
{
	free(v->places);
	*v = (struct pd_auxtrace_index){0};
}
