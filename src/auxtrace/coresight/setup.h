/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace units of a recording: AUXTRACE_INFO of cs_etm, versions 0 and 1.
 *
 * cs_setup_parse() allocates; the caller releases with cs_setup_release(), also after a failure.
 * Source: tools/perf/util/cs-etm.h; include/linux/coresight-pmu.h for the hardware's ids.
 */
#ifndef RINGTAIL_AUXTRACE_CORESIGHT_SETUP_H
#define RINGTAIL_AUXTRACE_CORESIGHT_SETUP_H

#include "auxtrace/decoder/decoder.h"

enum cs_protocol { CS_ETMV3, CS_PTM, CS_ETMV4, CS_ETE };

/* Which ID in the trace is the thread's. */
enum cs_tid_source { CS_TID_NONE, CS_TID_CONTEXT, CS_TID_VMID };

/* Trace IDs from here on are none of a unit. */
#define CS_IDS 0x70u

struct cs_unit {
	enum cs_protocol protocol;
	uint32_t cpu;
	uint8_t trace_id;
	enum cs_tid_source tid_source;
	bool virtual_time; /* time stamps are of the virtual counter */
	/* Registers of ETMv4 and ETE; of the others, config, ccer and idr[0] */
	uint32_t config, idr[3], idr8, devarch, ccer;
};

struct cs_setup {
	struct cs_unit *units;
	size_t nr;
	bool raw; /* not in frames */
	const struct aux_setup *of;
};

/*
 * Returns 0; -ENOTSUP if AUXTRACE_INFO is of another type, of an unknown version or cut, or names
 * no unit; -ENOMEM.
 */
int cs_setup_parse(const struct aux_setup *setup, struct cs_setup *ret);

/* Frees the units; accepts an all-zero struct. */
void cs_setup_release(struct cs_setup *s);

/* Returns the unit of a trace ID, or NULL. */
const struct cs_unit *cs_setup_by_id(const struct cs_setup *s, uint8_t trace_id);

/* Returns the unit of @cpu; the first if @cpu is UINT32_MAX; or NULL. */
const struct cs_unit *cs_setup_by_cpu(const struct cs_setup *s, uint32_t cpu);

/* Converts a time stamp of @unit to ns, or returns 0 if the recording does not say how. */
uint64_t cs_setup_time(const struct cs_setup *s, const struct cs_unit *unit, uint64_t stamp);

#endif
