/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that reads the build-ids of mapped files, soon after each was mapped, and one that keeps
 * the perf-PID.map files of JITs.
 *
 * The kernel can put build-ids into MMAP2 records (attr.build_id). But then it also marks the
 * records of all other recorders, and perf up to at least 6.12 fails on those. So this thread
 * reads each file once, soon after it was mapped, while file and process still exist.
 *
 * The thread of build-ids runs at nice 19; that of perf-PID.map files does little and runs at nice
 * 0, since on a busy machine a JIT would end before the other comes to it. buildid_reader_ask()
 * neither waits nor allocates (record/initial/buildid_queue.h). If the queue has no room for a
 * file, the recorder reads it at the end, if it still exists.
 *
 * Threads: see each function. Times are in ms.
 */
#ifndef RINGTAIL_RECORD_INITIAL_BUILDID_READER_H
#define RINGTAIL_RECORD_INITIAL_BUILDID_READER_H

#include <stdbool.h>

#include "record/initial/buildid.h"
#include "record/initial/patience.h"

struct buildid_reader;

/*
 * Starts the threads. With @names it also reads the symbols of files that may vanish
 * (record/initial/early_table.h), with @lines it copies such files. Returns 0 with *@ret for
 * buildid_reader_free(), or a negative errno.
 */
int buildid_reader_new(bool names, bool lines, struct buildid_reader **ret);

/*
 * Ends the threads and puts the reference of buildid_reader_new(). A thread that hangs in a file
 * system is detached after a second, and puts its own at its end. Accepts NULL.
 */
void buildid_reader_free(struct buildid_reader *r);

/* Any thread: takes another reference, and puts one (accepts NULL); the last frees the reader. */
struct buildid_reader *buildid_reader_get(struct buildid_reader *r);
void buildid_reader_put(struct buildid_reader *r);

/* Returns the key for a kernel map called @name, which has no inode. */
struct build_id_key buildid_reader_kernel_key(const char *name);

/*
 * Any thread: asks for the build-id of the file of @map, under @key. With @kernel the name is that
 * of the kernel or a module. Returns false if there was no room; the caller may ask again.
 */
bool buildid_reader_ask(struct buildid_reader *r, const struct build_id_key *key,
			const struct pd_mmap *map, bool kernel);

/*
 * Any thread: asks to keep the perf-PID.map of process @pid (record/initial/perfmaps.h), if the
 * reader reads symbols. Returns as buildid_reader_ask() does.
 */
bool buildid_reader_watch_jit(struct buildid_reader *r, uint32_t pid);

/*
 * Any thread: opens the perf-PID.map that was kept of @pid. Returns a descriptor, or a negative
 * errno if there is none.
 */
int buildid_reader_jit_map(struct buildid_reader *r, uint32_t pid);

/*
 * Waits until all requests so far are answered; gives up after @ms without an answer, after ten
 * times
 * @ms in all, or where @p (NULL: none) does. Not for threads that must not wait.
 */
void buildid_reader_settle(struct buildid_reader *r, unsigned int ms, const struct patience *p);

enum id_answer {
	ID_READ,    /* *ret is valid; its size is 0 if the file has no build-id */
	ID_GONE,    /* the file could not be read */
	ID_BEHIND,  /* not answered: buildid_reader_settle() gave up */
	ID_UNASKED, /* not asked for, the queue was full, or the answer was evicted */
};

/* Any thread, after buildid_reader_settle(): finds the answer for @key. */
enum id_answer buildid_reader_find(struct buildid_reader *r, const struct build_id_key *key,
				   struct build_id *ret);

/*
 * Any thread that may wait: returns whether the file of @key, mapped as @name, was written in place
 * after its build-id was read: records do not tell its programs apart.
 */
bool buildid_reader_overwritten(struct buildid_reader *r, const struct build_id_key *key,
				const char *name);

struct early_table;

/*
 * Any thread: returns the symbols that the thread has read of a file
 * (record/initial/early_table.h), or NULL. They live as long as @r.
 */
const struct early_table *buildid_reader_table(struct buildid_reader *r,
					       const struct build_id_key *key);

/* Counts of files. */
struct buildid_reader_stats {
	uint64_t read, gone, full; /* full: requests for which the queue had no room */
	uint64_t no_symbols;	   /* files whose symbols had no room in early_tables */
	uint64_t no_copies;	   /* files whose debug information had no room there */
	uint64_t no_perfmaps;	   /* processes and files for which perfmaps had no room */
};

/* Any thread: fills *@ret. */
void buildid_reader_stats(struct buildid_reader *r, struct buildid_reader_stats *ret);

#endif
