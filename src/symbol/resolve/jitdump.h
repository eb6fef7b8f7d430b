/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump: the code that a JIT made, with its bytes and names, in jit-PID.dump.
 *
 * An address in the dso of a jitdump is an offset in the file, where the bytes of the code are. So
 * code that was moved, or that another code replaced, keeps its address there. Both byte orders.
 * Any thread. Source: tools/perf/Documentation/jitdump-specification.txt.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_JITDUMP_H
#define RINGTAIL_SYMBOL_RESOLVE_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* More code than this is ignored. */
#define JITDUMP_CODES_MAX (4u << 20)

/* Code that was made, or moved. */
struct jitdump_code {
	uint64_t time; /* of CLOCK_MONOTONIC, ns, or of the CPU's clock (jitdump_info) */
	uint64_t addr, size;
	uint64_t index;	  /* of the code; a move has that of the code that it moves */
	bool moved;	  /* if so, the fields below are 0 */
	uint64_t offset;  /* of its bytes in the file */
	const char *name; /* not NUL-terminated; valid during the call */
	size_t name_len;
};

struct jitdump_info {
	bool cpu_clock; /* times are counts of the CPU's clock */
};

/*
 * Called for each piece of code, in the order of the file. A value other than 0 ends the reading.
 */
typedef int (*jitdump_fn)(void *arg, const struct jitdump_code *code);

/*
 * Reads the jitdump @fd. Records that do not fit the file end it: the JIT may have been killed.
 * Returns 0, what @fn returned, or a negative errno with @why filled; -EBADMSG: it is no jitdump.
 */
int jitdump_read(int fd, struct jitdump_info *ret, jitdump_fn fn, void *arg, struct error *why);

#endif
