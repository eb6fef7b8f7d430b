/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digest: equal samples of one part of a file, counted as one entry in pass 1.
 *
 * With digests, pass 2 need not read the part again. Pass 1 does not yet know the comms and maps,
 * but these seldom change between the first and the last sample of one address, call chain, thread
 * and CPU. If state_steady() finds no change, the state at the first sample holds for all. Pass 2
 * walks a part itself if it has too many different samples, a sample that does not decode, or an
 * entry that is not steady.
 *
 * One thread uses a digest.
 */
#ifndef RINGTAIL_REPORT_TRACE_DIGEST_H
#define RINGTAIL_REPORT_TRACE_DIGEST_H

#include <stddef.h>

#include "base/hash_table.h"
#include "base/moment.h"
#include "data/scan/scan.h"
#include "perfdata/sample.h"

enum digest_kind {
	DIGEST_NONE,
	DIGEST_FLAT,   /* samples of one address are equal */
	DIGEST_CHAINS, /* those of one call chain are */
	DIGEST_STACKS, /* the same, with the callers in copies of stacks
			  (report/trace/digest_early.h) */
};

/* How a call chain goes on in the copy of a user stack. All zero: there is none. */
struct digest_stack {
	uint32_t frames; /* the last words of the chain are frames of the copy */
	bool copied;	 /* the sample has a copy */
	bool walked;	 /* that can be walked */
	bool full;	 /* of as many bytes as the event asks for */
	bool ended;	 /* the chain ends because the copy does */
};

/* Such a frame is its address and these, as in struct unwind_frame. */
#define DIGEST_FRAME_GUESSED	 (1ull << 63)
#define DIGEST_FRAME_INTERRUPTED (1ull << 62)
#define DIGEST_FRAME_FLAGS	 (DIGEST_FRAME_GUESSED | DIGEST_FRAME_INTERRUPTED)

struct digest_entry {
	const struct pd_evsel *evsel;
	uint64_t ip;
	uint32_t pid, tid, cpu;
	uint32_t chain_nr; /* 0: none, or the digest is flat */
	size_t chain;	   /* index in words */
	struct digest_stack stack;
	uint8_t cpumode;
	struct moment first, last;
	uint64_t samples, period; /* period: sum over all samples */
};

/* All zero is an empty digest. Owns its arrays. */
struct digest {
	bool chains; /* the entries have call chains */
	struct digest_entry *entry;
	size_t nr, cap;
	uint64_t *words; /* the call chains of the entries */
	size_t nr_words, cap_words;
	struct hash_table table;
	size_t last;   /* index of the entry that digest_add() used last */
	bool given_up; /* the digest lacks samples: pass 2 must walk the part */
};

/* Adds a sample. Sets given_up if the digest is full, memory is short or the sample is damaged. */
void digest_add(struct digest *d, const struct data_record *rec);

/*
 * Adds the sample @s of @rec, whose call chain goes on in a copy as @stack says; NULL: in none.
 * Otherwise as digest_add().
 */
void digest_add_sample(struct digest *d, const struct data_record *rec, const struct pd_sample *s,
		       const struct digest_stack *stack);

/*
 * Adds what @entry stands for to the one that is equal but for time and sums, or to a new one. For
 * a flat digest.
 */
void digest_add_entry(struct digest *d, const struct digest_entry *entry);

/* Returns the call chain of @e. */
static inline const uint64_t *digest_chain(const struct digest *d, const struct digest_entry *e)
{
	return e->chain_nr ? d->words + e->chain : NULL;
}

/* Returns the bytes of memory that entries and chains take. */
static inline size_t digest_bytes(const struct digest *d)
{
	return d->nr * sizeof(*d->entry) + d->nr_words * sizeof(*d->words);
}

/* Frees the entries, because some samples cannot be added. */
void digest_give_up(struct digest *d);

/* Removes all entries, and keeps the memory. */
void digest_clear(struct digest *d);

/* Frees what only digest_add() needs. No samples may be added afterwards. */
void digest_seal(struct digest *d);

/* Frees all of @d; accepts zeroes. */
void digest_release(struct digest *d);

#endif
