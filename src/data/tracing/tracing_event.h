/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One tracepoint: its format, and its records as text.
 *
 * libtraceevent, or a program that stands for it, prints a record if both the format and the record
 * are fit for it. This module prints all others as "field=value ...". The library is not
 * thread-safe: only one thread at a time may use events of one handle.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_EVENT_H
#define RINGTAIL_DATA_TRACING_TRACING_EVENT_H

#include <traceevent/event-parse.h>

#include "base/buf.h"
#include "data/tracing/tracing_needs.h"
#include "data/tracing/tracing_program.h"

struct tracing_event {
	char *sys; /* NULL: no format is loaded */
	struct tracing_format format;
	struct tracing_needs needs;
	enum {
		TRACING_BY_US,
		TRACING_BY_LIBRARY, /* the library has loaded the format */
		TRACING_REFUSED,    /* by us: the library refused a format that passed the check */
	} printer;
	struct tracing_program *program; /* prints what the library would; NULL: there is none */
};

/*
 * Loads the format @text of an event of system @sys, also into @tep if it is fit for that. Load an
 * id into a @tep only once. The caller has set sizes and byte order of @tep. Returns 0 with *@ret
 * for tracing_event_release(); -EBADMSG if @text is not a kernel's format; -ENOMEM.
 */
int tracing_event_load(struct tep_handle *tep, const char *sys, const char *text,
		       struct tracing_event *ret);
/* Frees what @e holds; accepts zeroes. */
void tracing_event_release(struct tracing_event *e);

/* Appends the fields as "field=value ...". Returns 0 or -ENOMEM. */
int tracing_event_print_raw(const struct tracing_event *e, const struct tracing_data *data,
			    struct buf *out);

/*
 * Appends @data, a record of @e, as text. The text may hold any bytes: escape it for a terminal. A
 * field outside the record is "[bad data]". Returns 0 or -ENOMEM.
 */
int tracing_event_print(const struct tracing_event *e, struct tep_handle *tep,
			const struct tracing_data *data, struct buf *out);

/* As tracing_event_print(), for the value of one field, without its name and the event's format. */
int tracing_field_print(const struct tracing_field *field, const struct tracing_data *data,
			struct buf *out);

#endif
