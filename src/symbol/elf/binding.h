/* SPDX-License-Identifier: Apache-2.0 */
/* Who sees a symbol of a table: others than a report ask rarely. Any thread may call. */
#ifndef RINGTAIL_SYMBOL_ELF_BINDING_H
#define RINGTAIL_SYMBOL_ELF_BINDING_H

#include "symbol/elf/table.h"

/* Returns the enum symtab_binding of the symbol at @addr, or -ENOENT. */
int symtab_binding(const struct symtab *t, uint64_t addr);

#endif
