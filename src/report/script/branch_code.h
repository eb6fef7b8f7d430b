/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that a branch stack says were executed: from where each branch went to the next
 * one, and from the newest branch to the sample.
 *
 * Source: perf-script(1), brstackinsn, and the lines of perf 7.2.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_BRANCH_CODE_H
#define RINGTAIL_REPORT_SCRIPT_BRANCH_CODE_H

#include "report/script/code_reader.h"

enum branch_code_kind {
	BRANCH_CODE_SYMBOL,   /* the code of another symbol begins at @at */
	BRANCH_CODE_INSN,     /* an instruction */
	BRANCH_CODE_JUMP,     /* an instruction whose branch is @branch */
	BRANCH_CODE_MISMATCH, /* the instructions of a block do not end at its branch */
	BRANCH_CODE_STOP,     /* a branch that the stack lacks stands before the sample */
};

struct branch_code_line {
	enum branch_code_kind kind;
	struct frame at;
	const uint8_t *bytes;		/* of the instruction */
	const struct disasm_insn *insn; /* NULL: the bytes are none */
	const struct pd_branch *branch;
	unsigned int insns;  /* of JUMP: of its block; 0: not known */
	unsigned int cycles; /* of JUMP: of its block and all before; 0: not known */
};

typedef void (*branch_code_fn)(const struct branch_code_line *line, void *arg);

/*
 * Calls @fn for each line of the branch stack of @ws, in the order of time, of which the newest
 * @max_blocks blocks count (0: all). After 16384 instructions it ends with MISMATCH. @f resolves
 * symbols.
 */
void branch_code_each(struct code_reader *c, struct frames *f, const struct walk_sample *ws,
		      uint64_t max_blocks, branch_code_fn fn, void *arg);

#endif
