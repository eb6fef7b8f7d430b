/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-PID.map files of processes on this machine, for a recorder that keeps them open. Any thread.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_PERFMAP_H
#define RINGTAIL_SYMBOL_RESOLVE_PERFMAP_H

#include <stdint.h>

#include "symbol/elf/table.h"

/*
 * Opens the map of process @pid, in its container if it has one. It must belong to the user of the
 * process, to root or to the caller. *@inner is the number of the process in its own pid namespace;
 * 0: not known yet, and set if it is needed. Returns a descriptor or a negative errno.
 */
int perfmap_open(uint32_t pid, uint32_t *inner);

/*
 * Makes the table of what is @wanted (NULL: all) in the map behind @fd, which is read from where it
 * stands. *@left is how many bytes all such tables may still take; a map that needs more is not
 * read (-EFBIG). Returns 0 with *@ret for symtab_free(), or a negative errno.
 */
int perfmap_read(int fd, const struct symtab_wanted *wanted, uint64_t *left, struct symtab **ret);

#endif
