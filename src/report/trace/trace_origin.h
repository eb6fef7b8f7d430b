/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where a recording comes from whose file is cut, by the maps in it, before all else reads
 * it.
 */
#ifndef RINGTAIL_REPORT_TRACE_TRACE_ORIGIN_H
#define RINGTAIL_REPORT_TRACE_TRACE_ORIGIN_H

#include "report/trace/trace.h"

/* Fills @ret. @t needs only its file. Returns 0 or -ENOMEM. */
int trace_find_origin(struct trace *t, struct origin *ret);

#endif
