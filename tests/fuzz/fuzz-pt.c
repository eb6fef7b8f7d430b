// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as trace of Intel PT, and as code. Input: a byte that says what is wanted, CODE bytes
 * of code that repeat through the whole memory, then the trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/intel_pt/intel_pt.h"
#include "perfdata/aux_record.h"

#define CODE 64
/* A trace of one byte may stand for much code, but not for any amount. */
#define EVENTS_MAX 300000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int read_code(void *arg, const struct aux_task *task, uint64_t time, uint64_t addr,
		     void *buf, size_t len, const char **ret_missing)
{
	const uint8_t *code = arg;

	if ((addr >> 12 & 7) == 7) {
		*ret_missing = addr >> 63 ? NULL : "missing";
		return -ENOENT;
	}
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = code[(addr + i) % CODE];
	return len;
}

static bool task_on(void *arg, uint32_t cpu, uint64_t time, struct aux_task *ret)
{
	ret->pid = ret->tid = time & 3;
	return time & 4;
}

static void walk(const struct aux_setup *setup, const struct aux_stretch *s)
{
	struct aux_decoder *d;
	struct aux_packet p;
	size_t bytes = 0;

	if (aux_intel_pt_decoder.packets(setup, s, &d))
		return;
	while (aux_intel_pt_decoder.packet_next(d, &p) > 0)
		must(p.len && (bytes += p.len) <= s->len && memchr(p.text, 0, sizeof(p.text)));
	must(bytes == s->len);
	aux_intel_pt_decoder.end(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t words[] = {8, 1, 1,      0,	  1, 1 << 10, 1 << 11, 0,
					 0, 1, 1 << 9, 0xf << 14, 2, 1,	      2,       20};
	struct aux_setup setup = {.type = PD_AUXTRACE_INTEL_PT, .priv = words, .nr_priv = 16};
	struct aux_stretch s = {.offset = 24, .cpu = 0, .tid = UINT32_MAX};
	struct aux_code code = {.read = read_code, .task_on = task_on};
	struct aux_decoder *d;
	struct aux_event e;
	size_t events = 0;

	if (size < 1 + CODE)
		return 0;
	s.data = data + 1 + CODE;
	s.len = size - 1 - CODE;
	code.arg = (void *)(uintptr_t)(data + 1);
	must(aux_intel_pt_decoder.sync(&setup, s.data, s.len, 0) <= s.len);
	walk(&setup, &s);
	if (data[0] & 0x10) {
		size_t len = aux_intel_pt_decoder.sync(&setup, s.data, s.len, 1);

		s.more = s.len - len;
		s.len = len;
	}
	if (aux_intel_pt_decoder.begin(&setup, &s, &code, data[0] & 0xf, &d))
		return 0;
	/* Whatever there is behind the last of many events is more of the same. */
	while (events++ < EVENTS_MAX && aux_intel_pt_decoder.next(d, &e) > 0)
		must(e.kind < AUX_EVENTS && e.offset >= 24 && e.offset <= 24 + s.len);
	must(!aux_intel_pt_decoder.again(d, &setup, &s));
	for (events = 0; events < EVENTS_MAX / 10 && aux_intel_pt_decoder.next(d, &e) > 0;)
		events++;
	aux_intel_pt_decoder.end(d);
	return 0;
}
