// SPDX-License-Identifier: Apache-2.0
#include "record/loss/lost_samples_record.h"

#include <linux/perf_event.h>

void lost_samples_record_make(struct lost_samples_record *rec, const struct pd_attr *attr,
			      uint64_t id, int cpu, uint64_t time, uint16_t misc, uint64_t count)
{
	/* The fields of the trailer, in the kernel's order. The task is not known. */
	const struct {
		uint64_t field, value;
	} trailer[] = {
		{PERF_SAMPLE_TID, 0},
		{PERF_SAMPLE_TIME, time},
		{PERF_SAMPLE_ID, id},
		{PERF_SAMPLE_STREAM_ID, 0},
		{PERF_SAMPLE_CPU, (uint32_t)cpu},
		{PERF_SAMPLE_IDENTIFIER, id},
	};
	size_t n = 0;

	rec->words[n++] = count;
	for (size_t i = 0; i < sizeof(trailer) / sizeof(trailer[0]); i++)
		if (attr->flags & PD_ATTR_SAMPLE_ID_ALL && attr->sample_type & trailer[i].field)
			rec->words[n++] = trailer[i].value;
	rec->header = (struct perf_event_header){
		.type = PERF_RECORD_LOST_SAMPLES,
		.misc = misc,
		.size = (uint16_t)(sizeof(rec->header) + n * sizeof(rec->words[0])),
	};
}
