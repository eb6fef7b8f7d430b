/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who ran what, as of any time: threads, comms, address maps, kernel symbols that came and went.
 *
 * Built by one thread from sideband records in order (data/order.h); after state_finish() it does
 * not change, and any number of threads may ask it without locks. History is kept: a later mmap,
 * exec or exit does not change the answer for an earlier moment.
 *
 * The state owns its dsos and maps; their addresses are stable from creation to state_free().
 */
#ifndef RINGTAIL_STATE_STATE_H
#define RINGTAIL_STATE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/moment.h"
#include "perfdata/record.h"

enum dso_kind {
	DSO_KERNEL,  /* [kernel.kallsyms]: addresses are absolute in the recorded kernel */
	DSO_MODULE,  /* kernel module: name is its path or "[name]" */
	DSO_KSYMBOL, /* BPF program or other registered kernel text: one symbol, its own name */
	DSO_ELF,     /* a file */
	DSO_VDSO,    /* [vdso] and kin */
	DSO_ANON,    /* //anon, [heap], [stack], memfd …: perhaps code of a JIT (perf-PID.map) */
	DSO_GUEST,   /* anything of a guest */
};

#define DSO_PIDS 4

/* A thing that code lives in. Identity: name, and build-id or device and inode where known. */
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
	uint32_t pids[DSO_PIDS]; /* of processes that mapped it, some of the latest; 0: none */
	uint32_t next_pid;	 /* index of the oldest */
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

/* Where an address lies. */
struct location {
	const struct map *map; /* NULL: nothing known is mapped there */
	/*
	 * In the dso: absolute for DSO_KERNEL, _ANON and _GUEST, counted from where the map starts
	 * for DSO_KSYMBOL, else a file offset.
	 */
	uint64_t addr;
};

struct state;

struct state *state_new(void);	  /* NULL when out of memory */
void state_free(struct state *s); /* accepts NULL */

/*
 * From now on no more memory is taken than about @bytes (0: as much as there is): records that come
 * when there is so much are counted and left out.
 */
void state_limit(struct state *s, size_t bytes);
uint64_t state_refused(const struct state *s); /* how many */

/*
 * Takes one record (any type; those without meaning here are ignored) at the moment @at; calls
 * must come in order of moments. Returns 0 or -ENOMEM, after which no more can be applied.
 */
int state_apply(struct state *s, const struct pd_record *rec, struct moment at);

/* A build-id from the header's table or a BUILD_ID record, for dsos of that name. 0 or -ENOMEM. */
int state_set_build_id(struct state *s, const struct pd_build_id *id, uint16_t misc);

/* No more records. Returns 0 or -ENOMEM. */
int state_finish(struct state *s);

/*
 * The comm of a thread as of @at: "swapper" for tid 0, the parent's after a fork, NULL if never
 * heard of (perf prints ":TID"). An exited thread keeps its last name until its id is used again.
 */
const char *state_comm(const struct state *s, uint32_t pid, uint32_t tid, struct moment at);

/* The path of a cgroup by its id; NULL: not recorded. */
const char *state_cgroup(const struct state *s, uint64_t id);

/*
 * Finds what was mapped at @ip for @pid as of @at. @cpumode is PERF_RECORD_MISC_KERNEL, _USER, …;
 * kernel addresses are looked up in the kernel's maps. Always fills @ret; returns whether a map
 * was found.
 */
bool state_find(const struct state *s, uint32_t pid, uint8_t cpumode, uint64_t ip, struct moment at,
		struct location *ret);

/*
 * As state_find() for an address in user space, but in the program that the last exec before @at
 * replaced: while the kernel is not done with exec(), the task would return to where that one was.
 */
bool state_find_replaced(const struct state *s, uint32_t pid, uint64_t ip, struct moment at,
			 struct location *ret);

/*
 * The kernel's image, after state_finish(); NULL: not known. Tools let it end with the text, before
 * code that runs only while the kernel starts, which is at the bottom of some stacks for good.
 */
const struct map *state_image(const struct state *s);

/*
 * Whether state_comm() and state_find() give the same answers for all moments from @first to @last.
 * False where finding out would be long; also where only another address has changed.
 */
bool state_steady(const struct state *s, uint32_t pid, uint32_t tid, uint8_t cpumode, uint64_t ip,
		  struct moment first, struct moment last);

/* All dsos, by index. */
size_t state_dso_count(const struct state *s);
const struct dso *state_dso_at(const struct state *s, size_t index);

/* Bytes of memory held, for -v and tests. */
size_t state_memory(const struct state *s);

#endif
