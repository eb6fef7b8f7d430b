/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over the AUX areas of a recording, for its last messages and the end of its output.
 *
 * Threads: the main thread's, when readers and writers have ended. Sizes in bytes.
 */
#ifndef RINGTAIL_RECORD_AUX_SUMS_H
#define RINGTAIL_RECORD_AUX_SUMS_H

#include "perfdata/snapshot_log.h"
#include "record/aux/area.h"

struct aux_sums {
	size_t areas;
	enum aux_mode mode;	      /* of all of them */
	uint64_t drained;	      /* of a full trace */
	uint64_t truncated;	      /* times that the kernel had no room and stopped the trace */
	uint64_t partial, collisions; /* AUX records with these flags */
	uint64_t restarts;	      /* of events by the recorder */
	uint64_t unreported;	      /* stops without a record, or gaps in the records */
	uint64_t lost_records;
};

/* Adds up all areas. */
void aux_sums_get(const struct aux_areas *a, struct aux_sums *ret);

/* Encodes the sums of @area as the record that an output ends with. */
void aux_sums_encode(const struct aux_area *area, struct pd_snapshot_record *ret);

#endif
