/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads build-ids of mapped files while a recording goes on, by a thread of its own.
 *
 * The kernel can put build-ids into the records of maps (attr.build_id), but then it marks those of
 * everybody else's recorders, too, and perf up to at least 6.12 does not survive that. So the files
 * are read here soon after they were mapped, once each, while they and the process are still there.
 *
 * The thread has the lowest ordinary priority. Whoever asks hands over a message without waiting
 * and without allocating (record/id_queue.h); what finds no room there is read at the end, if it is
 * still there.
 */
#ifndef RINGTAIL_RECORD_INITIAL_ID_READER_H
#define RINGTAIL_RECORD_INITIAL_ID_READER_H

#include "record/initial/buildid.h"

struct id_reader;

/* Starts the thread. Returns 0 or a negative errno. */
int id_reader_new(struct id_reader **ret);

/*
 * Ends the thread. One that hangs in a file system that does not answer is left behind with what it
 * uses. Accepts NULL.
 */
void id_reader_free(struct id_reader *r);

/* The key under which what is called @name in the kernel is known: it has no inode. */
struct build_id_key id_reader_kernel_key(const char *name);

/*
 * Any thread: the file of @map, which a record has told of, is to be read. With @kernel it is the
 * kernel or a module by that name. False: there was no room for it, and it may be asked for again.
 */
bool id_reader_ask(struct id_reader *r, const struct build_id_key *key, const struct pd_mmap *map,
		   bool kernel);

/*
 * Waits until all that was asked for so far is answered, unless for @ms nothing is, or for ten
 * times as long not all of it. Not for threads that must not wait.
 */
void id_reader_settle(struct id_reader *r, unsigned int ms);

enum id_answer {
	ID_READ,    /* *ret, which has size 0 if the file has no build-id */
	ID_GONE,    /* the file could not be read any more */
	ID_BEHIND,  /* it was not read yet, and what is read hangs */
	ID_UNASKED, /* it found no room, or was forgotten */
};

/* Any thread, behind id_reader_settle(). */
enum id_answer id_reader_find(struct id_reader *r, const struct build_id_key *key,
			      struct build_id *ret);

/* Numbers of files. */
struct id_reader_stats {
	uint64_t read, gone, full; /* full: times that there was no room in the queue */
};
void id_reader_stats(struct id_reader *r, struct id_reader_stats *ret);

#endif
