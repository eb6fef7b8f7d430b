// SPDX-License-Identifier: Apache-2.0
/*
 * Atomic instructions of Armv8.1 (LSE), which Capstone 4 does not know.
 *
 * Source: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1.94: atomic memory
 * operations, compare and swap.
 */
#include <stdio.h>
#include <string.h>

#include "symbol/disasm/disasm.h"

/* "wzr", "x3", …; the register 31 is sp as a base. */
static const char *name_of(char ret[8], char width, uint32_t number, bool base)
{
	if (number < 31)
		snprintf(ret, 8, "%c%u", width, number);
	else
		snprintf(ret, 8, base ? "sp" : "%czr", width);
	return ret;
}

struct operands {
	uint32_t size; /* 0: byte … 3: 64 bits */
	bool acquire, release;
	char s[8], t[8], n[8], s2[8], t2[8];
};

static void take_operands(uint32_t w, uint32_t size, struct operands *ret)
{
	char width = size == 3 ? 'x' : 'w';
	uint32_t s = w >> 16 & 31, t = w & 31;

	ret->size = size;
	name_of(ret->s, width, s, false);
	name_of(ret->t, width, t, false);
	name_of(ret->s2, width, s + 1, false);
	name_of(ret->t2, width, t + 1, false);
	name_of(ret->n, 'x', w >> 5 & 31, true);
}

/* Appends what the name of an instruction says about order and size. */
static const char *suffixed(const char *name, const struct operands *o, char ret[16])
{
	snprintf(ret, 16, "%s%s%s%s", name, o->acquire ? "a" : "", o->release ? "l" : "",
		 o->size == 0	? "b"
		 : o->size == 1 ? "h"
				: "");
	return ret;
}

/* Loads that also change memory, and swaps. */
static bool decode_load(uint32_t w, char *text, size_t size)
{
	static const char *const names[] = {"add",  "clr",  "eor",  "set",
					    "smax", "smin", "umax", "umin"};
	uint32_t operation = w >> 12 & 7;
	bool swap = w >> 15 & 1;
	struct operands o = {.acquire = w >> 23 & 1, .release = w >> 22 & 1};
	char name[12], whole[16];

	if (swap && operation)
		return false;
	take_operands(w, w >> 30, &o);
	if (!swap && (w & 31) == 31 && !o.acquire) {
		snprintf(name, sizeof(name), "st%s", names[operation]);
		snprintf(text, size, "%-6s %s, [%s]", suffixed(name, &o, whole), o.s, o.n);
		return true;
	}
	snprintf(name, sizeof(name), "%s%s", swap ? "" : "ld", swap ? "swp" : names[operation]);
	snprintf(text, size, "%-6s %s, %s, [%s]", suffixed(name, &o, whole), o.s, o.t, o.n);
	return true;
}

static bool decode_pair(uint32_t w, char *text, size_t size)
{
	struct operands o = {.acquire = w >> 22 & 1, .release = w >> 15 & 1};
	char whole[16];

	if (w >> 16 & 1 || w & 1)
		return false;
	take_operands(w, 2 + (w >> 30 & 1), &o);
	snprintf(text, size, "%-6s %s, %s, %s, %s, [%s]", suffixed("casp", &o, whole), o.s, o.s2,
		 o.t, o.t2, o.n);
	return true;
}

bool disasm_arm64_atomic(uint32_t w, char *text, size_t size)
{
	if ((w & 0x3f200c00) == 0x38200000)
		return decode_load(w, text, size);
	if ((w & 0xbfa07c00) == 0x08207c00)
		return decode_pair(w, text, size);
	if ((w & 0x3fa07c00) == 0x08a07c00) {
		struct operands o = {.acquire = w >> 22 & 1, .release = w >> 15 & 1};
		char whole[16];

		take_operands(w, w >> 30, &o);
		snprintf(text, size, "%-6s %s, %s, [%s]", suffixed("cas", &o, whole), o.s, o.t,
			 o.n);
		return true;
	}
	return false;
}
