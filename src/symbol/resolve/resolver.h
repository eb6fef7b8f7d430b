/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address in a dso to a symbol.
 *
 * A chain of sources by kind of dso: kallsyms (of the recorded kernel only), vmlinux by build-id,
 * modules, ELF .symtab, .dynsym and PLT, separate debug files by build-id and .gnu_debuglink, this
 * process's vdso when its build-id matches, perf-PID.map, the name of a ksymbol. Names are
 * demangled (C++, Rust legacy and v0). A file whose build-id differs from the recorded one is never
 * used; without a recorded build-id a file is used only if the recording is of this machine
 * (host name and kernel release) or --symfs names where to look.
 *
 * Any thread may ask; a dso's table is loaded by whoever asks first, under a lock, and is
 * read-only after that. Symbols live as long as the resolver.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_RESOLVER_H
#define RINGTAIL_SYMBOL_RESOLVE_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/state.h"
#include "symbol/elf/table.h"

struct resolver;

struct resolver_opts {
	const char *symfs;    /* look for files below this directory; NULL: / */
	const char *kallsyms; /* use this as the recorded kernel's; NULL: find it */
	const char *vmlinux;  /* use this; NULL: find by build-id */
	bool no_demangle;
	/* Of the recording; NULL or 0 where it does not say. Strings must outlive the resolver. */
	const char *hostname, *osrelease, *arch;
};

/*
 * Returns 0 with *@ret to be freed by resolver_free(), -ENOMEM, or a negative errno if kallsyms or
 * vmlinux of @opts cannot be read (/dev/null is good for "none"). A symfs that is absent holds no
 * symbols, and is no error.
 */
int resolver_new(const struct resolver_opts *opts, struct resolver **ret, struct error *err);
void resolver_free(struct resolver *r); /* accepts NULL */

/*
 * The symbol that covers @addr of @dso (as struct location has it), or NULL. @pid is for
 * perf-PID.map; that of dso->jit_pid comes second. Addresses of a DSO_MODULE count from where its
 * text starts in memory, which is what a module's map starts with (its pgoff is 0). A DSO_KSYMBOL
 * is one symbol from 0 to UINT64_MAX: its map knows how long it is.
 */
const struct symbol *resolver_find(struct resolver *r, const struct dso *dso, uint32_t pid,
				   uint64_t addr);

struct elf_image;

/*
 * Opens the file of a DSO_ELF, or the image of a DSO_VDSO, by the same rules. Any thread. Returns
 * 0 with *@ret to be closed by elf_image_close(), or a negative errno.
 */
int resolver_open_image(const struct resolver *r, const struct dso *dso, struct elf_image *ret);

/* Opens its separate debug file; @program is the image. Any thread. Returns 0 or -ENOENT. */
int resolver_open_debug(const struct resolver *r, const struct dso *dso,
			const struct elf_image *program, struct elf_image *ret);

/* Whether any address of @dso was looked up. */
bool resolver_was_asked(const struct resolver *r, const struct dso *dso);

/* Why a dso has no symbols ("build-id differs: …", "not found"), or NULL if it has; for -v. */
const char *resolver_why_not(struct resolver *r, const struct dso *dso);

/*
 * A sentence about the first perf-PID.map that was left out since it would take too much memory or
 * is no text, or NULL. It lives as long as @r.
 */
const char *resolver_refused(struct resolver *r);

/* Why only symbols that a program exports (.dynsym) are known of it, or NULL; for -v. */
const char *resolver_why_few(struct resolver *r, const struct dso *dso);

#endif
