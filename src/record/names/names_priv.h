/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to names.c and names_table.c. */
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
};

/* Turns the hits that have a map into places. The others stay. */
void names_settle(struct names *n);

#endif
