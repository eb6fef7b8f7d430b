// SPDX-License-Identifier: Apache-2.0
#include "pt_trace.h"

#include <stdio.h>
#include <stdlib.h>

/* As many as fit into the short packet. */
#define TNT_MAX 6

static void check(bool ok, const char *text)
{
	if (ok)
		return;
	fprintf(stderr, "pt_trace: %s\n", text);
	abort();
}

void pt_trace_init(struct pt_trace *t, size_t cap)
{
	struct pt_config config;

	*t = (struct pt_trace){.data = calloc(1, cap), .cap = cap};
	check(t->data, "no memory");
	pt_config_init(&config);
	config.begin = t->data;
	config.end = t->data + cap;
	t->encoder = pt_alloc_encoder(&config);
	check(t->encoder, "no encoder");
}

void pt_trace_release(struct pt_trace *t)
{
	pt_free_encoder(t->encoder);
	free(t->data);
	*t = (struct pt_trace){0};
}

static size_t encode(struct pt_trace *t, const struct pt_packet *packet)
{
	int n = pt_enc_next(t->encoder, packet);

	check(n > 0, n < 0 ? pt_errstr(pt_errcode(n)) : "nothing written");
	t->len += n;
	return t->len;
}

size_t pt_trace_flush(struct pt_trace *t)
{
	struct pt_packet p = {
		.type = ppt_tnt_8,
		.payload.tnt = {.bit_size = t->nr_tnt, .payload = t->tnt},
	};

	if (t->nr_tnt)
		encode(t, &p);
	t->tnt = t->nr_tnt = 0;
	return t->len;
}

size_t pt_trace_put(struct pt_trace *t, const struct pt_packet *packet)
{
	pt_trace_flush(t);
	return encode(t, packet);
}

size_t pt_trace_plain(struct pt_trace *t, enum pt_packet_type type)
{
	struct pt_packet p = {.type = type};

	if (type == ppt_psb || type == ppt_ovf)
		t->last_ip = 0;
	return pt_trace_put(t, &p);
}

size_t pt_trace_bytes(struct pt_trace *t, const void *bytes, size_t n)
{
	pt_trace_flush(t);
	check(n <= t->cap - t->len, "the buffer is full");
	memcpy(t->data + t->len, bytes, n);
	t->len += n;
	check(pt_enc_sync_set(t->encoder, t->len) >= 0, "no place");
	return t->len;
}

size_t pt_trace_ip(struct pt_trace *t, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet p = {.type = type, .payload.ip = {.ipc = pt_ipc_suppressed}};

	if (ip) {
		p.payload.ip.ip = ip;
		p.payload.ip.ipc = !((ip ^ t->last_ip) >> 16)	? pt_ipc_update_16
				   : !((ip ^ t->last_ip) >> 32) ? pt_ipc_update_32
								: pt_ipc_sext_48;
		p.payload.ip.ip &= p.payload.ip.ipc == pt_ipc_update_16	  ? 0xffff
				   : p.payload.ip.ipc == pt_ipc_update_32 ? 0xffffffff
									  : 0xffffffffffff;
		t->last_ip = ip;
	}
	return pt_trace_put(t, &p);
}

size_t pt_trace_tsc(struct pt_trace *t, uint64_t tsc)
{
	struct pt_packet p = {.type = ppt_tsc, .payload.tsc.tsc = tsc};

	return pt_trace_put(t, &p);
}

size_t pt_trace_pip(struct pt_trace *t, uint64_t cr3)
{
	struct pt_packet p = {.type = ppt_pip, .payload.pip.cr3 = cr3};

	return pt_trace_put(t, &p);
}

size_t pt_trace_exec(struct pt_trace *t, enum pt_exec_mode mode)
{
	struct pt_packet p = {.type = ppt_mode, .payload.mode.leaf = pt_mol_exec};

	p.payload.mode.bits.exec = pt_set_exec_mode(mode);
	return pt_trace_put(t, &p);
}

size_t pt_trace_tsx(struct pt_trace *t, bool in_tx, bool aborted)
{
	struct pt_packet p = {.type = ppt_mode, .payload.mode.leaf = pt_mol_tsx};

	p.payload.mode.bits.tsx.intx = in_tx;
	p.payload.mode.bits.tsx.abrt = aborted;
	return pt_trace_put(t, &p);
}

size_t pt_trace_psb(struct pt_trace *t, uint64_t tsc, uint64_t ip)
{
	pt_trace_plain(t, ppt_psb);
	pt_trace_tsc(t, tsc);
	if (ip) {
		pt_trace_exec(t, ptem_64bit);
		pt_trace_ip(t, ppt_fup, ip);
	}
	return pt_trace_plain(t, ppt_psbend);
}

void pt_trace_cond(struct pt_trace *t, bool taken)
{
	t->tnt = t->tnt << 1 | taken;
	if (++t->nr_tnt == TNT_MAX)
		pt_trace_flush(t);
}
