/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of recordings as JSON, with the conventions of render/json.h. One thread writes. */
#ifndef RINGTAIL_RENDER_JSON_DIFF_H
#define RINGTAIL_RENDER_JSON_DIFF_H

#include "render/json.h"
#include "render/table_diff.h"

/*
 * Writes the recordings, the confidence, and a table for each event of several. Only one row at a
 * time is in memory. Returns 0, -ENOMEM or -EIO; on failure the JSON ends in the middle.
 */
int json_diff(FILE *out, const struct diff *d, const struct diff_table_opts *opts);

#endif
