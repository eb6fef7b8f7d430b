// SPDX-License-Identifier: Apache-2.0
#include "data/tracing/tracing_needs.h"

#include <byteswap.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"

#define WIDTH_MAX      4096
#define MASK_MAX       1024	 /* bytes: 8192 CPUs */
#define TEXT_MAX       (4 << 20) /* bytes of a record's text, an estimate */
#define BYTES_PER_BYTE 5	 /* "0xff," in the text of an array */

int tracing_needs_add(struct tracing_needs *n, const struct tracing_need *need)
{
	int rc = array_grow(&n->need, &n->cap, n->nr + 1, sizeof(*need));

	if (!rc)
		n->need[n->nr++] = *need;
	return rc;
}

void tracing_needs_release(struct tracing_needs *n)
{
	free(n->need);
	*n = (struct tracing_needs){0};
}

static uint64_t number_at(const uint8_t *p, uint32_t size, bool swap)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1: return *p;
	case 2: memcpy(&u16, p, sizeof(u16)); return swap ? bswap_16(u16) : u16;
	case 4: memcpy(&u32, p, sizeof(u32)); return swap ? bswap_32(u32) : u32;
	case 8: memcpy(&u64, p, sizeof(u64)); return swap ? bswap_64(u64) : u64;
	default: return 0;
	}
}

bool tracing_field_inside(const struct tracing_field *field, const struct tracing_data *data)
{
	return field->size <= data->size && field->offset <= data->size - field->size;
}

uint64_t tracing_field_number(const struct tracing_field *field, const struct tracing_data *data)
{
	return number_at(data->p + field->offset, field->size, data->swap);
}

bool tracing_field_extent(const struct tracing_field *field, const struct tracing_data *data,
			  uint32_t *ret_offset, uint32_t *ret_len)
{
	uint64_t place;
	uint32_t offset, len;

	if (!tracing_field_inside(field, data))
		return false;
	offset = field->offset;
	/* A field of size 0 extends to the end of the record. */
	len = field->size ? field->size : data->size - field->offset;
	if (field->flags & TRACING_DYNAMIC) {
		/*
		 * __data_loc in Linux, trace_events.h: length in the upper half, offset in the
		 * lower.
		 */
		if (field->size != 4)
			return false;
		place = tracing_field_number(field, data);
		len = (uint32_t)(place >> 16);
		offset = (uint32_t)(place & 0xffff);
		if (field->flags & TRACING_RELATIVE)
			offset += field->offset + field->size;
		if (len > data->size || offset > data->size - len)
			return false;
	}
	*ret_offset = offset;
	*ret_len = len;
	return true;
}

/* Returns the number, or UINT64_MAX if the record lacks it. */
static uint64_t number_value(const struct tracing_number *n, const struct tracing_data *data)
{
	uint32_t offset, len;

	switch (n->kind) {
	case TRACING_VALUE: return tracing_field_number(n->field, data) / n->div;
	case TRACING_LENGTH:
		if (!tracing_field_extent(n->field, data, &offset, &len))
			return UINT64_MAX;
		return len / n->div;
	default: return n->value / n->div;
	}
}

static bool sockaddr_is_whole(const uint8_t *p, uint32_t len)
{
	uint16_t family;

	if (len < sizeof(family))
		return false;
	/* The library reads it in this machine's byte order. */
	memcpy(&family, p, sizeof(family));
	return len >= (family == AF_INET6  ? sizeof(struct sockaddr_in6)
		       : family == AF_INET ? sizeof(struct sockaddr_in)
					   : sizeof(family));
}

static bool need_holds(const struct tracing_need *n, const struct tracing_data *data)
{
	uint32_t offset, len;

	if (n->kind == TRACING_NEED_WIDTH)
		return number_value(&n->number, data) <= WIDTH_MAX;
	if (!tracing_field_extent(n->field, data, &offset, &len))
		return false;
	switch (n->kind) {
	case TRACING_NEED_MASK: return len && len <= MASK_MAX;
	case TRACING_NEED_SOCKADDR: return sockaddr_is_whole(data->p + offset, len);
	case TRACING_NEED_ELEMENTS: return number_value(&n->number, data) <= len / n->size;
	default: return true;
	}
}

/* The library uses the type in the record, whatever event the sample has. */
static bool type_matches(const struct tracing_format *f, const struct tracing_data *data)
{
	return f->type && tracing_field_inside(f->type, data) &&
	       tracing_field_number(f->type, data) == f->id;
}

bool tracing_needs_hold(const struct tracing_needs *n, const struct tracing_format *f,
			const struct tracing_data *data)
{
	if ((uint64_t)n->copies * data->size * BYTES_PER_BYTE > TEXT_MAX || data->size < f->end ||
	    !type_matches(f, data))
		return false;
	for (size_t i = 0; i < n->nr; i++) {
		if (!need_holds(&n->need[i], data))
			return false;
	}
	return true;
}
