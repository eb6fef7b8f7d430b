/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats of tracepoints, as recorded in the TRACING_DATA feature (in a pipe stream: record).
 *
 * Only the formats of events that the recording has are loaded, and the blob itself is taken apart
 * here, where every length is checked. libtraceevent sees only what is known not to harm it.
 * Source: tools/perf/util/trace-event-info.c and -read.c; trace-cmd.dat(5) for the same layout.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_H
#define RINGTAIL_DATA_TRACING_TRACING_H

#include "base/buf.h"
#include "data/file/file.h"

struct tracing;

/*
 * Loads the formats and names the tracepoints of @df that have no name of their own ("sys:name").
 * Call before other threads use the evlist. What is cut or does not parse is noted on @df, and the
 * rest loaded.
 * Returns 0 with *@ret to be freed by tracing_free(); -ENOENT if the recording has no formats
 * (@err is then untouched); -EBADMSG if what stands there is something else; -ENOMEM.
 */
int tracing_load(struct data_file *df, struct tracing **ret, struct error *err);
void tracing_free(struct tracing *t); /* accepts NULL */

/*
 * The name of the function at @addr in the kernel, with *@ret_start where it begins, or NULL. It is
 * not needed beyond the next call.
 */
typedef const char *(*tracing_function)(void *arg, uint64_t addr, uint64_t *ret_start);

/*
 * From here on what a format prints by %ps, %pS, %pF or %pf is a name, where @find knows one. NULL:
 * a number, as before the first call. Returns 0 or -ENOMEM.
 */
int tracing_name_functions(struct tracing *t, tracing_function find, void *arg);

/*
 * Appends the fields in @raw, the raw data of a sample of @evsel, as text: as the kernel's format
 * says, or "field=value ..." where that is not safe. Nothing is appended if @evsel has no format.
 * One thread at a time. Returns 0 or -ENOMEM.
 */
int tracing_print(struct tracing *t, const struct pd_evsel *evsel, const void *raw, uint32_t size,
		  struct buf *out);

#endif
