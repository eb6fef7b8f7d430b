/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of files that hold code, kept in a fixed amount of memory.
 *
 * Any thread may read. If a block would exceed the bound, all blocks are dropped, and loaded again
 * when they are wanted. Files are numbered by the caller.
 */
#ifndef RINGTAIL_AUXTRACE_CODE_BLOCKS_H
#define RINGTAIL_AUXTRACE_CODE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/elf/elf_image.h"

struct code_blocks;

/*
 * Opens file @number. Returns 0 with *@ret for elf_image_close(), of which only the descriptor, or
 * the contents in memory, are used; or a negative errno. Calls do not overlap.
 */
typedef int (*code_open_fn)(void *arg, size_t number, struct elf_image *ret);

/* Returns NULL when memory is short. */
struct code_blocks *code_blocks_new(code_open_fn open, void *arg, size_t max);
void code_blocks_free(struct code_blocks *b); /* accepts NULL */

/*
 * Copies at most @len bytes at offset @at of file @number. Returns how many, 0 at the end of the
 * file, -ENOENT if the file cannot be read, or -ENOMEM.
 */
int code_blocks_read(struct code_blocks *b, size_t number, uint64_t at, uint8_t *buf, size_t len);

/* For tests: sets another bound, in bytes, and returns how many are loaded. */
void code_blocks_limit(struct code_blocks *b, size_t bytes);
size_t code_blocks_loaded(const struct code_blocks *b);

#endif
