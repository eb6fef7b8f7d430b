/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that decoders of a hardware trace need first: TIME_CONV, ID_INDEX and AUXTRACE_INFO, as
 * perf 6.1's.
 *
 * ID_INDEX is made for trace in samples, of which perf makes a queue for each place.
 *
 * AUXTRACE_INFO is made for intel_pt, intel_bts, cs_etm, arm_spe_N and hisi_pttN_N. perf refuses a
 * file with one of a type that it does not know, so there is none for other PMUs. A file has at
 * most one, for the first such event of the plan.
 *
 * Each output begins with them. Threads: the main thread's.
 * Source: tools/perf/util/{intel-pt,intel-bts,cs-etm,arm-spe}.h (6.1) for the words.
 */
#ifndef RINGTAIL_RECORD_AUX_INFO_H
#define RINGTAIL_RECORD_AUX_INFO_H

#include "perfdata/aux_record.h"
#include "record/initial/emit.h"
#include "record/open/open.h"

struct aux_info_source {
	const char *sysfs;		 /* where it is mounted */
	const struct plan *plan;	 /* it has AUX areas */
	const struct opened *opened;	 /* with trace in samples */
	const struct pd_time_conv *conv; /* from the time stamp counter to ns; NULL: unknown */
	uint32_t tsc, crystal;		 /* ticks of both clocks in the same time; 0: unknown */
};

/*
 * Appends the records to @b. What sysfs does not have is 0. Returns 0, -ENOMEM, or -E2BIG: the
 * machine has more CPUs than fit into AUXTRACE_INFO.
 */
int aux_info_build(const struct aux_info_source *source, struct buf *b);

/*
 * Reads the conversion of times from a ring's first page. Returns false if the kernel gives none.
 */
bool aux_info_conv(const struct perf_event_mmap_page *page, struct pd_time_conv *ret);

/*
 * Passes the records for this machine to @emit with @arg; none if @plan has no AUX area. Returns 0,
 * or a negative errno; @err is filled unless @emit failed.
 */
int aux_info_emit(const struct plan *plan, const struct opened *opened, record_emit_fn *emit,
		  void *arg, struct error *err);

#endif
