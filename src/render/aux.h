/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of AUX rings as text and JSON. One thread. */
#ifndef RINGTAIL_RENDER_AUX_H
#define RINGTAIL_RENDER_AUX_H

#include <jansson.h>
#include <stdio.h>

#include "report/aux/rings.h"

/* Writes a table of the rings, and one of the snapshots if there are any. */
void aux_render(FILE *out, const struct aux_rings *r);

/* Returns {"rings": [...], "snapshots": [...]}, for the caller; NULL: no memory. */
json_t *aux_json(const struct aux_rings *r);

#endif
