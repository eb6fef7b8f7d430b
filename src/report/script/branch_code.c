// SPDX-License-Identifier: Apache-2.0
#include "report/script/branch_code.h"

#include <string.h>

/* As in perf, a longer block is no block: the stack lacks a branch. */
#define BLOCK_MAX ((size_t)16384)
/* Where the newest branch went to a place behind the sample, so much code is shown. */
#define SCAN_MAX 128
/* Of a sample: thousands of branches that each span a block would make gigabytes of text. */
#define INSNS_MAX 16384u

struct code_walker {
	struct code_reader *code;
	struct frames *frames;
	const struct walk_sample *ws;
	branch_code_fn fn;
	void *arg;
	const struct symbol *sym; /* of the instruction before; NULL: none */
	const struct dso *dso;
	unsigned int cycles, left; /* @left: instructions that may still be given */
	uint8_t bytes[BLOCK_MAX + CODE_INSN_MAX];
};

static struct pd_branch branch_at(const struct pd_sample *p, uint64_t i)
{
	struct pd_branch b;

	memcpy(&b, &p->branches[i], sizeof(b));
	return b;
}

static bool is_kernel(uint64_t addr)
{
	return code_mode(addr) == PERF_RECORD_MISC_KERNEL;
}

/* Reads the code from @start to the end of the instruction at @end. */
static size_t read_block(struct code_walker *w, uint64_t start, uint64_t end)
{
	if (!start || !end || end < start || end - start > BLOCK_MAX - CODE_INSN_MAX)
		return 0;
	return code_reader_read(w->code, w->ws, start, w->bytes, end - start + CODE_INSN_MAX);
}

static struct frame frame_at(struct code_walker *w, uint64_t addr)
{
	struct frame ret;

	frames_resolve(w->frames, w->ws->s.pid, code_mode(addr), addr, w->ws->rec->at, &ret);
	if (w->frames->inlines != FRAMES_PLAIN)
		frames_find_line(w->frames, &ret);
	ret.line = 0;
	return ret;
}

/* Notes where another symbol begins. */
static void enter(struct code_walker *w, const struct frame *at)
{
	if (!at->sym || (at->sym == w->sym && at->dso == w->dso))
		return;
	w->sym = at->sym;
	w->dso = at->dso;
	w->fn(&(struct branch_code_line){.kind = BRANCH_CODE_SYMBOL, .at = *at}, w->arg);
}

/*
 * Gives the instruction at @addr, whose code is at @offset of @len bytes. Returns its length, or 0
 * if it is none.
 */
static size_t put_insn(struct code_walker *w, const struct frame *at, size_t offset, size_t len,
		       struct disasm_insn *insn, const struct pd_branch *branch, unsigned int insns)
{
	const uint8_t *bytes = w->bytes + offset;
	bool known = code_reader_decode(w->code, at, bytes, len - offset, insn);
	struct branch_code_line line = {
		.kind = branch ? BRANCH_CODE_JUMP : BRANCH_CODE_INSN,
		.at = *at,
		.bytes = bytes,
		.insn = known ? insn : NULL,
		.branch = branch,
	};

	if (branch && pd_branch_cycles(branch)) {
		w->cycles += pd_branch_cycles(branch);
		line.cycles = w->cycles;
		line.insns = insns;
	}
	w->fn(&line, w->arg);
	return known ? insn->size : 0;
}

/* The instructions from @start to the branch @b. */
static void walk_block(struct code_walker *w, uint64_t start, const struct pd_branch *b, size_t len)
{
	unsigned int insns = 0;
	struct disasm_insn insn;
	size_t offset, size;

	for (offset = 0; offset < len && w->left; offset += size, w->left--) {
		struct frame at = frame_at(w, start + offset);
		bool last = start + offset == b->from;

		enter(w, &at);
		insns++;
		size = put_insn(w, &at, offset, len, &insn, last ? b : NULL, insns);
		if (last || !size)
			break;
	}
	if (offset != b->from - start)
		w->fn(&(struct branch_code_line){.kind = BRANCH_CODE_MISMATCH}, w->arg);
}

/* The branch that is the oldest shown: where its block began is not known. */
static void walk_oldest(struct code_walker *w, const struct pd_branch *b)
{
	size_t len = read_block(w, b->from, b->from);
	struct disasm_insn insn;
	struct frame at;

	if (!len)
		return;
	at = frame_at(w, b->from);
	enter(w, &at);
	put_insn(w, &at, 0, len, &insn, b, 0);
}

/* The sampled instruction alone. */
static void walk_sampled(struct code_walker *w)
{
	uint64_t ip = w->ws->s.ip;
	size_t len = read_block(w, ip, ip);
	struct disasm_insn insn;
	struct frame at;

	if (!len)
		return;
	at = frame_at(w, ip);
	put_insn(w, &at, 0, len, &insn, NULL, 0);
}

/* From the newest branch to the sample. The hardware may have missed a branch in between. */
static void walk_newest(struct code_walker *w, uint64_t start)
{
	uint64_t ip = w->ws->s.ip, end = ip < start ? start + SCAN_MAX : ip;
	size_t len = is_kernel(start) == is_kernel(end) ? read_block(w, start, end) : 0, size;
	struct frame at = frame_at(w, start);
	struct disasm_insn insn;

	enter(w, &at);
	if (!len) {
		walk_sampled(w);
		return;
	}
	for (size_t offset = 0; offset < len && offset <= end - start; offset += size) {
		at = frame_at(w, start + offset);
		size = put_insn(w, &at, offset, len, &insn, NULL, 0);
		if (!size)
			return;
		if (start + offset != ip &&
		    !code_falls_through(w->code, &insn, w->bytes + offset)) {
			w->fn(&(struct branch_code_line){.kind = BRANCH_CODE_STOP}, w->arg);
			return;
		}
	}
}

void branch_code_each(struct code_reader *c, struct frames *f, const struct walk_sample *ws,
		      uint64_t max_blocks, branch_code_fn fn, void *arg)
{
	const struct pd_sample *p = &ws->s;
	uint64_t nr = p->branch_nr;
	struct pd_branch b;
	struct code_walker w;

	if (max_blocks && nr > max_blocks + 1)
		nr = max_blocks + 1;
	if (!nr)
		return;
	/* Without the bytes, which need no beginning. */
	w.code = c;
	w.frames = f;
	w.ws = ws;
	w.fn = fn;
	w.arg = arg;
	w.sym = NULL;
	w.dso = NULL;
	w.cycles = 0;
	w.left = INSNS_MAX;
	b = branch_at(p, nr - 1);
	walk_oldest(&w, &b);
	for (uint64_t i = nr - 1; i-- && w.left;) {
		uint64_t start = b.to;
		size_t len;

		b = branch_at(p, i);
		/* Branches into the kernel may be filtered, and those out of it not. */
		if (is_kernel(start) != is_kernel(b.from) && i > 0)
			b = branch_at(p, --i);
		len = is_kernel(start) == is_kernel(b.from) ? read_block(&w, start, b.from) : 0;
		if (len)
			walk_block(&w, start, &b, len);
	}
	if (w.left && b.from != p->ip && !(b.flags & PD_BRANCH_ABORT))
		walk_newest(&w, b.to);
}
