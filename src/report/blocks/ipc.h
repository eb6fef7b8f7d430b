/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IPC: instructions per cycle of functions, by their basic blocks and their code.
 *
 * Only blocks with a known beginning count, and only where the code has instructions at both ends.
 * One thread. Symbols are borrowed.
 */
#ifndef RINGTAIL_REPORT_BLOCKS_IPC_H
#define RINGTAIL_REPORT_BLOCKS_IPC_H

#include "report/blocks/blocks.h"
#include "symbol/code/code.h"

/* Bytes of code that are decoded for a list; the functions with most cycles come first. */
#define IPC_CODE_MAX ((uint64_t)64 << 20)

struct ipc {
	const struct symbol *sym;
	double insns, cycles; /* of all times that blocks ran; no cycles: not known */
	uint64_t covered;     /* instructions in these blocks … */
	uint64_t all;	      /* … and in the function; 0: its code is not known */
};

/* All zero: empty. */
struct ipc_list {
	struct ipc *ipc; /* by address of the symbol */
	size_t nr;
};

/*
 * Fills @ret, an empty list, with each function that has a block of @b, which blocks_sort() has
 * ordered. The code is read from @s. Returns 0 or -ENOMEM; free @ret also after failure.
 */
int ipc_list_make(const struct blocks *b, const struct code_source *s, struct ipc_list *ret);

/* Returns the function's, or NULL: it has no block. */
const struct ipc *ipc_list_find(const struct ipc_list *list, const struct symbol *sym);

void ipc_list_release(struct ipc_list *list); /* accepts zeroes */

#endif
