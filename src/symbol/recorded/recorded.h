/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols that a recording carries itself: the names of the functions that its samples hit.
 *
 * It is a source of the resolver that needs no file of the recorded machine. An object of the table
 * stands for all dsos of its build-id, or of its name if it has none. Any thread may ask; the first
 * one to need an object makes its table, under a lock.
 */
#ifndef RINGTAIL_SYMBOL_RECORDED_RECORDED_H
#define RINGTAIL_SYMBOL_RECORDED_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfdata/symbols/symbol_lines.h"
#include "perfdata/symbols/symbols.h"
#include "state/state.h"
#include "symbol/elf/table.h"

struct recorded_symbols;

/*
 * Reads the objects of a table (perfdata/symbols/symbols.h), which must outlive it. Damage ends the
 * list of objects. Returns 0 with *@ret for recorded_symbols_free(), -EBADMSG: this is no table, or
 * -ENOMEM.
 */
int recorded_symbols_new(const uint8_t *p, size_t len, struct recorded_symbols **ret);
/* Frees it with all tables; accepts NULL. */
void recorded_symbols_free(struct recorded_symbols *rs);

/* Returns whether the list of objects is damaged. */
bool recorded_symbols_damaged(const struct recorded_symbols *rs);
/* Returns whether any object has source lines. */
bool recorded_symbols_lined(const struct recorded_symbols *rs);
/* Returns how many functions the writer left out. */
uint64_t recorded_symbols_left_out(const struct recorded_symbols *rs);

/*
 * Returns the table of @dso, of a DSO_ANON that of process @pid; NULL: none, or memory is short. It
 * lives as long as @rs. Functions behind damage in the object are missing.
 */
struct symtab *recorded_symbols_table(struct recorded_symbols *rs, const struct dso *dso,
				      uint32_t pid);

/*
 * Returns the source lines and inlined functions of @dso, which is no DSO_ANON; NULL: none, or
 * memory is short. They live as long as @rs.
 */
const struct pd_symbol_lines *recorded_symbols_lines(struct recorded_symbols *rs,
						     const struct dso *dso);

/*
 * Fills @ret with the object that stands for @dso, without functions. @ret points into @dso.
 * Returns false if a table has no names for dsos of its kind.
 */
bool recorded_symbols_object(const struct dso *dso, uint32_t pid, struct pd_symbols_object *ret);
/* Orders objects; 0: they stand for the same dsos. */
int recorded_symbols_compare(const struct pd_symbols_object *a, const struct pd_symbols_object *b);

#endif
