// SPDX-License-Identifier: Apache-2.0
#include "render/lines_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/text.h"
#include "report/script/branch_code.h"
#include "report/script/source_reader.h"

#define INSN_WIDTH 30 /* columns of the instruction of a branch, as in perf */

void lines_put_bytes(struct outbuf *out, const uint8_t *bytes, size_t nr)
{
	static const char digits[] = "0123456789abcdef";
	char *p = outbuf_room(out, 3 * nr);

	if (!p)
		return;
	for (size_t i = 0; i < nr; i++) {
		*p++ = ' ';
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 15];
	}
	out->b.len += 3 * nr;
}

void lines_put_insn(struct outbuf *out, const struct script_sample *s)
{
	if (s->fields & SCRIPT_INSNLEN)
		outbuf_format(out, " ilen: %u", s->insn_len);
	if (s->fields & SCRIPT_INSN && s->insn_len) {
		outbuf_text(out, " insn:");
		lines_put_bytes(out, s->insn, s->insn_len);
	}
	if (s->fields & SCRIPT_DISASM && s->insn_text) {
		outbuf_text(out, "\t\t");
		text_append(out, s->insn_text, 0);
	}
}

void lines_put_source(struct outbuf *out, const struct script_sample *s, const struct frame *f)
{
	const struct inline_frame *at = f->lines ? &f->lines->frame[f->line] : NULL;
	const char *colon = at && at->srcline ? strrchr(at->srcline, ':') : NULL, *text;
	unsigned int line = colon ? (unsigned int)strtoul(colon + 1, NULL, 10) : 0;
	size_t len;

	if (!line || !at->srcpath)
		return;
	text = source_reader_next(s->code->sources, s->ws->s.tid, at->srcpath, line, &len);
	if (!text)
		return;
	outbuf_format(out, "|%-8u ", line);
	if (text_escape_but_tabs(&out->b, text, len))
		out->failed = true;
	outbuf_char(out, '\n');
}

/* --- branch stacks -------------------------------------------------------------------------------
 */

struct put {
	struct outbuf *out;
	const struct script_sample *s;
};

static void put_symbol(const struct put *to, const struct frame *at)
{
	const struct symbol *sym = at->sym;
	const char *line = at->lines ? at->lines->frame[at->line].srcline : NULL;

	outbuf_char(to->out, '\t');
	text_append(to->out, sym->name, 0);
	if (at->addr != sym->start)
		outbuf_format(to->out, "+%" PRIu64, at->addr - sym->start);
	outbuf_char(to->out, ':');
	if (to->s->fields & SCRIPT_SRCLINE && line) {
		outbuf_char(to->out, '\t');
		text_append(to->out, line, 0);
	}
	outbuf_char(to->out, '\n');
}

/* "insn: " and the bytes, or the text of the instruction, if that is wanted. */
static void put_text(const struct put *to, const struct branch_code_line *line)
{
	size_t begin = to->out->b.len, width;

	if (!line->insn) {
		outbuf_text(to->out, "<bad>");
	} else if (to->s->fields & SCRIPT_BRSTACKDISASM) {
		text_append(to->out, line->insn->text, 0);
	} else {
		outbuf_text(to->out, "insn:");
		lines_put_bytes(to->out, line->bytes, line->insn->size);
		outbuf_char(to->out, ' ');
	}
	width = to->out->b.len - begin;
	if (line->kind == BRANCH_CODE_JUMP && width < INSN_WIDTH)
		outbuf_repeated(to->out, ' ', INSN_WIDTH - width);
}

static void put_branch(struct outbuf *out, const struct branch_code_line *line)
{
	uint64_t flags = line->branch->flags;
	unsigned int cycles = pd_branch_cycles(line->branch);

	outbuf_format(out, "#%s%s%s%s", flags & PD_BRANCH_PREDICTED ? " PRED" : "",
		      flags & PD_BRANCH_MISPREDICTED ? " MISPRED" : "",
		      flags & PD_BRANCH_IN_TX ? " INTX" : "",
		      flags & PD_BRANCH_ABORT ? " ABORT" : "");
	if (cycles)
		outbuf_format(out, " %u cycles [%u]", cycles, line->cycles);
	if (cycles && line->insns)
		outbuf_format(out, " %.2f IPC", (double)line->insns / cycles);
}

static void put_insn_line(const struct put *to, const struct branch_code_line *line)
{
	bool jump = line->kind == BRANCH_CODE_JUMP;

	outbuf_format(to->out, "\t%016" PRIx64 "\t", line->at.ip);
	put_text(to, line);
	if (jump)
		outbuf_char(to->out, '\t');
	if (to->s->fields & SCRIPT_BRSTACKINSNLEN)
		outbuf_format(to->out, "%silen: %u%s", jump ? "" : "\t",
			      line->insn ? line->insn->size : 0, jump ? "\t" : "");
	if (jump)
		put_branch(to->out, line);
	outbuf_char(to->out, '\n');
	if (to->s->fields & SCRIPT_SRCCODE)
		lines_put_source(to->out, to->s, &line->at);
}

static void put_line(const struct branch_code_line *line, void *arg)
{
	const struct put *to = arg;

	switch (line->kind) {
	case BRANCH_CODE_SYMBOL: put_symbol(to, &line->at); break;
	case BRANCH_CODE_INSN:
	case BRANCH_CODE_JUMP: put_insn_line(to, line); break;
	case BRANCH_CODE_MISMATCH:
		outbuf_text(to->out, "\tmismatch of LBR data and executable\n");
		break;
	case BRANCH_CODE_STOP: outbuf_text(to->out, "\t... not reaching sample ...\n"); break;
	}
}

void lines_put_branch_code(struct outbuf *out, const struct script_sample *s)
{
	struct put to = {out, s};

	if (!s->ws->s.branch_nr)
		return;
	outbuf_char(out, '\n');
	branch_code_each(s->code->reader, s->code->frames, s->ws, s->code->max_blocks, put_line,
			 &to);
}
