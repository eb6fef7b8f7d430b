/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits the columns of a table into a line. Numbers keep their width; commands, objects and other
 * places give way first, names of code last. Any thread.
 */
#ifndef RINGTAIL_RENDER_TABLE_FIT_H
#define RINGTAIL_RENDER_TABLE_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "report/table/keys.h"

#define FIT_GAP 2 /* columns between two columns of a table */

enum fit_kind {
	FIT_NUMBER,
	FIT_PLACE,
	FIT_NAME,
};

struct fit_column {
	enum fit_kind kind;
	size_t width;
};

/* Returns FIT_NAME if the texts of a key are names of code, else FIT_PLACE. */
enum fit_kind fit_kind_of(const struct sort_key *key);

/*
 * Narrows the columns to @room columns, each with FIT_GAP before it. Returns whether they fit: each
 * name keeps at least 18 columns, each place 4. Without a name among them the last place is one.
 */
bool fit_columns(struct fit_column *c, size_t nr, size_t room);

#endif
