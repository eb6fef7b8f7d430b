// SPDX-License-Identifier: Apache-2.0
#include "export/wire/proto.h"

#include <endian.h>
#include <string.h>

#define VARINT_MAX 10 /* bytes */

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

static size_t encode(uint64_t v, uint8_t *ret)
{
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		ret[n++] = (uint8_t)(v | 0x80);
	ret[n++] = (uint8_t)v;
	return n;
}

void proto_raw(struct proto *p, const void *s, size_t n)
{
	if (!p->rc)
		p->rc = buf_append(&p->b, s, n);
}

void proto_varint(struct proto *p, uint64_t v)
{
	uint8_t bytes[VARINT_MAX];

	proto_raw(p, bytes, encode(v, bytes));
}

static void put_tag(struct proto *p, unsigned int field, enum wire_type type)
{
	proto_varint(p, (uint64_t)field << 3 | type);
}

void proto_set(struct proto *p, unsigned int field, uint64_t v)
{
	put_tag(p, field, WIRE_VARINT);
	proto_varint(p, v);
}

void proto_uint(struct proto *p, unsigned int field, uint64_t v)
{
	if (v)
		proto_set(p, field, v);
}

void proto_fixed64(struct proto *p, unsigned int field, uint64_t v)
{
	const uint64_t bytes = htole64(v);

	put_tag(p, field, WIRE_FIXED64);
	proto_raw(p, &bytes, sizeof(bytes));
}

void proto_length(struct proto *p, unsigned int field, uint64_t n)
{
	put_tag(p, field, WIRE_LENGTH);
	proto_varint(p, n);
}

void proto_bytes(struct proto *p, unsigned int field, const void *s, size_t n)
{
	proto_length(p, field, n);
	proto_raw(p, s, n);
}

size_t proto_begin(struct proto *p, unsigned int field)
{
	put_tag(p, field, WIRE_LENGTH);
	return p->b.len;
}

/* The length stands in front and has the size that it needs, so the message moves. */
void proto_end(struct proto *p, size_t begin)
{
	uint8_t bytes[VARINT_MAX];
	size_t len = p->b.len - begin, n = encode(len, bytes);

	proto_raw(p, bytes, n);
	if (p->rc)
		return;
	memmove(p->b.data + begin + n, p->b.data + begin, len);
	memcpy(p->b.data + begin, bytes, n);
}

int proto_write(struct proto *p, struct out *out)
{
	if (!p->rc)
		out_put(out, p->b.data, p->b.len);
	p->b.len = 0;
	return p->rc ? p->rc : out->rc;
}

void proto_release(struct proto *p)
{
	buf_release(&p->b);
}
