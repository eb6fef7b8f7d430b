/* SPDX-License-Identifier: Apache-2.0 */
/* Event attributes as text, as perf report --header and -D write them. Any thread. */
#ifndef RINGTAIL_RENDER_ATTR_TEXT_H
#define RINGTAIL_RENDER_ATTR_TEXT_H

#include <stdio.h>

#include "perfdata/attr.h"

/* Writes every field that is not zero: ", type = 1, size = 128, …". */
void attr_text(FILE *out, const struct pd_attr *attr);

/* Writes the names of the bits: "IP|TID|TIME". */
void attr_text_sample_type(FILE *out, uint64_t sample_type);

#endif
