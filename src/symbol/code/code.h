/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code of a function, from the file that was mapped.
 *
 * Files are found by the rules of the resolver: never one with another build-id. The owner of a
 * struct releases it. One thread uses it.
 */
#ifndef RINGTAIL_SYMBOL_CODE_CODE_H
#define RINGTAIL_SYMBOL_CODE_CODE_H

#include "base/buf.h"
#include "symbol/disasm/disasm.h"
#include "symbol/resolve/resolver.h"

#define FUNCTION_CODE_MAX ((size_t)16 << 20) /* bytes; of a longer function the beginning */

struct function_code {
	struct buf bytes;
	uint64_t start;	  /* address in the dso, as in struct location */
	uint64_t to_file; /* added to such an address: the address as in the file */
	struct disasm_machine machine;
	bool truncated; /* the function is longer */
};

/* Where code is found. All borrowed. */
struct code_source {
	const struct resolver *resolver;
	const struct dso *kernel; /* the kernel's own dso; NULL: not known */
};

/*
 * Reads the code of @sym of @dso. @base is added to its addresses: the address in the recorded
 * machine. Only modules and JITs need it. Returns 0 with @ret for function_code_release(), or a
 * negative errno with @why filled: what is missing.
 */
int function_code_load(const struct code_source *s, const struct dso *dso, const struct symbol *sym,
		       uint64_t base, struct function_code *ret, struct error *why);
void function_code_release(struct function_code *c); /* accepts zeroes */

#endif
