/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One tracepoint: its format, and its records as text.
 *
 * libtraceevent prints a record if both its format and the record are fit for it; all others are
 * printed here, as "field=value ...". libtraceevent is not safe against concurrent use, so neither
 * are these functions for events of one handle.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_EVENT_H
#define RINGTAIL_DATA_TRACING_TRACING_EVENT_H

#include <traceevent/event-parse.h>

#include "base/buf.h"
#include "data/tracing/tracing_needs.h"

struct tracing_event {
	char *sys; /* NULL: nothing is loaded here */
	struct tracing_format format;
	struct tracing_needs needs;
	enum {
		TRACING_BY_US,
		TRACING_BY_LIBRARY, /* which has the format */
		TRACING_REFUSED,    /* by us: the library did not take what it should */
	} printer;
};

/*
 * Loads the format @text of an event of the system @sys, into @tep as well if it is fit for that;
 * an id must be loaded into a @tep only once. The sizes and byte order of @tep are set before.
 * Returns 0 with *@ret to be released; -EBADMSG if @text is no format of a kernel; -ENOMEM.
 */
int tracing_event_load(struct tep_handle *tep, const char *sys, const char *text,
		       struct tracing_event *ret);
void tracing_event_release(struct tracing_event *e); /* accepts an all-zero one */

/*
 * Appends @data, a record of @e, as text: any bytes, not fit for a terminal. A field that does not
 * lie in it is said to be "[bad data]".
 * Returns 0 or -ENOMEM.
 */
int tracing_event_print(const struct tracing_event *e, struct tep_handle *tep,
			const struct tracing_data *data, struct buf *out);

#endif
