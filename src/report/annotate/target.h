/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target: the function that a jump or a call leads to.
 *
 * Any thread may ask. Symbols and dsos are borrowed from the trace.
 */
#ifndef RINGTAIL_REPORT_ANNOTATE_TARGET_H
#define RINGTAIL_REPORT_ANNOTATE_TARGET_H

#include "symbol/code/code.h"

struct annotate_target {
	const struct symbol *sym;
	const struct dso *dso;
	uint64_t addr; /* in the dso, as in struct location */
};

/*
 * Finds the function at @addr, which is as in the file that has the code @c of @dso. Returns
 * whether it is known. Of a JIT none is: each of its functions has a place of its own.
 */
bool annotate_target_find(const struct code_source *s, struct resolver *r, const struct dso *dso,
			  const struct function_code *c, uint64_t addr,
			  struct annotate_target *ret);

#endif
