// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/intel_pt/token.h"

#include <endian.h>
#include <intel-pt.h>
#include <string.h>

#define PSB_LEN 16

static uint64_t little(const uint8_t *bytes, unsigned int n)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < n; i++)
		v |= (uint64_t)bytes[i] << (8 * i);
	return v;
}

static uint64_t sign_extended(uint64_t v)
{
	return (uint64_t)((int64_t)(v << 16) >> 16);
}

/* Bits of conditional branches below the highest bit that is set. */
static void set_tnt(struct pt_token *ret, uint64_t bits)
{
	unsigned int n = 63 - __builtin_clzll(bits);

	ret->kind = n ? PT_TOKEN_TNT : PT_TOKEN_NONE; /* one without branches says nothing */
	ret->count = n;
	ret->value = bits & (((uint64_t)1 << n) - 1);
}

/* Returns the length of a TIP, TIP.PGE, TIP.PGD or FUP, 0 if the address is of an unknown kind. */
static unsigned int take_ip(struct pt_tokens *t, const uint8_t *p, size_t left,
			    struct pt_token *ret)
{
	static const uint8_t sizes[8] = {0, 2, 4, 6, 6, 0, 8, 0};
	unsigned int kind = p[0] >> 5, n = sizes[kind];
	uint64_t ip, word;

	if (kind == 5 || kind == 7)
		return 0;
	if (left < 1 + n || !n)
		return 1 + n;
	if (left > sizeof(word)) {
		memcpy(&word, p + 1, sizeof(word));
		ip = le64toh(word) << (64 - 8 * n) >> (64 - 8 * n);
	} else {
		ip = little(p + 1, n);
	}
	switch (kind) {
	case 1: ip |= t->last_ip & ~(uint64_t)UINT16_MAX; break;
	case 2: ip |= t->last_ip & ~(uint64_t)UINT32_MAX; break;
	case 3: ip = sign_extended(ip); break;
	case 4: ip |= t->last_ip & (uint64_t)UINT16_MAX << 48; break;
	default: break;
	}
	ret->value = t->last_ip = ip;
	ret->has_ip = true;
	return 1 + n;
}

/* Packets whose length the second byte tells, and of which no more is needed. */
static unsigned int skip_extended(struct pt_tokens *t, const uint8_t *p)
{
	switch (p[1]) {
	case 0x83: return 2;  /* TraceStop */
	case 0xc3: return 11; /* MNT */
	case 0xc8: return 7;  /* VMCS */
	case 0x13: return 4;  /* CFE: its FUP is as any other */
	case 0x53: return 11; /* EVD */
	case 0x33:	      /* BEP */
	case 0xb3: t->in_block = false; return 2;
	default: return 0;
	}
}

static unsigned int take_psb(struct pt_tokens *t, const uint8_t *p, size_t left,
			     struct pt_token *ret)
{
	for (unsigned int i = 0; i < PSB_LEN && i < left; i++)
		if (p[i] != (i & 1 ? 0x82 : 0x02))
			return 0;
	t->last_ip = 0;
	t->in_block = false;
	ret->kind = PT_TOKEN_PSB;
	return PSB_LEN;
}

/* Packets that change power, and PTWRITE. Returns the length, 0: it is none of them. */
static unsigned int take_power(const uint8_t *p, size_t left, struct pt_token *ret)
{
	unsigned int n;

	if ((p[1] & 0x7f) == 0x62) {
		ret->kind = PT_TOKEN_EXSTOP;
		ret->has_ip = p[1] >> 7;
		return 2;
	}
	if ((p[1] & 0x1f) == 0x12 && !(p[1] & 0x40)) {
		n = p[1] & 0x20 ? 8 : 4;
		ret->kind = PT_TOKEN_PTWRITE;
		ret->has_ip = p[1] >> 7;
		ret->value = left >= 2 + n ? little(p + 2, n) : 0;
		return 2 + n;
	}
	n = p[1] == 0xc2 ? 10 : p[1] == 0x22 ? 4 : p[1] == 0xa2 ? 7 : 0;
	if (!n || left < n)
		return n;
	ret->kind = n == 10 ? PT_TOKEN_MWAIT : n == 4 ? PT_TOKEN_PWRE : PT_TOKEN_PWRX;
	ret->value = n == 10 ? p[2] : little(p + 2, 2);
	ret->value2 = n == 10 ? p[6] & 3 : 0;
	return n;
}

static unsigned int take_tma(const struct pt_tokens *t, const uint8_t *p, size_t left,
			     struct pt_token *ret)
{
	if (left >= 7 && t->skz84 && p[6] & 0xfe)
		return 8;
	ret->kind = PT_TOKEN_TMA;
	if (left >= 7) {
		ret->value = little(p + 2, 2);
		ret->value2 = little(p + 5, 2) & 0x1ff;
	}
	return 7;
}

/* Returns the length of a packet that begins with 0x02, 0 if it is none. */
static unsigned int take_extended(struct pt_tokens *t, const uint8_t *p, size_t left,
				  struct pt_token *ret)
{
	switch (p[1]) {
	case 0x82: return take_psb(t, p, left, ret);
	case 0x23: ret->kind = PT_TOKEN_PSBEND; return 2;
	case 0xf3:
		ret->kind = PT_TOKEN_OVF;
		t->last_ip = 0;
		t->in_block = false;
		return 2;
	case 0x43: ret->kind = PT_TOKEN_PIP; return 8;
	case 0x03:
		ret->kind = PT_TOKEN_CBR;
		ret->value = left > 2 ? p[2] : 0;
		return 4;
	case 0xa3:
		if (left < 8)
			return 8;
		if (!little(p + 2, 6))
			return 0;
		set_tnt(ret, little(p + 2, 6));
		return 8;
	case 0x73: return take_tma(t, p, left, ret);
	case 0x63:
		t->in_block = true;
		t->block_item = left > 2 && p[2] & 0x80 ? 5 : 9;
		return 3;
	default: break;
	}
	return take_power(p, left, ret) ?: skip_extended(t, p);
}

/* Returns the length, or one more than @left if the packet is cut. */
static unsigned int take_cycles(const struct pt_tokens *t, const uint8_t *p, size_t left,
				struct pt_token *ret)
{
	uint64_t value = p[0] >> 3;
	unsigned int n = 1, shift = 5;
	bool more = p[0] & 4;

	/* Two packets of two and of one byte never follow each other; an OVF looks like that. */
	if (t->skd007 && more && left > 2 && p[1] == 0x02 && p[2] == 0xf3)
		return 1;
	while (more) {
		if (n >= left)
			return left + 1;
		if (shift > 56)
			return 0;
		more = p[n] & 1;
		value |= (uint64_t)(p[n++] >> 1) << shift;
		shift += 7;
	}
	ret->kind = PT_TOKEN_CYC;
	ret->value = value;
	return n;
}

static unsigned int take_mode(const uint8_t *p, struct pt_token *ret)
{
	switch (p[1] >> 5) {
	case 0:
		ret->kind = PT_TOKEN_EXEC;
		ret->value = p[1] & 1 ? ptem_64bit : p[1] & 2 ? ptem_32bit : ptem_16bit;
		return 2;
	case 1:
		ret->kind = PT_TOKEN_TSX;
		ret->value = p[1] & 3;
		return 2;
	default: return 0;
	}
}

/* Packets of a byte and a payload of fixed size. */
static unsigned int take_fixed(const uint8_t *p, size_t left, struct pt_token *ret)
{
	switch (p[0]) {
	case 0x99: return left < 2 ? 2 : take_mode(p, ret);
	case 0x19:
		ret->kind = PT_TOKEN_TSC;
		ret->value = left >= 8 ? little(p + 1, 7) : 0;
		return 8;
	case 0x59:
		ret->kind = PT_TOKEN_MTC;
		ret->value = left >= 2 ? p[1] : 0;
		return 2;
	case 0xd9: /* TRIG: its FUP is as any other */ return left < 2 ? 2 : p[1] & 0x40 ? 5 : 3;
	default: return 0;
	}
}

/* Returns the length of the packet at @p, more than @left if it is cut, 0 if it is none. */
static unsigned int take(struct pt_tokens *t, const uint8_t *p, size_t left, struct pt_token *ret)
{
	if (!p[0])
		return 1; /* PAD */
	if (p[0] == 0x02)
		return left < 2 ? 2 : take_extended(t, p, left, ret);
	if (t->in_block && (p[0] & 7) == 4)
		return t->block_item;
	if (!(p[0] & 1)) {
		set_tnt(ret, p[0] >> 1);
		return 1;
	}
	if ((p[0] & 3) == 3)
		return take_cycles(t, p, left, ret);
	switch (p[0] & 0x1f) {
	case 0x0d: ret->kind = PT_TOKEN_TIP; return take_ip(t, p, left, ret);
	case 0x11: ret->kind = PT_TOKEN_PGE; return take_ip(t, p, left, ret);
	case 0x01: ret->kind = PT_TOKEN_PGD; return take_ip(t, p, left, ret);
	case 0x1d: ret->kind = PT_TOKEN_FUP; return take_ip(t, p, left, ret);
	default: return take_fixed(p, left, ret);
	}
}

int pt_token_next(struct pt_tokens *t, struct pt_token *ret)
{
	size_t left = t->len - t->at;
	unsigned int n;

	ret->kind = PT_TOKEN_NONE;
	ret->has_ip = false;
	ret->at = t->at;
	ret->value = 0;
	if (!left)
		return 0;
	n = take(t, t->data + t->at, left, ret);
	if (!n)
		return -1;
	if (n > left) {
		t->at = t->len;
		return 0;
	}
	t->at += n;
	return 1;
}
