// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/recording/overlaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/recording/loader.h"
#include "perfdata/aux_record.h"

#define BLOCK	  ((size_t)256 << 10)
#define TRIES_MAX 64 /* places that begin as the newer piece does */

struct search {
	struct aux_loader *loader;
	const struct aux_index *x;
	const struct aux_piece *older, *newer;
	uint8_t first[AUX_OVERLAP_MIN]; /* bytes of @newer */
	unsigned int tries;
	uint8_t older_bytes[BLOCK], newer_bytes[BLOCK];
};

/* Reads bytes of a piece. Returns how many, or -ENOMEM. */
static int64_t read_at(const struct search *s, const struct aux_piece *p, uint64_t at, void *buf,
		       size_t len)
{
	const struct aux_run run = {
		.first = (size_t)(p - s->x->pieces.pieces),
		.nr = 1,
		.offset = p->offset,
		.len = p->size,
	};

	return aux_loader_read(s->loader, &run, at, buf, len);
}

static size_t common(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t n = 0;

	if (!memcmp(a, b, len))
		return len;
	while (a[n] == b[n])
		n++;
	return n;
}

/* Returns whether only padding of an AUXTRACE record remains of the older piece from @at on. */
static bool is_padding(const struct search *s, uint64_t at)
{
	static const uint8_t zeros[PD_AUXTRACE_ALIGN];
	uint64_t rest = s->older->size - at;
	uint8_t bytes[PD_AUXTRACE_ALIGN];

	return rest < PD_AUXTRACE_ALIGN && read_at(s, s->older, at, bytes, rest) == (int64_t)rest &&
	       !memcmp(bytes, zeros, rest);
}

/*
 * Compares the newer piece with the older one from @at on. Returns 1 with how many bytes both have,
 * 0 if they differ before the older one's end, or -ENOMEM.
 */
static int compare(struct search *s, uint64_t at, uint64_t *ret)
{
	uint64_t done = 0;

	for (;;) {
		int64_t a = read_at(s, s->older, at + done, s->older_bytes, BLOCK);
		int64_t b = read_at(s, s->newer, done, s->newer_bytes, BLOCK);
		size_t len = (size_t)(a < b ? a : b), same;

		if (a < 0 || b < 0)
			return -ENOMEM;
		same = common(s->older_bytes, s->newer_bytes, len);
		done += same;
		if (same == BLOCK)
			continue;
		*ret = done;
		return is_padding(s, at + done);
	}
}

/* Searches a block of the older piece for the beginning of the newer one. Returns as compare(). */
static int search_block(struct search *s, const uint8_t *bytes, size_t len, uint64_t at,
			uint64_t *ret_at, uint64_t *ret_len)
{
	const uint8_t *p = bytes, *end = bytes + len;

	while ((p = memmem(p, (size_t)(end - p), s->first, sizeof(s->first))) != NULL) {
		uint64_t place = at + (uint64_t)(p - bytes);
		int rc = s->tries++ < TRIES_MAX ? compare(s, place, ret_len) : 0;

		if (rc > 0)
			*ret_at = place;
		if (rc)
			return rc;
		p++;
	}
	return 0;
}

/* Bytes of a short period are the trace of a loop, or of nothing: they are in many places. */
static bool is_distinct(const uint8_t *p, size_t len)
{
	for (size_t period = 1; period <= len / 2; period++)
		if (!memcmp(p, p + period, len - period))
			return false;
	return true;
}

/* The earliest place is that of the longest overlap. Returns as compare(). */
static int search(struct search *s, uint8_t *bytes, uint64_t *ret_at, uint64_t *ret_len)
{
	int64_t n = read_at(s, s->newer, 0, s->first, sizeof(s->first));
	int rc = 0;

	if (n < (int64_t)sizeof(s->first) || !is_distinct(s->first, sizeof(s->first)))
		return n < 0 ? -ENOMEM : 0;
	s->tries = 0;
	for (uint64_t at = 0; !rc && s->tries < TRIES_MAX; at += BLOCK) {
		n = read_at(s, s->older, at, bytes, BLOCK + AUX_OVERLAP_MIN - 1);
		if (n < AUX_OVERLAP_MIN)
			return n < 0 ? -ENOMEM : 0;
		rc = search_block(s, bytes, (size_t)n, at, ret_at, ret_len);
	}
	return rc;
}

/*
 * Places @newer behind @older, which ends with its first @len bytes from @at on. Padding of @older
 * is no trace: pieces before it that end with the same padding lose it, too.
 */
static void join(struct aux_piece *older, struct aux_piece *newer, uint64_t at, uint64_t len)
{
	if (newer->size > UINT64_MAX - older->offset - at)
		return;
	older->size = at + len;
	newer->life = older->life;
	newer->offset = older->offset + at;
	newer->begin = newer->offset + len;
	newer->joined = true;
	for (struct aux_piece *p = older; p->joined && p->begin > newer->begin; p--)
		p->begin = newer->begin;
}

static int find_all(struct aux_index *x, struct search *s, uint8_t *bytes)
{
	struct aux_piece *p = x->pieces.pieces;
	uint64_t at, len;
	int rc = 0;

	for (size_t i = 1; rc >= 0 && i < x->pieces.nr; i++) {
		if (p[i].ring != p[i - 1].ring || p[i].placed || p[i - 1].placed)
			continue;
		s->older = &p[i - 1];
		s->newer = &p[i];
		rc = search(s, bytes, &at, &len);
		if (rc > 0)
			join(&p[i - 1], &p[i], at, len);
	}
	return rc < 0 ? rc : 0;
}

static bool any_unplaced(const struct aux_pieces *x)
{
	for (size_t i = 0; i < x->nr; i++)
		if (!x->pieces[i].placed)
			return true;
	return false;
}

int aux_overlaps_find(struct aux_index *x)
{
	struct findings *unread;
	struct search *s;
	uint8_t *bytes;
	int rc = -ENOMEM;

	if (!any_unplaced(&x->pieces))
		return 0;
	s = calloc(1, sizeof(*s));
	bytes = malloc(BLOCK + AUX_OVERLAP_MIN);
	unread = findings_new(); /* those who decode it find it again */
	if (s && bytes && unread && !aux_loader_new(x, NULL, false, &s->loader)) {
		s->x = x;
		aux_loader_note_to(s->loader, unread);
		rc = find_all(x, s, bytes);
		aux_loader_free(s->loader);
	}
	findings_free(unread);
	free(bytes);
	free(s);
	return rc;
}
