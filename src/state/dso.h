/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of dsos: finds the dso of a mapping and the names that reports print for it. Internal to
 * state/. One thread builds the table; after that any thread may read the dsos.
 */
#ifndef RINGTAIL_STATE_DSO_H
#define RINGTAIL_STATE_DSO_H

#include "base/strpool.h"
#include "state/arena.h"
#include "state/state.h"

struct dso_by_name;
struct dso_family;
struct dso_build_id;
struct file_build_id;

struct dso_table {
	struct arena arena;
	struct strpool *names; /* holds the strings of other modules of state/, too */
	struct dso_by_name *aliases;
	struct dso_family *families;
	struct dso_build_id *build_ids;
	struct file_build_id *file_build_ids;
	struct dso_build_id *kernel_build_id;
	struct dso **dsos;
	size_t count, capacity;
};

/* Properties of the dso that a caller looks for, besides its name. */
struct dso_want {
	enum dso_kind kind;
	uint32_t pid;		    /* of memory that belongs to one process; else 0 */
	const struct pd_mmap *mmap; /* NULL: the name alone identifies it */
};

int dso_table_init(struct dso_table *t); /* 0 or -ENOMEM; call dso_table_release() in either case */
void dso_table_release(struct dso_table *t); /* accepts a table whose dso_table_init() failed */

const char *dso_intern(struct dso_table *t, const char *name); /* NULL when out of memory */

/* Returns the dso, made if the table has none, or NULL when out of memory. The table owns it. */
struct dso *dso_get(struct dso_table *t, const char *name, const struct dso_want *want);

/* Kind of a dso that user space mapped under this name. */
enum dso_kind dso_kind_of_user(const char *name, uint32_t flags);

/* Whether the mapping is memory for generated code: perf finds its symbols in perf-PID.map. */
bool dso_is_jit_memory(const char *name, uint32_t flags);

/* Remembers a build-id for the dsos of its file name. Returns 0 or -ENOMEM. */
int dso_set_build_id(struct dso_table *t, const struct pd_build_id *id, uint16_t misc);

/* Gives remembered build-ids to the dsos of index @from and above that have none. */
void dso_apply_build_ids(struct dso_table *t, size_t from);

size_t dso_memory(const struct dso_table *t); /* bytes, an estimate */

#endif
