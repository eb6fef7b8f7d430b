/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the instruction flow: which branch an element of libopencsd tells of.
 *
 * Pure; any thread.
 */
#ifndef RINGTAIL_AUXTRACE_CORESIGHT_FLOW_H
#define RINGTAIL_AUXTRACE_CORESIGHT_FLOW_H

#include <opencsd/c_api/opencsd_c_api.h>

#include "auxtrace/coresight/setup.h"

/* A branch whose target the next element tells. */
struct cs_branch {
	uint64_t ip;
	uint32_t flags; /* AUX_BRANCH, …; 0: none */
	bool eret;	/* its target says of which kind it is */
};

/* Returns the branch at the end of a range of instructions; its flags are 0 if none was taken. */
struct cs_branch cs_branch_of_range(const ocsd_generic_trace_elem *range);

/*
 * Returns the branch that an exception is. @user: it is taken in user code. @last_ip is the last
 * instruction before it, @last_end the place behind that.
 */
struct cs_branch cs_branch_of_exception(const struct cs_unit *unit,
					const ocsd_generic_trace_elem *exception, bool user,
					uint64_t last_ip, uint64_t last_end);

/* Returns whether the A64 instruction @insn is SVC. */
bool cs_is_svc(uint32_t insn);

#endif
