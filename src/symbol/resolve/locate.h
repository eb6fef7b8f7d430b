/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a name to an address: functions and variables that events are asked of.
 *
 * In a program: .symtab, .dynsym, then its debug file by the rules of the resolver, then what it
 * has packed in .gnu_debugdata; names as they are there, or demangled. Of a name that has versions
 * the default is meant. In the kernel: kallsyms. One thread at a time.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_LOCATE_H
#define RINGTAIL_SYMBOL_RESOLVE_LOCATE_H

#include "event/syntax/symbols.h"

/* Of this machine's files and kernel. */
extern const struct event_symbols locate_symbols;

#endif
