// SPDX-License-Identifier: Apache-2.0
/*
 * Any trace of a CoreSight unit. Input: one byte that chooses the unit and frames, one for its
 * depth of speculation, then the trace. Packets cover it; events lie in it, and there are not too
 * many.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/coresight/coresight.h"
#include "perfdata/aux_record.h"

#define RAW 0x100u

/* Events of a byte: two dozen atoms may each be a block and a branch; and of the end of trace. */
#define EVENTS_MAX(size) (64 * (size) + 512)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct aux_decoder_ops *const ops = &aux_coresight_decoder;

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	/* nop, bl, b.eq, ret, blr, svc, eret, cbz */
	static const uint32_t insns[] = {0xd503201f, 0x94000010, 0x54000080, 0xd65f03c0,
					 0xd63f0020, 0xd4000001, 0xd69f03e0, 0xb4ffffc0};
	const uint8_t *bytes = (const uint8_t *)insns;

	(void)arg;
	(void)task;
	(void)time;
	if (ret_missing)
		*ret_missing = addr & 1 << 20 ? "/bin/missing" : NULL;
	if (addr & 1 << 20)
		return -ENOENT;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = addr & 1 << 16 ? 0 : bytes[(addr + i) % sizeof(insns)];
	return (int)len;
}

static bool task_on(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	(void)arg;
	(void)cpu;
	*ret = (struct aux_task){.pid = 1, .tid = (uint32_t)time};
	return time & 1;
}

static void packets(const struct aux_setup *setup, const struct aux_stretch *s)
{
	struct aux_decoder *d;
	struct aux_packet p;
	size_t sum = 0;

	if (ops->packets(setup, s, &d))
		abort();
	while (ops->packet_next(d, &p) > 0) {
		if (!p.len || p.len > s->len - sum)
			abort();
		sum += p.len;
	}
	if (sum != s->len)
		abort();
	ops->end(d);
}

static void flow(const struct aux_setup *setup, const struct aux_stretch *s)
{
	const struct aux_code code = {read_code, task_on, NULL};
	struct aux_decoder *d;
	struct aux_event e;
	size_t nr = 0;

	if (ops->begin(setup, s, &code, AUX_WANT_BRANCHES | AUX_WANT_BLOCKS, &d))
		abort();
	while (ops->next(d, &e) > 0)
		if (e.offset < s->offset || e.offset > s->offset + s->len ||
		    ++nr > EVENTS_MAX(s->len))
			abort();
	ops->end(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t words[] = {1,	  8ull << 32 | 1, 0,	      0x4040404040404040, 0, 8,	   0x18c8,
			    0x10, 0x28000ea1,	  0x4100f422, 0x20001088,	  0, 0x8c, 1,
			    1};
	const struct pd_time_conv conv = {.time_mult = 1, .cap_user_time_zero = true};
	struct aux_setup setup = {.type = PD_AUXTRACE_CS_ETM,
				  .priv = words,
				  .nr_priv = sizeof(words) / sizeof(*words),
				  .time_conv = &conv};
	struct aux_stretch s = {.offset = 1 << 20, .tid = UINT32_MAX};

	if (size < 2)
		return 0;
	setup.aux_flags = data[0] & 1 ? RAW : 0;
	switch (data[0] >> 1 & 3) {
	case 1: words[3] = 0x5050505050505050, words[5] = 9, words[13] = 0x47705a13; break;
	case 2: words[3] = 0x3030303030303030, words[8] = 0x8d, words[9] = 0x4114f250; break;
	case 3: words[3] = 0x3030303030303030, words[8] = 0x8d, words[9] = 0x4114f310; break;
	}
	if (data[0] & 8)
		words[11] = data[1];
	s.data = data + 2;
	s.len = size - 2;
	for (size_t at = 0; at < s.len; at += 1 + s.len / 3) {
		size_t found = ops->sync(&setup, s.data, s.len, at);

		if (found < at || found > s.len)
			abort();
	}
	if (data[0] & 16) {
		s.more = s.len / 3;
		s.len -= s.more;
	}
	packets(&setup, &s);
	flow(&setup, &s);
	return 0;
}
