/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Origin: whether a recording that is cut was made on this machine, since this machine started.
 *
 * Such a recording names no machine. Its maps tell: the kernel's address, where KASLR moves it at
 * each start, and the inodes of files. All sources of names without a build-id ask this once.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_RESOLVER_ORIGIN_H
#define RINGTAIL_SYMBOL_RESOLVE_RESOLVER_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "state/state.h"

#define ORIGIN_SLACK 60 /* seconds by which the clock may be set after the start of a machine */

enum origin_kind {
	ORIGIN_NAMED,	/* the recording names its machine */
	ORIGIN_HERE,	/* cut, and made here */
	ORIGIN_KERNEL,	/* cut, and its kernel was at another address */
	ORIGIN_EARLIER, /* cut, and older than the start of this machine */
	ORIGIN_FILES,	/* cut, and its files are not those here */
	ORIGIN_UNKNOWN, /* cut, and nothing in it says whose it is */
};

struct origin {
	enum origin_kind kind;
	time_t written;	    /* when the recording's file was; 0: not known */
	size_t same, other; /* files that have their recorded inode here, and another one */
	bool moved;	    /* KASLR has moved the kernel, to its address here */
};

/*
 * Judges a recording that is cut by what it maps. @root: as in struct symbol_host. Reads kallsyms
 * and looks at some files. @maps must be finished.
 */
struct origin origin_of_cut(const struct state *maps, time_t written, const char *root);

/* Returns why names of this machine are withheld, as a clause; of ORIGIN_NAMED, too. */
const char *origin_why_not(const struct origin *o);

/* Returns when this machine started (@root's /proc/stat); 0: not known. */
time_t origin_machine_start(const char *root);

#endif
