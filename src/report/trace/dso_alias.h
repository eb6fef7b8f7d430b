/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal files at several paths, for example one library in many containers.
 *
 * As in perf, dsos of one short name share a row, and symbols of equal name and place in them are
 * one symbol. Made after pass 1, when all dsos are known. Any thread may ask; dso_alias_symbol()
 * locks.
 */
#ifndef RINGTAIL_REPORT_TRACE_DSO_ALIAS_H
#define RINGTAIL_REPORT_TRACE_DSO_ALIAS_H

#include "state/state.h"
#include "symbol/resolve/resolver.h"

struct dso_alias;

/* @s must outlive it. Returns 0 with *@ret for dso_alias_free(), or -ENOMEM. */
int dso_alias_new(const struct state *s, struct dso_alias **ret);
/* Frees @c; accepts NULL. */
void dso_alias_free(struct dso_alias *c);

/* Returns the index of the first dso with the short name of @dso. */
uint32_t dso_alias_group(const struct dso_alias *c, const struct dso *dso);

/*
 * Returns the one symbol that stands for all equal to @sym of @dso: the first that was asked for,
 * perhaps of another dso. Returns @sym itself when memory is short.
 */
const struct symbol *dso_alias_symbol(struct dso_alias *c, const struct dso *dso,
				      const struct symbol *sym);

#endif
