/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner interface of a scan, for sweep.c and for opening a stream: pauses, positions, and a walk
 * without decoding. Threads as in data/scan/scan.h.
 */
#ifndef RINGTAIL_DATA_SCAN_SCAN_PRIV_H
#define RINGTAIL_DATA_SCAN_SCAN_PRIV_H

#include "data/file/findings.h"
#include "data/scan/scan.h"

/* Internal scan flag: no decompression, events or times; only headers; bodies in file order. */
#define SCAN_RAW (1u << 31)
/* Internal scan flag: the walk ends at damage, and does not search for records behind it. */
#define SCAN_NO_RESUME (1u << 30)

/* Returns the file offset at which the scan stopped or continues. */
uint64_t scan_position(const struct data_scan *scan);
/* Returns the descriptor of the file being read. */
int scan_fd(const struct data_scan *scan);
/* Collects the scan's findings in @findings in place of the file's. */
void scan_set_findings(struct data_scan *scan, struct findings *findings);
/*
 * Makes the walk pause before the first record of the file at or behind @until: data_scan_next()
 * then returns 0. Call this again with a larger offset to continue.
 */
void scan_pause_at(struct data_scan *scan, uint64_t until);
/* Returns whether the walk has ended, rather than paused. */
bool scan_ended(const struct data_scan *scan);
/*
 * Returns whether a new walk from the position of a paused one would continue the same way, because
 * nothing of a compressed stream is pending.
 */
bool scan_is_fresh(const struct data_scan *scan);

#endif
