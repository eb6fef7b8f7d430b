/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of Protocol Buffers, in memory.
 *
 * Source: protobuf.dev/programming-guides/encoding. The first failure is kept, and later calls do
 * nothing. One thread at a time uses a message.
 */
#ifndef RINGTAIL_EXPORT_WIRE_PROTO_H
#define RINGTAIL_EXPORT_WIRE_PROTO_H

#include "base/buf.h"
#include "export/wire/out.h"

/* All zero: empty. */
struct proto {
	struct buf b;
	int rc; /* 0 or -ENOMEM */
};

/* Appends bytes as they are. */
void proto_raw(struct proto *p, const void *s, size_t n);
/* Appends a number without its field, for packed fields. */
void proto_varint(struct proto *p, uint64_t v);
/* Appends a field of type uint64, int64, uint32, bool or enum. Zero, the default, takes no bytes.
 */
void proto_uint(struct proto *p, unsigned int field, uint64_t v);
/* As proto_uint(), with zero, which readers of proto2 tell from a field that is missing. */
void proto_set(struct proto *p, unsigned int field, uint64_t v);
/* Appends a field of type fixed64. */
void proto_fixed64(struct proto *p, unsigned int field, uint64_t v);
/* Appends the beginning of a field whose @n bytes the caller writes behind it. */
void proto_length(struct proto *p, unsigned int field, uint64_t n);
/* Appends a field of type string or bytes. */
void proto_bytes(struct proto *p, unsigned int field, const void *s, size_t n);

/* Begins a message or packed field in @p. Returns what proto_end() needs. They nest. */
size_t proto_begin(struct proto *p, unsigned int field);
/* Ends it. */
void proto_end(struct proto *p, size_t begin);

/* Writes and empties the message. Returns p->rc or out->rc. */
int proto_write(struct proto *p, struct out *out);
/* Frees the memory. */
void proto_release(struct proto *p);

#endif
