/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check of a "print fmt:": is it fit for libtraceevent?
 *
 * The library crashes on expressions that no kernel writes (an operator in a wrong place, a
 *division by zero, "%*d" with a negative width), leaks memory over those that it does not
 *understand, and prints anything for both. So it gets only what the grammar below accepts: what
 *kernels write and the library is known to read.
 *
 *	format	:= string { "," argument }, as many arguments as the conversions want at least
 *	argument := expression, of the kind that its conversion can print
 *	expression := operand { operator operand | "/" number | "?" expression ":" operand }
 *	operand := number | character | strings | NAME | field [ "[" number "]" ]
 *		 | "(" expression ")" | "(" TYPE ")" operand | ("-"|"+"|"~"|"!") operand | call
 *	field	:= "REC->" NAME | "(REC)->" NAME, of the event's
 *	call	:= one of those in the table of functions
 *
 * The library has its own precedence and rotates trees. Therefore only a number, and no second "/",
 * may follow "/", and "[" may follow only a field.
 * Source: libtraceevent 1.7.1 and 1.8.4, src/event-parse.c.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_CHECK_H
#define RINGTAIL_DATA_TRACING_TRACING_CHECK_H

#include "data/tracing/tracing_needs.h"

/*
 * Checks @print, a copy of @f->print. Replaces sizeof() of a type, which older libraries do not
 * know, by a number in @print; @long_size is the size of a long, in bytes. Returns 0 with the
 * conditions for each record in *@ret, for tracing_needs_release(); -EINVAL if the library must not
 * get it; -ENOMEM.
 */
int tracing_check_print(const struct tracing_format *f, char *print, unsigned int long_size,
			struct tracing_needs *ret);

#endif
