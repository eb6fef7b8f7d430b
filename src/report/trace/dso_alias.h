/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a file at several places, such as a library in each of many containers. Dsos of one
 * short name are one row of a table, and symbols of one name at one place in them are one symbol,
 * as perf has it.
 *
 * Made when all dsos are known. Any thread may ask; dso_alias_symbol() locks.
 */
#ifndef RINGTAIL_REPORT_TRACE_DSO_ALIAS_H
#define RINGTAIL_REPORT_TRACE_DSO_ALIAS_H

#include "state/state.h"
#include "symbol/resolve/resolver.h"

struct dso_alias;

/* Returns 0 with *@ret to be freed by dso_alias_free(), or -ENOMEM. */
int dso_alias_new(const struct state *s, struct dso_alias **ret);
void dso_alias_free(struct dso_alias *c); /* accepts NULL */

/* Index of the first dso that has the short name of @dso. */
uint32_t dso_alias_group(const struct dso_alias *c, const struct dso *dso);

/*
 * Of all symbols that equal @sym of @dso the one that was asked for first, whose dso may be a copy;
 * @sym itself for want of memory.
 */
const struct symbol *dso_alias_symbol(struct dso_alias *c, const struct dso *dso,
				      const struct symbol *sym);

#endif
