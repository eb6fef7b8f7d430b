/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracepoint formats of a recording: the TRACING_DATA feature of a file, or the record of a pipe
 * stream.
 *
 * This module loads only the formats of recorded events. It splits the data itself, checks every
 * length, and gives libtraceevent only text that the library parses safely. Source:
 * tools/perf/util/trace-event-info.c and -read.c; trace-cmd.dat(5) for the same layout.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_H
#define RINGTAIL_DATA_TRACING_TRACING_H

#include <stdbool.h>

#include "base/buf.h"
#include "data/file/file.h"

struct tracing;

/*
 * Loads the formats, and names those tracepoints of @df that have no name ("sys:name"). Call it
 * before other threads use the evlist. Truncated or malformed formats become findings of @df; the
 * rest is loaded. Returns 0 with *@ret for tracing_free(); -ENOENT if the recording has no formats
 * (@err is untouched); -EBADMSG if the feature holds something else; -ENOMEM.
 */
int tracing_load(struct data_file *df, struct tracing **ret, struct error *err);
/*
 * Loads the same formats once more, for another thread, after tracing_load(). Returns 0 with *@ret
 * for tracing_free(), or a negative errno.
 */
int tracing_load_again(struct data_file *df, struct tracing **ret);
/* Frees @t; accepts NULL. */
void tracing_free(struct tracing *t);

/*
 * Returns the name of the kernel function at @addr, and its start in *@ret_start; or NULL. The name
 * must be valid until the next call.
 */
typedef const char *(*tracing_function)(void *arg, uint64_t addr, uint64_t *ret_start);

/*
 * Lets formats print a function's name for %ps, %pS, %pF and %pf, if @find knows one. Without this
 * call, or with @find NULL, they print a number. Returns 0 or -ENOMEM.
 */
int tracing_name_functions(struct tracing *t, tracing_function find, void *arg);

/* Raw data of a sample of a tracepoint. */
struct tracing_raw {
	const struct pd_evsel *evsel;
	const void *p;
	uint32_t size;
};

/*
 * Reads a number in a field; one of a signed type keeps its sign. Returns false, and sets nothing,
 * if the event has no format or no such field, or the raw data do not hold it. Any thread.
 */
bool tracing_number(const struct tracing *t, const struct tracing_raw *raw, const char *field,
		    int64_t *ret);
/* As tracing_number(): finds the text of a field, up to its NUL, in the raw data. */
bool tracing_text(const struct tracing *t, const struct tracing_raw *raw, const char *field,
		  const char **ret, size_t *ret_len);

/*
 * Returns the name of field @index of the event's own, or NULL after the last, or if the event has
 * no format. Any thread.
 */
const char *tracing_field_name(const struct tracing *t, const struct pd_evsel *evsel, size_t index);
/* Returns whether the event has that field, also if all events have it. Any thread. */
bool tracing_has_field(const struct tracing *t, const struct pd_evsel *evsel, const char *field);

/*
 * Appends the value of a field as text. A number is what tracing_print() shows behind "FIELD=", up
 * to a space, unless @plain or it does not show the field so. Appends nothing if the event has no
 * such field. One thread at a time. Returns 0 or -ENOMEM.
 */
int tracing_print_field(struct tracing *t, const struct tracing_raw *raw, const char *field,
			bool plain, struct buf *out);

/* Appends the fields as "field=value ...", whatever the kernel's format says. As tracing_print().
 */
int tracing_print_raw(struct tracing *t, const struct pd_evsel *evsel, const void *raw,
		      uint32_t size, struct buf *out);

/*
 * Appends the fields in @raw, the raw data of a sample of @evsel, as text: by the kernel's format,
 * or as "field=value ..." where that is not safe. Appends nothing if @evsel has no format. One
 * thread at a time. Returns 0 or -ENOMEM.
 */
int tracing_print(struct tracing *t, const struct pd_evsel *evsel, const void *raw, uint32_t size,
		  struct buf *out);

#endif
