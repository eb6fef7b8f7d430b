/* SPDX-License-Identifier: Apache-2.0 */
/* Code in lines of script: instructions of branch stacks, and lines of source. Any thread. */
#ifndef RINGTAIL_RENDER_LINES_CODE_H
#define RINGTAIL_RENDER_LINES_CODE_H

#include "base/outbuf.h"
#include "report/script/script.h"

/* As printf(" %02x") for each byte. */
void lines_put_bytes(struct outbuf *out, const uint8_t *bytes, size_t nr);

/* The fields insn, insnlen and disasm. */
void lines_put_insn(struct outbuf *out, const struct script_sample *s);

/* A line for each instruction of the sample's branch stack, behind a newline. */
void lines_put_branch_code(struct outbuf *out, const struct script_sample *s);

/* The line of source of @f, with its end, unless its thread had it last. */
void lines_put_source(struct outbuf *out, const struct script_sample *s, const struct frame *f);

#endif
