/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of feature sections: strings, numbers, arrays. Private to perfdata/. */
#ifndef RINGTAIL_PERFDATA_FEATURE_CODEC_H
#define RINGTAIL_PERFDATA_FEATURE_CODEC_H

#include "base/buf.h"
#include "perfdata/cursor.h"
#include "perfdata/feature.h"

/* A string on the wire: its length, then its bytes, padded as perf pads them. */
#define PD_STRING_MIN	4u /* bytes: the length alone */
#define PD_STRING_ALIGN 64u

/* Reads a string. Returns 0 with *@ret for free(); or -EBADMSG or -ENOMEM, *@ret untouched. */
int pd_string_get(struct cursor *c, char **ret);

/*
 * Reads a count of entries of at least @min bytes each, and allocates *@ret_array of as many zeroed
 * elements of @size bytes. Returns 0 with *@ret_array for free(); -EBADMSG, also if the rest of the
 * section cannot hold the entries; or -ENOMEM.
 */
int pd_array_get(struct cursor *c, size_t min, size_t size, void *ret_array, uint32_t *ret_nr);

/* Reads a count and as many strings. Returns 0, -EBADMSG or -ENOMEM; release @ret in any case. */
int pd_strings_get(struct cursor *c, struct pd_strings *ret);

/* These append a value in native order. Each returns 0 or -ENOMEM. */
int pd_u32_put(struct buf *b, uint32_t v);
int pd_u64_put(struct buf *b, uint64_t v);
int pd_string_put(struct buf *b, const char *s);	       /* NULL is written as "" */
int pd_strings_put(struct buf *b, const struct pd_strings *v); /* for pd_strings_get() */

#endif
