/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a tracepoint's format, taken apart. Only what kernels write is taken:
 *
 *	name: NAME
 *	ID: NUMBER
 *	format:
 *		field:TYPE NAME[COUNT];	offset:N;	size:N;	signed:N;
 *		... the fields that all events have, an empty line, those of this one, an empty line
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
	TRACING_RELATIVE = 1 << 3, /* DYNAMIC whose place is counted from the end of the field */
	TRACING_SIGNED = 1 << 4,
	TRACING_LONG = 1 << 5,
	TRACING_POINTER = 1 << 6,
};

struct tracing_field {
	const char *name;
	uint32_t offset,
		size;	/* bytes, below 10^9 each: what the text says, not what a record has */
	uint32_t count; /* the number in the brackets; 0: none stands there */
	uint32_t flags; /* enum tracing_field_flag */
};

struct tracing_format {
	uint32_t id;
	const char *name;
	struct tracing_field *fields; /* those that all events have come first */
	size_t nr, nr_common;
	const char *print; /* the text behind "print fmt:", in the text that was parsed */
	char *names;	   /* what the names point into */
};

/*
 * Takes @text apart. Returns 0 with *@ret to be released; -EBADMSG if a kernel does not write so;
 * -ENOMEM.
 */
int tracing_format_parse(const char *text, struct tracing_format *ret);
void tracing_format_release(struct tracing_format *f); /* accepts an all-zero one */

/* The first field of that name, those of all events first, or NULL. */
const struct tracing_field *tracing_format_field(const struct tracing_format *f, const char *name,
						 size_t len);

#endif
