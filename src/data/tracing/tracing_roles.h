/* SPDX-License-Identifier: Apache-2.0 */
/* What the conversions of a "print fmt:" want of its arguments. Pure functions. */
#ifndef RINGTAIL_DATA_TRACING_TRACING_ROLES_H
#define RINGTAIL_DATA_TRACING_TRACING_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracing_role {
	enum tracing_role_kind {
		TRACING_ROLE_NUMBER,
		TRACING_ROLE_WIDTH,    /* the "*" of the next one */
		TRACING_ROLE_TEXT,     /* %s */
		TRACING_ROLE_FIELD,    /* a field of size bytes: %pM, %pI4, %pI6, %pU */
		TRACING_ROLE_SOCKADDR, /* %pIS */
		TRACING_ROLE_BUFFER,   /* %ph */
	} kind;
	uint32_t size;
};

/*
 * The arguments that @format takes, in their order. @format is as it stands between the quotes.
 * Returns their number, -1 if they are more than @max or a conversion is none that the library
 * prints as it should.
 */
int tracing_roles(const char *format, struct tracing_role *roles, size_t max);

#endif
