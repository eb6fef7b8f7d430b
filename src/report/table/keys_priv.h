/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of sort keys: keys.c has those of tasks and functions, keys_place.c those of addresses,
 * keys_data.c those of types, keys_waits.c those of waits, keys_ipc.c
 * those of instructions per cycle, keys_sample.c and keys_mem.c all others.
 */
#ifndef RINGTAIL_REPORT_TABLE_KEYS_PRIV_H
#define RINGTAIL_REPORT_TABLE_KEYS_PRIV_H

#include "report/table/keys.h"

/* Keys of fields that only some samples have. Constant. */
extern const struct sort_key sample_keys[];
extern const size_t nr_sample_keys;
/* Keys of addresses and the code there. */
extern const struct sort_key place_keys[];
extern const size_t nr_place_keys;
/* Keys of the types of accessed data. */
extern const struct sort_key data_keys[];
extern const size_t nr_data_keys;
/* Keys of memory accesses and transactions. */
extern const struct sort_key mem_keys[];
extern const size_t nr_mem_keys;

/* Keys of instructions per cycle. */
extern const struct sort_key ipc_keys[];
extern const size_t nr_ipc_keys;

/* Keys of waits (report/waits/waits.h). */
extern const struct sort_key wait_keys[];
extern const size_t nr_wait_keys;

/* For cells that hold a number in a. */
int key_compare_numbers(const struct trace *t, struct hist_cell a, struct hist_cell b);
/* For cells that hold an interned string in a. */
int key_compare_strings(const struct trace *t, struct hist_cell a, struct hist_cell b);
int key_string_text(const struct trace *t, struct hist_cell cell, struct buf *out);

/* The cell of srcline for @f. Returns 0 or -ENOMEM. */
int key_line_cell(const struct key_source *src, const struct frame *f, struct hist_cell *ret);

/* The cells of dso and sym for @f. Return 0. */
int key_dso_cell(const struct trace *t, const struct frame *f, struct hist_cell *ret);
int key_sym_cell(const struct frame *f, struct hist_cell *ret);

/* As in struct sort_key, for those cells. */
int key_dso_text(const struct trace *t, struct hist_cell cell, struct buf *out);
int key_dso_compare(const struct trace *t, struct hist_cell a, struct hist_cell b);
int key_sym_text(const struct trace *t, struct hist_cell cell, struct buf *out);
int key_sym_compare(const struct trace *t, struct hist_cell a, struct hist_cell b);

#endif
