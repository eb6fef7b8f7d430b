/* SPDX-License-Identifier: Apache-2.0 */
/* Event attributes as text, as perf report --header and -D write them. Any thread. */
#ifndef RINGTAIL_RENDER_ATTR_TEXT_H
#define RINGTAIL_RENDER_ATTR_TEXT_H

#include <stdio.h>

#include "perfdata/attr.h"

/* Writes every field that is not zero: ", type = 1, size = 128, …". */
void attr_text(FILE *out, const struct pd_attr *attr);

/* A field of an attribute that is not zero. */
struct attr_text_field {
	const char *name; /* as perf names it */
	const char *text; /* the value as perf writes it */
	uint64_t value;
	bool bits; /* @text names the bits of @value: "IP|TID|TIME" */
};

/* Calls @fn for each field that is not zero, in perf's order; it is valid during the call. */
void attr_text_each(const struct pd_attr *attr,
		    void (*fn)(void *arg, const struct attr_text_field *f), void *arg);

/* Writes the names of the bits: "IP|TID|TIME". */
void attr_text_sample_type(FILE *out, uint64_t sample_type);

#endif
