/* SPDX-License-Identifier: Apache-2.0 */
/* "1 task", "2 tasks": endings of nouns in messages. */
#ifndef RINGTAIL_BASE_PLURAL_H
#define RINGTAIL_BASE_PLURAL_H

#include <stdint.h>

/* What a noun that takes a plain s ends with when there are @n of it. */
static inline const char *plural_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Likewise "process" and "processes". */
static inline const char *plural_es(uint64_t n)
{
	return n == 1 ? "" : "es";
}

#endif
