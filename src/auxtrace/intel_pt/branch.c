// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/branch.h"

#include "auxtrace/decoder/decoder.h"

/* The bytes of an instruction, read one by one. */
struct pt_cursor {
	const uint8_t *bytes;
	size_t size, at;
	bool wide;    /* 64-bit mode */
	bool operand; /* an operand-size prefix was there */
	bool address; /* an address-size prefix was there */
	bool cut;     /* there were too few bytes */
};

static uint8_t take(struct pt_cursor *c)
{
	if (c->at < c->size)
		return c->bytes[c->at++];
	c->cut = true;
	return 0;
}

static int64_t take_signed(struct pt_cursor *c, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v |= (uint64_t)take(c) << (8 * i);
	return (int64_t)(v << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

/* Returns the first byte behind the prefixes. */
static uint8_t take_opcode(struct pt_cursor *c)
{
	for (;;) {
		uint8_t b = take(c);

		switch (b) {
		case 0x66: c->operand = true; continue;
		case 0x67: c->address = true; continue;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
		case 0xf2:
		case 0xf3: continue;
		}
		if (!c->wide || (b & 0xf0) != 0x40) /* REX */
			return b;
	}
}

/* Skips the operand in memory or a register; returns the field reg of ModRM. */
static unsigned int take_modrm(struct pt_cursor *c, enum pt_exec_mode mode)
{
	uint8_t modrm = take(c), mod = modrm >> 6, rm = modrm & 7;
	bool words = mode == ptem_16bit ? !c->address : mode == ptem_32bit && c->address;

	if (mod == 3)
		return modrm >> 3 & 7;
	if (words) {
		c->at += mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0;
	} else {
		bool sib = rm == 4;
		uint8_t base = sib ? take(c) & 7 : rm;

		c->at += mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0;
	}
	c->cut |= c->at > c->size;
	return modrm >> 3 & 7;
}

/* The size of an offset that is not of one byte. In 64-bit mode the prefix has no effect. */
static unsigned int offset_size(const struct pt_cursor *c, enum pt_exec_mode mode)
{
	if (mode == ptem_64bit)
		return 4;
	return (mode == ptem_16bit) == c->operand ? 4 : 2;
}

static void set_direct(struct pt_cursor *c, unsigned int bytes, enum pt_exec_mode mode, uint64_t ip,
		       struct pt_branch *ret)
{
	int64_t offset = take_signed(c, bytes);

	ret->direct = true;
	ret->target = ip + c->at + offset;
	if (mode != ptem_64bit)
		ret->target &= bytes == 2 ? UINT16_MAX : UINT32_MAX;
}

/* The opcodes behind 0x0f. */
static void decode_second(struct pt_cursor *c, enum pt_exec_mode mode, uint64_t ip,
			  struct pt_branch *ret)
{
	uint8_t op = take(c);

	switch (op) {
	case 0x01: /* VMCALL, VMLAUNCH, VMRESUME */
		op = take(c);
		ret->flags = AUX_BRANCH | AUX_CALL;
		ret->flags |= op == 0xc2 || op == 0xc3 ? AUX_VMENTRY : AUX_VMEXIT;
		break;
	case 0x05: /* SYSCALL, SYSENTER */
	case 0x34: ret->flags = AUX_BRANCH | AUX_CALL | AUX_SYSCALLRET; break;
	case 0x07: /* SYSRET, SYSEXIT */
	case 0x35: ret->flags = AUX_BRANCH | AUX_RETURN | AUX_SYSCALLRET; break;
	default:
		if ((op & 0xf0) == 0x80)
			set_direct(c, offset_size(c, mode), mode, ip, ret);
	}
}

static void decode_first(struct pt_cursor *c, enum pt_exec_mode mode, uint64_t ip,
			 struct pt_branch *ret)
{
	uint8_t op = take_opcode(c);

	switch (op) {
	case 0x0f: decode_second(c, mode, ip, ret); break;
	case 0xe8:
	case 0xe9: set_direct(c, offset_size(c, mode), mode, ip, ret); break;
	case 0xcd: /* INT */
		c->at++;
		/* fallthrough */
	case 0xcc:
	case 0xce:
	case 0xf1: ret->flags = AUX_BRANCH | AUX_CALL | AUX_INTERRUPT; break;
	case 0xcf: /* IRET */ ret->flags = AUX_BRANCH | AUX_RETURN | AUX_INTERRUPT; break;
	case 0x9a: /* far, with the address */
	case 0xea: c->at += offset_size(c, mode) + 2; break;
	case 0xc2: /* returns that release arguments */
	case 0xca: c->at += 2; break;
	case 0xff: take_modrm(c, mode); break;
	default:
		if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 || op == 0xeb)
			set_direct(c, 1, mode, ip, ret);
		else if (op != 0xc3 && op != 0xcb)
			c->cut = true; /* no branch that is known here */
	}
}

struct pt_branch pt_branch_decode(const uint8_t *bytes, size_t size, enum pt_exec_mode mode,
				  enum pt_insn_class iclass, uint64_t ip)
{
	static const uint32_t flags[] = {
		[ptic_call] = AUX_BRANCH | AUX_CALL,
		[ptic_return] = AUX_BRANCH | AUX_RETURN,
		[ptic_jump] = AUX_BRANCH,
		[ptic_cond_jump] = AUX_BRANCH | AUX_CONDITIONAL,
		[ptic_far_call] = AUX_BRANCH | AUX_CALL,
		[ptic_far_return] = AUX_BRANCH | AUX_RETURN,
		[ptic_far_jump] = AUX_BRANCH,
		[ptic_ptwrite] = 0,
	};
	struct pt_cursor c = {.bytes = bytes, .size = size, .wide = mode == ptem_64bit};
	struct pt_branch b = {0};

	if ((size_t)iclass < sizeof(flags) / sizeof(*flags))
		b.flags = flags[iclass];
	if (!b.flags)
		return b;
	decode_first(&c, mode, ip, &b);
	c.cut |= c.at > size;
	b.len = c.cut ? 0 : c.at;
	b.direct &= !c.cut;
	return b;
}
