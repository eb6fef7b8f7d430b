/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of perfdata/ share: the walks that describe each layout once, for decoding and for
 * turning to host order (see cursor.h). Private to perfdata/.
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

/* Types below are the kernel's: they may have a trailer. */
#define PD_FIRST_USER_RECORD 64

/* Turns an attribute of @size bytes (64 or more; own size field still foreign) where it stands. */
void pd_attr_turn(uint8_t *p, size_t size);

/* Reads the body of a sample of an event with @attr; *@s was set by pd_sample_init(). */
void pd_sample_walk(struct cursor *c, const struct pd_attr *attr, struct pd_sample *s);
void pd_sample_init(struct pd_sample *s, const struct perf_event_header *hdr,
		    const struct pd_attr *attr);

typedef void pd_record_walk_fn(struct cursor *c, const struct perf_event_header *hdr,
			       struct pd_record *ret);

/* The walks of the types from 64 up; NULL for those whose body is opaque. */
pd_record_walk_fn *pd_user_record_walk(uint32_t type);

/*
 * Reads body and trailer of a record other than a sample. @attr NULL: no trailer.
 * Returns 0, -ENOTSUP (type unknown), -EBADMSG.
 */
int pd_record_walk(struct cursor *c, const struct perf_event_header *hdr,
		   const struct pd_attr *attr, struct pd_record *ret);

#endif
