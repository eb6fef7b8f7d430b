/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parser for the text of a tracepoint's format. It accepts only what kernels write:
 *
 *	name: NAME
 *	ID: NUMBER
 *	format:
 *		field:TYPE NAME[COUNT];	offset:N;	size:N;	signed:N;
 *		... the fields of all events, an empty line, those of this one, an empty line
 *	print fmt: ...
 *
 * Pure functions over the text. Source: kernel/trace/trace_events.c, f_show().
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_FORMAT_H
#define RINGTAIL_DATA_TRACING_TRACING_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACING_FORMAT_MAX (1u << 16) /* bytes of a format; the kernel's are below 8 KiB */

enum tracing_field_flag {
	TRACING_ARRAY = 1 << 0,
	TRACING_STRING = 1 << 1,   /* an array of characters, or of bytes */
	TRACING_DYNAMIC = 1 << 2,  /* holds place and length of data behind the fields */
	TRACING_RELATIVE = 1 << 3, /* DYNAMIC with a place relative to the end of the field */
	TRACING_SIGNED = 1 << 4,
	TRACING_LONG = 1 << 5,
	TRACING_POINTER = 1 << 6,
};

struct tracing_field {
	const char *name;
	uint32_t offset, size; /* bytes, below 10^9 each; by the format, not checked in a record */
	uint32_t count;	       /* the number in the brackets; 0: none */
	uint32_t flags;	       /* enum tracing_field_flag */
};

struct tracing_format {
	uint32_t id;
	const char *name;
	struct tracing_field *fields; /* first those of all events */
	size_t nr, nr_common;
	uint32_t end;			  /* bytes that a record with all fields has at least */
	const struct tracing_field *type; /* the first one named common_type, or NULL */
	const char *print;		  /* the text behind "print fmt:", in the parsed text */
	char *names;			  /* owns the names */
};

/*
 * Parses @text, which must outlive *@ret. Returns 0 with *@ret for tracing_format_release();
 * -EBADMSG if no kernel writes so; -ENOMEM.
 */
int tracing_format_parse(const char *text, struct tracing_format *ret);
/* Frees what @f holds; accepts zeroes. */
void tracing_format_release(struct tracing_format *f);

/* Returns the first field of that name, searching those of all events first; or NULL. */
const struct tracing_field *tracing_format_field(const struct tracing_format *f, const char *name,
						 size_t len);

#endif
