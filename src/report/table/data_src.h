/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source of a memory access (PERF_SAMPLE_DATA_SRC), in perf's words:
 * "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A".
 *
 * The bits are those of union perf_mem_data_src, <linux/perf_event.h>. Any thread.
 */
#ifndef RINGTAIL_REPORT_TABLE_DATA_SRC_H
#define RINGTAIL_REPORT_TABLE_DATA_SRC_H

#include <stdint.h>

#define DATA_SRC_TEXT_MAX 512

enum data_src_part {
	DATA_SRC_OP,
	DATA_SRC_LVL,
	DATA_SRC_SNOOP,
	DATA_SRC_TLB,
	DATA_SRC_LOCK,
	DATA_SRC_BLOCKED,
};

/* Writes one part, without its name, to @ret, which has DATA_SRC_TEXT_MAX bytes. */
void data_src_part(uint64_t data_src, enum data_src_part part, char *ret);

/* Writes the text to @ret, which has DATA_SRC_TEXT_MAX bytes: no value needs more. */
void data_src_text(uint64_t data_src, char *ret);

#endif
