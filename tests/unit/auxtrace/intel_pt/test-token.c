// SPDX-License-Identifier: Apache-2.0
/* Packets are read as libipt reads them; those that libipt does not know are skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <intel-pt.h>

#include "auxtrace/intel_pt/token.h"

#define LEN 24

static const struct {
	enum pt_packet_type type;
	enum pt_token_kind kind;
} kinds[] = {
	{ppt_pad, PT_TOKEN_NONE},    {ppt_psb, PT_TOKEN_PSB},	    {ppt_psbend, PT_TOKEN_PSBEND},
	{ppt_fup, PT_TOKEN_FUP},     {ppt_tip, PT_TOKEN_TIP},	    {ppt_tip_pge, PT_TOKEN_PGE},
	{ppt_tip_pgd, PT_TOKEN_PGD}, {ppt_tnt_8, PT_TOKEN_TNT},	    {ppt_tnt_64, PT_TOKEN_TNT},
	{ppt_pip, PT_TOKEN_PIP},     {ppt_vmcs, PT_TOKEN_NONE},	    {ppt_tsc, PT_TOKEN_TSC},
	{ppt_cbr, PT_TOKEN_CBR},     {ppt_tma, PT_TOKEN_TMA},	    {ppt_mtc, PT_TOKEN_MTC},
	{ppt_cyc, PT_TOKEN_CYC},     {ppt_stop, PT_TOKEN_NONE},	    {ppt_ovf, PT_TOKEN_OVF},
	{ppt_mnt, PT_TOKEN_NONE},    {ppt_exstop, PT_TOKEN_EXSTOP}, {ppt_mwait, PT_TOKEN_MWAIT},
	{ppt_pwre, PT_TOKEN_PWRE},   {ppt_pwrx, PT_TOKEN_PWRX},	    {ppt_ptw, PT_TOKEN_PTWRITE},
};

static void check_ip(const struct pt_packet_ip *ip, const struct pt_token *t)
{
	assert_int_equal(t->has_ip, ip->ipc != pt_ipc_suppressed);
	/* The address before is 0, so that its bits are no matter. */
	if (t->has_ip && ip->ipc != pt_ipc_sext_48)
		assert_true(t->value == ip->ip);
	else if (t->has_ip)
		assert_true((t->value ^ ip->ip) << 16 == 0);
}

static void check_payload(const struct pt_packet *p, const struct pt_token *t)
{
	switch (p->type) {
	case ppt_fup:
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd: check_ip(&p->payload.ip, t); break;
	case ppt_tnt_8:
	case ppt_tnt_64:
		assert_int_equal(t->count, p->payload.tnt.bit_size);
		assert_true(t->value == p->payload.tnt.payload);
		break;
	case ppt_tsc: assert_true(t->value == p->payload.tsc.tsc); break;
	case ppt_cbr: assert_int_equal(t->value, p->payload.cbr.ratio); break;
	case ppt_tma:
		assert_int_equal(t->value, p->payload.tma.ctc);
		assert_int_equal(t->value2, p->payload.tma.fc);
		break;
	case ppt_mtc: assert_int_equal(t->value, p->payload.mtc.ctc); break;
	case ppt_cyc: assert_true(t->value == p->payload.cyc.value); break;
	case ppt_exstop: assert_int_equal(t->has_ip, p->payload.exstop.ip); break;
	case ppt_mwait:
		assert_int_equal(t->value, p->payload.mwait.hints & 0xff);
		assert_int_equal(t->value2, p->payload.mwait.ext & 3);
		break;
	case ppt_ptw:
		assert_int_equal(t->has_ip, p->payload.ptw.ip);
		assert_true(t->value == p->payload.ptw.payload);
		break;
	default: break;
	}
}

static void check_mode(const struct pt_packet *p, const struct pt_token *t)
{
	const struct pt_packet_mode *m = &p->payload.mode;

	if (m->leaf == pt_mol_exec) {
		assert_int_equal(t->kind, PT_TOKEN_EXEC);
		assert_int_equal(t->value, m->bits.exec.csl   ? ptem_64bit
					   : m->bits.exec.csd ? ptem_32bit
							      : ptem_16bit);
	} else {
		assert_int_equal(t->kind, PT_TOKEN_TSX);
		assert_int_equal(t->value, m->bits.tsx.intx | m->bits.tsx.abrt << 1);
	}
}

/* Reads the bytes by both. Returns whether libipt knows the packet. */
static bool check(uint8_t *bytes, size_t len)
{
	struct pt_tokens tokens = {.data = bytes, .len = len};
	struct pt_packet_decoder *d;
	struct pt_config config;
	struct pt_packet p;
	struct pt_token t;
	bool found = false;
	int size;

	pt_config_init(&config);
	config.begin = bytes;
	config.end = bytes + len;
	d = pt_pkt_alloc_decoder(&config);
	assert_non_null(d);
	assert_true(pt_pkt_sync_set(d, 0) >= 0);
	size = pt_pkt_next(d, &p, sizeof(p));
	pt_pkt_free_decoder(d);
	if (size <= 0)
		return false;
	assert_int_equal(pt_token_next(&tokens, &t), 1);
	assert_int_equal(tokens.at, size);
	if (p.type == ppt_mode)
		check_mode(&p, &t);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].type == p.type) {
			assert_int_equal(t.kind, kinds[i].kind);
			found = true;
		}
	check_payload(&p, &t);
	return found || p.type == ppt_mode;
}

static void test_as_libipt(void **state)
{
	uint8_t bytes[LEN];
	size_t known = 0;

	(void)state;
	srand(1);
	for (unsigned int i = 0; i < 100000; i++) {
		for (size_t n = 0; n < LEN; n++)
			bytes[n] = rand() >> 8;
		if (i % 4 == 0)
			bytes[0] = 2;
		known += check(bytes, LEN);
	}
	assert_true(known > 50000);
}

/* Packets of newer CPUs, by their lengths. */
static void test_newer(void **state)
{
	static const struct {
		uint8_t bytes[16];
		size_t len;
	} cases[] = {
		{{2, 0x13, 1, 2}, 4},
		{{2, 0x53, 1}, 11},
		{{2, 0x63, 0x80, 4, 1, 2, 3, 4, 2, 0x33}, 10},
		{{2, 0x63, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0xb3}, 14},
		{{0xd9, 0x05, 1, 0}, 4},
		{{2, 0xa3, 1}, 8}, /* TNT without branches */
		{{0xd9, 0x45, 1, 2, 3, 0}, 6},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pt_tokens tokens = {.data = cases[i].bytes, .len = cases[i].len};
		struct pt_token t;

		while (pt_token_next(&tokens, &t) == 1)
			assert_int_equal(t.kind, PT_TOKEN_NONE);
		assert_int_equal(tokens.at, cases[i].len);
		assert_false(tokens.in_block);
	}
}

/* A packet that is cut ends the trace; bytes that are none are an error where they are. */
static void test_ends(void **state)
{
	static const uint8_t cut[] = {0x19, 1, 2, 3}, bad[] = {0, 2, 0xff, 0};
	struct pt_tokens tokens = {.data = cut, .len = sizeof(cut)};
	struct pt_token t;

	(void)state;
	assert_int_equal(pt_token_next(&tokens, &t), 0);
	assert_int_equal(pt_token_next(&tokens, &t), 0);
	tokens = (struct pt_tokens){.data = bad, .len = sizeof(bad)};
	assert_int_equal(pt_token_next(&tokens, &t), 1);
	assert_int_equal(pt_token_next(&tokens, &t), -1);
	assert_int_equal(t.at, 1);
	assert_int_equal(tokens.at, 1);
}

/* Addresses are compressed by the one before, which a PSB forgets. */
static void test_addresses(void **state)
{
	static const uint8_t bytes[] = {
		0x6d, 0x44, 0x33, 0x22, 0x11, 0xff, 0xff, /* TIP, 48 bits, sign extended */
		0x2d, 0x66, 0x55,			  /* TIP, 16 bits */
		0x5d, 1,    2,	  3,	4,		  /* FUP, 32 bits */
		0x0d,					  /* TIP without */
	};
	static const uint64_t ips[] = {0xffffffff11223344, 0xffffffff11225566, 0xffffffff04030201,
				       0};
	struct pt_tokens tokens = {.data = bytes, .len = sizeof(bytes)};
	struct pt_token t;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pt_token_next(&tokens, &t), 1);
		assert_int_equal(t.has_ip, i < 3);
		assert_true(t.value == ips[i]);
	}
}

/* The short way to a packet of branches, for each first byte. */
static void test_short(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 512; i++) {
		const uint8_t bytes[16] = {(uint8_t)i, 0x23};
		struct pt_tokens a = {.data = bytes, .len = sizeof(bytes), .in_block = i >> 8},
				 b = a;
		unsigned int count;
		struct pt_token t;
		uint64_t bits;

		if (!pt_token_short(&a, &count, &bits)) {
			assert_int_equal(a.at, 0);
			assert_true(pt_token_next(&b, &t) != 1 || t.kind != PT_TOKEN_TNT ||
				    b.in_block);
			continue;
		}
		assert_int_equal(pt_token_next(&b, &t), 1);
		assert_int_equal(t.kind, PT_TOKEN_TNT);
		assert_int_equal(t.count, count);
		assert_int_equal(t.value, bits);
		assert_int_equal(a.at, b.at);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_libipt), cmocka_unit_test(test_newer),
		cmocka_unit_test(test_ends),	  cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
