/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of Intel PT, read one by one for the decoding of the flow.
 *
 * Knows what the flow needs of each packet; packets.h describes them for people. Keeps the address
 * from which the next one is compressed. Owns nothing. Any thread may call.
 *
 * Source: Intel SDM, volume 3, "Trace Packets and Data Types".
 */
#ifndef RINGTAIL_AUXTRACE_INTEL_PT_TOKEN_H
#define RINGTAIL_AUXTRACE_INTEL_PT_TOKEN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum pt_token_kind {
	PT_TOKEN_NONE, /* nothing that the flow needs */
	PT_TOKEN_TNT,  /* @count conditional branches, the oldest in the highest bit of @value */
	PT_TOKEN_TIP,  /* these four have an address in @value if @has_ip */
	PT_TOKEN_PGE,
	PT_TOKEN_PGD,
	PT_TOKEN_FUP,
	PT_TOKEN_PSB,
	PT_TOKEN_PSBEND,
	PT_TOKEN_OVF,
	PT_TOKEN_PIP,
	PT_TOKEN_EXEC, /* @value is an enum pt_exec_mode */
	PT_TOKEN_TSX,  /* bit 0 of @value: in a transaction; bit 1: it was aborted */
	PT_TOKEN_TSC,
	PT_TOKEN_TMA, /* @value: the crystal's clock; @value2: the fast counter */
	PT_TOKEN_MTC,
	PT_TOKEN_CYC,
	PT_TOKEN_CBR,
	PT_TOKEN_PTWRITE, /* @has_ip: a FUP follows */
	PT_TOKEN_MWAIT,	  /* @value: hints; @value2: extensions */
	PT_TOKEN_PWRE,	  /* @value: its two bytes */
	PT_TOKEN_PWRX,	  /* @value: its two bytes */
	PT_TOKEN_EXSTOP,  /* @has_ip: a FUP follows */
};

struct pt_token {
	enum pt_token_kind kind;
	uint8_t count;
	bool has_ip;
	size_t at; /* offset of the packet */
	uint64_t value;
	uint32_t value2;
};

struct pt_tokens {
	const uint8_t *data;
	size_t len, at;
	uint64_t last_ip;
	bool in_block;	    /* between BBP and BEP: other packets may stand there */
	uint8_t block_item; /* bytes of each */
	bool skd007;	    /* an OVF may stand in the middle of a CYC (erratum of the CPU) */
	bool skz84;	    /* a byte too many may stand behind a TMA that has bits it should not */
};

/*
 * Reads the packet at t->at, and moves behind it. Returns 1, 0 where the trace ends or the last
 * packet is cut, or -1 where no packet is.
 */
int pt_token_next(struct pt_tokens *t, struct pt_token *ret);

/*
 * Reads a PT_TOKEN_TNT of one byte, the packet that there are most of, and moves behind it. Returns
 * false, without a move, where another packet is, or the end.
 */
static inline bool pt_token_short(struct pt_tokens *t, unsigned int *ret_count, uint64_t *ret_bits)
{
	uint8_t byte = t->at < t->len ? t->data[t->at] : 1;
	unsigned int n;

	/* An item of a block looks like it. */
	if (byte & 1 || byte < 4 || t->in_block)
		return false;
	n = 30 - (unsigned int)__builtin_clz(byte);
	*ret_count = n;
	*ret_bits = byte >> 1 & ((1u << n) - 1);
	t->at++;
	return true;
}

/*
 * Reads a PT_TOKEN_TIP with an address, which it returns, and moves behind it. Returns 0, without a
 * move, where another packet is, or few bytes are left; then it may be one all the same.
 */
static inline uint64_t pt_token_target(struct pt_tokens *t)
{
	const uint8_t *p = t->data + t->at;
	uint64_t word, ip = t->last_ip;
	unsigned int n;

	if (t->len - t->at <= sizeof(word) || (p[0] & 0x1f) != 0x0d)
		return 0;
	memcpy(&word, p + 1, sizeof(word));
	word = le64toh(word);
	switch (p[0] >> 5) {
	case 1:
		ip = (ip & ~(uint64_t)UINT16_MAX) | (word & UINT16_MAX);
		n = 3;
		break;
	case 2:
		ip = (ip & ~(uint64_t)UINT32_MAX) | (word & UINT32_MAX);
		n = 5;
		break;
	case 3:
		ip = (uint64_t)((int64_t)(word << 16) >> 16);
		n = 7;
		break;
	default: return 0;
	}
	if (!ip)
		return 0;
	t->last_ip = ip;
	t->at += n;
	return ip;
}

#endif
