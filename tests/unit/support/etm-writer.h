/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes ETMv4 packets of a run that the caller knows, and frames of several units.
 *
 * Source: Arm IHI 0064 (ETMv4), chapter 6; Arm CoreSight Architecture Specification v3.0, D4.2.
 * Failures are asserts.
 */
#ifndef RINGTAIL_TESTS_ETM_WRITER_H
#define RINGTAIL_TESTS_ETM_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Registers of a unit that writes as this writer does, and what AUXTRACE_INFO says of it. */
#define ETM_IDR0 0x28000ea1ull
#define ETM_IDR1 0x4100f422ull
#define ETM_IDR2 0x20001088ull
/* TRCCONFIGR: context IDs and time stamps. */
#define ETM_CONFIG ((1ull << 6) | (1ull << 11))

struct etm_writer {
	struct buf out;
	uint8_t el; /* exception level, as of the last context */
	uint32_t tid;
	unsigned int nr_atoms; /* that are not written yet; the oldest in bit 0 */
	uint32_t atoms;
};

/* Begins a group of packets from which a decoder synchronises; tracing goes on at @pc. */
void etm_sync(struct etm_writer *w, uint64_t pc);

/* Tracing is switched on at @pc. */
void etm_trace_on(struct etm_writer *w, uint64_t pc);

/* A branch instruction, or what counts as such, was executed. */
void etm_atom(struct etm_writer *w, bool taken);

/* The target of an indirect branch. */
void etm_target(struct etm_writer *w, uint64_t pc);

/* As etm_target(), of a change of exception level or task. */
void etm_context(struct etm_writer *w, uint64_t pc, uint8_t el, uint32_t tid);

/* An exception of @type; @back is the preferred return address. The handler's context follows. */
void etm_exception(struct etm_writer *w, unsigned int type, uint64_t back);

/* Behind the atom of an ERET. */
void etm_exception_return(struct etm_writer *w);

void etm_time(struct etm_writer *w, uint64_t stamp);
void etm_overflow(struct etm_writer *w);

/* Writes the atoms that are not written yet. */
void etm_flush(struct etm_writer *w);

/*
 * Appends frames with the bytes of @nr traces, in turns of up to 40 bytes by @seed; with an ID at
 * the start of a frame at least every tenth frame. The last frame is padded by ID 0.
 */
void etm_frames(struct buf *out, const struct buf *const *traces, const uint8_t *ids, size_t nr,
		uint32_t seed);

#endif
