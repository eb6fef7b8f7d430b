/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --max-memory: what is read, sorted and kept is bounded by it (trace_opts.max_memory). What the
 * answer itself holds is not: a command that took more says so.
 */
#ifndef RINGTAIL_CLI_INPUT_MEMORY_LIMIT_H
#define RINGTAIL_CLI_INPUT_MEMORY_LIMIT_H

#include <stddef.h>

/* Reads a size such as 512M. Returns 0, or -EINVAL if it is none, or below 32 MB. */
int memory_limit_parse(const char *arg, size_t *ret);

/* Says so if this process has taken more than @bytes; 0: any amount is right. */
void memory_limit_explain(size_t bytes);

#endif
