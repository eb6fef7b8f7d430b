// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "auxtrace/spe/packet.h"

/* Text that is appended to, and cut where it does not fit. */
struct text {
	char *buf;
	size_t size, len;
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->buf + t->len, t->size - t->len, fmt, args);
	va_end(args);
	if (n > 0)
		t->len += (size_t)n < t->size - t->len ? (size_t)n : t->size - t->len - 1;
}

static void put_events(struct text *t, uint64_t events)
{
	static const char *const names[64] = {
		"EXCEPTION-GEN", "RETIRED",   "L1D-ACCESS", "L1D-REFILL",   "TLB-ACCESS",
		"TLB-REFILL",	 "NOT-TAKEN", "MISPRED",    "LLC-ACCESS",   "LLC-REFILL",
		"REMOTE-ACCESS", "ALIGNMENT", [16] = "TXN", "PARTIAL-PRED", "EMPTY-PRED",
		"L2D-ACCESS",	 "L2D-MISS",  "MODIFIED",   "RECENT-FETCH", "SNOOPED",
		"STREAMING-SVE", "SMCU",
	};

	put(t, "EV");
	for (unsigned int i = 0; i < 64; i++) {
		if (!(events >> i & 1))
			continue;
		if (names[i])
			put(t, " %s", names[i]);
		else
			put(t, " BIT%u", i);
	}
}

static void put_load_store(struct text *t, uint64_t type)
{
	put(t, type & 1 ? "ST" : "LD");
	if ((type & 0xe2) == 0x02) {
		put(t, "%s%s%s", type & 4 ? " AT" : "", type & 8 ? " EXCL" : "",
		    type & 16 ? " AR" : "");
		return;
	}
	if ((type & 0x0a) == 0x08) {
		put(t, " SVE %u%s%s", 32u << (type >> 4 & 7), type & 4 ? " PRED" : "",
		    type & 0x80 ? " SG" : "");
		return;
	}
	switch (type & 0xfe) {
	case 0x00: put(t, " GP-REG"); break;
	case 0x04: put(t, " SIMD-FP"); break;
	case 0x10: put(t, " UNSPEC-REG"); break;
	case 0x14: put(t, " MTE-TAG"); break;
	case 0x20: put(t, " MEMCPY"); break;
	case 0x24: put(t, " MEMSET"); break;
	case 0x30: put(t, " NV-SYSREG"); break;
	case 0x40: put(t, " GCS"); break;
	default: put(t, " 0x%" PRIx64, type);
	}
}

static void put_operation(struct text *t, uint8_t class, uint64_t type)
{
	static const char *const kinds[] = {"", " CALL", " RET", " PLAIN"};

	switch (class) {
	case SPE_OTHER:
		put(t, "OTHER%s", type & 1 ? " COND" : "");
		if (type & ~1ull)
			put(t, " 0x%" PRIx64, type);
		break;
	case SPE_LOAD_STORE: put_load_store(t, type); break;
	case SPE_BRANCH:
		put(t, "B%s%s%s", type & SPE_BRANCH_CONDITIONAL ? " COND" : "",
		    type & SPE_BRANCH_INDIRECT ? " IND" : "", kinds[type >> 3 & 3]);
		break;
	default: put(t, "OP %u 0x%" PRIx64, class, type);
	}
}

static void put_address(struct text *t, const struct spe_packet *p)
{
	static const char *const names[] = {
		[SPE_PC] = "PC",   [SPE_TARGET] = "TGT",	  [SPE_VIRT] = "VA",
		[SPE_PHYS] = "PA", [SPE_PREVIOUS_TARGET] = "PBT",
	};
	unsigned int ns = p->payload >> 63;

	if (p->index < sizeof(names) / sizeof(names[0]))
		put(t, "%s", names[p->index]);
	else
		put(t, "ADDR %u", p->index);
	put(t, " 0x%" PRIx64, spe_packet_address(p));
	if (p->index == SPE_PHYS)
		put(t, " ns=%u", ns);
	else if (p->index != SPE_VIRT)
		put(t, " el%u ns=%u", spe_packet_level(p), ns);
}

static void put_counter(struct text *t, const struct spe_packet *p)
{
	static const char *const names[] = {
		[SPE_LATENCY_TOTAL] = "TOT",
		[SPE_LATENCY_ISSUE] = "ISSUE",
		[SPE_LATENCY_TRANSLATION] = "XLAT",
	};

	put(t, "LAT %" PRIu64 " ", p->payload);
	if (p->index < sizeof(names) / sizeof(names[0]))
		put(t, "%s", names[p->index]);
	else
		put(t, "COUNTER%u", p->index);
}

void spe_packet_text(const struct spe_packet *p, char *buf, size_t size)
{
	struct text t = {buf, size, 0};

	switch (p->kind) {
	case SPE_PADDING: put(&t, "PAD"); break;
	case SPE_ALIGNMENT: put(&t, "ALIGN %" PRIu64, p->payload); break;
	case SPE_END: put(&t, "END"); break;
	case SPE_TIMESTAMP: put(&t, "TS %" PRIu64, p->payload); break;
	case SPE_EVENTS: put_events(&t, p->payload); break;
	case SPE_SOURCE: put(&t, "DATA-SOURCE %" PRIu64, p->payload); break;
	case SPE_CONTEXT: put(&t, "CONTEXT 0x%" PRIx64 " el%u", p->payload, p->index + 1u); break;
	case SPE_OPERATION: put_operation(&t, p->index, p->payload); break;
	case SPE_ADDRESS: put_address(&t, p); break;
	case SPE_COUNTER: put_counter(&t, p); break;
	}
}
