/* SPDX-License-Identifier: Apache-2.0 */
/* Records of other types than samples, as perf script's --show-*-events write them. Any thread. */
#ifndef RINGTAIL_RENDER_RECORD_LINE_H
#define RINGTAIL_RENDER_RECORD_LINE_H

#include "base/outbuf.h"
#include "perfdata/record.h"

/* Writes the name of the type and the fields, with the end of the line. */
void record_line(struct outbuf *out, const struct pd_record *r);

#endif
