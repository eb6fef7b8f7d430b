/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions and variables in events: what is known of one, and who knows it.
 *
 * Reading symbol tables is symbol/'s, which stands above event/. So who parses events hands in a
 * struct event_symbols (symbol/locate.h has one); without it names are refused.
 */
#ifndef RINGTAIL_EVENT_SYNTAX_SYMBOLS_H
#define RINGTAIL_EVENT_SYNTAX_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* What a name stands for, in a program file or, with all but @address and @size 0, in the kernel.
 */
struct event_symbol {
	bool function;	  /* or another address of code */
	uint64_t address; /* as linked; of the kernel: where it is */
	uint64_t size;	  /* bytes; 0: not known */
	uint64_t offset;  /* in the file; of a variable that is in memory only, 0 */
	bool fixed;	  /* the file is always mapped where it was linked */
	/* Where the first loaded segment of the file is linked to, and lies in the file. */
	uint64_t first_address, first_offset;
};

struct event_symbols {
	/*
	 * Looks @name up in the program or library @file, or with @file NULL in the kernel. @name
	 * is as in the symbol table or demangled, or a number, an offset in the file. Returns 0,
	 * -ENOENT (no such file or name), -EINVAL (several of that name, or one that has no address
	 * of its own), -EBADMSG, -EACCES, -ENOMEM; each with a sentence. *@ret is untouched then.
	 */
	int (*find)(const char *file, const char *name, struct event_symbol *ret,
		    struct error *err);
};

#endif
