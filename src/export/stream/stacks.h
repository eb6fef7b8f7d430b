/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of an export, for formats that make inlined functions and the function that has their
 * code one location.
 *
 * Tables grow by distinct locations and stacks. One thread.
 */
#ifndef RINGTAIL_EXPORT_STREAM_STACKS_H
#define RINGTAIL_EXPORT_STREAM_STACKS_H

#include "export/wire/intern.h"
#include "report/trace/frame.h"

/* The key of a location; without padding. */
struct export_location {
	const struct dso *dso; /* NULL: none */
	uint64_t addr;	       /* export_address_of() */
	const struct symbol *sym;
	const struct inline_chain *lines;
	uint64_t nr_frames; /* inlined functions, and the one that has the code; to INLINED_MAX */
};

/* A stack: a location and what called it. */
struct export_node {
	uint32_t parent; /* number of the outer part; INTERN_NONE: none */
	uint32_t location;
};

/* EXPORT_STACKS_INIT: empty. */
struct export_stacks {
	struct intern locations, nodes;
};

#define EXPORT_STACKS_INIT                                             \
	{                                                              \
		.locations = {.size = sizeof(struct export_location)}, \
		.nodes = {.size = sizeof(struct export_node)},         \
	}

/*
 * Takes a new location, whose number is one more than that of the last; @frame has its
 * @l->nr_frames frames, the innermost first. Returns 0 or a negative errno.
 */
typedef int (*export_location_fn)(uint32_t number, const struct export_location *l,
				  const struct frame *frame, void *arg);

/*
 * Sets *@ret to the number of the stack of @n frames, INTERN_NONE if there are none, and gives @fn
 * its new locations. Returns 0, -ENOMEM, or what @fn returned.
 */
int export_stack_of(struct export_stacks *s, const struct frame *frame, size_t n,
		    export_location_fn fn, void *arg, uint32_t *ret);

/* Returns stack @number, which is in the table. */
static inline const struct export_node *export_stack_at(const struct export_stacks *s,
							uint32_t number)
{
	return intern_at(&s->nodes, number);
}

/* Frees the tables. */
void export_stacks_release(struct export_stacks *s);

#endif
