/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tail cover: a record that hides what follows the flushed records of a data.N being written.
 *
 * It is an AUXTRACE record; readers skip its data, which are all that follows. A killed recorder
 * leaves it behind. Without it readers would find a truncated record where the kernel stopped a
 * write, most likely at the end of a page, and perf (6.1, which maps the file) crashes when it
 * reads on there. perf report and script skip the record with --no-itrace; without that option they
 * want to decode it. So while nothing is being appended, its type is HEADER_EVENT_TYPE, which no
 * reader decodes. It is longer than an AUXTRACE record must be: see PD_PASSED_OVER_MIN.
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

/* Size of covers by earlier recorders: the least size of an AUXTRACE record. */
#define COVER_LEN_OLD offsetof(struct tail_cover, rest)

#define COVER_INIT                                                                        \
	{                                                                                 \
		.hdr = {.type = PERF_RECORD_AUXTRACE, .size = sizeof(struct tail_cover)}, \
		.size = COVER_SIZE, .reference = COVER_REFERENCE, .cpu = UINT32_MAX,      \
	}

#endif
