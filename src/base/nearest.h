/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the known names that are nearest to an unknown one. The caller offers names one by one.
 *
 * A struct nearest copies all names; it needs no release. One thread.
 */
#ifndef RINGTAIL_BASE_NEAREST_H
#define RINGTAIL_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#define NEAREST_MAX	 3
#define NEAREST_NAME_MAX 64 /* longer names are never near */

struct nearest {
	char wanted[NEAREST_NAME_MAX];
	size_t limit; /* the largest distance of a name that is worth showing */
	struct {
		char name[NEAREST_NAME_MAX];
		size_t distance;
	} best[NEAREST_MAX];
	size_t count;
};

/*
 * Begins a search. Returns false if @wanted is too short or too long for any name to be near it.
 */
bool nearest_init(struct nearest *nearest, const char *wanted);

/* As nearest_init(), for the first @len characters of @wanted. */
bool nearest_init_len(struct nearest *nearest, const char *wanted, size_t len);

/* Offers a name. @arg is a struct nearest, so that this function can serve as a callback. */
void nearest_offer(void *arg, const char *name);

/* Offers a name that users may also write as @key: the smaller distance of the two counts. */
void nearest_offer_as(struct nearest *nearest, const char *key, const char *name);

/* Writes "; did you mean 'a', 'b' or 'c'?", or an empty string. */
void nearest_write(struct nearest *nearest, char *out, size_t size);

#endif
