/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of the hardware trace in a recording: what decoders must know, rings, and runs.
 *
 * A run is contiguous trace of one ring: AUXTRACE records that continue one another, a snapshot of
 * unknown position with later ones that overlap it, or the trace in one sample. A gap ends a run,
 * and so does an AUX record by which the hardware stopped (PERF_AUX_FLAG_TRUNCATED, _PARTIAL). For
 * CoreSight each AUX record does, because its trace is formatted by itself.
 *
 * A run is divided into chunks of equal size, the units of work (auxtrace/recording/loader.h).
 * Chunks are numbered over all runs, ring by ring.
 *
 * Trace in samples is copied to an unlinked temporary file, because it may lie in one zstd context
 * with all before it. Offsets in it count from the ring's first sample.
 *
 * Memory: about 170 bytes for each AUXTRACE record or sample with trace. One thread builds an
 * index; then any number of threads may read it.
 */
#ifndef RINGTAIL_AUXTRACE_RECORDING_INDEX_H
#define RINGTAIL_AUXTRACE_RECORDING_INDEX_H

#include "auxtrace/decoder/decoder.h"
#include "auxtrace/recording/ids.h"
#include "auxtrace/recording/pieces.h"
#include "base/error.h"
#include "base/id_table.h"

#define AUX_CHUNK (64u << 10) /* bytes */

/* Trace in a sample. */
struct aux_sample {
	uint32_t ring;	   /* its number among those of samples */
	uint32_t cpu, tid; /* of the sample; UINT32_MAX: unknown */
	uint64_t time;	   /* of the sample, which is behind the trace; 0: unknown */
	uint64_t size;
	uint64_t at; /* of the trace in the temporary file */
};

struct aux_run {
	uint32_t ring;	   /* number in aux_index.rings */
	uint32_t cpu, tid; /* of the sample, else of the ring; UINT32_MAX: none */
	bool sampled;	   /* @first is a sample's number, else a piece's */
	size_t first, nr;  /* pieces or samples that hold it */
	uint64_t offset, len;
	uint64_t from, to;    /* times, where the recording has them; else 0 */
	uint64_t snapshot;    /* its number, if the log has it; else 0 */
	uint64_t first_chunk; /* its number; the last one of a run may be smaller */
};

struct aux_index_ring {
	uint32_t idx, cpu, tid; /* UINT32_MAX: none */
	uint64_t aux_flags;	/* of its AUX records, by OR */
	size_t first_run, nr_runs;
};

/* The end of the trace of an AUX record behind which a run ends. */
struct aux_cut {
	uint32_t place; /* number of its ring's place; later number in aux_pieces.rings */
	uint32_t life;
	uint64_t at; /* position in the ring */
};

/* A ring by what AUX records say of it. */
struct aux_cut_place {
	uint32_t cpu, tid, idx; /* idx UINT32_MAX: unknown */
	uint32_t life;
	uint32_t ring;	/* number in aux_pieces.rings; while reading: unknown */
	uint64_t end;	/* of its newest AUX record */
	uint64_t flags; /* of all, by OR */
};

struct aux_index {
	struct data_file *df;
	struct aux_setup setup; /* of all rings; its pointers lead into the index */
	uint64_t *priv;
	struct aux_hw_id *hw_ids;
	size_t cap_hw_ids;
	struct pd_time_conv time_conv;
	char *cpuid;
	struct aux_pieces pieces;
	struct aux_index_ring *rings; /* those of pieces, then those of samples */
	size_t nr_rings, cap_rings;
	struct aux_run *runs; /* by ring, and by order in it */
	size_t nr_runs, cap_runs;
	uint64_t chunk; /* bytes */
	uint64_t nr_chunks;
	struct aux_sample *samples; /* by ring and time */
	size_t nr_samples, cap_samples;
	struct id_table sample_rings; /* by CPU or thread; while reading */
	int spool;		      /* descriptor of the trace in samples; -1: there is none */
	uint64_t spooled;	      /* bytes */
	struct aux_ids ids;
	struct aux_cut *cuts; /* by ring, life and position */
	size_t nr_cuts, cap_cuts;
	struct aux_cut_place *places;
	size_t cap_places;
	struct id_table place_numbers;
};

/*
 * Walks the records of @df, which outlives the index, and fills @ret for aux_index_release(), also
 * after a failure. @chunk is the size of chunks, 0: AUX_CHUNK; @scan_flags are DATA_SCAN_FINDINGS,
 * or 0 where another scan notes them. Returns 0, or a negative errno with
 * @err filled. Damage becomes a finding.
 */
int aux_index_read(struct data_file *df, uint64_t chunk, unsigned int scan_flags,
		   struct aux_index *ret, struct error *err);
/* Frees the memory and closes the temporary file. */
void aux_index_release(struct aux_index *x);

/* Returns what the decoder of a ring must know; its pointers lead into the index. */
struct aux_setup aux_index_setup(const struct aux_index *x, uint32_t ring);

/* Returns the number of the first snapshot that took the byte at @offset of @run; 0: unknown. */
uint64_t aux_index_snapshot_at(const struct aux_index *x, const struct aux_run *run,
			       uint64_t offset);

/* Returns the run of a chunk, which is less than x->nr_chunks. */
const struct aux_run *aux_index_run_of(const struct aux_index *x, uint64_t chunk);

#endif
