/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locates the functions and variables that the user names in an event.
 *
 * In a program it searches .symtab, .dynsym, the debug file by the rules of the resolver, and
 * .gnu_debugdata, for mangled and demangled names. Of a versioned name it takes the default
 * version. In the kernel it searches kallsyms. One thread at a time.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_LOCATE_H
#define RINGTAIL_SYMBOL_RESOLVE_LOCATE_H

#include "event/syntax/symbols.h"

/* Locates in this machine's files and kernel. */
extern const struct event_symbols locate_symbols;

#endif
