// SPDX-License-Identifier: Apache-2.0
#include "symbol/disasm/x86_evex.h"

#include <stdio.h>
#include <string.h>

#include "symbol/disasm/disasm.h"

#define STAND_REG  1
#define STAND_VVVV 2
#define STAND_RM   3

enum evex_tuple {
	TUPLE_FULL, /* memory is as wide as the registers */
	TUPLE_128,  /* always 16 bytes */
};

static const struct evex_row {
	uint8_t map, prefix, opcode; /* prefix as in EVEX: 1 is 66, 2 F3, 3 F2 */
	enum evex_tuple tuple;
} rows[] = {
	{1, 1, 0x60, TUPLE_FULL}, {1, 1, 0x61, TUPLE_FULL}, {1, 1, 0x63, TUPLE_FULL},
	{1, 1, 0x67, TUPLE_FULL}, {1, 1, 0x68, TUPLE_FULL}, {1, 1, 0x69, TUPLE_FULL},
	{1, 1, 0x6b, TUPLE_FULL}, {1, 2, 0x70, TUPLE_FULL}, {1, 3, 0x70, TUPLE_FULL},
	{1, 1, 0x71, TUPLE_FULL}, {1, 1, 0xd1, TUPLE_128},  {1, 1, 0xd5, TUPLE_FULL},
	{1, 1, 0xd8, TUPLE_FULL}, {1, 1, 0xd9, TUPLE_FULL}, {1, 1, 0xda, TUPLE_FULL},
	{1, 1, 0xdc, TUPLE_FULL}, {1, 1, 0xdd, TUPLE_FULL}, {1, 1, 0xde, TUPLE_FULL},
	{1, 1, 0xe0, TUPLE_FULL}, {1, 1, 0xe1, TUPLE_128},  {1, 1, 0xe3, TUPLE_FULL},
	{1, 1, 0xe4, TUPLE_FULL}, {1, 1, 0xe5, TUPLE_FULL}, {1, 1, 0xe8, TUPLE_FULL},
	{1, 1, 0xe9, TUPLE_FULL}, {1, 1, 0xea, TUPLE_FULL}, {1, 1, 0xec, TUPLE_FULL},
	{1, 1, 0xed, TUPLE_FULL}, {1, 1, 0xee, TUPLE_FULL}, {1, 1, 0xf1, TUPLE_128},
	{1, 1, 0xf5, TUPLE_FULL}, {1, 1, 0xf6, TUPLE_FULL}, {1, 1, 0xf8, TUPLE_FULL},
	{1, 1, 0xf9, TUPLE_FULL}, {1, 1, 0xfc, TUPLE_FULL}, {1, 1, 0xfd, TUPLE_FULL},
	{2, 1, 0x00, TUPLE_FULL}, {2, 1, 0x04, TUPLE_FULL}, {2, 1, 0x0b, TUPLE_FULL},
	{2, 1, 0x1c, TUPLE_FULL}, {2, 1, 0x1d, TUPLE_FULL}, {2, 1, 0x2b, TUPLE_FULL},
	{2, 1, 0x38, TUPLE_FULL}, {2, 1, 0x3a, TUPLE_FULL}, {2, 1, 0x3c, TUPLE_FULL},
	{2, 1, 0x3e, TUPLE_FULL}, {3, 1, 0x0f, TUPLE_FULL},
};

/* /3 and /7 of this opcode shift bytes; the others have other names in AVX-512. */
static const struct evex_row byte_shift = {1, 1, 0x73, TUPLE_FULL};

static const struct evex_row *find_row(uint8_t map, uint8_t prefix, uint8_t opcode, uint8_t modrm)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].map == map && rows[i].prefix == prefix && rows[i].opcode == opcode)
			return &rows[i];
	if (map == 1 && prefix == 1 && opcode == byte_shift.opcode && (modrm >> 3 & 3) == 3)
		return &byte_shift;
	return NULL;
}

/* Copies the operand in memory and what follows it, with the displacement in four bytes. */
static void put_memory(const uint8_t *from, const uint8_t *end, uint8_t reg, int32_t scale,
		       struct evex *e)
{
	uint8_t modrm = (uint8_t)((from[0] & 0xc7) | reg << 3);
	bool is_short = modrm >> 6 == 1;
	size_t head = 1 + ((modrm & 7) == 4);
	int32_t disp;

	if (!is_short) {
		memcpy(e->code + e->len, from, (size_t)(end - from));
		e->code[e->len] = modrm;
		e->len += (size_t)(end - from);
		return;
	}
	memcpy(e->code + e->len, from, head);
	e->code[e->len] = modrm ^ 0xc0; /* mod 1 to 2 */
	disp = (int8_t)from[head] * scale;
	memcpy(e->code + e->len + head, &disp, sizeof(disp));
	e->len += head + sizeof(disp);
	from += head + 1;
	memcpy(e->code + e->len, from, (size_t)(end - from));
	e->len += (size_t)(end - from);
}

bool evex_to_vex(const uint8_t *code, size_t len, struct evex *ret)
{
	size_t size = disasm_x86_vex_length(code, len);
	const struct evex_row *row;
	uint8_t p0, p1, p2, modrm, reg, wide;
	bool is_memory, is_group;

	/* A prefix before, broadcasts and rounding are left to others. */
	if (!size || size > 11 || code[0] != 0x62)
		return false;
	p0 = code[1];
	p1 = code[2];
	p2 = code[3];
	modrm = code[5];
	row = find_row(p0 & 7, p1 & 3, code[4], modrm);
	wide = p2 >> 5 & 3;
	if (!row || (p0 & 8) || !(p1 & 4) || (p2 & 0x10) || wide == 3)
		return false;
	is_memory = modrm >> 6 != 3;
	is_group = row->map == 1 && (row->opcode == 0x71 || row->opcode == 0x73);
	*ret = (struct evex){
		.reg = (modrm >> 3 & 7) | (~p0 >> 7 & 1) << 3 | (~p0 >> 4 & 1) << 4,
		.vvvv = (~p1 >> 3 & 15) | (~p2 >> 3 & 1) << 4,
		.rm = (modrm & 7) | (~p0 >> 5 & 1) << 3 | (~p0 >> 6 & 1) << 4,
		.mask = p2 & 7,
		.zeroing = p2 >> 7,
		.width = "xyz"[wide],
	};
	reg = is_group ? modrm >> 3 & 7 : STAND_REG;
	/* Registers without extension, but those of memory. R, X and B are inverted. */
	ret->code[0] = 0xc4;
	ret->code[1] = (uint8_t)(0x80 | (is_memory ? p0 & 0x60 : 0x60) | row->map);
	/* No second operand is 15, inverted. */
	ret->code[2] =
		(uint8_t)((ret->vvvv ? (~STAND_VVVV & 15) << 3 : p1 & 0x78) | 4 | row->prefix);
	ret->code[3] = row->opcode;
	ret->len = 4;
	if (!is_memory) {
		ret->code[ret->len++] = (uint8_t)(0xc0 | reg << 3 | STAND_RM);
		memcpy(ret->code + ret->len, code + 6, size - 6);
		ret->len += size - 6;
	} else {
		put_memory(code + 5, code + size, reg, row->tuple == TUPLE_128 ? 16 : 16 << wide,
			   ret);
	}
	return true;
}

/* Returns the register that @stand stands for. */
static unsigned int real_register(const struct evex *e, unsigned int stand)
{
	switch (stand) {
	case STAND_REG: return e->reg;
	case STAND_VVVV: return e->vvvv;
	case STAND_RM: return e->rm;
	default: return 0; /* the second operand, as it was */
	}
}

static size_t put_mask(const struct evex *e, bool intel, char *ret, size_t size)
{
	int n = 0;

	if (e->mask)
		n = snprintf(ret, size, intel ? "{k%u}%s" : "{%%k%u}%s", e->mask,
			     e->zeroing ? "{z}" : "");
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

void evex_operands(const struct evex *e, const char *vex, bool intel, char *ret, size_t size)
{
	bool masked = false;
	size_t at = 0;

	for (const char *s = vex; *s && at + 32 < size;) {
		if (intel && *s == ',' && !masked) {
			at += put_mask(e, intel, ret + at, size - at);
			masked = true;
		}
		if ((*s == 'x' || *s == 'y') && s[1] == 'm' && s[2] == 'm' && s[3] >= '0' &&
		    s[3] <= '9') {
			/* Shifts have their count in a register of 128 bits. */
			at += (size_t)snprintf(ret + at, size - at, "%cmm%u",
					       *s == 'x' ? 'x' : e->width,
					       real_register(e, (unsigned int)(s[3] - '0')));
			s += 4;
			continue;
		}
		if (!strncmp(s, "ymmword", 7)) {
			ret[at++] = e->width;
			s++;
			continue;
		}
		ret[at++] = *s++;
	}
	if (!intel)
		at += put_mask(e, intel, ret + at, size - at);
	ret[at] = '\0';
}

void evex_correct_index(char *operands)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
	bool inside = false;
	char *to = operands;

	for (const char *s = operands; *s;) {
		unsigned int number;
		int len = 0;

		inside = (inside || *s == '(' || *s == '[') && *s != ')' && *s != ']';
		if (inside && *s == 'x' && sscanf(s, "xmm%2u%n", &number, &len) == 1 && len &&
		    number < sizeof(names) / sizeof(names[0])) {
			to = stpcpy(to, names[number]); /* never longer */
			s += len;
			continue;
		}
		*to++ = *s++;
	}
	*to = '\0';
}
