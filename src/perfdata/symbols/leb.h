/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LEB128 numbers, and bytes with their length in front. Any thread.
 */
#ifndef RINGTAIL_PERFDATA_LEB_H
#define RINGTAIL_PERFDATA_LEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends a number. Returns 0 or -ENOMEM. */
int leb_put(struct buf *b, uint64_t v);
/* Appends @len and the bytes. Returns 0 or -ENOMEM; then a part of it may be there. */
int leb_put_bytes(struct buf *b, const void *p, size_t len);

/* Reads a number at *@p, and moves *@p behind it. Returns false if there is none before @end. */
bool leb_get(const uint8_t **p, const uint8_t *end, uint64_t *ret);
/* As leb_get(), for a length and as many bytes, which stay where they are. */
bool leb_get_bytes(const uint8_t **p, const uint8_t *end, const uint8_t **ret, size_t *ret_len);

#endif
