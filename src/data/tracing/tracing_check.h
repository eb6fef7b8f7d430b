/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a "print fmt:" fit for libtraceevent?
 *
 * The library dies of expressions that no kernel writes (an operator where it expects none, a
 * division by zero, "%*d" with a negative width), loses memory over those that it does not
 * understand, and prints what it likes of both. So it gets only what the grammar here takes, which
 * is what kernels write and the library is known to read:
 *
 *	format	:= string { "," argument }, as many arguments as the conversions want at least
 *	argument := expression, of the kind that its conversion can print
 *	expression := operand { operator operand | "/" number | "?" expression ":" operand }
 *	operand := number | character | strings | NAME | field [ "[" number "]" ]
 *		 | "(" expression ")" | "(" TYPE ")" operand | ("-"|"+"|"~"|"!") operand | call
 *	field	:= "REC->" NAME | "(REC)->" NAME, of the event's
 *	call	:= one of those in the table of functions
 *
 * Its own idea of precedence, and trees that it turns over, are why "/" takes nothing but a number
 * after it and no second "/", and "[" only stands behind a field.
 * What the library does: libtraceevent 1.7.1 and 1.8.4, src/event-parse.c.
 */
#ifndef RINGTAIL_DATA_TRACING_TRACING_CHECK_H
#define RINGTAIL_DATA_TRACING_TRACING_CHECK_H

#include "data/tracing/tracing_needs.h"

/*
 * Checks @print, a copy of @f->print, and writes to it: sizeof() of a type, which older versions of
 * the library do not know, becomes a number, for which @long_size are the bytes of a long.
 * Returns 0 with *@ret, to be released: what must hold of each record; -EINVAL if the library shall
 * not have it; -ENOMEM.
 */
int tracing_check_print(const struct tracing_format *f, char *print, unsigned int long_size,
			struct tracing_needs *ret);

#endif
