/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands behind the flushed records of a data.N that is being written: an AUXTRACE record,
 * whose data, as readers skip them, are all that follows. A recorder that is killed leaves it.
 * Without it readers would meet a record that was cut where the kernel stopped a write, most likely
 * at the end of a page, and perf (6.1, which maps the file) dies of reading on there. perf report
 * and script pass over it with --no-itrace: they otherwise want to decode it. So where nothing is
 * being appended its type is HEADER_EVENT_TYPE meanwhile, which nobody looks into. It is longer
 * than an AUXTRACE record has to be: see PD_PASSED_OVER_MIN.
 */
#ifndef RINGTAIL_DATA_FILE_TAIL_COVER_H
#define RINGTAIL_DATA_FILE_TAIL_COVER_H

#include <stddef.h>
#include <stdint.h>

#include "perfdata/abi.h"

#define COVER_REFERENCE 0x5245564f43524752ull /* no trace has this number */
#define COVER_SIZE	(1ull << 40)	      /* more than is written between two flushes */

struct tail_cover { /* as struct perf_record_auxtrace */
	struct perf_event_header hdr;
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu, reserved;
	uint64_t rest[4];
};

_Static_assert(sizeof(struct tail_cover) == PD_PASSED_OVER_MIN,
	       "perf passes over it while it rests");

/* Of earlier recorders, whose covers were as long as an AUXTRACE record has to be. */
#define COVER_LEN_OLD offsetof(struct tail_cover, rest)

#define COVER_INIT                                                                        \
	{                                                                                 \
		.hdr = {.type = PERF_RECORD_AUXTRACE, .size = sizeof(struct tail_cover)}, \
		.size = COVER_SIZE, .reference = COVER_REFERENCE, .cpu = UINT32_MAX,      \
	}

#endif
