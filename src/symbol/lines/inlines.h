/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inlines: the source lines and inlined functions of sampled addresses.
 *
 * Debug information of a file is opened when an address in it is first asked for. Dsos with one
 * build-id share it. Any thread may ask; each should keep a cache in front, because a lock for each
 * file lets one in at a time. Results live as long as the struct inlines.
 */
#ifndef RINGTAIL_SYMBOL_LINES_INLINES_H
#define RINGTAIL_SYMBOL_LINES_INLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/resolve/resolver.h"

/* Frames that one address may have; inner ones beyond are left out. */
#define INLINED_MAX 64

struct inline_frame {
	const struct symbol *sym; /* symbol_is_inlined(); NULL in the last: it has a real symbol */
	const char *srcline;	  /* "FILE:LINE", without folders; NULL: unknown */
	const char *srcfile;	  /* without folders; NULL: unknown */
	const char *srcpath;	  /* with folders, as debug information has it; NULL: unknown */
};

/* Frames of an address, the innermost first. The last is the function that has the code. */
struct inline_chain {
	size_t nr; /* at least 1 */
	struct inline_frame frame[];
};

struct inlines;

struct inlines_opts {
	bool demangle;
	bool full_paths; /* in srcline, as in srcpath */
};

/* @r must outlive *@ret. Returns 0 with *@ret for inlines_free(), or -ENOMEM. */
int inlines_new(const struct resolver *r, const struct inlines_opts *opts, struct inlines **ret);
/* Frees @in; accepts NULL. */
void inlines_free(struct inlines *in);

/*
 * Returns the frames of @addr of @dso, or NULL if nothing is known. Equal chains of a file have
 * equal pointers, and so have its functions of one name.
 */
const struct inline_chain *inlines_find(struct inlines *in, const struct dso *dso, uint64_t addr);

/* Behind the name of an inlined function. */
#define INLINED_MARK " (inlined)"

/* Returns whether @sym stands for an inlined function: it has no place of its own, start and end
 * are 0. */
static inline bool symbol_is_inlined(const struct symbol *sym)
{
	return !sym->end;
}

#endif
