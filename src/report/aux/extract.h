/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extracts the raw trace of AUX areas into a file for each ring.
 *
 * A file is named by the CPU of the ring, or by the thread if the ring has no CPU: "cpu0",
 * "tid-1234". So each output of a rotation gives a ring the same name. It holds the data of the
 * ring's AUXTRACE records, and of samples with PERF_SAMPLE_AUX.
 *
 * A full trace is in the order of its offsets, each byte once. So is a snapshot of which the log
 * gives the position. In other snapshots offsets may be those in the buffer: their data are in the
 * order of the file, and bytes that two snapshots took come twice. Padding is removed where the
 * log, or the next record's offset, shows it.
 *
 * Memory: 72 bytes for each AUXTRACE record, 128 KB for each ring. One thread.
 */
#ifndef RINGTAIL_REPORT_AUX_EXTRACT_H
#define RINGTAIL_REPORT_AUX_EXTRACT_H

#include "base/error.h"
#include "data/file/file.h"
#include "report/trace/filter.h"

struct aux_extract_opts {
	const char *dir; /* made if it is missing; files there are replaced */
	const struct filter_ranges *cpus, *tids;
};

/*
 * Returns 0, or a negative errno with @err filled. Damage becomes a finding of @df, and what is
 * behind it is extracted.
 */
int aux_extract(struct data_file *df, const struct aux_extract_opts *opts, struct error *err);

#endif
