// SPDX-License-Identifier: Apache-2.0
#include "symbol/disasm/disasm.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/disasm/disasm_priv.h"
#include "symbol/disasm/x86_evex.h"

#ifndef EM_RISCV
#define EM_RISCV 243
#endif

#define X86_MAX 15 /* bytes of an instruction */

struct machine_row {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode32, mode64;
	size_t unit;
	bool by_endian; /* the mode depends on the byte order */
};

static const struct machine_row machines[] = {
	{EM_X86_64, CS_ARCH_X86, CS_MODE_64, CS_MODE_64, 1, false},
	{EM_386, CS_ARCH_X86, CS_MODE_32, CS_MODE_32, 1, false},
	{EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, CS_MODE_ARM, 4, false},
	{EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, CS_MODE_ARM, 4, true},
	{EM_PPC, CS_ARCH_PPC, CS_MODE_32, CS_MODE_32, 4, true},
	{EM_PPC64, CS_ARCH_PPC, CS_MODE_64, CS_MODE_64, 4, true},
	{EM_MIPS, CS_ARCH_MIPS, CS_MODE_MIPS32, CS_MODE_MIPS64, 4, true},
	{EM_S390, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, CS_MODE_BIG_ENDIAN, 2, false},
	{EM_SPARCV9, CS_ARCH_SPARC, CS_MODE_BIG_ENDIAN, CS_MODE_V9, 4, true},
#if CS_API_MAJOR >= 5
	{EM_RISCV, CS_ARCH_RISCV, CS_MODE_RISCV32 | CS_MODE_RISCVC,
	 CS_MODE_RISCV64 | CS_MODE_RISCVC, 2, false},
#endif
};

static const struct machine_row *find_machine(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

static int no_machine(uint16_t machine, struct error *err)
{
	return error_set(err, -ENOTSUP,
			 "Capstone %d.%d cannot disassemble code of machine %u (e_machine)",
			 CS_API_MAJOR, CS_API_MINOR, machine);
}

int disasm_new(const struct disasm_machine *m, enum disasm_syntax syntax, struct disasm **ret,
	       struct error *err)
{
	const struct machine_row *row = find_machine(m->machine);
	struct disasm *d;
	cs_mode mode;
	cs_err rc;

	if (!row)
		return no_machine(m->machine, err);
	mode = m->is_64 ? row->mode64 : row->mode32;
	if (row->by_endian && m->big_endian)
		mode |= CS_MODE_BIG_ENDIAN;
	d = calloc(1, sizeof(*d));
	if (!d)
		return error_set(err, -ENOMEM, "out of memory");
	if (capstone_load(&d->lib, err)) {
		free(d);
		return -ELIBACC;
	}
	d->unit = row->unit;
	d->is_x86 = row->arch == CS_ARCH_X86;
	d->is_x86_64 = d->is_x86 && mode == CS_MODE_64;
	d->intel = syntax == DISASM_INTEL;
	d->is_arm64 = row->arch == CS_ARCH_ARM64;
	d->big_endian = m->big_endian;
	rc = d->lib.cs_open(row->arch, mode, &d->cs);
	if (rc) {
		free(d);
		return rc == CS_ERR_MEM ? error_set(err, -ENOMEM, "out of memory")
					: no_machine(m->machine, err);
	}
	d->lib.cs_option(d->cs, CS_OPT_DETAIL, CS_OPT_ON);
	if (d->is_x86 && syntax != DISASM_INTEL)
		d->lib.cs_option(d->cs, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d->insn = d->lib.cs_malloc(d->cs);
	if (!d->insn) {
		disasm_free(d);
		return error_set(err, -ENOMEM, "out of memory");
	}
	*ret = d;
	return 0;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		d->lib.cs_free(d->insn, 1);
	d->lib.cs_close(&d->cs);
	free(d);
}

static void find_data(const struct disasm *d, struct disasm_insn *ret)
{
	const cs_x86 *x86 = &d->insn->detail->x86;

	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP)
			continue;
		ret->has_data = true;
		ret->data = ret->addr + ret->size + (uint64_t)op->mem.disp;
	}
}

/* Decodes what is known with another prefix. Returns whether it is. */
static bool is_evex(struct disasm *d, const uint8_t *code, size_t len, struct disasm_insn *ret)
{
	struct evex e;
	const uint8_t *p = e.code;
	uint64_t at = ret->addr;
	char operands[160];
	size_t left;

	if (!d->is_x86_64 || !evex_to_vex(code, len, &e))
		return false;
	left = e.len;
	if (!d->lib.cs_disasm_iter(d->cs, &p, &left, &at, d->insn) || left)
		return false;
	ret->size = (uint8_t)disasm_x86_vex_length(code, len);
	ret->known = true;
	evex_operands(&e, d->insn->op_str, d->intel, operands, sizeof(operands));
	snprintf(ret->text, sizeof(ret->text), "%-6s %s", d->insn->mnemonic, operands);
	find_data(d, ret);
	return true;
}

/*
 * Decodes vbroadcasti128, which Capstone 4 lacks of AVX2: its operands are those of vbroadcastf128,
 * opcode 1A. Returns whether it is.
 */
static bool is_broadcast(struct disasm *d, const uint8_t *code, size_t len, struct disasm_insn *ret)
{
	uint8_t other[X86_MAX];
	const uint8_t *p = other;
	uint64_t at = ret->addr;
	size_t size = disasm_x86_vex_length(code, len), left = size;

	if (!d->is_x86_64 || !size || code[0] != 0xc4 || (code[1] & 0x1f) != 2 ||
	    (code[2] & 3) != 1 || code[3] != 0x5a)
		return false;
	memcpy(other, code, size);
	other[3] = 0x1a;
	if (!d->lib.cs_disasm_iter(d->cs, &p, &left, &at, d->insn) || left)
		return false;
	ret->size = (uint8_t)size;
	ret->known = true;
	snprintf(ret->text, sizeof(ret->text), "vbroadcasti128 %s", d->insn->op_str);
	find_data(d, ret);
	return true;
}

/* Arm64 code is little-endian also where data are not. */
static bool is_atomic(const struct disasm *d, const uint8_t *code, struct disasm_insn *ret)
{
	uint32_t w = 0;

	if (!d->is_arm64 || ret->size != 4)
		return false;
	for (size_t i = 0; i < 4; i++)
		w |= (uint32_t)code[i] << 8 * i;
	return disasm_arm64_atomic(w, ret->text, sizeof(ret->text));
}

/* Writes a directive with the bytes that were not decoded. */
static void put_bytes(const struct disasm *d, const uint8_t *code, struct disasm_insn *ret)
{
	size_t n = 0;

	ret->known = false;
	ret->kind = DISASM_OTHER;
	if (d->unit == 4 && ret->size == 4) {
		uint32_t w = 0;

		for (size_t i = 0; i < 4; i++)
			w |= (uint32_t)code[i] << (d->big_endian ? 24 - 8 * i : 8 * i);
		snprintf(ret->text, sizeof(ret->text), ".inst  0x%08x", w);
		return;
	}
	n = (size_t)snprintf(ret->text, sizeof(ret->text), ".byte ");
	for (size_t i = 0; i < ret->size; i++)
		n += (size_t)snprintf(ret->text + n, sizeof(ret->text) - n, "%s0x%02x",
				      i ? "," : " ", code[i]);
}

static size_t unknown_length(const struct disasm *d, const uint8_t *code, size_t len)
{
	size_t n = d->is_x86_64 ? disasm_x86_vex_length(code, len) : 0;

	if (!n)
		n = d->unit;
	return n < len ? n : len;
}

static enum disasm_kind kind_of(const struct disasm *d)
{
	if (d->lib.cs_insn_group(d->cs, d->insn, CS_GRP_CALL))
		return DISASM_CALL;
	if (d->lib.cs_insn_group(d->cs, d->insn, CS_GRP_RET))
		return DISASM_RETURN;
	return d->lib.cs_insn_group(d->cs, d->insn, CS_GRP_JUMP) ? DISASM_JUMP : DISASM_OTHER;
}

/*
 * Finds the target of a branch: the last operand, if it is a plain number. Capstone writes absolute
 * addresses.
 */
static bool target_of(const cs_insn *insn, uint64_t *ret)
{
	const char *last = strrchr(insn->op_str, ',');
	char *end;

	last = last ? last + 1 : insn->op_str;
	last += strspn(last, " #$");
	if (strncmp(last, "0x", 2) != 0 && !(*last >= '0' && *last <= '9'))
		return false;
	errno = 0;
	*ret = strtoull(last, &end, 0);
	return !*end && !errno;
}

/* Arm: "bl" and "blr" are calls, which Capstone 4 counts as jumps. */
static bool is_arm_call(const cs_insn *insn)
{
	return !strcmp(insn->mnemonic, "bl") || !strcmp(insn->mnemonic, "blr") ||
	       !strcmp(insn->mnemonic, "blx");
}

void disasm_next(struct disasm *d, const uint8_t *code, size_t len, uint64_t addr,
		 struct disasm_insn *ret)
{
	const uint8_t *p = code;
	uint64_t at = addr;
	size_t left = len;
	const cs_insn *insn = d->insn;

	*ret = (struct disasm_insn){.addr = addr};
	/* Of some Capstone 4 reads the index register wrong, so these come first. */
	if (is_evex(d, code, len, ret))
		return;
	if (!d->lib.cs_disasm_iter(d->cs, &p, &left, &at, d->insn) || !insn->size ||
	    insn->size > len) {
		if (is_broadcast(d, code, len, ret))
			return;
		ret->size = (uint8_t)unknown_length(d, code, len);
		ret->known = is_atomic(d, code, ret);
		if (!ret->known)
			put_bytes(d, code, ret);
		return;
	}
	ret->size = (uint8_t)insn->size;
	ret->known = true;
	ret->kind = kind_of(d);
	if (!d->is_x86 && is_arm_call(insn))
		ret->kind = DISASM_CALL;
	if (ret->kind == DISASM_JUMP || ret->kind == DISASM_CALL)
		ret->has_target = target_of(insn, &ret->target);
	if (d->is_x86_64)
		find_data(d, ret);
	if (d->is_x86_64 && *code == 0x62 && !strstr(insn->mnemonic, "gather") &&
	    !strstr(insn->mnemonic, "scatter"))
		evex_correct_index(d->insn->op_str);
	if (*insn->op_str)
		snprintf(ret->text, sizeof(ret->text), "%-6s %s", insn->mnemonic, insn->op_str);
	else
		snprintf(ret->text, sizeof(ret->text), "%s", insn->mnemonic);
}
