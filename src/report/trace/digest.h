/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of one part of a file, those that look alike as one: made in pass 1, so that pass 2 need
 * not read the part again where a flat report is all that is asked for.
 *
 * Who was running what is not known before pass 1 has ended, but it seldom changes between the
 * first and the last of the samples of one address, thread and CPU; what there was at the first
 * then holds for all (state_steady()). A part of too many different samples, of one that does not
 * decode, or with an entry that is not steady, is walked in pass 2 like any other.
 */
#ifndef RINGTAIL_REPORT_TRACE_DIGEST_H
#define RINGTAIL_REPORT_TRACE_DIGEST_H

#include <stddef.h>

#include "base/moment.h"
#include "data/scan/scan.h"

struct digest_entry {
	const struct pd_evsel *evsel;
	uint64_t ip;
	uint32_t pid, tid, cpu;
	uint8_t cpumode;
	struct moment first, last;
	uint64_t samples, period; /* period: of all of them */
};

/* All zero is an empty digest. One thread. */
struct digest {
	struct digest_entry *entry;
	size_t nr, cap;
	uint16_t *table; /* index + 1; 0: empty */
	size_t last;	 /* entry found last */
	bool given_up;	 /* it does not hold all: walk */
};

/* Adds a sample; gives up where that cannot be. */
void digest_add(struct digest *d, const struct data_record *rec);

/* No more samples: gives back what only adding needs. */
void digest_seal(struct digest *d);

void digest_release(struct digest *d);

#endif
