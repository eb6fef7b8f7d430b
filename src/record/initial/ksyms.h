/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads /proc/kallsyms for synthesized records: the kernel's text, and code of no file.
 *
 * Code of no file is BPF programs and trampolines. The file is read in one pass.
 *
 * Ownership: the caller's struct owns all names. Threads: any, one at a time for a struct.
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
	struct kernel_symbol *loose; /* code outside kernel and modules, in order of address */
	size_t count, capacity;
	struct buf names; /* NUL-terminated */
};

/*
 * Fills an all-zero @ret from PROC/kallsyms. Returns 0, -ENOMEM, or the negative errno of opening
 * the file. Call kernel_symbols_release() in all cases.
 */
int kernel_symbols_read(const char *proc, struct kernel_symbols *ret);
void kernel_symbols_release(struct kernel_symbols *syms);

/* Returns the name of the loose symbol at exactly @addr, owned by @syms, or NULL. */
const char *kernel_symbols_name(const struct kernel_symbols *syms, uint64_t addr);

#endif
