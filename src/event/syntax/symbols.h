/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface to look up functions and variables that events name.
 *
 * Symbol tables are read by symbol/, which stands above event/. So the caller of the parser passes
 * a struct event_symbols (symbol/resolve/locate.h has one). Without it the parser refuses names.
 */
#ifndef RINGTAIL_EVENT_SYNTAX_SYMBOLS_H
#define RINGTAIL_EVENT_SYNTAX_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The target of a name in a program file. In the kernel only @address and @size are set. */
struct event_symbol {
	bool function;	  /* a function, or another address of code */
	uint64_t address; /* as linked; in the kernel: in memory */
	uint64_t size;	  /* bytes; 0: not known */
	uint64_t offset;  /* in the file; of a variable that is in memory only, 0 */
	bool fixed;	  /* the file is always mapped where it was linked */
	/* Link address and file offset of the file's first loaded segment. */
	uint64_t first_address, first_offset;
};

struct event_symbols {
	/*
	 * Looks up @name in the program or library @file, or in the kernel if @file is NULL. @name
	 * is as in the symbol table or demangled, or a number, an offset in the file. Returns 0
	 * with *@ret filled, or with @err filled: -ENOENT (no such file or name), -EINVAL (the name
	 * is ambiguous, or has no address of its own), -EBADMSG, -EACCES, -ENOMEM.
	 */
	int (*find)(const char *file, const char *name, struct event_symbol *ret,
		    struct error *err);
};

#endif
