/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable maps of all processes since the beginning of an output, in any order.
 *
 * It knows no time: an address belongs to all maps of its process that ever had it, which costs the
 * table of symbols a few names too many. A process without a map at an address has its parent's.
 * The number of maps is bounded by code_maps_forget(), which the owner calls.
 *
 * Threads: one. Addresses and lengths are in bytes.
 */
#ifndef RINGTAIL_RECORD_NAMES_CODE_MAPS_H
#define RINGTAIL_RECORD_NAMES_CODE_MAPS_H

#include "base/id_table.h"
#include "record/initial/buildid.h"
#include "state/state.h"

/* A mapped file, the kernel, a module, or generated code of one process. */
struct mapped_code {
	struct dso dso; /* its name belongs to the maps; no build-id unless the record had it */
	struct build_id_key key; /* for the buildid_reader */
	uint32_t pid;		 /* of generated code and of files in memory (memfd); else 0 */
	uint64_t moved; /* of a file in memory: address in the process, less offset in it */
};

struct code_map {
	uint64_t start, end, pgoff; /* as in struct map (state/state.h) */
	uint64_t reach;		    /* greatest end of this and the task's maps before */
	uint32_t task, file;	    /* indices */
};

struct code_task {
	uint32_t pid, parent;
	bool exited;
	size_t first, nr; /* its maps, after code_maps_sort() */
};

struct code_maps {
	bool own_build_ids; /* as for mapped_decode() */
	struct mapped_code **files;
	size_t nr_files, files_cap;
	struct hash_table by_file;
	uint64_t key; /* of hashes */
	struct code_map *maps;
	size_t nr_maps, maps_cap;
	struct code_task *tasks;
	size_t nr_tasks, tasks_cap;
	struct id_table by_pid;
};

/* Makes @m empty; @own_build_ids as for mapped_decode(). */
void code_maps_init(struct code_maps *m, bool own_build_ids);
/* Frees all; accepts zeroes. */
void code_maps_release(struct code_maps *m);

/* Adds an MMAP, MMAP2, FORK or EXIT record; ignores others. Returns 0 or -ENOMEM. */
int code_maps_add(struct code_maps *m, const struct perf_event_header *hdr);

/* Finds or adds the file of @want, whose name it copies. Returns 0 or -ENOMEM. */
int code_maps_file(struct code_maps *m, const struct mapped_code *want, uint32_t *ret);

/* Adds all of @from. Returns 0 or -ENOMEM. */
int code_maps_merge(struct code_maps *m, const struct code_maps *from);

/* Prepares for code_maps_find(), after maps were added. */
void code_maps_sort(struct code_maps *m);

/*
 * Calls @fn for all maps that process @pid (0: the kernel) had at @addr. Returns their number.
 */
size_t code_maps_find(const struct code_maps *m, uint32_t pid, uint64_t addr,
		      void (*fn)(const struct code_map *map, void *arg), void *arg);

/* Drops the maps of processes that have ended and are no parents of others. */
void code_maps_forget(struct code_maps *m);

#endif
