/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Needs: conditions on a tracepoint's record before libtraceevent may print it.
 *
 * Without them numbers in the record would make the library read out of bounds. Pure functions.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_NEEDS_H
#define RINGTAIL_DATA_TRACING_TRACING_NEEDS_H

#include "data/tracing/tracing_format.h"

/* A record's bytes, as in the raw part of a sample. */
struct tracing_data {
	const uint8_t *p;
	uint32_t size;
	bool swap; /* it has the other byte order */
};

/* A number that a record gives: the value divided by div. */
struct tracing_number {
	enum {
		TRACING_CONSTANT, /* value */
		TRACING_VALUE,	  /* the contents of field */
		TRACING_LENGTH,	  /* bytes of the data of the dynamic field */
	} kind;
	uint64_t value;
	const struct tracing_field *field;
	uint64_t div; /* never 0 */
};

struct tracing_need {
	enum {
		TRACING_NEED_DATA,     /* the data of the dynamic field lie in the record */
		TRACING_NEED_MASK,     /* and are a mask of a valid size */
		TRACING_NEED_SOCKADDR, /* and are complete for their address family */
		TRACING_NEED_ELEMENTS, /* field or its data have number elements of size bytes */
		TRACING_NEED_WIDTH,    /* number is a valid width of a column */
	} kind;
	const struct tracing_field *field;
	struct tracing_number number;
	uint32_t size;
};

/* All needs of an event. The pointers lead into its format. All zero: none. */
struct tracing_needs {
	struct tracing_need *need;
	size_t nr, cap;
	uint32_t copies; /* how often a record's bytes may be printed in full */
};

/* Adds a copy of @need. Returns 0 or -ENOMEM. */
int tracing_needs_add(struct tracing_needs *n, const struct tracing_need *need);
/* Frees the array; accepts zeroes. */
void tracing_needs_release(struct tracing_needs *n);

/* Returns whether @data is of the event, has all its fields, and meets all needs. */
bool tracing_needs_hold(const struct tracing_needs *n, const struct tracing_format *f,
			const struct tracing_data *data);

/* Returns whether @field itself lies in @data. */
bool tracing_field_inside(const struct tracing_field *field, const struct tracing_data *data);

/* Returns the number in a field that lies in @data; 0 if no number has the field's size. */
uint64_t tracing_field_number(const struct tracing_field *field, const struct tracing_data *data);

/*
 * Finds the bytes of @field: its own, or the data of a dynamic field. Returns false, and sets
 * nothing, if they do not all lie in @data.
 */
bool tracing_field_extent(const struct tracing_field *field, const struct tracing_data *data,
			  uint32_t *ret_offset, uint32_t *ret_len);

#endif
