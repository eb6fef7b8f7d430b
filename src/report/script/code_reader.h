/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the code of samples, as of their time, and decodes its instructions, for lines of script.
 *
 * Code comes from where decoders of hardware trace find it (auxtrace/code). The machine is that of
 * the file with the code; of kernel code, or without a file, that of the recording. One thread uses
 * a reader; readers share the code.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_CODE_READER_H
#define RINGTAIL_REPORT_SCRIPT_CODE_READER_H

#include "auxtrace/code/code.h"
#include "report/trace/frame.h"
#include "symbol/disasm/disasm.h"

#define CODE_INSN_MAX 16 /* bytes of an instruction, at most */

struct code_reader;

/*
 * @code outlives the reader. Returns 0 with *@ret for code_reader_free(), or -ENOMEM.
 */
int code_reader_new(const struct trace *t, const struct code_files *code, struct code_reader **ret);
void code_reader_free(struct code_reader *c); /* accepts NULL */

/* The mode of code at @addr: the kernel's addresses are in the upper half. */
uint8_t code_mode(uint64_t addr);

/*
 * Copies at most @len bytes of code at @addr, as the task of @ws had it, to @buf. Returns how many;
 * 0: the code is not known.
 */
size_t code_reader_read(const struct code_reader *c, const struct walk_sample *ws, uint64_t addr,
			void *buf, size_t len);

/* Returns what is mapped at the sampled address, without its symbols; NULL: nothing is known. */
const struct dso *code_reader_dso(const struct code_reader *c, const struct walk_sample *ws);

/* Returns whether the code of @dso is of a 64-bit machine. */
bool code_reader_is_64(struct code_reader *c, const struct dso *dso);

/*
 * Decodes the instruction at @at, whose code is in @bytes; without a dso it is of the recording's
 * machine. Returns false if it is none.
 */
bool code_reader_decode(struct code_reader *c, const struct frame *at, const uint8_t *bytes,
			size_t len, struct disasm_insn *ret);

/* Returns whether the instruction that code_reader_decode() filled may go on behind itself. */
bool code_falls_through(const struct code_reader *c, const struct disasm_insn *insn,
			const uint8_t *bytes);

#endif
