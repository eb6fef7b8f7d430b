/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sweep.c and the opening of a stream need of a scan beside data/scan.h: to pause it, to know
 * where it is, and to walk without decoding.
 */
#ifndef RINGTAIL_DATA_SCAN_SCAN_PRIV_H
#define RINGTAIL_DATA_SCAN_SCAN_PRIV_H

#include "data/file/findings.h"
#include "data/scan/scan.h"

/* Internal scan flag: headers only. No decompression, events or times; bodies in file order. */
#define SCAN_RAW (1u << 31)
/* And one: the walk ends at what is no record, rather than to look for records behind it. */
#define SCAN_NO_RESUME (1u << 30)

/* File offset at which a scan stopped or goes on. */
uint64_t scan_position(const struct data_scan *scan);
int scan_fd(const struct data_scan *scan);
/* Where the notes of a scan go instead of the file's. */
void scan_set_findings(struct data_scan *scan, struct findings *notes);
/*
 * Makes the walk pause (data_scan_next() returns 0) before the first record of the file at @until
 * or behind it; it goes on when this is called again with an offset behind its position.
 */
void scan_pause_at(struct data_scan *scan, uint64_t until);
/* Whether the walk is at its end rather than paused. */
bool scan_ended(const struct data_scan *scan);
/* Whether a paused walk would go on as a new one from its position would: nothing of a compressed
 * stream is pending. */
bool scan_is_fresh(const struct data_scan *scan);

#endif
