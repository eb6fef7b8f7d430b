/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of each event, from ID_INDEX records. One thread. */
#ifndef RINGTAIL_AUXTRACE_RECORDING_IDS_H
#define RINGTAIL_AUXTRACE_RECORDING_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/id_table.h"
#include "data/scan/scan.h"

/* An entry of the record; cpu and tid are -1 for none. */
struct aux_id {
	uint64_t id, idx, cpu, tid;
};

/* All zero: none. */
struct aux_ids {
	struct aux_id *ids; /* the first entry of each id */
	size_t cap;
	struct id_table table; /* their numbers */
};

/* Takes a record of any type; ignores others than ID_INDEX. Returns 0 or -ENOMEM. */
int aux_ids_add(struct aux_ids *ids, const struct data_record *rec);
/*
 * Sets the place of the ring of the event with @id, if known. A record of a thread's ring may have
 * a CPU, but its ring has none. With a CPU, *@tid remains.
 */
void aux_ids_place(const struct aux_ids *ids, uint64_t id, uint32_t *cpu, uint32_t *tid);
/* Sets the index of the ring, too. */
void aux_ids_ring(const struct aux_ids *ids, uint64_t id, uint32_t *cpu, uint32_t *tid,
		  uint32_t *idx);
/* Frees the memory; accepts zeroes. */
void aux_ids_release(struct aux_ids *ids);

#endif
