// SPDX-License-Identifier: Apache-2.0
/* Swaps records of the other byte order to host order, with the walks that decode them. */
#include "perfdata/record.h"

#include <errno.h>

#include "perfdata/codec.h"

struct perf_event_header pd_record_header(const uint8_t *p, bool swap)
{
	struct perf_event_header hdr;

	memcpy(&hdr, p, sizeof(hdr));
	if (swap) {
		hdr.type = __builtin_bswap32(hdr.type);
		hdr.misc = __builtin_bswap16(hdr.misc);
		hdr.size = __builtin_bswap16(hdr.size);
	}
	return hdr;
}

int pd_record_to_host(struct perf_event_header *hdr, const struct pd_evlist *list)
{
	struct cursor c = {
		.p = (const uint8_t *)hdr, .end = hdr->size, .swap = true, .in_place = true};
	const struct pd_evsel *evsel = pd_evlist_of_record(list, hdr, true);
	struct pd_sample sample;
	struct pd_record record;
	int err;

	if (c.end < PD_RECORD_HEADER_SIZE)
		return -EBADMSG;
	if (hdr->type == PERF_RECORD_SAMPLE) {
		if (!evsel)
			return -ENOENT;
		c.at = PD_RECORD_HEADER_SIZE;
		pd_sample_init(&sample, hdr, &evsel->attr);
		pd_sample_walk(&c, &evsel->attr, &sample);
		return c.bad ? -EBADMSG : 0;
	}
	/* If the id is unknown, the trailer still has the layout of the first event's. */
	if (!evsel)
		evsel = pd_evlist_at(list, 0);
	err = pd_record_walk(&c, hdr, evsel ? &evsel->attr : NULL, &record);
	return err == -ENOTSUP ? 0 : err;
}
