/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over wire layouts, shared by the files of perfdata/. Private to perfdata/.
 *
 * A walk describes a layout once, for decoding and for the swap to host order (see cursor.h).
 */
#ifndef RINGTAIL_PERFDATA_CODEC_H
#define RINGTAIL_PERFDATA_CODEC_H

#include "perfdata/attr.h"
#include "perfdata/cursor.h"
#include "perfdata/record.h"
#include "perfdata/sample.h"

#define PD_RECORD_HEADER_SIZE sizeof(struct perf_event_header)

/* sample_type bits that make the sample_id trailer */
#define PD_SAMPLE_ID_BITS                                                              \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Smaller types are the kernel's and may have a trailer. */
#define PD_FIRST_USER_RECORD 64

/* Swaps an attribute of @size bytes (64 or more) in place, its size field too. */
void pd_attr_turn(uint8_t *p, size_t size);

/*
 * Reads the body of a sample of an event with @attr into @s, which pd_sample_init() has set. Sets
 * c->bad on failure.
 */
void pd_sample_walk(struct cursor *c, const struct pd_attr *attr, struct pd_sample *s);
/* Sets @s to the defaults of fields that a sample of @attr may lack. */
void pd_sample_init(struct pd_sample *s, const struct perf_event_header *hdr,
		    const struct pd_attr *attr);

typedef void pd_record_walk_fn(struct cursor *c, const struct perf_event_header *hdr,
			       struct pd_record *ret);

/* Returns the walk of a type from 64 up; NULL if the body is opaque. */
pd_record_walk_fn *pd_user_record_walk(uint32_t type);

/*
 * Reads body and trailer of a record that is not a sample. With @attr NULL it has no trailer.
 * Returns 0, -ENOTSUP (type unknown) or -EBADMSG.
 */
int pd_record_walk(struct cursor *c, const struct perf_event_header *hdr,
		   const struct pd_attr *attr, struct pd_record *ret);

#endif
