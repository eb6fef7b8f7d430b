/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branch instructions of x86: kind, length, direct target.
 *
 * libipt gives the address and class of the last instruction of a block, but not these. Owns
 * nothing. Any thread may call.
 *
 * Source: Intel SDM, volume 2, "Instruction Format" and "Opcode Map".
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_BRANCH_H
#define RINGTAIL_AUXTRACE_INTEL_PT_BRANCH_H

#include <intel-pt.h>
#include <stdbool.h>

struct pt_branch {
	uint32_t flags; /* AUX_BRANCH, …; 0: the instruction does not branch */
	uint8_t len;	/* 0: unknown */
	bool direct;	/* @target is known */
	uint64_t target;
};

/* Describes the instruction of @size bytes at least, which libipt says is of @iclass. */
struct pt_branch pt_branch_decode(const uint8_t *bytes, size_t size, enum pt_exec_mode mode,
				  enum pt_insn_class iclass, uint64_t ip);

#endif
