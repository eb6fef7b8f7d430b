/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler did, for an HTML page: each run of a thread and each wait, as `report sched`
 * counts them. It walks the recording once more. One thread.
 */
#ifndef RINGTAIL_EXPORT_HTML_SCHED_H
#define RINGTAIL_EXPORT_HTML_SCHED_H

#include "export/stream/export.h"
#include "export/stream/threads.h"

struct html_sched {
	struct trace *trace;
	const struct filter *filter;
	struct export_threads *threads; /* of the page */
	struct out *out;
	uint64_t first_time, tick; /* ns */
};

/*
 * Writes parts "sched", in the order of time; none, if the recording has no switches. Returns 0,
 * out->rc, or a negative errno with @err filled.
 */
int html_sched_write(const struct html_sched *s, struct error *err);

#endif
