/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks debuginfod servers for files by build-id. The interface of the library:
 * elfutils/debuginfod.h.
 */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/elf/elf_image.h"

/* Returns whether this program can load the library at all. */
bool debuginfod_is_built(void);

enum debuginfod_file { DEBUGINFOD_DEBUGINFO, DEBUGINFOD_EXECUTABLE };

/*
 * Fetches the file with build-id @id, @size bytes, over the network, from the servers that
 * DEBUGINFOD_URLS names, and opens it; elf_image_close() closes it. It may wait for the network.
 * Returns 0, -ENOENT if no server has it or this machine lacks the library, or another negative
 * errno of elf_image_open(). The caller compares the build-id of what it gets.
 */
int debuginfod_open(enum debuginfod_file what, const uint8_t *id, size_t size,
		    struct elf_image *ret);

#endif
