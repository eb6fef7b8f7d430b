/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the samples of a lane need names for: places in files, in the kernel, in generated code.
 *
 * Hits (record/hits/hits.h) are addresses of processes. They become places when the end comes, or
 * when hits or maps are many (names_settle()); then maps of ended processes are dropped, so memory
 * is bounded by what lives and by the code that was hit. Hits that no map explains are kept for a
 * while, because maps may come later.
 *
 * Threads: one at a time.
 */
#ifndef RINGTAIL_RECORD_NAMES_NAMES_H
#define RINGTAIL_RECORD_NAMES_NAMES_H

#include "base/buf.h"
#include "record/hits/hits.h"
#include "record/initial/patience.h"
#include "symbol/recorded/compose.h"

struct names;
struct buildid_reader;

/*
 * @list must outlive it; @own_build_ids as for mapped_decode(). @reader (NULL: none) has what it
 * has kept of files. Returns NULL when out of memory.
 */
struct names *names_new(const struct pd_evlist *list, struct buildid_reader *reader,
			bool own_build_ids);
void names_free(struct names *n); /* accepts NULL */

/* Returns the set of addresses, to which the caller adds samples. */
struct hits *names_hits(struct names *n);

/* Adds a map, a fork or an exit; ignores other records. Returns 0 or -ENOMEM. */
int names_add(struct names *n, const struct perf_event_header *hdr);

/* After samples were added: makes room for more if they are many. */
void names_make_room(struct names *n);

/* Adds all of @from. Returns 0 or -ENOMEM. */
int names_merge(struct names *n, const struct names *from);

struct names_job;

/* Threads that may hang at a time; with so many nothing is read. */
#define NAMES_LEFT_MAX 4

/* A thread that was left behind. Until it ends, no other reads files of its device. */
struct names_left {
	struct names_job *job; /* NULL: none */
	bool file;	       /* it hangs in a file, of device @maj:@min */
	uint32_t maj, min;
};

/* What all tables of a recording have in common: who waits, and the threads left behind. */
struct names_wait {
	struct patience patience;
	struct names_left left[NAMES_LEFT_MAX];
};

/* Lets the threads free themselves at their end. Accepts zeroes. */
void names_wait_release(struct names_wait *w);

struct names_opts {
	uint64_t budget;	 /* bytes, about */
	bool lines;		 /* also source lines and inlined functions */
	const char *vmlinux;	 /* of the kernel, for its names; never freed; NULL: none */
	unsigned int ms;	 /* limit of time */
	struct names_wait *wait; /* NULL: waits to the limit, and leaves threads to themselves */
};

/* A place is a piece of HIT_BYTES of code. */
struct names_counts {
	struct compose_counts table;
	uint64_t places;    /* that samples hit, and that were looked up */
	uint64_t unnamed;   /* of these: no name was found */
	uint64_t gone;	    /* of those: the file was gone */
	uint64_t rewritten; /* of those: the file was written in place meanwhile */
	uint64_t missed;    /* addresses for which there was no room */
	uint64_t unreached; /* places, and places without lines, for which there was no time */
	bool no_memory;	    /* there is no table */
};

/*
 * Appends the table of symbols (perfdata/symbols/symbols.h). A thread of its own, of normal
 * priority, reads symbols of files, of the kernel and of perf-PID.map now, unless the reader has
 * read them before. After the limit of time, or where @opts->wait gives up, the table has what was
 * found until then; a thread that hangs in a file system a second later is left behind, and the
 * next tables do without its device. It takes over @n. If memory is short, it appends nothing.
 */
void names_table(struct names *n, const struct names_opts *opts, struct buf *table,
		 struct names_counts *ret);

#endif
