// SPDX-License-Identifier: Apache-2.0
#include "export/stream/stacks.h"

#include <errno.h>

#include "export/stream/functions.h"

/* Returns where the location of the frame before @end begins. */
static size_t begin_of(const struct frame *frame, size_t end)
{
	const struct frame *outer = &frame[end - 1];
	size_t from = end - 1;

	while (from && end - from < INLINED_MAX && frame[from - 1].in &&
	       frame[from - 1].lines == outer->lines &&
	       frame[from - 1].line + 1 == frame[from].line)
		from--;
	return from;
}

int export_stack_of(struct export_stacks *s, const struct frame *frame, size_t n,
		    export_location_fn fn, void *arg, uint32_t *ret)
{
	struct export_node node = {.parent = INTERN_NONE};

	for (size_t from; n; n = from) {
		const struct frame *outer = &frame[n - 1];
		uint32_t known = intern_count(&s->locations);
		struct export_location key = {
			.dso = outer->dso,
			.addr = export_address_of(outer),
			.sym = outer->sym,
			.lines = outer->lines,
		};

		from = begin_of(frame, n);
		key.nr_frames = n - from;
		node.location = intern_put(&s->locations, &key);
		if (node.location == INTERN_NONE)
			return -ENOMEM;
		if (node.location == known) {
			int rc = fn(node.location, &key, &frame[from], arg);

			if (rc)
				return rc;
		}
		node.parent = intern_put(&s->nodes, &node);
		if (node.parent == INTERN_NONE)
			return -ENOMEM;
	}
	*ret = node.parent;
	return 0;
}

void export_stacks_release(struct export_stacks *s)
{
	intern_release(&s->locations);
	intern_release(&s->nodes);
}
