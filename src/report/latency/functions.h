/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for functions, and for what takes the place of one in a call tree.
 *
 * Memory: about 80 bytes for each. One thread. All zero: none.
 */
#ifndef RINGTAIL_REPORT_LATENCY_FUNCTIONS_H
#define RINGTAIL_REPORT_LATENCY_FUNCTIONS_H

#include "auxtrace/itrace/callstack.h"
#include "report/trace/frame.h"

struct function {
	const struct dso *dso; /* NULL: unknown */
	const char *name; /* lives as long as the resolver; "[unknown]", "[system call]", … */
	bool is_symbol;
	uint32_t wanted; /* for the owner; 0 at first */
};

struct function_list {
	struct id_table numbers; /* by symbol, by dso, or of a place outside of code */
	struct function *list;
	size_t cap;
};

/*
 * Finds the number of the function that @frame entered; @at is where @frame->entry is, if that is
 * known. Returns it, or ID_TABLE_NONE if memory runs out.
 */
uint32_t functions_find(struct function_list *f, const struct callstack_frame *frame,
			const struct frame *at);

/* Returns whether @name is that of @f, as it is or without its parameters. */
bool function_has_name(const struct function *f, const char *name);

void functions_release(struct function_list *f); /* accepts zeroes */

#endif
