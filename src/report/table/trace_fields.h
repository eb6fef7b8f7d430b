/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort keys of the fields of tracepoints: FIELD, EVENT.FIELD, with "/raw" behind, "trace_fields",
 * and "EVENT.*".
 *
 * Options are parsed before the recording is open, so a key is made first and checked later. The
 * set owns its keys; they have the addresses that it gave until trace_fields_release(). One thread.
 */
#ifndef RINGTAIL_REPORT_TABLE_TRACE_FIELDS_H
#define RINGTAIL_REPORT_TABLE_TRACE_FIELDS_H

#include "report/table/keys.h"

struct trace_field;

/* All zero: empty. */
struct trace_fields {
	struct trace_field *first;
};

/* Frees all keys. */
void trace_fields_release(struct trace_fields *set);

/*
 * Finds or makes the key of that name, which is no other key. Returns 0; -EINVAL if @name cannot be
 * one, with @err untouched; -ENOMEM.
 */
int trace_fields_get(struct trace_fields *set, const char *name, size_t len,
		     const struct sort_key **ret);

/* Calls @fn for each key that an option stands for. A non-zero value of it ends the walk. */
typedef int (*trace_field_fn)(const struct sort_key *key, void *arg);

/*
 * Checks that the recording has the event and the field of @key, and calls @fn for the key, or for
 * each that "*" and "trace_fields" stand for. @what: as in sort_key_unknown(). Returns 0; -ESRCH if
 * no event has such a field; -ENOENT with @err filled: not in this recording; -ENOMEM; or what @fn
 * returned.
 */
int trace_fields_resolve(struct trace_fields *set, const struct sort_key *key,
			 const struct trace *t, const char *what, trace_field_fn fn, void *arg,
			 struct error *err);

/* Returns whether samples of @evsel may have the field. */
bool trace_field_is_of(const struct trace_field *field, const struct trace *t,
		       const struct pd_evsel *evsel);

#endif
