/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes in words, as perf report --header and -D write them. */
#ifndef RINGTAIL_RENDER_ATTR_TEXT_H
#define RINGTAIL_RENDER_ATTR_TEXT_H

#include <stdio.h>

#include "perfdata/attr.h"

/* ", type = 1, size = 128, …": every field that is not zero. */
void attr_text(FILE *out, const struct pd_attr *attr);

/* "IP|TID|TIME" */
void attr_text_sample_type(FILE *out, uint64_t sample_type);

#endif
