/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotated functions as JSON. One thread writes.
 */
#ifndef RINGTAIL_RENDER_JSON_ANNOTATE_H
#define RINGTAIL_RENDER_JSON_ANNOTATE_H

#include "render/text_annotate.h"

/* Writes an object, for a function with or without code. Returns 0, -ENOMEM or -EIO. */
int annotate_json(FILE *out, const struct annotate_view *v);

#endif
