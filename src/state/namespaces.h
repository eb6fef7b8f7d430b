/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup namespaces of threads over time, by NAMESPACES records: the kernel writes one for each
 * new thread, and where a thread enters another namespace.
 *
 * It grows by a change for each such record. One thread adds; after namespaces_freeze() any may
 * ask.
 */
#ifndef RINGTAIL_STATE_NAMESPACES_H
#define RINGTAIL_STATE_NAMESPACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/moment.h"
#include "perfdata/record.h"

struct namespace_id {
	uint64_t dev, ino; /* 0: not known */
};

struct namespace_change;

/* All zero is empty. */
struct namespaces {
	struct namespace_change *changes;
	size_t nr, cap;
};

/* Adds a record; moments must not decrease. Returns 0 or -ENOMEM. */
int namespaces_add(struct namespaces *n, const struct pd_namespaces *rec, struct moment at);

/* Ends the adding. */
void namespaces_freeze(struct namespaces *n);

/* Returns the cgroup namespace of thread @tid as of @at. */
struct namespace_id namespaces_cgroup(const struct namespaces *n, uint32_t tid, struct moment at);

/* Returns the bytes that @n holds. */
size_t namespaces_memory(const struct namespaces *n);
/* Frees what @n holds. */
void namespaces_release(struct namespaces *n);

#endif
