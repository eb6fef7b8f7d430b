/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUXTRACE_INFO of cs_etm: registers of the trace unit of each CPU. For info.c.
 *
 * The kinds of units are ETMv3 and PTM, ETMv4, and ETE. Trace IDs are those that kernels before 6.3
 * give by CPU; later ones say theirs in AUX_OUTPUT_HW_ID records, which override these.
 */
#ifndef RINGTAIL_RECORD_AUX_INFO_CORESIGHT_H
#define RINGTAIL_RECORD_AUX_INFO_CORESIGHT_H

#include "record/aux/info.h"

/*
 * Appends the record. It has the CPUs of the plan that are online and have a trace unit; all such
 * CPUs if the events follow tasks. Returns as aux_info_build() does.
 */
int aux_info_coresight(const struct aux_info_source *s, const struct plan_event *event,
		       struct buf *b);

#endif
