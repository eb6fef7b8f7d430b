/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lines of script begin with: the task and the time.
 *
 * Threads as in render/lines.h. What most lines have in common with the one before is kept in the
 * thread's struct line_texts.
 */
#ifndef RINGTAIL_RENDER_LINES_HEAD_H
#define RINGTAIL_RENDER_LINES_HEAD_H

#include "render/lines.h"

/* Writes the task and the time. */
void lines_put_head(struct lines *l, struct outbuf *out, const struct script_sample *s);

/* Writes the task alone: its name, ids and CPU, as far as they are among the fields. */
void lines_put_task(const struct lines *l, struct outbuf *out, const struct script_sample *s);

/* Writes a time of the recording's clock, less its origin. */
void lines_put_time(struct lines *l, struct outbuf *out, uint64_t clock);

/* Returns @time less its origin. Lines are in time order. */
uint64_t lines_since(struct lines *l, uint64_t time);

#endif
