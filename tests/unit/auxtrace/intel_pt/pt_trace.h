/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace of Intel PT by libipt's packet encoder, for tests.
 *
 * A failure ends the test. Conditional branches are collected, and written in front of the next
 * packet that is not one. Addresses are compressed as the hardware does.
 */
#ifndef RINGTAIL_TESTS_PT_TRACE_H
#define RINGTAIL_TESTS_PT_TRACE_H

#include <intel-pt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pt_trace {
	uint8_t *data;
	size_t cap, len;
	struct pt_encoder *encoder;
	uint64_t tnt; /* collected, the oldest highest */
	unsigned int nr_tnt;
	uint64_t last_ip;
};

void pt_trace_init(struct pt_trace *t, size_t cap);
void pt_trace_release(struct pt_trace *t);

/* Each returns the offset behind what it wrote. */
size_t pt_trace_put(struct pt_trace *t, const struct pt_packet *packet);
size_t pt_trace_plain(struct pt_trace *t, enum pt_packet_type type); /* without payload */
size_t pt_trace_bytes(struct pt_trace *t, const void *bytes, size_t n);
size_t pt_trace_flush(struct pt_trace *t); /* the collected branches */
/* @type is a FUP or one of the TIPs; @ip 0: suppressed. */
size_t pt_trace_ip(struct pt_trace *t, enum pt_packet_type type, uint64_t ip);
size_t pt_trace_tsc(struct pt_trace *t, uint64_t tsc);
size_t pt_trace_pip(struct pt_trace *t, uint64_t cr3);
size_t pt_trace_exec(struct pt_trace *t, enum pt_exec_mode mode);
size_t pt_trace_tsx(struct pt_trace *t, bool in_tx, bool aborted);
/* A PSB+; @ip 0: tracing is off. */
size_t pt_trace_psb(struct pt_trace *t, uint64_t tsc, uint64_t ip);

/* A conditional branch, or a compressed return. */
void pt_trace_cond(struct pt_trace *t, bool taken);

#endif
