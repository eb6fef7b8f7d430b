/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of Arm SPE: packets up to a time stamp or END packet, of one sampled operation.
 *
 * Pure: any thread.
 */
#ifndef RINGTAIL_AUXTRACE_SPE_RECORD_H
#define RINGTAIL_AUXTRACE_SPE_RECORD_H

#include "auxtrace/decoder/decoder.h"
#include "auxtrace/spe/packet.h"

#define SPE_RECORD_MAX 2048u /* bytes, the largest that hardware may have */

/* All zero: no packet yet. */
struct spe_record {
	struct aux_op op;
	uint64_t ip, to;
	uint64_t stamp;	    /* of the time stamp, raw */
	unsigned int level; /* exception level of @ip */
	bool stamped, has_ip, has_to, has_op, has_context, any;
	uint32_t seen, addresses, counters; /* kinds and indexes of packets, in bits */
};

/*
 * Adds a packet. Returns 1 if it ends the record, 0 if not, -EBADMSG if the record has such a
 * packet already.
 */
int spe_record_add(struct spe_record *r, const struct spe_packet *packet);

/* Returns aux_simd() of the operation; 0: none of vectors, or the record does not say. */
uint8_t spe_record_simd(const struct spe_record *r);

/*
 * Returns whether @nr whole records begin at @p, or fewer that end with the data. @offset is their
 * position in the ring.
 */
bool spe_records_at(const uint8_t *p, size_t len, uint64_t offset, unsigned int nr);

#endif
