/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nearest known names to one that is not known. Whoever knows names offers them one by one.
 */
#ifndef RINGTAIL_BASE_NEAREST_H
#define RINGTAIL_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#define NEAREST_MAX	 3
#define NEAREST_NAME_MAX 64 /* longer names are near to none */

struct nearest {
	const char *wanted; /* the caller's */
	size_t limit;	    /* names further away than this say nothing */
	struct {
		char name[NEAREST_NAME_MAX];
		size_t distance;
	} best[NEAREST_MAX];
	size_t count;
};

/* False: the name is too short or too long for anything to be near it. */
bool nearest_init(struct nearest *nearest, const char *wanted);

/* @arg is a struct nearest, so that this can be handed to what lists names. */
void nearest_offer(void *arg, const char *name);

/* The same for a name that may also be written as @key: the distance of the nearer one counts. */
void nearest_offer_as(struct nearest *nearest, const char *key, const char *name);

/* Writes "; did you mean 'a', 'b' or 'c'?", or an empty string. */
void nearest_write(struct nearest *nearest, char *out, size_t size);

#endif
