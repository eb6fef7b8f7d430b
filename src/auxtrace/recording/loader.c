// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/recording/loader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "data/file/findings.h"

/* Bytes behind and before a chunk that sync() sees. */
#define LOOKAHEAD  4096u
#define LOOKBEHIND 1024u

struct aux_loader {
	const struct aux_index *x;
	const struct aux_decoder_ops *ops;
	bool whole;
	struct data_scan *scan;
	struct aux_setup setup;	       /* of the ring */
	const struct aux_piece *piece; /* at whose record the scan is; NULL: none */
	struct findings *findings;     /* NULL: those of the recording */
	struct buf buf;		       /* what is loaded */
	uint64_t buf_at;	       /* its first byte, in the run */
};

int aux_loader_new(const struct aux_index *x, const struct aux_decoder_ops *ops, bool whole,
		   struct aux_loader **ret)
{
	struct aux_loader *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->x = x;
	l->ops = ops;
	l->whole = whole;
	*ret = l;
	return 0;
}

void aux_loader_free(struct aux_loader *l)
{
	if (!l)
		return;
	data_scan_free(l->scan);
	buf_release(&l->buf);
	free(l);
}

void aux_loader_note_to(struct aux_loader *l, struct findings *findings)
{
	l->findings = findings;
}

static void note(struct aux_loader *l, unsigned int segment, uint64_t offset, const char *text)
{
	if (l->findings)
		findings_add(l->findings, DATA_DAMAGED, segment, offset, "%s", text);
	else
		data_finding_add(l->x->df, DATA_DAMAGED, segment, offset, "%s", text);
}

/* --- reading -------------------------------------------------------------------------------------
 */

/* Positions the scan at the record of @p. Returns 1, 0 if it cannot be read, or -ENOMEM. */
static int move(struct aux_loader *l, const struct aux_piece *p)
{
	struct data_record rec;
	int rc;

	if (l->piece == p)
		return 1;
	l->piece = NULL;
	if (l->scan)
		rc = data_scan_move(l->scan, p->segment, p->at, p->at + p->whole);
	else
		rc = data_scan_new(l->x->df, p->segment, p->at, p->at + p->whole, 0, &l->scan);
	if (!rc)
		rc = data_scan_next(l->scan, &rec);
	if (rc > 0 && rec.hdr->type == PERF_RECORD_AUXTRACE) {
		l->piece = p;
		return 1;
	}
	return rc == -ENOMEM ? rc : 0;
}

/* Copies bytes of the position @at of the ring on, up to the end of the piece. */
static int64_t read_piece(struct aux_loader *l, const struct aux_piece *p, uint64_t at, void *buf,
			  uint64_t len)
{
	uint64_t end = p->offset + p->size;
	int rc = move(l, p);

	if (rc < 0)
		return rc;
	if (len > end - at)
		len = end - at;
	if (rc && !data_scan_payload_at(l->scan, at - p->offset, buf, len))
		return (int64_t)len;
	note(l, p->segment, p->at, "the data of an AUXTRACE record cannot be read");
	return 0;
}

static int64_t read_pieces(struct aux_loader *l, const struct aux_run *run, uint64_t at,
			   uint8_t *buf, uint64_t len)
{
	const struct aux_piece *p = &l->x->pieces.pieces[run->first];
	size_t low = 0, high = run->nr;
	uint64_t done = 0;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (p[mid].begin > at)
			high = mid;
		else
			low = mid;
	}
	for (; low < run->nr && done < len; low++) {
		uint64_t want = len - done;
		int64_t n;

		if (low + 1 < run->nr && p[low + 1].begin - at < want)
			want = p[low + 1].begin - at;
		if (!want)
			continue;
		n = read_piece(l, &p[low], at, buf + done, want);
		if (n < 0)
			return n;
		done += (uint64_t)n;
		at += (uint64_t)n;
		if ((uint64_t)n < want)
			break;
	}
	return (int64_t)done;
}

static int64_t read_sample(struct aux_loader *l, const struct aux_run *run, uint64_t at,
			   uint8_t *buf, uint64_t len)
{
	uint64_t from = l->x->samples[run->first].at + at, done = 0;

	while (done < len) {
		ssize_t n = pread(l->x->spool, buf + done, len - done, (off_t)(from + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			note(l, 0, 0, "the trace of a sample cannot be read from a temporary file");
			break;
		}
		done += (uint64_t)n;
	}
	return (int64_t)done;
}

int64_t aux_loader_read(struct aux_loader *l, const struct aux_run *run, uint64_t at, void *buf,
			size_t len)
{
	if (at >= run->len)
		return 0;
	if (len > run->len - at)
		len = run->len - at;
	return run->sampled ? read_sample(l, run, at, buf, len)
			    : read_pieces(l, run, run->offset + at, buf, len);
}

/* --- stretches -----------------------------------------------------------------------------------
 */

/* Loads up to the byte @end of the run. Returns 0 or -ENOMEM. */
static int fill(struct aux_loader *l, const struct aux_run *run, uint64_t end)
{
	uint64_t loaded = l->buf_at + l->buf.len;
	int64_t n;

	if (loaded >= end)
		return 0;
	if (buf_reserve(&l->buf, end - loaded))
		return -ENOMEM;
	n = aux_loader_read(l, run, loaded, l->buf.data + l->buf.len, end - loaded);
	if (n < 0)
		return (int)n;
	l->buf.len += (size_t)n;
	return 0;
}

/*
 * Finds the first synchronisation point in the chunk that begins at the byte @at of the run. It
 * sees the same bytes, whichever chunk the buffer begins with. Returns 1 with *@ret, 0 if there is
 * none, -ENODATA if the trace ends before the chunk, or -ENOMEM.
 */
static int find_sync(struct aux_loader *l, const struct aux_run *run, uint64_t at, uint64_t *ret)
{
	const uint64_t chunk = l->x->chunk;
	size_t from = at < LOOKBEHIND ? at : LOOKBEHIND, begin, len, found;
	int rc = fill(l, run, at + chunk + LOOKAHEAD);

	if (rc)
		return rc;
	if (l->buf_at + l->buf.len <= at)
		return -ENODATA;
	begin = at - from - l->buf_at;
	len = l->buf.len - begin;
	if (len > from + chunk + LOOKAHEAD)
		len = from + chunk + LOOKAHEAD;
	found = l->ops->sync(&l->setup, l->buf.data + begin, len, from);
	if (found >= len || found >= from + chunk)
		return 0;
	*ret = at + (found - from);
	return 1;
}

/* Finds the end of the stretch of the chunk at @at. Returns 0 or -ENOMEM. */
static int find_end(struct aux_loader *l, const struct aux_run *run, uint64_t at, uint64_t *ret)
{
	for (uint64_t next = at + l->x->chunk;; next += l->x->chunk) {
		int rc = find_sync(l, run, next, ret);
		char text[80];

		if (!rc && next - at < AUX_STRETCH_MAX)
			continue;
		if (rc == -ENODATA)
			*ret = l->buf_at + l->buf.len;
		if (!rc) {
			snprintf(text, sizeof(text),
				 "trace without a synchronisation point in %u MB is cut off",
				 AUX_STRETCH_MAX >> 20);
			note(l, 0, 0, text);
			*ret = next;
		}
		return rc == -ENOMEM ? rc : 0;
	}
}

/*
 * Loads what find_sync() sees before the byte @at of the run, if it lies behind what cannot be
 * read. That becomes zeros, which are padding in all kinds of trace. Returns 0 or -ENOMEM.
 */
static int fill_behind(struct aux_loader *l, const struct aux_run *run, uint64_t at)
{
	int rc = fill(l, run, at);

	return rc ? rc : buf_zero(&l->buf, at - l->buf_at - l->buf.len);
}

int aux_loader_load(struct aux_loader *l, uint64_t chunk, struct aux_stretch *ret)
{
	const struct aux_run *run = aux_index_run_of(l->x, chunk);
	uint64_t at = (chunk - run->first_chunk) * l->x->chunk, begin = 0, end;
	int rc;

	l->setup = aux_index_setup(l->x, run->ring);
	l->buf.len = 0;
	l->buf_at = at < LOOKBEHIND ? 0 : at - LOOKBEHIND;
	rc = fill_behind(l, run, at) ?: find_sync(l, run, at, &begin);
	if (l->whole && !at && rc >= 0) {
		begin = 0;
		rc = 1;
	}
	if (rc <= 0)
		return rc == -ENODATA ? 0 : rc;
	rc = find_end(l, run, at, &end);
	if (rc)
		return rc;
	*ret = (struct aux_stretch){
		.data = l->buf.data + (begin - l->buf_at),
		.len = end - begin,
		.offset = run->offset + begin,
		.cpu = run->cpu,
		.tid = run->tid,
		.from = run->from,
		.to = run->to,
		.more = l->buf_at + l->buf.len - end,
	};
	return 1;
}
