/* SPDX-License-Identifier: Apache-2.0 */
/* Roles: the kinds of argument that the conversions of a "print fmt:" need. Pure functions. */
#ifndef RINGTAIL_DATA_TRACING_TRACING_ROLES_H
#define RINGTAIL_DATA_TRACING_TRACING_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracing_role {
	enum tracing_role_kind {
		TRACING_ROLE_NUMBER,
		TRACING_ROLE_WIDTH,    /* the "*" of the next conversion */
		TRACING_ROLE_TEXT,     /* %s */
		TRACING_ROLE_FIELD,    /* a field of size bytes: %pM, %pI4, %pI6, %pU */
		TRACING_ROLE_SOCKADDR, /* %pIS */
		TRACING_ROLE_BUFFER,   /* %ph */
	} kind;
	uint32_t size;
};

/*
 * Lists the arguments that @format needs, in order. @format is the text between the quotes. Returns
 * their number, or -1 if there are more than @max or the library does not print a conversion right.
 */
int tracing_roles(const char *format, struct tracing_role *roles, size_t max);

#endif
