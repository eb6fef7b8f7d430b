/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basic blocks of code, decoded once by libipt and kept.
 *
 * A block ends at the first branch, at the end of a page, or after PT_BLOCK_INSNS instructions. It
 * is used as long as the pages that it was decoded from have the same bytes (pages.h).
 *
 * One thread at a time uses the blocks. pt_blocks_release() accepts an all-zero struct.
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_BLOCKS_H
#define RINGTAIL_AUXTRACE_INTEL_PT_BLOCKS_H

#include <intel-pt.h>

#include "auxtrace/intel_pt/pages.h"

#define PT_BLOCK_INSNS 32u

/* How a block ends. */
enum pt_end {
	PT_END_NEXT, /* the code goes on behind it */
	PT_END_JUMP, /* at @target */
	PT_END_CALL, /* at @target */
	PT_END_COND, /* at @target, or behind it */
	PT_END_RETURN,
	PT_END_INDIRECT, /* a near jump or call, by a register or by memory */
	PT_END_FAR,
	PT_END_CR3, /* goes on, unless tracing ends with the address space */
};

struct pt_basic {
	/* What a walk reads comes first, in one line of the CPU's cache. */
	uint64_t ip;		     /* of the first instruction */
	uint64_t age;		     /* pt_pages_age() when it was known to be right */
	uint64_t next;		     /* behind the last instruction */
	uint64_t target;	     /* PT_END_JUMP, _CALL, _COND */
	uint64_t last;		     /* of the last one */
	uint32_t flags;		     /* of the last instruction: AUX_BRANCH, … */
	uint8_t insns;		     /* 0: the slot is empty */
	uint8_t end;		     /* enum pt_end */
	uint8_t mode;		     /* enum pt_exec_mode */
	uint8_t len;		     /* of the last instruction */
	uint8_t raw[16];	     /* of the last instruction */
	uint64_t versions[2];	     /* of its first page, and of its last if that is another one */
	uint16_t at[PT_BLOCK_INSNS]; /* where each instruction begins, from @ip */
};

struct pt_blocks {
	struct pt_pages pages;
	struct pt_basic *slots;
	struct pt_insn_decoder *insns;
	uint8_t trace[32]; /* which it decodes */
	struct aux_task task;
	uint64_t time; /* whose and when code is */
};

/* Returns 0 or -ENOMEM. */
int pt_blocks_init(struct pt_blocks *b);
void pt_blocks_release(struct pt_blocks *b);

/*
 * Returns the block at @ip, NULL with *@rc: -ENOENT where code is missing (pages.missing says of
 * which file), -EILSEQ where it is no code, or -ENOMEM. The block is valid until the next call.
 */
const struct pt_basic *pt_blocks_make(struct pt_blocks *b, const struct aux_task *task,
				      uint64_t time, uint64_t ip, enum pt_exec_mode mode, int *rc);

#define PT_BLOCK_SLOTS 2048u

/* Returns the only slot where the block at @ip may be. */
static inline struct pt_basic *pt_blocks_slot(const struct pt_blocks *b, uint64_t ip)
{
	return &b->slots[(ip ^ ip >> 11) % PT_BLOCK_SLOTS];
}

/* Returns the block at @ip if it is there and known to be right, or NULL. */
static inline const struct pt_basic *pt_blocks_known(const struct pt_blocks *b, uint64_t ip,
						     enum pt_exec_mode mode)
{
	const struct pt_basic *block = pt_blocks_slot(b, ip);

	return block->ip == ip && block->insns && block->mode == mode &&
			       block->age == pt_pages_age(&b->pages, ip)
		       ? block
		       : NULL;
}

/* As pt_blocks_make(), which is called unless the block is there. */
static inline const struct pt_basic *pt_blocks_get(struct pt_blocks *b, const struct aux_task *task,
						   uint64_t time, uint64_t ip,
						   enum pt_exec_mode mode, int *rc)
{
	const struct pt_basic *block = pt_blocks_known(b, ip, mode);

	return block ?: pt_blocks_make(b, task, time, ip, mode, rc);
}

#endif
