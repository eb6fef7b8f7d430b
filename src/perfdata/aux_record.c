// SPDX-License-Identifier: Apache-2.0
#include "perfdata/aux_record.h"

#include <errno.h>

#define ERROR_MSG_MAX	64u /* with its NUL */
#define ERROR_WITH_TIME 1u  /* the form of the record */

const char *pd_auxtrace_type_name(uint32_t type)
{
	static const char *const names[] = {
		[PD_AUXTRACE_UNKNOWN] = "unknown",     [PD_AUXTRACE_INTEL_PT] = "intel_pt",
		[PD_AUXTRACE_INTEL_BTS] = "intel_bts", [PD_AUXTRACE_CS_ETM] = "cs_etm",
		[PD_AUXTRACE_ARM_SPE] = "arm_spe",     [PD_AUXTRACE_S390_CPUMSF] = "s390_cpumsf",
		[PD_AUXTRACE_HISI_PTT] = "hisi_ptt",   [PD_AUXTRACE_VPA_DTL] = "vpa_dtl",
	};

	return names[type < PD_AUXTRACE_TYPES ? type : PD_AUXTRACE_UNKNOWN];
}

void pd_auxtrace_encode(const struct pd_auxtrace *a, struct pd_auxtrace_record *ret)
{
	*ret = (struct pd_auxtrace_record){
		.header = {.type = PERF_RECORD_AUXTRACE, .size = sizeof(*ret)},
		.size = pd_auxtrace_padded(a->size),
		.offset = a->offset,
		.reference = a->reference,
		.idx = a->idx,
		.tid = a->tid,
		.cpu = a->cpu,
	};
}

/* Appends a header and @len bytes, padded to a multiple of 8. */
static int put(struct buf *b, uint32_t type, const void *body, size_t len)
{
	const size_t pad = -len & 7;
	const struct perf_event_header hdr = {
		.type = type,
		.size = (uint16_t)(sizeof(hdr) + len + pad),
	};
	int rc = buf_reserve(b, hdr.size);

	if (rc)
		return rc;
	buf_append(b, &hdr, sizeof(hdr));
	buf_append(b, body, len);
	return buf_zero(b, pad);
}

int pd_auxtrace_info_encode(struct buf *b, uint32_t type, const uint64_t *priv, size_t nr_priv)
{
	const struct {
		struct perf_event_header hdr;
		uint32_t type, reserved;
	} head = {
		.hdr = {.type = PERF_RECORD_AUXTRACE_INFO,
			.size = (uint16_t)(sizeof(head) + nr_priv * sizeof(*priv))},
		.type = type,
	};
	int rc;

	if (nr_priv > (UINT16_MAX - sizeof(head)) / sizeof(*priv))
		return -E2BIG;
	rc = buf_reserve(b, head.hdr.size);
	if (rc)
		return rc;
	buf_append(b, &head, sizeof(head));
	return buf_append(b, priv, nr_priv * sizeof(*priv));
}

int pd_auxtrace_error_encode(struct buf *b, const struct pd_auxtrace_error *e)
{
	struct {
		uint32_t type, code, cpu, pid, tid, form;
		uint64_t ip, time;
		char msg[ERROR_MSG_MAX];
	} body = {
		.type = e->type,
		.code = e->code,
		.cpu = e->cpu,
		.pid = e->pid,
		.tid = e->tid,
		.form = ERROR_WITH_TIME,
		.ip = e->ip,
		.time = e->time,
	};
	size_t len = strnlen(e->msg, sizeof(body.msg) - 1);

	memcpy(body.msg, e->msg, len);
	return put(b, PERF_RECORD_AUXTRACE_ERROR, &body, sizeof(body) - sizeof(body.msg) + len + 1);
}

int pd_id_index_encode(struct buf *b, const struct pd_id_entry *entries, size_t nr)
{
	struct {
		struct perf_event_header hdr;
		uint64_t nr;
	} head = {.hdr.type = PERF_RECORD_ID_INDEX};
	const size_t most = (UINT16_MAX - sizeof(head)) / sizeof(*entries);
	int rc = 0;

	for (size_t i = 0; !rc && i < nr; i += head.nr) {
		head.nr = nr - i < most ? nr - i : most;
		head.hdr.size = (uint16_t)(sizeof(head) + head.nr * sizeof(*entries));
		rc = buf_reserve(b, head.hdr.size);
		if (rc)
			break;
		buf_append(b, &head, sizeof(head));
		buf_append(b, &entries[i], head.nr * sizeof(*entries));
	}
	return rc;
}

int pd_time_conv_encode(struct buf *b, const struct pd_time_conv *t)
{
	const struct {
		uint64_t shift, mult, zero, cycles, mask;
		uint8_t zero_valid, is_short, reserved[6];
	} body = {
		.shift = t->time_shift,
		.mult = t->time_mult,
		.zero = t->time_zero,
		.cycles = t->time_cycles,
		.mask = t->time_mask,
		.zero_valid = t->cap_user_time_zero,
		.is_short = t->cap_user_time_short,
	};

	return put(b, PERF_RECORD_TIME_CONV, &body, sizeof(body));
}
