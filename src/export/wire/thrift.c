// SPDX-License-Identifier: Apache-2.0
#include "export/wire/thrift.h"

#include <assert.h>
#include <string.h>

#define SHORT_LIST 15 /* a longer one has its length behind the head */

void thrift_zigzag(struct proto *p, int64_t v)
{
	proto_varint(p, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_head(struct thrift *t, unsigned int field, enum thrift_type type)
{
	unsigned int *last = &t->last[t->depth];
	uint8_t head;

	assert(field > *last && field - *last < 16);
	head = (uint8_t)((field - *last) << 4 | type);
	proto_raw(&t->bytes, &head, 1);
	*last = field;
}

static void put_string(struct thrift *t, const char *s)
{
	size_t n = strlen(s);

	proto_varint(&t->bytes, n);
	proto_raw(&t->bytes, s, n);
}

void thrift_int(struct thrift *t, unsigned int field, enum thrift_type type, int64_t v)
{
	put_head(t, field, type);
	thrift_zigzag(&t->bytes, v);
}

void thrift_string(struct thrift *t, unsigned int field, const char *s)
{
	put_head(t, field, THRIFT_STRING);
	put_string(t, s);
}

void thrift_list(struct thrift *t, unsigned int field, enum thrift_type type, size_t n)
{
	uint8_t head = (uint8_t)((n < SHORT_LIST ? n : SHORT_LIST) << 4 | type);

	put_head(t, field, THRIFT_LIST);
	proto_raw(&t->bytes, &head, 1);
	if (n >= SHORT_LIST)
		proto_varint(&t->bytes, n);
}

void thrift_item_int(struct thrift *t, int64_t v)
{
	thrift_zigzag(&t->bytes, v);
}

void thrift_item_string(struct thrift *t, const char *s)
{
	put_string(t, s);
}

void thrift_begin(struct thrift *t, unsigned int field)
{
	put_head(t, field, THRIFT_STRUCT);
	thrift_item_begin(t);
}

void thrift_item_begin(struct thrift *t)
{
	assert(t->depth + 1 < THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
	proto_varint(&t->bytes, 0);
	t->last[t->depth] = 0;
	if (t->depth)
		t->depth--;
}
