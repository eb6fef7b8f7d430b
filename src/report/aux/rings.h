/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of the AUX rings of a recording, and of the trace that each snapshot took of them.
 *
 * One walk over the records counts them. The recorder's log adds figures that no record shows. Owns
 * its memory. One thread.
 */
#ifndef RINGTAIL_REPORT_AUX_RINGS_H
#define RINGTAIL_REPORT_AUX_RINGS_H

#include "base/hash_table.h"
#include "perfdata/snapshot_log.h"
#include "auxtrace/recording/ids.h"

struct aux_ring_figures {
	uint32_t idx, cpu, tid;			 /* UINT32_MAX: none */
	enum pd_aux_mode mode;			 /* PD_AUX_MODES: unknown */
	uint64_t bytes, records;		 /* of AUXTRACE records and samples; with padding */
	uint64_t truncated, partial, collisions; /* AUX records with these flags */
	uint64_t lost;	       /* bytes that the recorder read and could not write */
	uint64_t restarts;     /* of its events by the recorder */
	uint64_t unreported;   /* stops without a record, and gaps in the records of stops */
	uint64_t lost_records; /* of the ring beside the area */
};

/* The trace that a snapshot took of a ring. */
struct aux_take {
	uint64_t number;
	struct pd_aux_ring ring;
};

/* All zero: none. */
struct aux_rings {
	struct aux_ring_figures *rings; /* by CPU and thread */
	size_t nr, cap;
	struct hash_table by_place; /* the first ring of each; while reading */
	struct hash_table by_index; /* those that have one; while reading */
	struct aux_take *takes;	    /* by number, CPU and thread */
	size_t nr_takes, cap_takes;
	struct aux_ids ids;
};

/*
 * Reads @df and fills @ret, for aux_rings_release() also after a failure. Returns 0 or a negative
 * errno.
 */
int aux_rings_read(struct data_file *df, struct aux_rings *ret);
/* Frees the memory; accepts zeroes. */
void aux_rings_release(struct aux_rings *r);

#endif
