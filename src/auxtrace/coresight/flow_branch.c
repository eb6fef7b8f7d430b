// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/coresight/flow.h"

#define SVC_MASK 0xffe0001fu
#define SVC	 0xd4000001u

/* Exceptions of ETMv4 and ETE (Arm IHI 0064, "Exception packets"). */
enum {
	V4_RESET = 0,
	V4_DEBUG_HALT = 1,
	V4_CALL = 2,
	V4_SYSTEM_ERROR = 4,
	V4_IRQ = 14,
	V4_FIQ = 15,
};

enum exception_class { CLASS_SYNC, CLASS_CALL, CLASS_ASYNC };

static uint32_t flags_of(const ocsd_generic_trace_elem *e)
{
	switch (e->last_i_subtype) {
	case OCSD_S_INSTR_BR_LINK: return AUX_BRANCH | AUX_CALL;
	case OCSD_S_INSTR_V7_IMPLIED_RET:
	case OCSD_S_INSTR_V8_RET: return AUX_BRANCH | AUX_RETURN;
	case OCSD_S_INSTR_V8_ERET: return AUX_BRANCH | AUX_RETURN | AUX_INTERRUPT;
	default: break;
	}
	return e->last_i_type == OCSD_INSTR_BR && e->last_instr_cond ? AUX_BRANCH | AUX_CONDITIONAL
								     : AUX_BRANCH;
}

struct cs_branch cs_branch_of_range(const ocsd_generic_trace_elem *range)
{
	struct cs_branch ret = {.ip = range->en_addr - range->last_instr_sz};

	if (!range->last_instr_exec ||
	    (range->last_i_type != OCSD_INSTR_BR && range->last_i_type != OCSD_INSTR_BR_INDIRECT))
		return ret;
	ret.flags = flags_of(range);
	ret.eret = range->last_i_subtype == OCSD_S_INSTR_V8_ERET;
	return ret;
}

static enum exception_class class_v4(uint32_t number)
{
	switch (number) {
	case V4_CALL: return CLASS_CALL;
	case V4_RESET:
	case V4_DEBUG_HALT:
	case V4_SYSTEM_ERROR:
	case V4_IRQ:
	case V4_FIQ: return CLASS_ASYNC;
	default: return CLASS_SYNC;
	}
}

static enum exception_class class_v3(uint32_t number)
{
	switch (number) {
	case Excp_SVC:
	case Excp_SMC:
	case Excp_Hyp: return CLASS_CALL;
	case Excp_Reset:
	case Excp_IRQ:
	case Excp_FIQ:
	case Excp_AsyncDAbort:
	case Excp_DebugHalt: return CLASS_ASYNC;
	default: return CLASS_SYNC;
	}
}

struct cs_branch cs_branch_of_exception(const struct cs_unit *unit,
					const ocsd_generic_trace_elem *exception, bool user,
					uint64_t last_ip, uint64_t last_end)
{
	bool v3 = unit->protocol == CS_ETMV3 || unit->protocol == CS_PTM;
	uint64_t back = exception->excep_ret_addr ? exception->en_addr : last_end;
	struct cs_branch ret = {.ip = back};

	switch (v3 ? class_v3(exception->exception_number)
		   : class_v4(exception->exception_number)) {
	case CLASS_CALL:
		/* The instruction that called lies before the return address. */
		if (back == last_end)
			ret.ip = last_ip;
		else if (back)
			ret.ip = back - 4;
		ret.flags = AUX_BRANCH | AUX_CALL | (user ? AUX_SYSCALLRET : AUX_INTERRUPT);
		break;
	case CLASS_ASYNC: ret.flags = AUX_BRANCH | AUX_CALL | AUX_ASYNC | AUX_INTERRUPT; break;
	case CLASS_SYNC: ret.flags = AUX_BRANCH | AUX_CALL | AUX_INTERRUPT; break;
	}
	return ret;
}

bool cs_is_svc(uint32_t insn)
{
	return (insn & SVC_MASK) == SVC;
}
