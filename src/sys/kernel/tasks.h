/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of this machine, from procfs. Any thread may call. */
#ifndef RINGTAIL_SYS_KERNEL_TASKS_H
#define RINGTAIL_SYS_KERNEL_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* A growing list of task ids; an all-zero struct is empty. */
struct tasks {
	pid_t *ids;
	size_t nr, capacity;
};

/*
 * Adds the threads that process @pid has now. Returns 0; -ESRCH when there is no such process;
 * -ENOMEM. @err (may be NULL) says which.
 */
int tasks_add_threads(struct tasks *t, pid_t pid, struct error *err);

/* Adds thread @tid. Returns 0, -ESRCH when there is no such thread, or -ENOMEM. */
int tasks_add_thread(struct tasks *t, pid_t tid, struct error *err);

/* The process (thread group) of @tid, or -ESRCH. */
pid_t task_process(pid_t tid);

/*
 * Whether @tid runs as somebody else than this process does, by any of the user ids that ptrace(2)
 * looks at; which one is in *@ret then. False if there is no such thread.
 */
bool task_is_of_another(pid_t tid, uid_t *ret);

/* Whether thread @tid has children now. False where the kernel does not tell. */
bool task_has_children(pid_t tid);

/* Replaces *@ret (all-zero or released) by a copy. Returns 0 or -ENOMEM. */
int tasks_copy(const struct tasks *t, struct tasks *ret);

/* Frees the list; an empty one remains. */
void tasks_release(struct tasks *t);

#endif
