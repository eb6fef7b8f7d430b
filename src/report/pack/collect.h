/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the functions that a recording's samples hit, and their lines, as the table of symbols
 * it may carry.
 *
 * It takes sampled addresses, call chains, branches and data addresses. One thread. The trace must
 * have been opened with no_demangle: the table has names as they are in the files.
 */
#ifndef RINGTAIL_REPORT_PACK_COLLECT_H
#define RINGTAIL_REPORT_PACK_COLLECT_H

#include "base/buf.h"
#include "report/trace/trace.h"
#include "symbol/recorded/compose.h"

struct collect_counts {
	struct compose_counts table;
	uint64_t frames;  /* addresses of all samples; the same address counts each time */
	uint64_t unnamed; /* of @frames: no name is known here */
};

/*
 * Appends the table of prepared trace @t to @table, of about @budget bytes at most: functions that
 * were hit more often go first. With @lines it also has the source lines and inlined functions of
 * sampled code, as far as there is room. Returns 0, or a negative errno with @err filled.
 */
int collect_symbols(struct trace *t, uint64_t budget, bool lines, struct buf *table,
		    struct collect_counts *ret, struct error *err);

#endif
