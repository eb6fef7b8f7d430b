/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a memory access found its data (PERF_SAMPLE_DATA_SRC), in perf's words:
 * "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A".
 *
 * Source of the bits: union perf_mem_data_src of <linux/perf_event.h>.
 */
#ifndef RINGTAIL_RENDER_DATA_SRC_H
#define RINGTAIL_RENDER_DATA_SRC_H

#include <stdint.h>

#define DATA_SRC_TEXT_MAX 512

/* @ret has room for DATA_SRC_TEXT_MAX bytes, which is more than any value takes. */
void data_src_text(uint64_t data_src, char *ret);

#endif
