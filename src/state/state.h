/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State: threads, comms, address maps and dsos, as of any time.
 *
 * One thread builds it from sideband records in order (data/order/order.h). After state_finish() it
 * does not change, and any number of threads may ask it without locks. It keeps history: a later
 * mmap, exec or exit does not change the answer for an earlier moment.
 *
 * The state owns its dsos and maps; their addresses are stable until state_free().
 */
#ifndef RINGTAIL_STATE_STATE_H
#define RINGTAIL_STATE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/moment.h"
#include "perfdata/record.h"
#include "state/namespaces.h"

enum dso_kind {
	DSO_KERNEL,  /* [kernel.kallsyms]: addresses are absolute in the recorded kernel */
	DSO_MODULE,  /* kernel module: name is its path or "[name]" */
	DSO_KSYMBOL, /* BPF program or other registered kernel text: one symbol, its own name */
	DSO_ELF,     /* a file */
	DSO_VDSO,    /* [vdso] and kin */
	DSO_JIT,     /* jit-PID.dump, a jitdump: addresses are offsets in it */
	DSO_ANON,    /* //anon, [heap], [stack], memfd …: perhaps code of a JIT (perf-PID.map) */
	DSO_GUEST,   /* anything of a guest */
};

#define DSO_PIDS 4

/* A dso. Its identity is the name, and build-id or device and inode where known. */
struct dso {
	const char *name;	/* as recorded */
	const char *short_name; /* what perf's tables show: base name, "[ext4]", "[JIT] tid 42" */
	const char *line_name;	/* what perf's lines show: path, "[ext4]", "/tmp/perf-42.map" */
	enum dso_kind kind;
	uint32_t jit_pid;      /* DSO_ANON of a JIT: the process that mapped it; else 0 */
	unsigned int index;    /* dense, from 0: usable as array index */
	uint8_t build_id_size; /* 0: unknown */
	uint8_t build_id[PD_BUILD_ID_MAX];
	uint32_t maj, min; /* device, 0 if unknown */
	uint64_t ino, ino_generation;
	uint32_t pids[DSO_PIDS]; /* some of the latest processes that mapped it; 0: none */
	uint32_t next_pid;	 /* index of the oldest of them */
	uint64_t ref_addr;	 /* DSO_KERNEL: recorded address of the reference symbol; else 0 */
	const char *ref_name;	 /* "_text" or "_stext"; NULL if not recorded */
};

struct map {
	uint64_t start,
		end;	/* addresses as recorded, end exclusive; a later map may cover a part */
	uint64_t pgoff; /* file offset of start, bytes */
	const struct dso *dso;
	uint32_t prot, flags;
};

/* Place of an address. */
struct location {
	const struct map *map; /* NULL: no known map */
	/*
	 * Address in the dso: absolute for DSO_KERNEL, _ANON and _GUEST, relative to the start of
	 * the map for DSO_KSYMBOL, otherwise a file offset.
	 */
	uint64_t addr;
};

struct state;
struct cpu_tasks;
struct parallelism;

/* Returns an empty state, or NULL when memory is short. */
struct state *state_new(void);
/* Frees @s; accepts NULL. */
void state_free(struct state *s);

/*
 * Limits the memory to about @bytes (0: no limit). Beyond that, records are counted and ignored.
 */
void state_limit(struct state *s, size_t bytes);
/* Returns how many records the limit has refused. */
uint64_t state_refused(const struct state *s);

/*
 * Keeps which thread ran on each CPU, for state_task_on(). Call it before the first record. It
 * takes about 4 bytes for each switch.
 */
void state_keep_cpu_tasks(struct state *s);

/*
 * Keeps how many threads ran, for state_parallelism(). Call it before the first record. It takes
 * about 4 bytes for each switch.
 */
void state_keep_parallelism(struct state *s);

/* Keeps the namespaces of threads, for state_cgroup_namespace(). Call it before the first record.
 */
void state_keep_namespaces(struct state *s);

/* Keeps the changes of the kernel's code, for state_patch_code(). Call it before the first record.
 */
void state_keep_code_changes(struct state *s);

/*
 * Applies one record at moment @at. Ignores types that do not matter here. Moments must not
 * decrease from call to call. Returns 0 or -ENOMEM; after that no more records can be applied.
 */
int state_apply(struct state *s, const struct pd_record *rec, struct moment at);

/*
 * Adds the threads that ran on CPUs in a part of the recording. Parts may come in any order, and
 * between calls of state_apply(). Returns as state_apply() does.
 */
int state_add_cpu_tasks(struct state *s, const struct cpu_tasks *tasks);

/* The same for the switches of a part, and the threads of its samples. */
int state_add_parallelism(struct state *s, const struct parallelism *part);

/*
 * Maps code of @mmap->pid that a JIT has made: @mmap names the jitdump, and pgoff is the place of
 * the code in it. It lies above anonymous memory, whatever is mapped there later. Returns as
 * state_apply() does.
 */
int state_apply_jit(struct state *s, const struct pd_mmap *mmap, struct moment at);
/* Returns whether a file of this name is a jitdump: ".../jit-PID.dump". */
bool state_is_jitdump(const char *name);

/*
 * Sets the build-id of dsos of that name, from the header's table or a BUILD_ID record. Returns 0
 * or -ENOMEM.
 */
int state_set_build_id(struct state *s, const struct pd_build_id *id, uint16_t misc);

/*
 * Gives the build-ids that were set to the dsos of index @from and above. state_finish() does so
 * for all; call this where dsos are asked for before.
 */
void state_apply_build_ids(struct state *s, size_t from);

/* Ends the building. Call it once. Returns 0 or -ENOMEM. */
int state_finish(struct state *s);

/*
 * Returns the comm of a thread as of @at: "swapper" for tid 0, the parent's after a fork, NULL if
 * the thread is unknown (perf prints ":TID"). An exited thread keeps its last comm until its id is
 * used again.
 */
const char *state_comm(const struct state *s, uint32_t pid, uint32_t tid, struct moment at);

/*
 * As state_comm(), with a span of time in which the answer is the same: from *@ret_from until
 * before
 * *@ret_until. Before state_finish() it may be empty.
 */
const char *state_comm_span(const struct state *s, uint32_t tid, struct moment at,
			    struct moment *ret_from, struct moment *ret_until);

/* A thread, and the last that is known of it. */
struct state_task {
	uint32_t pid, tid;
	uint32_t ptid;	  /* the thread that made it; UINT32_MAX: not recorded */
	const char *comm; /* NULL: unknown */
};

/* Returns the number of threads that COMM and FORK records name; of a thread id, the last one. */
size_t state_task_count(const struct state *s);
/* Returns number @index of them, in no special order. Call it after state_finish(). */
struct state_task state_task_at(const struct state *s, size_t index);

typedef int (*state_map_fn)(const struct map *map, void *arg);

/*
 * Calls @fn for the last maps of code of a process, by address. @map is what later maps left of it,
 * and valid during the call. Call it after state_finish(). A non-zero value of @fn ends the walk
 * and is returned; else 0.
 */
int state_each_map(const struct state *s, uint32_t pid, state_map_fn fn, void *arg);

/*
 * Finds the process of thread @tid as of @at, as COMM and FORK records say. Returns false if none
 * says so.
 */
bool state_pid(const struct state *s, uint32_t tid, struct moment at, uint32_t *ret);

/*
 * Makes the kernel's code at @addr as it was at @at, in @buf of @len bytes, of which the caller has
 * filled @known from a file. Returns how many bytes are known then.
 */
size_t state_patch_code(const struct state *s, uint64_t addr, struct moment at, uint8_t *buf,
			size_t known, size_t len);
/* Returns a number that is greater after each change of code that state_patch_code() knows. */
uint64_t state_code_version(const struct state *s, struct moment at);

/* Returns the path of a cgroup by its id; NULL: not recorded. */
const char *state_cgroup(const struct state *s, uint64_t id);

/* Returns the cgroup namespace of thread @tid as of @at; after state_finish(). */
struct namespace_id state_cgroup_namespace(const struct state *s, uint32_t tid, struct moment at);

/* Returns how many threads ran (state/parallelism.h); after state_finish(). */
const struct parallelism *state_parallelism(const struct state *s);

/*
 * Finds the thread that ran on @cpu at @time, as records of switches say. Returns false if none
 * says so. A thread that has left, with no record of the next one, still counts as running.
 */
bool state_task_on(const struct state *s, uint32_t cpu, uint64_t time, uint32_t *ret_pid,
		   uint32_t *ret_tid);

/*
 * Finds the map at @ip of process @pid as of @at. @cpumode is PERF_RECORD_MISC_KERNEL, _USER, …;
 * kernel addresses are searched in the kernel's maps. Always fills @ret. Returns whether it found a
 * map.
 */
bool state_find(const struct state *s, uint32_t pid, uint8_t cpumode, uint64_t ip, struct moment at,
		struct location *ret);

/*
 * Finds a span around @at in which state_find() gives the same for each address of process @pid and
 * of the kernel: from *@ret_from to before *@ret_until. Returns false if it knows none. After
 * state_finish(); any thread.
 */
bool state_calm(const struct state *s, uint32_t pid, struct moment at, struct moment *ret_from,
		struct moment *ret_until);

struct space_version;
struct space_map;

/*
 * The maps of a process as of one moment, for several addresses, as those of a call chain. It
 * remembers where the last one was. It is void after the next state_apply(). One thread uses it.
 */
struct state_view {
	const struct state *state;
	uint32_t pid;
	bool has_maps; /* @maps is set */
	struct moment at;
	const struct space_version *maps; /* NULL: none */
	/* All addresses of [@start, @end) are in @found; NULL: none was found yet. */
	const struct space_map *found;
	uint64_t start, end;
};

/* Returns the view of process @pid as of @at. */
struct state_view state_view(const struct state *s, uint32_t pid, struct moment at);
/* As state_find(). */
bool state_view_find(struct state_view *v, uint8_t cpumode, uint64_t ip, struct location *ret);

/*
 * As state_find() for a user address, but in the program that the last exec before @at replaced.
 * Until the kernel has finished exec(), the task's user address is still in that program.
 */
bool state_find_replaced(const struct state *s, uint32_t pid, uint64_t ip, struct moment at,
			 struct location *ret);

/*
 * Returns the map of the kernel's image; NULL: not known. Call it after state_finish(). Tools
 * record a map that ends with the text, before the init code, which remains at the bottom of some
 * stacks.
 */
const struct map *state_image(const struct state *s);

/*
 * Returns whether maps of @pid, or of the kernel if @cpumode is its, were only added from @first to
 * @last. It may return false although they were.
 */
bool state_maps_steady(const struct state *s, uint32_t pid, uint8_t cpumode, struct moment first,
		       struct moment last);

/*
 * Returns whether state_comm() and state_find() give the same answers for all moments from @first
 * to @last. It may return false although they do: where the check would take long, or where only
 * another address has changed.
 */
bool state_steady(const struct state *s, uint32_t pid, uint32_t tid, uint8_t cpumode, uint64_t ip,
		  struct moment first, struct moment last);

/*
 * Finds the map that holds all addresses from @low to @high of process @pid, at all moments from
 * @first to @last. Always fills @ret, with the place of @low. Returns false if not one map does, or
 * if that is not known; with @low equal to @high, nothing may be mapped there, throughout.
 */
bool state_find_steady(const struct state *s, uint32_t pid, uint64_t low, uint64_t high,
		       struct moment first, struct moment last, struct location *ret);

/*
 * Lets lines show kernel modules by their paths, and the kernel by that of @vmlinux (NULL: as
 * before, as for /dev/null). Before other threads read the dsos. @vmlinux must outlive @s.
 */
void state_show_kernel_paths(struct state *s, const char *vmlinux);

/* Returns the number of dsos. */
size_t state_dso_count(const struct state *s);
/* Returns the dso with that index. */
const struct dso *state_dso_at(const struct state *s, size_t index);

/* Returns the bytes of memory held, for -v and tests. */
size_t state_memory(const struct state *s);

#endif
