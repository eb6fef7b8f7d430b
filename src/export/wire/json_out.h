/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of JSON (RFC 8259), for writers that stream.
 *
 * One thread at a time uses an output.
 */
#ifndef RINGTAIL_EXPORT_WIRE_JSON_OUT_H
#define RINGTAIL_EXPORT_WIRE_JSON_OUT_H

#include "base/buf.h"
#include "export/wire/out.h"

/*
 * Writes the @n bytes at @s, which are UTF-8, as a string in quotes. It escapes quotes, backslashes
 * and control characters.
 */
void json_out_string(struct out *o, const char *s, size_t n);
/* As json_out_string(), to memory. Returns 0 or -ENOMEM. */
int json_append_string(struct buf *b, const char *s, size_t n);

#endif
