/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoders of the records that a recorder writes about AUX areas: AUXTRACE, AUXTRACE_INFO,
 * AUXTRACE_ERROR, ID_INDEX, TIME_CONV. record.h decodes them.
 *
 * Native byte order. Pure: any thread.
 * Source: tools/lib/perf/include/perf/event.h; tools/perf/util/auxtrace.h for the types.
 */
#ifndef RINGTAIL_PERFDATA_AUX_RECORD_H
#define RINGTAIL_PERFDATA_AUX_RECORD_H

#include "base/buf.h"
#include "perfdata/record.h"

/* The type of AUXTRACE_INFO, by which perf chooses the decoder. */
enum pd_auxtrace_type {
	PD_AUXTRACE_UNKNOWN,
	PD_AUXTRACE_INTEL_PT,
	PD_AUXTRACE_INTEL_BTS,
	PD_AUXTRACE_CS_ETM,
	PD_AUXTRACE_ARM_SPE,
	PD_AUXTRACE_S390_CPUMSF,
	PD_AUXTRACE_HISI_PTT,
	PD_AUXTRACE_VPA_DTL,
	PD_AUXTRACE_TYPES,
};

/* Returns "intel_pt", "cs_etm", …; "unknown" for 0 and for types from PD_AUXTRACE_TYPES up. */
const char *pd_auxtrace_type_name(uint32_t type);

/* The data behind an AUXTRACE record are padded with zeros to a multiple of so many bytes. */
#define PD_AUXTRACE_ALIGN 8u

/* Returns the bytes that @size bytes of trace take with their padding. */
static inline uint64_t pd_auxtrace_padded(uint64_t size)
{
	return size + (-size & (PD_AUXTRACE_ALIGN - 1));
}

struct pd_auxtrace_record {
	struct perf_event_header header;
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu, reserved;
};

_Static_assert(sizeof(struct pd_auxtrace_record) == 48, "as struct perf_record_auxtrace");

/*
 * Encodes @a, except that a->size need not be a multiple of PD_AUXTRACE_ALIGN: the caller writes
 * ret->size bytes behind the record, which are the a->size bytes of the trace and zeros.
 */
void pd_auxtrace_encode(const struct pd_auxtrace *a, struct pd_auxtrace_record *ret);

/* Appends an AUXTRACE_INFO. Returns 0, -ENOMEM, or -E2BIG when no record can hold so many words. */
int pd_auxtrace_info_encode(struct buf *b, uint32_t type, const uint64_t *priv, size_t nr_priv);

/* Appends an AUXTRACE_ERROR; its message is cut to 63 bytes. Returns 0 or -ENOMEM. */
int pd_auxtrace_error_encode(struct buf *b, const struct pd_auxtrace_error *e);

/* The queue of an event's trace in samples; cpu and tid are -1 for any. */
struct pd_id_entry {
	uint64_t id, idx;
	int64_t cpu, tid;
};

/* Appends ID_INDEX records, as many as the entries need. Returns 0 or -ENOMEM. */
int pd_id_index_encode(struct buf *b, const struct pd_id_entry *entries, size_t nr);

/* Appends a TIME_CONV in the form of perf 5.10 and later. Returns 0 or -ENOMEM. */
int pd_time_conv_encode(struct buf *b, const struct pd_time_conv *t);

#endif
