/* SPDX-License-Identifier: Apache-2.0 */
/* Who sees the symbol of an address. Any thread may call. */
#ifndef RINGTAIL_SYMBOL_RESOLVE_RESOLVER_BINDING_H
#define RINGTAIL_SYMBOL_RESOLVE_RESOLVER_BINDING_H

#include "symbol/elf/binding.h"
#include "symbol/resolve/resolver.h"

/*
 * Returns the binding of the symbol that resolver_find() has found for @addr of @dso. What has no
 * table, such as code that was made, counts as SYMTAB_GLOBAL.
 */
enum symtab_binding resolver_binding(struct resolver *r, const struct dso *dso, uint64_t addr);

#endif
