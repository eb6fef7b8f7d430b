// SPDX-License-Identifier: Apache-2.0
#include "symbol/disasm/access.h"

#include <string.h>

#include "symbol/disasm/disasm_priv.h"

/* General registers by DWARF number, of 8, 4, 2 and 1 bytes. */
static const uint16_t registers[ACCESS_REGS][5] = {
	{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
	{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
	{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
	{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
	{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
	{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
	{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
	{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
	{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
	{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
	{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
	{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
	{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
	{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
	{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
	{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
};

static int number_of(unsigned int reg)
{
	if (reg == X86_REG_INVALID)
		return ACCESS_NO_REG;
	for (int i = 0; i < ACCESS_REGS; i++)
		for (size_t k = 0; k < 5; k++)
			if (registers[i][k] == reg)
				return i;
	return ACCESS_NO_REG;
}

static void take_memory(const struct access *a, const cs_x86_op *op, struct access_memory *ret)
{
	*ret = (struct access_memory){
		.base = number_of(op->mem.base),
		.index = number_of(op->mem.index),
		.disp = op->mem.disp,
		.segment = op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS,
		.size = op->size,
	};
	if (op->mem.base == X86_REG_RIP) {
		ret->base = ACCESS_FIXED;
		ret->disp += (int64_t)(a->addr + a->size);
	} else if (op->mem.base == X86_REG_INVALID && op->mem.index == X86_REG_INVALID) {
		ret->base = ACCESS_FIXED;
	}
}

/* An instruction that names memory without reading or writing it. */
static bool is_address_only(unsigned int id)
{
	return id == X86_INS_LEA || id == X86_INS_NOP || id == X86_INS_PREFETCH ||
	       id == X86_INS_PREFETCHW || id == X86_INS_PREFETCHNTA || id == X86_INS_PREFETCHT0 ||
	       id == X86_INS_PREFETCHT1 || id == X86_INS_PREFETCHT2;
}

static bool is_compare(unsigned int id)
{
	return id == X86_INS_CMP || id == X86_INS_TEST || id == X86_INS_ADD || id == X86_INS_SUB ||
	       id == X86_INS_AND || id == X86_INS_INC || id == X86_INS_DEC;
}

static bool is_move(unsigned int id)
{
	return id == X86_INS_MOV || id == X86_INS_MOVABS;
}

/* Operands are in the order of Intel's syntax where @first is 0, else of AT&T's. */
static void take_move(const cs_insn *insn, size_t to_at, struct access *ret)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *to = &x->operands[to_at], *from = &x->operands[1 - to_at];
	int reg = to->type == X86_OP_REG ? number_of(to->reg) : ACCESS_NO_REG;

	if (reg == ACCESS_NO_REG || to->size != 8)
		return;
	ret->to = reg;
	if (insn->id == X86_INS_LEA && from->type == X86_OP_MEM)
		ret->move = ACCESS_ADDRESS;
	else if (is_move(insn->id) && from->type == X86_OP_MEM)
		ret->move = ACCESS_LOAD;
	else if (from->type == X86_OP_REG && number_of(from->reg) != ACCESS_NO_REG &&
		 (is_move(insn->id) || insn->id == X86_INS_ADD))
		ret->move = is_move(insn->id) ? ACCESS_COPY : ACCESS_INDEX;
	else if (from->type == X86_OP_IMM && (insn->id == X86_INS_ADD || insn->id == X86_INS_SUB))
		ret->move = ACCESS_ADD;
	if (ret->move == ACCESS_COPY || ret->move == ACCESS_INDEX)
		ret->from = number_of(from->reg);
	if (ret->move == ACCESS_ADD)
		ret->memory.disp = insn->id == X86_INS_ADD ? from->imm : -from->imm;
}

static uint16_t written(const struct disasm *d)
{
	cs_regs read, write;
	uint8_t nr_read = 0, nr_write = 0;
	uint16_t ret = 0;

	if (d->lib.cs_regs_access(d->cs, d->insn, read, &nr_read, write, &nr_write))
		return UINT16_MAX;
	for (uint8_t i = 0; i < nr_write; i++) {
		int reg = number_of(write[i]);

		if (reg != ACCESS_NO_REG)
			ret |= (uint16_t)(1u << reg);
	}
	return ret;
}

static void take_operands(const struct disasm *d, struct access *ret)
{
	const cs_insn *insn = d->insn;
	const cs_x86 *x = &insn->detail->x86;

	for (uint8_t i = 0; i < x->op_count; i++) {
		if (x->operands[i].type != X86_OP_MEM)
			continue;
		take_memory(ret, &x->operands[i], &ret->memory);
		ret->has_memory = !is_address_only(insn->id);
		ret->is_canary = ret->memory.segment && ret->memory.base == ACCESS_FIXED &&
				 ret->memory.disp == 0x28;
	}
	if (x->op_count == 2)
		take_move(insn, d->intel ? 0 : 1, ret);
}

static bool is_push_or_pop(unsigned int id)
{
	return id == X86_INS_PUSH || id == X86_INS_POP || id == X86_INS_PUSHFQ ||
	       id == X86_INS_POPFQ;
}

bool disasm_access(struct disasm *d, const uint8_t *code, size_t len, uint64_t addr,
		   struct access *ret)
{
	struct disasm_insn insn;

	disasm_next(d, code, len, addr, &insn);
	*ret = (struct access){
		.addr = addr,
		.size = insn.size,
		.kind = insn.kind,
		.to = ACCESS_NO_REG,
		.from = ACCESS_NO_REG,
		.goes_on = true,
	};
	if (!insn.known || !d->is_x86_64 || d->insn->address != addr || d->insn->size != insn.size)
		return false;
	ret->target = insn.has_target ? insn.target : 0;
	ret->is_conditional = insn.kind == DISASM_JUMP && d->insn->id != X86_INS_JMP &&
			      d->insn->id != X86_INS_LJMP;
	ret->goes_on = insn.kind == DISASM_OTHER || insn.kind == DISASM_CALL || ret->is_conditional;
	ret->is_stack = insn.kind == DISASM_CALL || insn.kind == DISASM_RETURN ||
			is_push_or_pop(d->insn->id);
	ret->is_compare = is_compare(d->insn->id);
	take_operands(d, ret);
	ret->writes = written(d);
	return true;
}
