/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a file at several places, such as a library in each of many containers. Dsos of one
 * short name are one row of a table, and symbols of one name at one place in them are one symbol,
 * as perf has it.
 *
 * Made when all dsos are known. Any thread may ask; copies_symbol() locks.
 */
#ifndef RINGTAIL_REPORT_TRACE_COPIES_H
#define RINGTAIL_REPORT_TRACE_COPIES_H

#include "state/state.h"
#include "symbol/resolve/resolver.h"

struct copies;

/* Returns 0 with *@ret to be freed by copies_free(), or -ENOMEM. */
int copies_new(const struct state *s, struct copies **ret);
void copies_free(struct copies *c); /* accepts NULL */

/* Index of the first dso that has the short name of @dso. */
uint32_t copies_group(const struct copies *c, const struct dso *dso);

/*
 * Of all symbols that equal @sym of @dso the one that was asked for first, whose dso may be a copy;
 * @sym itself for want of memory.
 */
const struct symbol *copies_symbol(struct copies *c, const struct dso *dso,
				   const struct symbol *sym);

#endif
