/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes LOST_SAMPLES records in user space.
 *
 * Format: PERF_RECORD_LOST_SAMPLES and struct sample_id in include/uapi/linux/perf_event.h. Pure:
 * any thread may call it.
 */
#ifndef RINGTAIL_RECORD_LOSS_LOST_SAMPLES_RECORD_H
#define RINGTAIL_RECORD_LOSS_LOST_SAMPLES_RECORD_H

#include "perfdata/attr.h"

/* The largest one: header, count, and a trailer with all fields. */
struct lost_samples_record {
	struct perf_event_header header; /* its size covers the words in use */
	uint64_t words[1 + 6];
};

/*
 * Fills *@rec: @count samples of the event with @attr and @id were lost on @cpu (-1: not known) up
 * to @time (ns; 0: not known). @misc: 0, or one of PD_MISC_LOST_*. Without PD_ATTR_SAMPLE_ID_ALL
 * the record has no trailer.
 */
void lost_samples_record_make(struct lost_samples_record *rec, const struct pd_attr *attr,
			      uint64_t id, int cpu, uint64_t time, uint16_t misc, uint64_t count);

#endif
