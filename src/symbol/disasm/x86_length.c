// SPDX-License-Identifier: Apache-2.0
/*
 * Lengths of x86 instructions with VEX and EVEX prefixes, which are regular.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, 2.3 and 2.7, and
 * appendix A.
 */
#include "symbol/disasm/disasm.h"

#define X86_MAX 15 /* bytes of an instruction */

/* Returns the bytes of the ModRM byte @modrm, of a SIB byte behind it, and of the displacement. */
static size_t operand_length(uint8_t modrm, uint8_t sib)
{
	uint8_t mod = modrm >> 6, rm = modrm & 7;
	size_t n = 1;

	if (mod == 3)
		return n;
	n += rm == 4;
	if (mod == 1)
		n += 1;
	else if (mod == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5))
		n += 4;
	return n;
}

/* Returns whether one byte of an immediate follows the operand. */
static bool has_immediate(unsigned int map, uint8_t opcode)
{
	if (map == 3)
		return true;
	if (map != 1)
		return false;
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
	       (opcode >= 0xc4 && opcode <= 0xc6);
}

size_t disasm_x86_vex_length(const uint8_t *code, size_t len)
{
	size_t at = 0, n;
	unsigned int map;
	uint8_t opcode, prefix;

	/* Segment and address-size prefixes may stand before. */
	while (at < len && at < X86_MAX &&
	       (code[at] == 0x64 || code[at] == 0x65 || code[at] == 0x67 || code[at] == 0x2e ||
		code[at] == 0x36 || code[at] == 0x3e || code[at] == 0x26))
		at++;
	if (len - at < 4)
		return 0;
	prefix = code[at];
	switch (prefix) {
	case 0xc5:
		map = 1;
		at += 2;
		break;
	case 0xc4:
		map = code[at + 1] & 0x1f;
		at += 3;
		break;
	case 0x62:
		map = code[at + 1] & 0x07;
		at += 4;
		break;
	default: return 0;
	}
	if (map < 1 || map > 6 || map == 4 || at >= len)
		return 0;
	opcode = code[at++];
	if (map == 1 && opcode == 0x77 && prefix != 0x62)
		return at; /* vzeroupper and vzeroall have no operand */
	if (at >= len)
		return 0;
	n = operand_length(code[at], at + 1 < len ? code[at + 1] : 0);
	n += at + has_immediate(map, opcode);
	return n <= len && n <= X86_MAX ? n : 0;
}
