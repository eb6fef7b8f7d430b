/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of a tracepoint's record before libtraceevent may print it: the library reads
 * where the numbers in the record send it. Pure functions.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_NEEDS_H
#define RINGTAIL_DATA_TRACING_TRACING_NEEDS_H

#include "data/tracing/tracing_format.h"

/* A record's bytes, as in the raw part of a sample. */
struct tracing_data {
	const uint8_t *p;
	uint32_t size;
	bool swap; /* of the other byte order */
};

/* A number that a record gives: the value, over div. */
struct tracing_number {
	enum {
		TRACING_CONSTANT, /* value */
		TRACING_VALUE,	  /* what stands in field */
		TRACING_LENGTH,	  /* bytes of the data that the dynamic field leads to */
	} kind;
	uint64_t value;
	const struct tracing_field *field;
	uint64_t div; /* never 0 */
};

struct tracing_need {
	enum {
		TRACING_NEED_DATA,     /* the data of the dynamic field lie in the record */
		TRACING_NEED_MASK,     /* so they do, and are a mask of a size that may be */
		TRACING_NEED_SOCKADDR, /* so they do, whole for the family that they name */
		TRACING_NEED_ELEMENTS, /* field or its data have number elements of size bytes */
		TRACING_NEED_WIDTH,    /* number is a width that a column may have */
	} kind;
	const struct tracing_field *field;
	struct tracing_number number;
	uint32_t size;
};

/* All needs of an event; the pointers lead into its format. All-zero: none. */
struct tracing_needs {
	struct tracing_need *need;
	size_t nr, cap;
	uint32_t copies; /* how often a record's bytes may come out in full */
};

/* Returns 0 or -ENOMEM. */
int tracing_needs_add(struct tracing_needs *n, const struct tracing_need *need);
void tracing_needs_release(struct tracing_needs *n);

/* Whether @data is of the event, has all its fields, and @n hold. */
bool tracing_needs_hold(const struct tracing_needs *n, const struct tracing_format *f,
			const struct tracing_data *data);

/* Whether @field itself lies in @data. */
bool tracing_field_inside(const struct tracing_field *field, const struct tracing_data *data);

/* The number in a field that lies in @data; 0 if it is of a size that no number has. */
uint64_t tracing_field_number(const struct tracing_field *field, const struct tracing_data *data);

/*
 * Where the bytes of @field are: its own, or those that it leads to. Returns false, with nothing
 * set, if not all of them lie in @data.
 */
bool tracing_field_extent(const struct tracing_field *field, const struct tracing_data *data,
			  uint32_t *ret_offset, uint32_t *ret_len);

#endif
