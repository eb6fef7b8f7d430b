// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/recording/index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "auxtrace/recording/cuts.h"
#include "auxtrace/recording/overlaps.h"
#include "auxtrace/recording/runs.h"
#include "auxtrace/recording/setup.h"
#include "base/buf.h"
#include "data/file/findings.h"
#include "perfdata/sample.h"
#include "sys/io/tmpfile.h"

/* --- trace in samples ----------------------------------------------------------------------------
 */

static int spool(struct aux_index *x, const uint8_t *p, uint64_t len, struct error *err)
{
	if (x->spool < 0)
		x->spool = tmpfile_open(err);
	if (x->spool < 0)
		return x->spool;
	while (len) {
		ssize_t n = pwrite(x->spool, p, len, (off_t)x->spooled);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, -errno, "cannot write to a temporary file");
		p += n;
		len -= (uint64_t)n;
		x->spooled += (uint64_t)n;
	}
	return 0;
}

/*
 * Limit for the temporary file. Trace is hardly compressible; a small file that unpacks to more is
 * no recording.
 */
#define SPOOL_MIN   ((uint64_t)256 << 20)
#define SPOOL_RATIO 32 /* bytes of trace for each byte of the recording */

static bool has_room(const struct aux_index *x, uint64_t len)
{
	return x->spooled + len <= SPOOL_MIN ||
	       (x->spooled + len) / SPOOL_RATIO <= data_bytes(x->df);
}

static int add_trace(struct aux_index *x, const struct pd_sample *s, struct error *err)
{
	uint64_t place = s->cpu != UINT32_MAX ? s->cpu : (uint64_t)1 << 32 | s->tid;
	uint32_t ring = id_table_add(&x->sample_rings, place);
	uint64_t at = x->spooled;

	if (ring == ID_TABLE_NONE ||
	    array_grow(&x->samples, &x->cap_samples, x->nr_samples + 1, sizeof(*x->samples)))
		return -ENOMEM;
	x->samples[x->nr_samples++] = (struct aux_sample){
		.ring = ring,
		.cpu = s->cpu,
		.tid = s->tid,
		.time = s->time,
		.size = s->aux_size,
		.at = at,
	};
	return spool(x, s->aux, s->aux_size, err);
}

static int add_sample(struct aux_index *x, const struct data_record *rec, struct error *err)
{
	struct pd_sample s;

	if (!rec->evsel || !(rec->evsel->attr.sample_type & PERF_SAMPLE_AUX))
		return 0;
	if (pd_sample_decode(rec->hdr, rec->evsel, &s, NULL)) {
		data_finding_add(x->df, DATA_DAMAGED, rec->segment, rec->offset,
				 "a sample whose contents do not fit its size");
		return 0;
	}
	if (!has_room(x, s.aux_size)) {
		data_finding_add(x->df, DATA_DAMAGED, rec->segment, rec->offset,
				 "samples with more trace than a recording of this size can have; "
				 "the rest of it is ignored");
		return 0;
	}
	aux_ids_place(&x->ids, s.id, &s.cpu, &s.tid);
	return s.aux_size ? add_trace(x, &s, err) : 0;
}

/* --- the walk ------------------------------------------------------------------------------------
 */

static int add(struct aux_index *x, const struct data_record *rec, struct error *err)
{
	switch (rec->hdr->type) {
	case PERF_RECORD_AUX: return aux_cuts_add(x, rec) ?: aux_pieces_add(&x->pieces, x->df, rec);
	case PERF_RECORD_SAMPLE: return add_sample(x, rec, err);
	case PERF_RECORD_ID_INDEX: return aux_ids_add(&x->ids, rec);
	case PERF_RECORD_AUXTRACE_INFO:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
	case PERF_RECORD_TIME_CONV: return aux_setup_add(x, rec);
	default: return aux_pieces_add(&x->pieces, x->df, rec);
	}
}

static int walk(struct aux_index *x, unsigned int segment, unsigned int flags, struct error *err)
{
	struct data_scan *scan = NULL;
	struct data_record rec;
	int rc = data_scan_new(x->df, segment, 0, DATA_WHOLE, flags, &scan);

	while (!rc && (rc = data_scan_next(scan, &rec)) > 0)
		rc = add(x, &rec, err);
	data_scan_free(scan);
	if (rc < 0 && err && !err->code)
		error_sys(err, rc, "cannot read %s to the end", data_segment_path(x->df, segment));
	return rc;
}

int aux_index_read(struct data_file *df, uint64_t chunk, unsigned int scan_flags,
		   struct aux_index *ret, struct error *err)
{
	int rc = 0;

	*ret = (struct aux_index){.df = df, .spool = -1, .chunk = chunk ? chunk : AUX_CHUNK};
	for (unsigned int i = 0; !rc && i < data_segments(df); i++)
		rc = walk(ret, i, scan_flags, err);
	if (rc)
		return rc;
	aux_pieces_finish(&ret->pieces);
	rc = aux_overlaps_find(ret) ?: aux_cuts_finish(ret) ?: aux_setup_finish(ret) ?: aux_runs_make(ret);
	return rc ? error_set(err, rc, "out of memory") : 0;
}

void aux_index_release(struct aux_index *x)
{
	if (x->spool >= 0)
		close(x->spool);
	free(x->priv);
	free(x->cpuid);
	free(x->hw_ids);
	aux_pieces_release(&x->pieces);
	free(x->rings);
	free(x->runs);
	free(x->samples);
	id_table_release(&x->sample_rings);
	aux_ids_release(&x->ids);
	free(x->cuts);
	free(x->places);
	id_table_release(&x->place_numbers);
	*x = (struct aux_index){.spool = -1};
}

struct aux_setup aux_index_setup(const struct aux_index *x, uint32_t ring)
{
	struct aux_setup setup = x->setup;

	setup.aux_flags = x->rings[ring].aux_flags;
	return setup;
}

uint64_t aux_index_snapshot_at(const struct aux_index *x, const struct aux_run *run,
			       uint64_t offset)
{
	const struct aux_piece *p = x->pieces.pieces + run->first;
	size_t low = 0, high = run->nr;

	if (run->sampled)
		return 0;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (p[mid].begin > offset)
			high = mid;
		else
			low = mid;
	}
	return p[low].take ? x->pieces.takes[p[low].take - 1].number : 0;
}

const struct aux_run *aux_index_run_of(const struct aux_index *x, uint64_t chunk)
{
	size_t low = 0, high = x->nr_runs;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (x->runs[mid].first_chunk > chunk)
			high = mid;
		else
			low = mid;
	}
	return &x->runs[low];
}
