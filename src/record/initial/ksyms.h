/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc/kallsyms says that records are made of: where the kernel's text lies, and the code
 * that belongs to no file (BPF programs, trampolines). Read in one pass.
 */
#ifndef RINGTAIL_RECORD_INITIAL_KSYMS_H
#define RINGTAIL_RECORD_INITIAL_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct kernel_symbol {
	uint64_t addr;
	size_t name;   /* offset in kernel_symbols.names */
	uint16_t type; /* PERF_RECORD_KSYMBOL_TYPE_* */
};

struct kernel_symbols {
	const char *start_name;	     /* the reference symbol: "_text" or "_stext" */
	uint64_t start, etext;	     /* its address and that of _etext; 0: hidden or absent */
	bool seen;		     /* the file has a reference symbol */
	struct kernel_symbol *loose; /* code outside of kernel and modules, by address */
	size_t count, capacity;
	struct buf names; /* NUL-terminated */
};

/*
 * Fills an all-zero @ret from PROC/kallsyms. Returns 0, -ENOMEM, or the negative errno of opening
 * the file. To be released in any case.
 */
int kernel_symbols_read(const char *proc, struct kernel_symbols *ret);
void kernel_symbols_release(struct kernel_symbols *syms);

/* The name of the loose symbol at exactly @addr, or NULL. */
const char *kernel_symbols_name(const struct kernel_symbols *syms, uint64_t addr);

#endif
