/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates location expressions of call frame information (DWARF 5, 2.5) from registers and the
 * recorded stack. Branches are refused: no known file has them, and without them each expression
 * ends. Any thread.
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
 * Evaluates @code. With @begin_with_cfa the frame's CFA is on the stack at the start. Returns 0
 * with the topmost value in *@ret, or -EINVAL if the known values do not suffice or the code is
 * bad.
 */
int expr_eval(const uint8_t *code, size_t len, const struct expr_frame *f, bool begin_with_cfa,
	      uint64_t *ret);

#endif
