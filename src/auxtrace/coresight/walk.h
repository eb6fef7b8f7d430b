/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk over a stretch of trace: feeds each unit's bytes to a tree of its own.
 *
 * cs_walk_init() takes memory that cs_walk_release() frees, also after a failure. The setup, the
 * stretch and the ops outlive the walk. One thread at a time.
 */
#ifndef RINGTAIL_AUXTRACE_CORESIGHT_WALK_H
#define RINGTAIL_AUXTRACE_CORESIGHT_WALK_H

#include "auxtrace/coresight/frames.h"
#include "auxtrace/coresight/tree.h"

struct cs_walk;

/* A unit whose bytes are in the stretch. The first member of what the walk's user keeps for each.
 */
struct cs_source {
	struct cs_walk *walk;
	const struct cs_unit *unit;
	struct cs_tree *tree;
	uint64_t fed, told;  /* bytes to the tree, and bytes of packets that it delivered */
	uint64_t run_before; /* bytes fed before the run at hand, */
	size_t run_at;	     /* whose place in the stretch is this */
};

/* Places are offsets in the stretch. */
struct cs_walk_ops {
	size_t source_size; /* at least sizeof(struct cs_source); zeroed */
	/* The packet from @at on ends at @end; between, there may be bytes of others. */
	void (*packet)(struct cs_source *s, size_t at, size_t end, const void *packet, size_t size);
	/* These may be NULL. Does anything wait for the trace behind the stretch? */
	bool (*waits)(struct cs_walk *w);
	void (*begin)(struct cs_source *s);
	void (*element)(struct cs_source *s, size_t at, const ocsd_generic_trace_elem *elem);
	uint32_t (*read)(struct cs_source *s, uint64_t addr, uint32_t len, uint8_t *buf);
	/*
	 * The bytes from @at to @end are not decoded. @text is constant; NULL at a barrier, where
	 * the driver says that trace is missing. @s may be NULL.
	 */
	void (*fault)(struct cs_walk *w, struct cs_source *s, size_t at, size_t end,
		      const char *text);
};

struct cs_walk {
	struct cs_setup setup;
	const struct aux_stretch *stretch;
	const struct cs_walk_ops *ops;
	void *user;
	struct cs_source *sources[CS_IDS]; /* by trace ID; [0] of raw trace */
	struct cs_tree_ops tree_ops;
	size_t pos, len; /* len: that of the stretch, or more (see aux_stretch.more) */
	bool beyond;	 /* behind the stretch */
	uint8_t id;	 /* in effect */
	bool ended;
};

/* Returns 0, -ENOTSUP (see cs_setup_parse(); raw trace of a CPU without unit) or -ENOMEM. */
int cs_walk_init(struct cs_walk *w, const struct aux_setup *setup,
		 const struct aux_stretch *stretch, const struct cs_walk_ops *ops, void *user);

/* Frees what the walk holds; accepts an all-zero struct. */
void cs_walk_release(struct cs_walk *w);

/*
 * Feeds some bytes more; at the end of the stretch, ends the trace of each unit once. Returns 1; 0
 * when there is nothing more; -ENOMEM; -ENOTSUP if libopencsd refuses a unit.
 */
int cs_walk_step(struct cs_walk *w);

#endif
