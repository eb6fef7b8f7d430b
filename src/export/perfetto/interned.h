/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned data of a Perfetto trace: stacks, their frames, and what these name.
 *
 * Numbers are those of the whole trace; each sequence of packets receives an entry when it first
 * needs it. Tables grow by distinct stacks, frames, functions and files. One thread.
 */
#ifndef RINGTAIL_EXPORT_PERFETTO_INTERNED_H
#define RINGTAIL_EXPORT_PERFETTO_INTERNED_H

#include "export/stream/export.h"
#include "export/stream/functions.h"
#include "export/wire/proto.h"

/* PERFETTO_INTERNED_INIT: empty. */
struct perfetto_interned {
	struct export_functions functions;
	struct intern_strings sources; /* source files */
	struct intern dsos, frames, nodes, sent;
	uint32_t *stack; /* frames of the last sample, the outermost first */
	size_t cap_stack;
	struct buf text;
};

/* Keys have no padding. */
struct perfetto_frame {
	const struct dso *dso; /* NULL: none */
	uint64_t addr;
	uint32_t function, source, line; /* source: INTERN_NONE if unknown */
	uint32_t zero;
};

struct perfetto_node {
	uint32_t parent; /* INTERN_NONE: none */
	uint32_t frame;
};

/* That a sequence has received an entry of a table. */
struct perfetto_sent {
	uint32_t sequence, table, number;
};

#define PERFETTO_INTERNED_INIT                                                                    \
	{                                                                                         \
		.functions = EXPORT_FUNCTIONS_INIT, .dsos = {.size = sizeof(const struct dso *)}, \
		.frames = {.size = sizeof(struct perfetto_frame)},                                \
		.nodes = {.size = sizeof(struct perfetto_node)},                                  \
		.sent = {.size = sizeof(struct perfetto_sent)},                                   \
	}

/*
 * Sets *@ret to the id of the stack of @s, 0 if it has no frame. Appends what @sequence lacks of it
 * to @message, an InternedData. Returns 0 or -ENOMEM.
 */
int perfetto_callstack(struct perfetto_interned *in, uint32_t sequence,
		       const struct export_sample *s, struct proto *message, uint64_t *ret);

/* Frees the tables. */
void perfetto_interned_release(struct perfetto_interned *in);

#endif
