// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/intel_pt/branch.h"
#include "auxtrace/intel_pt/setup.h"

/*
 * libipt decodes no instructions but those of a trace. So it is given one of a single PSB+: it says
 * where the code begins, and in which mode.
 */
enum {
	AT_MODE = PT_PSB_SIZE + 1,
	AT_IP = AT_MODE + 2,
	TRACE_LEN = AT_IP + 6 + 2,
};

static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *context)
{
	struct pt_blocks *b = context;
	int n = pt_pages_read(&b->pages, &b->task, b->time, ip, buffer, size);

	return n >= 0 ? n : n == -ENOMEM ? -pte_nomem : -pte_nomap;
}

int pt_blocks_init(struct pt_blocks *b)
{
	struct pt_config config;

	*b = (struct pt_blocks){0};
	pt_pages_init(&b->pages);
	for (unsigned int i = 0; i < PT_PSB_SIZE; i += 2)
		memcpy(b->trace + i, "\x02\x82", 2);
	b->trace[AT_MODE - 1] = 0x99;
	b->trace[AT_IP - 1] = 0x7d; /* FUP */
	memcpy(b->trace + AT_IP + 6, "\x02\x23", 2);
	pt_config_init(&config);
	config.begin = b->trace;
	config.end = b->trace + TRACE_LEN;
	b->slots = calloc(PT_BLOCK_SLOTS, sizeof(*b->slots));
	b->insns = pt_insn_alloc_decoder(&config);
	if (b->slots && b->insns &&
	    pt_image_set_callback(pt_insn_get_image(b->insns), read_code, b) >= 0)
		return 0;
	pt_blocks_release(b);
	return -ENOMEM;
}

void pt_blocks_release(struct pt_blocks *b)
{
	pt_insn_free_decoder(b->insns);
	pt_pages_release(&b->pages);
	free(b->slots);
	b->insns = NULL;
	b->slots = NULL;
}

/* Places libipt at @ip. Returns its status. */
static int go_to(struct pt_blocks *b, uint64_t ip, enum pt_exec_mode mode)
{
	struct pt_event event;
	int status;

	b->trace[AT_MODE] = mode == ptem_64bit ? 1 : mode == ptem_32bit ? 2 : 0;
	for (unsigned int i = 0; i < 6; i++)
		b->trace[AT_IP + i] = ip >> (8 * i);
	status = pt_insn_sync_set(b->insns, 0);
	while (status >= 0 && status & pts_event_pending)
		status = pt_insn_event(b->insns, &event, sizeof(event));
	return status;
}

static int errno_of(int status)
{
	switch (pt_errcode(status)) {
	case pte_nomem: return -ENOMEM;
	case pte_nomap: return -ENOENT;
	default: return -EILSEQ;
	}
}

static bool is_mov_cr3(const uint8_t *raw, unsigned int size)
{
	unsigned int i = 0;

	while (i < size && (raw[i] == 0x66 || (raw[i] & 0xf0) == 0x40))
		i++;
	return i + 3 <= size && raw[i] == 0x0f && raw[i + 1] == 0x22 && (raw[i + 2] >> 3 & 7) == 3;
}

static enum pt_end end_of(const struct pt_branch *branch, enum pt_insn_class iclass)
{
	switch (iclass) {
	case ptic_cond_jump: return PT_END_COND;
	case ptic_return: return PT_END_RETURN;
	case ptic_call: return branch->direct ? PT_END_CALL : PT_END_INDIRECT;
	case ptic_jump: return branch->direct ? PT_END_JUMP : PT_END_INDIRECT;
	default: return PT_END_FAR;
	}
}

/* Takes an instruction. Returns whether the block goes on behind it. */
static bool add_insn(struct pt_basic *block, const struct pt_insn *insn)
{
	struct pt_branch branch;

	block->at[block->insns++] = insn->ip - block->ip;
	block->last = insn->ip;
	block->next = insn->ip + insn->size;
	block->len = insn->size;
	memcpy(block->raw, insn->raw, insn->size);
	block->end = PT_END_NEXT;
	branch = pt_branch_decode(insn->raw, insn->size, insn->mode, insn->iclass, insn->ip);
	if (branch.flags) {
		block->flags = branch.flags;
		block->target = branch.target;
		block->end = end_of(&branch, insn->iclass);
		return false;
	}
	if (is_mov_cr3(insn->raw, insn->size)) {
		block->end = PT_END_CR3;
		return false;
	}
	return block->insns < PT_BLOCK_INSNS &&
	       !((block->next ^ block->ip) & ~(uint64_t)(PT_PAGE - 1));
}

static int decode(struct pt_blocks *b, struct pt_basic *block, uint64_t ip, enum pt_exec_mode mode)
{
	struct pt_insn insn;
	int status = go_to(b, ip, mode);

	*block = (struct pt_basic){.ip = ip, .mode = mode};
	while (status >= 0) {
		status = pt_insn_next(b->insns, &insn, sizeof(insn));
		/* At a branch it also says that the trace ends. */
		if (!insn.size || insn.iclass == ptic_error)
			break;
		if (!add_insn(block, &insn))
			return 0;
	}
	return block->insns ? 0 : errno_of(status);
}

/* The version of the page at @addr, or 0 with *@rc. */
static uint64_t version_at(struct pt_blocks *b, uint64_t addr, int *rc)
{
	const struct pt_page *page = pt_pages_get(&b->pages, &b->task, b->time, addr, rc);

	return page ? page->version : 0;
}

/* Takes the versions of the pages of @block. Returns whether they are those of before. */
static bool is_right(struct pt_blocks *b, struct pt_basic *block, int *rc)
{
	uint64_t first = version_at(b, block->ip, rc), last = first;

	if (first && ((block->next - 1) ^ block->ip) & ~(uint64_t)(PT_PAGE - 1))
		last = version_at(b, block->next - 1, rc);
	if (first && block->versions[0] == first && block->versions[1] == last)
		return true;
	block->versions[0] = first;
	block->versions[1] = last;
	return false;
}

const struct pt_basic *pt_blocks_make(struct pt_blocks *b, const struct aux_task *task,
				      uint64_t time, uint64_t ip, enum pt_exec_mode mode, int *rc)
{
	struct pt_basic *block = pt_blocks_slot(b, ip);

	b->task = *task;
	b->task.cpumode = ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	b->time = time;
	if (!block->insns || block->ip != ip || block->mode != mode || !is_right(b, block, rc)) {
		block->insns = 0;
		if (!version_at(b, ip, rc))
			return NULL;
		*rc = decode(b, block, ip, mode);
		if (*rc) {
			block->insns = 0;
			return NULL;
		}
		is_right(b, block, rc);
	}
	block->age = pt_pages_age(&b->pages, ip);
	return block;
}
