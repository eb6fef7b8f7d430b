/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running kernel's own symbols, kept in the user's cache: the kernel takes 40 ms and more to
 * make /proc/kallsyms.
 *
 * A copy has the kernel's image only, whose symbols never change while it runs; modules, BPF
 * programs and trampolines come from /proc/kallsyms. It is of one boot of one build, and is used
 * only if /proc/kallsyms begins as it did then: so ringtail shows no addresses that the kernel
 * hides from this process (kptr_restrict). The file (0600) has them until its user deletes it, as
 * recordings of the user have. Any thread. Internal to symbol/.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_KERNEL_CACHE_H
#define RINGTAIL_SYMBOL_RESOLVE_KERNEL_CACHE_H

#include "symbol/resolve/sources.h"

/*
 * Makes a table of the copy, of the running kernel, which is the recorded one (@dso, with its
 * build-id): it covers only the image (symtab_covers()). With @must_match it may be another one,
 * and is the same if its reference symbol is at its address. Returns 0 with *@ret for
 * symtab_free(), or a negative errno: there is no copy for this process.
 */
int kernel_cache_load(const struct sources *src, const struct dso *dso, bool must_match,
		      struct symtab **ret);

/* Returns whether a copy can be stored. */
bool kernel_cache_writable(const struct sources *src);

/*
 * Stores a copy of @t, the table of @kallsyms, the text of /proc/kallsyms with addresses as they
 * are. Failures are nobody's concern.
 */
void kernel_cache_store(const struct sources *src, const struct dso *dso, const struct symtab *t,
			const struct buf *kallsyms);

#endif
