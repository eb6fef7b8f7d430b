/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of this machine, from procfs. Any thread may call. */
#ifndef RINGTAIL_SYS_KERNEL_TASKS_H
#define RINGTAIL_SYS_KERNEL_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/id_table.h"

/* A growing list of different task ids; an all-zero struct is empty. */
struct tasks {
	pid_t *ids;
	size_t nr, capacity;
	struct id_table known; /* of the first ids */
};

/*
 * Adds the threads that process @pid has now. Returns 0, -ESRCH (no such process) or -ENOMEM, with
 * @err (may be NULL) filled.
 */
int tasks_add_threads(struct tasks *t, pid_t pid, struct error *err);

/* Adds thread @tid. Returns 0, -ESRCH (no such thread) or -ENOMEM. */
int tasks_add_thread(struct tasks *t, pid_t tid, struct error *err);

/* Adds the processes, not their threads, whose effective user is @uid. Returns 0 or -ENOMEM. */
int tasks_add_user(struct tasks *t, uid_t uid);

/* Returns the process (thread group) of @tid, or -ESRCH. */
pid_t task_process(pid_t tid);

/*
 * Returns whether @tid runs as another user than this process, by any of the user ids that
 * ptrace(2) checks; then *@ret is that id. False if there is no such thread.
 */
bool task_is_of_another(pid_t tid, uid_t *ret);

/* Returns whether thread @tid has children now. False if the kernel does not list them. */
bool task_has_children(pid_t tid);

/* Replaces *@ret (all-zero or released) by a copy. Returns 0 or -ENOMEM. */
int tasks_copy(const struct tasks *t, struct tasks *ret);

/* Frees the list; an empty one remains. */
void tasks_release(struct tasks *t);

#endif
