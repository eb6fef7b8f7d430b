/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program: a tracepoint's format, compiled so that records are printed fast.
 *
 * It is made of libtraceevent's own tree of the format, and writes the same bytes as the library. A
 * format that has anything else than numbers, texts, flags and symbols in it has no program. A
 * program is read-only, so any thread may use it.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_PROGRAM_H
#define RINGTAIL_DATA_TRACING_TRACING_PROGRAM_H

#include <traceevent/event-parse.h>

#include "base/buf.h"
#include "data/tracing/tracing_needs.h"

struct tracing_program;

/*
 * Compiles the format of @event, which may be freed afterwards. Returns 0 with *@ret for
 * tracing_program_free(); -ENOTSUP: the library must print this event; -ENOMEM.
 */
int tracing_program_new(struct tep_event *event, struct tracing_program **ret);
/* Frees @p; accepts NULL. */
void tracing_program_free(struct tracing_program *p);

/*
 * Appends @data, a record of the event, as text. Returns 0; -EAGAIN: nothing was appended, and the
 * library must print this record; -ENOMEM.
 */
int tracing_program_print(const struct tracing_program *p, const struct tracing_data *data,
			  struct buf *out);

#endif
