/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Location expressions as call frame information has them (DWARF 5, 2.5): what is computed from
 * registers and the recorded stack, in a straight line (branches are refused: nobody has them, and
 * so each expression ends). Any thread.
 */
#ifndef RINGTAIL_UNWIND_EXPR_H
#define RINGTAIL_UNWIND_EXPR_H

#include "unwind/row.h"

struct expr_frame {
	const struct unwind_arch *arch;
	const struct unwind_regs *regs;
	const struct unwind_stack *stack;
};

/*
 * @begin_with_cfa: the frame's CFA is on the stack of the evaluation at its begin. Returns 0 with
 * the topmost in *@ret, or -EINVAL: not to be computed from what is there.
 */
int expr_eval(const uint8_t *code, size_t len, const struct expr_frame *f, bool begin_with_cfa,
	      uint64_t *ret);

#endif
