/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of basic blocks, for tables and JSON. One thread. */
#ifndef RINGTAIL_RENDER_TABLE_BLOCKS_H
#define RINGTAIL_RENDER_TABLE_BLOCKS_H

#include <stdio.h>

#include "render/table.h"

/* Returns the source line of @addr in the block's dso, without folders; NULL: not known. */
const char *block_line(const struct trace *t, const struct block *k, uint64_t addr);

/* Returns @addr from the beginning of the function, or of the file where no function is known. */
uint64_t block_offset(const struct block *k, uint64_t addr);

/* Returns @part of @all in percent; 0 of nothing. */
double block_share(uint64_t part, uint64_t all);

/* Writes the rows of event @index as JSON, behind "[". Returns 0, -ENOMEM or -EIO. */
int blocks_json(FILE *out, const struct report *r, size_t index, const struct table_opts *opts);

#endif
