/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the dsos in which samples fell: by the sampled address alone, or also by the addresses of
 * callers. It does not decode hardware trace: in a recording that has some, all dsos count.
 *
 * One thread, after trace_prepare().
 */
#ifndef RINGTAIL_REPORT_TRACE_DSO_HITS_H
#define RINGTAIL_REPORT_TRACE_DSO_HITS_H

#include "report/trace/trace.h"

/*
 * Walks all samples; with @callers it takes their call chains, too. Returns 0 with *@ret, an array
 * for free() with one element for each dso of
 * @t->state, by index; or a negative errno with @err filled.
 */
int dso_hits(struct trace *t, bool callers, bool **ret, struct error *err);

#endif
