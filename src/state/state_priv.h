/* SPDX-License-Identifier: Apache-2.0 */
/* State: its parts, internal to state/. */
#ifndef RINGTAIL_STATE_STATE_PRIV_H
#define RINGTAIL_STATE_STATE_PRIV_H

#include "state/dso.h"
#include "base/buf.h"
#include "base/id_table.h"
#include "state/cpu_tasks.h"
#include "state/namespaces.h"
#include "state/parallelism.h"
#include "state/space.h"

/* A thread's pid and name from @at on. */
struct comm {
	struct moment at;
	const char *name; /* interned; NULL: unknown */
	uint32_t pid;
};

struct comm_link {
	struct comm c;
	struct comm_link *prev;
};

struct thread {
	uint32_t pid, tid;	/* @pid: of the first record that names the thread */
	uint32_t ptid;		/* UINT32_MAX if no FORK names it */
	struct comm_link *last; /* until frozen, newest first */
	struct comm *comms;	/* when frozen: @count of them, oldest first */
	uint32_t count;
};

/* Threads by tid, because only one thread has an id at a time; address spaces by pid. */
struct threads {
	struct arena links; /* until frozen */
	struct id_table tids, pids;
	struct thread *threads;
	size_t thread_capacity;
	struct space *processes;
	size_t process_capacity;
	struct comm *comms; /* when frozen: of all threads */
	size_t comm_count;
	struct space_version *versions; /* when frozen: of all processes */
	size_t version_count;
};

int threads_comm(struct threads *t, struct dso_table *names, struct space_pool *pool,
		 const struct pd_comm *comm, struct moment at);
int threads_fork(struct threads *t, struct space_pool *pool, const struct pd_task *task,
		 bool share_maps, struct moment at);
int threads_freeze(struct threads *t);
void threads_release(struct threads *t);

/* Returns the name of the thread at @at, or NULL. */
const char *threads_comm_find(const struct threads *t, uint32_t tid, struct moment at);
/* As above, with the moments between which it has that name; the second is not among them. */
const char *threads_comm_span(const struct threads *t, uint32_t tid, struct moment at,
			      struct moment *ret_from, struct moment *ret_until);
bool threads_pid_find(const struct threads *t, uint32_t tid, struct moment at, uint32_t *ret);
bool threads_comm_is_steady(const struct threads *t, uint32_t tid, struct moment first,
			    struct moment last);
struct state_task threads_task(const struct threads *t, size_t index);
const struct space *threads_space(const struct threads *t, uint32_t pid);

/* Returns the address space of @pid, made if needed. NULL when out of memory. */
struct space *threads_space_get(struct threads *t, uint32_t pid);

/* Code of the kernel: the image, modules, and code with KSYMBOL records, such as BPF programs. */
struct kernel {
	struct space_map *image; /* NULL until one is recorded */
	struct space modules, ksymbols;
	/* All of these lie in [@others_start, @others_end); both 0: there are none. */
	uint64_t others_start, others_end;
	struct space_version *versions; /* when frozen: of @modules and @ksymbols */
};

/* Changes of the kernel's code. */
struct code_changes {
	struct code_change *changes; /* in the order of time */
	size_t nr, cap;
	struct moment *times; /* of these and of other changes */
	size_t nr_times, cap_times;
	struct buf bytes;
	struct code_version *versions; /* when frozen: by place and time */
	size_t nr_versions;
};

/* Changes are added in the order of time. Returns 0 or -ENOMEM. */
int code_changes_add(struct code_changes *c, const struct pd_text_poke *poke, struct moment at);
/* Counts a change of other code. Returns 0 or -ENOMEM. */
int code_changes_count(struct code_changes *c, struct moment at);
int code_changes_freeze(struct code_changes *c); /* 0 or -ENOMEM */
size_t code_changes_patch(const struct code_changes *c, uint64_t addr, struct moment at,
			  uint8_t *buf, size_t known, size_t len);
/* Returns how many changes there were until @at. */
uint64_t code_changes_until(const struct code_changes *c, struct moment at);
size_t code_changes_memory(const struct code_changes *c);
void code_changes_release(struct code_changes *c); /* accepts zeroes */

struct state {
	struct moment last;
	bool failed; /* out of memory once: the state may have holes */
	bool finished;
	size_t limit; /* bytes of memory; 0: none */
	uint64_t refused;
	struct arena maps; /* struct space_map only */
	struct space_pool pool;
	struct dso_table dsos;
	struct threads threads;
	struct kernel host;
	struct kernel *guests; /* by index of the pid in @guest_pids */
	struct id_table guest_pids;
	size_t guest_capacity;
	struct cgroup *cgroups; /* by id */
	bool keep_cpu_tasks, keep_code_changes, keep_parallelism, keep_namespaces;
	struct cpu_tasks cpu_tasks;
	struct parallelism parallelism;
	struct code_changes code_changes;
	struct namespaces namespaces;
};

/* Sets the path of a cgroup. Returns 0 or -ENOMEM. */
int cgroups_add(struct state *s, const struct pd_cgroup *rec);
size_t cgroups_memory(const struct state *s); /* bytes, an estimate; without the paths */
void cgroups_release(struct state *s);

/* Adds a mapping of kernel code. Returns 0 or -ENOMEM. */
int kernel_mmap(struct state *s, const struct pd_mmap *mmap, bool guest, struct moment at);
int kernel_ksymbol(struct state *s, const struct pd_ksymbol *sym, struct moment at);

/*
 * Freezes the maps. A kernel without any recorded map covers all addresses. Returns 0 or -ENOMEM.
 */
int kernel_finish(struct state *s);
void kernel_release(struct state *s);
const struct space_map *kernel_find(const struct state *s, uint32_t pid, bool guest, uint64_t ip,
				    struct moment at);

/* Makes a map of @dso from a record; it is valid from @at on. */
struct space_map state_map(const struct pd_mmap *mmap, const struct dso *dso, struct moment at);

/* Copies the map to the state's memory. Returns NULL when out of memory. */
struct space_map *state_map_keep(struct state *s, const struct space_map *map);

/* Adds the map to @space, unless that changes nothing. Returns 0 or -ENOMEM. */
int state_map_add(struct state *s, struct space *space, enum space_tree tree,
		  const struct space_map *map);

#endif
