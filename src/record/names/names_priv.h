/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to record/names. */
#ifndef RINGTAIL_RECORD_NAMES_NAMES_PRIV_H
#define RINGTAIL_RECORD_NAMES_NAMES_PRIV_H

#include "record/names/code_maps.h"
#include "record/names/names.h"

struct names {
	struct buildid_reader *reader; /* NULL: none */
	struct hits *hits;
	struct hits *places; /* their pid is the index of a file */
	struct code_maps maps;
	/* What the last names_settle() left: maps, and hits that have none. */
	size_t maps_left, hits_left;
	uint64_t hits_dropped; /* without a map */
	bool merged;	       /* with other lanes, which may have had their maps */
};

/* The table while it is made. */
struct namer;

/* Takes over @n, also on failure. Returns NULL when out of memory. */
struct namer *namer_new(struct names *n, const struct names_opts *opts);
void namer_free(struct namer *r); /* accepts NULL */

/* Before namer_run(): reads no file of device @maj:@min; its places are not reached. */
void namer_skip(struct namer *r, uint32_t maj, uint32_t min);

/* Makes the table, for namer_take(). Returns 0 or -ENOMEM. */
int namer_run(struct namer *r);

/* Appends the table that namer_run() made. Returns 0 or -ENOMEM. */
int namer_take(struct namer *r, struct buf *table, struct names_counts *ret);

/* While another thread is in namer_run(): it ends behind the file that it is at. */
void namer_hurry(struct namer *r);

/* Likewise: appends the table of what it has found. Returns 0 or -ENOMEM. */
int namer_take_part(struct namer *r, struct buf *table, struct names_counts *ret);

/* Likewise: tells the device of the file that it is at. Returns false where it is at none. */
bool namer_at(struct namer *r, uint32_t *maj, uint32_t *min);

/* Turns the hits that have a map into places. The others stay. */
void names_settle(struct names *n);

#endif
