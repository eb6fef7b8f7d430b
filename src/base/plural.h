/* SPDX-License-Identifier: Apache-2.0 */
/* Endings of nouns in messages: "1 task", "2 tasks". */
#ifndef RINGTAIL_BASE_PLURAL_H
#define RINGTAIL_BASE_PLURAL_H

#include <stdint.h>

/* Returns the ending of a noun with a plain s, for @n of it. */
static inline const char *plural_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Returns the ending of a noun like "process", for @n of it. */
static inline const char *plural_es(uint64_t n)
{
	return n == 1 ? "" : "es";
}

#endif
