/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of addresses that the samples of a lane hit: ip, call chain, branches, data addresses.
 *
 * From it the end of an output knows which functions need names (record/names/names.h). Addresses
 * are rounded down to HIT_BYTES. Addresses of the kernel count once for all processes. The set
 * grows up to HITS_MAX; it counts the addresses beyond.
 *
 * Threads: one.
 */
#ifndef RINGTAIL_RECORD_HITS_HITS_H
#define RINGTAIL_RECORD_HITS_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfdata/attr.h"

#define HIT_BYTES 16u
#define HITS_MAX  (256u << 10)

struct hits;

struct hit {
	uint64_t addr; /* of the granule */
	uint32_t pid;  /* 0 for an address of the kernel */
};

/* Samples are those of @list, which must outlive the set. Returns NULL when out of memory. */
struct hits *hits_new(const struct pd_evlist *list);
void hits_free(struct hits *h); /* accepts NULL */

/* Adds the addresses of a whole sample in one piece; ignores a malformed one. */
void hits_add(struct hits *h, const struct perf_event_header *hdr);

/* Adds an address, rounded down, of @pid as it is. */
void hits_put(struct hits *h, uint64_t addr, uint32_t pid);

/* Adds those of @from. */
void hits_merge(struct hits *h, const struct hits *from);

/* Returns the *@ret_nr addresses in the order of their arrival; valid until the set changes. */
const struct hit *hits_list(const struct hits *h, size_t *ret_nr);

/* Likewise, for free(), and empties the set. */
struct hit *hits_take(struct hits *h, size_t *ret_nr);

/* Returns the number of addresses in the set. */
size_t hits_count(const struct hits *h);

/* Returns how many times the set had no room for an address. */
uint64_t hits_missed(const struct hits *h);

#endif
