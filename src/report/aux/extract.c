// SPDX-License-Identifier: Apache-2.0
#include "report/aux/extract.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/id_table.h"
#include "data/file/findings.h"
#include "data/order/order.h"
#include "perfdata/aux_record.h"
#include "perfdata/sample.h"
#include "auxtrace/recording/pieces.h"
#include "report/aux/extract_out.h"
#include "auxtrace/recording/ids.h"

struct extract {
	struct data_file *df;
	const struct aux_extract_opts *opts;
	struct error *err;
	int dir;
	struct aux_ids ids;
	struct aux_pieces index;
	struct extract_out *outs;
	size_t nr_outs, cap_outs;
	struct id_table numbers; /* of outs */
	uint8_t piece[EXTRACT_OUT_PIECE];
};

static bool is_wanted(const struct extract *x, uint32_t cpu, uint32_t tid)
{
	return filter_ranges_have(x->opts->cpus, cpu) && filter_ranges_have(x->opts->tids, tid);
}

/* Returns the file of a ring, or NULL. It moves when another is added. */
static struct extract_out *find_out(struct extract *x, uint32_t cpu, uint32_t tid)
{
	uint64_t id = cpu != UINT32_MAX ? cpu : (uint64_t)1 << 32 | tid;
	struct extract_out *o;
	uint32_t number;

	if (array_grow(&x->outs, &x->cap_outs, x->nr_outs + 1, sizeof(*x->outs)))
		return NULL;
	number = id_table_add(&x->numbers, id);
	if (number == ID_TABLE_NONE)
		return NULL;
	o = &x->outs[number];
	if (number < x->nr_outs)
		return o;
	x->nr_outs++;
	*o = (struct extract_out){.dir = x->dir};
	if (cpu != UINT32_MAX)
		snprintf(o->name, sizeof(o->name), "cpu%" PRIu32, cpu);
	else
		snprintf(o->name, sizeof(o->name), "tid-%" PRId32, (int32_t)tid);
	return o;
}

static int fail(struct extract *x, int rc, const struct extract_out *o)
{
	if (!rc)
		return 0;
	if (rc == -ENOMEM)
		return error_set(x->err, rc, "out of memory");
	return error_sys(x->err, rc, "cannot write %s/%s", x->opts->dir, o->name);
}

/* --- samples -------------------------------------------------------------------------------------
 */

static int take_sample(struct extract *x, const struct data_record *rec)
{
	struct extract_out *o;
	struct pd_sample s;

	if (!rec->evsel || !(rec->evsel->attr.sample_type & PERF_SAMPLE_AUX))
		return 0;
	if (pd_sample_decode(rec->hdr, rec->evsel, &s, NULL)) {
		data_finding_add(x->df, DATA_DAMAGED, rec->segment, rec->offset,
				 "a sample whose contents do not fit its size");
		return 0;
	}
	aux_ids_place(&x->ids, s.id, &s.cpu, &s.tid);
	if (!s.aux_size || !is_wanted(x, s.cpu, s.tid))
		return 0;
	o = find_out(x, s.cpu, s.tid);
	return fail(x, o ? extract_out_put(o, s.aux, s.aux_size) : -ENOMEM, o);
}

/* Takes the trace in samples, in the order of their times: an overwritten ring has the newest
 * first. */
static int take_samples(struct extract *x)
{
	const struct order_opts opts = {0};
	struct order *order = NULL;
	struct data_record rec;
	int rc;

	if (!(pd_evlist_sample_type(data_evlist(x->df)) & PERF_SAMPLE_AUX))
		return 0;
	rc = order_new(x->df, &opts, &order, x->err);
	while (!rc && (rc = order_next(order, &rec, x->err)) > 0)
		rc = rec.hdr->type == PERF_RECORD_SAMPLE ? take_sample(x, &rec) : 0;
	order_free(order);
	return rc;
}

/* Lists the ids of events, and the AUXTRACE records. */
static int walk(struct extract *x, unsigned int segment)
{
	struct data_scan *scan = NULL;
	struct data_record rec;
	int rc = data_scan_new(x->df, segment, 0, DATA_WHOLE, DATA_SCAN_FINDINGS, &scan);

	while (!rc && (rc = data_scan_next(scan, &rec)) > 0)
		rc = aux_ids_add(&x->ids, &rec) ?: aux_pieces_add(&x->index, x->df, &rec);
	data_scan_free(scan);
	if (rc < 0 && !x->err->code)
		error_sys(x->err, rc, "cannot read %s to the end",
			  data_segment_path(x->df, segment));
	return rc;
}

/* --- AUXTRACE records ----------------------------------------------------------------------------
 */

/* Appends the data of @p behind its first @skip bytes. */
static int copy(struct extract *x, struct data_scan *scan, const struct aux_piece *p, uint64_t skip,
		struct extract_out *o)
{
	int rc = 0;

	for (uint64_t at = skip; !rc && at < p->size;) {
		uint64_t len = p->size - at < sizeof(x->piece) ? p->size - at : sizeof(x->piece);

		rc = data_scan_payload_at(scan, at, x->piece, len);
		if (rc == -ENODATA || rc == -EIO) {
			data_finding_add(x->df, DATA_DAMAGED, p->segment, p->at,
					 "the data of an AUXTRACE record cannot be read");
			return 0;
		}
		rc = rc ?: extract_out_put(o, x->piece, len);
		at += len;
	}
	return fail(x, rc, o);
}

/*
 * Positions the scan at the record, which has been read before. Returns 1, or 0 with a finding if
 * the file has changed.
 */
static int move(struct extract *x, struct data_scan **scan, const struct aux_piece *p)
{
	struct data_record rec;
	int rc;

	if (*scan)
		rc = data_scan_move(*scan, p->segment, p->at, p->at + p->whole);
	else
		rc = data_scan_new(x->df, p->segment, p->at, p->at + p->whole, 0, scan);
	if (!rc && data_scan_next(*scan, &rec) > 0 && rec.hdr->type == PERF_RECORD_AUXTRACE)
		return 1;
	if (rc == -ENOMEM)
		return error_set(x->err, rc, "out of memory");
	data_finding_add(x->df, DATA_DAMAGED, p->segment, p->at,
			 "an AUXTRACE record cannot be read a second time");
	return 0;
}

/*
 * Returns how many bytes of @now the file of the ring has already, up to the position @end. Padding
 * before @now is removed from the file.
 */
static uint64_t overlap(struct extract_out *o, const struct aux_piece *now, uint64_t end)
{
	uint64_t over = end > now->offset ? end - now->offset : 0;

	if (over < PD_AUXTRACE_ALIGN && extract_out_unpad(o, (size_t)over))
		return 0;
	if (!now->placed)
		return 0;
	return over < now->size ? over : now->size;
}

/* Takes @nr pieces of one ring. */
static int take_ring(struct extract *x, struct data_scan **scan, const struct aux_piece *p,
		     size_t nr)
{
	const struct aux_piece_ring *ring = &x->index.rings[p->ring];
	struct extract_out *o;
	uint64_t end = 0, skip;
	int rc = 0;

	if (!is_wanted(x, ring->cpu, ring->tid))
		return 0;
	o = find_out(x, ring->cpu, ring->tid);
	if (!o)
		return fail(x, -ENOMEM, NULL);
	for (size_t i = 0; rc >= 0 && i < nr; i++) {
		if (i && p[i].life != p[i - 1].life)
			end = 0;
		skip = overlap(o, &p[i], end);
		rc = move(x, scan, &p[i]);
		if (rc > 0)
			rc = copy(x, *scan, &p[i], skip, o);
		if (skip < p[i].size)
			end = p[i].offset + p[i].size;
	}
	return rc;
}

static int take_rings(struct extract *x)
{
	const struct aux_piece *pieces = x->index.pieces;
	struct data_scan *scan = NULL;
	int rc = 0;

	for (size_t i = 0, next; rc >= 0 && i < x->index.nr; i = next) {
		for (next = i + 1; next < x->index.nr; next++)
			if (pieces[next].ring != pieces[i].ring)
				break;
		rc = take_ring(x, &scan, &pieces[i], next - i);
	}
	data_scan_free(scan);
	return rc < 0 ? rc : 0;
}

static int open_dir(struct extract *x)
{
	const char *dir = x->opts->dir;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return error_sys(x->err, -errno, "cannot make the directory %s", dir);
	x->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return x->dir < 0 ? error_sys(x->err, -errno, "cannot open the directory %s", dir) : 0;
}

int aux_extract(struct data_file *df, const struct aux_extract_opts *opts, struct error *err)
{
	struct extract *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return error_set(err, -ENOMEM, "out of memory");
	x->df = df;
	x->opts = opts;
	x->err = err;
	x->dir = -1;
	rc = open_dir(x);
	for (unsigned int i = 0; !rc && i < data_segments(df); i++)
		rc = walk(x, i);
	aux_pieces_finish(&x->index);
	if (!rc)
		rc = take_samples(x);
	if (!rc)
		rc = take_rings(x);
	for (size_t i = 0; i < x->nr_outs; i++) {
		if (!rc)
			rc = fail(x, extract_out_end(&x->outs[i]), &x->outs[i]);
		extract_out_release(&x->outs[i]);
	}
	if (x->dir >= 0)
		close(x->dir);
	aux_pieces_release(&x->index);
	aux_ids_release(&x->ids);
	free(x->outs);
	id_table_release(&x->numbers);
	free(x);
	return rc;
}
