/* SPDX-License-Identifier: Apache-2.0 */
/* Writes packets of Arm SPE, and random records of them. */
#ifndef RINGTAIL_TESTS_SPE_WRITER_H
#define RINGTAIL_TESTS_SPE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "auxtrace/spe/packet.h"

struct spe_writer {
	uint8_t *p;
	size_t len; /* the caller's buffer is large enough */
};

static inline void spe_put(struct spe_writer *w, uint8_t header, uint64_t payload)
{
	w->p[w->len++] = header;
	for (size_t i = 0; i < (size_t)1 << (header >> 4 & 3); i++)
		w->p[w->len++] = (uint8_t)(payload >> 8 * i);
}

static inline void spe_put_address(struct spe_writer *w, uint8_t index, uint64_t address)
{
	if (index > 7)
		w->p[w->len++] = 0x20 | index >> 3;
	spe_put(w, 0xb0 | (index & 7), address);
}

static inline void spe_put_counter(struct spe_writer *w, uint8_t index, uint16_t cycles)
{
	if (index > 7)
		w->p[w->len++] = 0x20 | index >> 3;
	spe_put(w, 0x98 | (index & 7), cycles);
}

static inline void spe_put_events(struct spe_writer *w, uint64_t events)
{
	spe_put(w, events >> 32 ? 0x72 : events >> 16 ? 0x62 : events >> 8 ? 0x52 : 0x42, events);
}

static inline void spe_put_operation(struct spe_writer *w, uint8_t class, uint8_t type)
{
	spe_put(w, 0x48 | class, type);
}

/* What a record of spe_put_record() holds. */
struct spe_truth {
	size_t begin, last, end; /* of the record, its last packet, and behind it */
	uint64_t ip, to, virt, phys, events, stamp;
	uint32_t total, issue, translation;
	uint8_t class, type;
	uint16_t source;
	uint32_t context;
	bool kernel;
};

static inline uint64_t spe_random(unsigned int bits)
{
	uint64_t v = (uint64_t)rand() << 33 ^ (uint64_t)rand() << 16 ^ (uint64_t)rand();

	return bits == 64 ? v : v & ((1ull << bits) - 1);
}

/* Writes a record as cores write them: in one of two orders, with a time stamp if it has one. */
static inline struct spe_truth spe_put_record(struct spe_writer *w, bool stamped)
{
	struct spe_truth t = {
		.begin = w->len,
		.kernel = rand() % 2,
		.ip = 0x400000 + spe_random(20) * 4,
		.class = (uint8_t)(rand() % 3),
		.events = 2 | spe_random(12),
		.total = (uint32_t)spe_random(12),
		.issue = (uint32_t)spe_random(8),
		.context = (uint32_t)spe_random(22),
		.stamp = 1000000 + spe_random(40),
	};
	uint64_t level = t.kernel ? 1ull << 61 : 0;

	if (t.kernel)
		t.ip |= 0xffff800000000000;
	if (rand() % 2)
		spe_put_address(w, SPE_PC, (t.ip & ~(0xffull << 56)) | level | 1ull << 63);
	else
		level |= 1;
	spe_put(w, 0x65, t.context);
	t.type = t.class == SPE_BRANCH ? (uint8_t)(rand() % 4 | (rand() % 4) << 3)
				       : (uint8_t)(rand() % 2);
	spe_put_operation(w, t.class, t.type);
	spe_put_events(w, t.events);
	spe_put_counter(w, SPE_LATENCY_ISSUE, (uint16_t)t.issue);
	spe_put_counter(w, SPE_LATENCY_TOTAL, (uint16_t)t.total);
	if (t.class == SPE_LOAD_STORE) {
		t.virt = 0x7f0000000000 + spe_random(40);
		t.phys = spe_random(44);
		t.source = (uint16_t)spe_random(4);
		t.translation = (uint32_t)spe_random(6);
		spe_put_address(w, SPE_VIRT, t.virt | spe_random(8) << 56);
		spe_put_address(w, SPE_PHYS, t.phys | 1ull << 63);
		spe_put_counter(w, SPE_LATENCY_TRANSLATION, (uint16_t)t.translation);
		spe_put(w, rand() % 2 ? 0x43 : 0x53, t.source);
	}
	if (t.class == SPE_BRANCH) {
		t.to = t.ip + spe_random(10) * 4;
		spe_put_address(w, SPE_TARGET, (t.to & ~(0xffull << 56)) | 1ull << 63);
	}
	if (level & 1)
		spe_put_address(w, SPE_PC,
				(t.ip & ~(0xffull << 56)) | (level & ~1ull) | 1ull << 63);
	t.last = w->len;
	if (stamped)
		spe_put(w, 0x71, t.stamp);
	else
		w->p[w->len++] = 1;
	t.end = w->len;
	return t;
}

#endif
