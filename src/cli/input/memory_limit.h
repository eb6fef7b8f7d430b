/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --max-memory: a limit for the memory of this process, which the kernel keeps (RLIMIT_DATA, see
 * getrlimit(2)). Memory beyond it cannot be had, and the command ends with -ENOMEM.
 */
#ifndef RINGTAIL_CLI_INPUT_MEMORY_LIMIT_H
#define RINGTAIL_CLI_INPUT_MEMORY_LIMIT_H

#include <stddef.h>

/* Reads a size such as 512M. Returns 0, or -EINVAL if it is none, or below 32 MB. */
int memory_limit_parse(const char *arg, size_t *ret);

/* Sets the limit, in bytes; 0: none. Call it before threads start: their stacks count, too. */
void memory_limit_set(size_t bytes);

#endif
