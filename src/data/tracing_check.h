/* SPDX-License-Identifier: Apache-2.0 */
/* Checks on the text of a tracepoint's format before libtraceevent sees it. Pure functions. */
#ifndef RINGTAIL_DATA_TRACING_CHECK_H
#define RINGTAIL_DATA_TRACING_CHECK_H

#include <stdbool.h>

/* Where "print fmt:" begins in @text, NULL if what stands before it is no format of the kernel. */
const char *tracing_fields_end(const char *text);

/* Whether "print fmt:" at @print speaks only of fields that @text declares. */
bool tracing_print_is_good(const char *text, const char *print);

#endif
