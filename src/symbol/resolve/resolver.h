/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolver: finds the symbol of an address in a dso.
 *
 * The recording's own table (recorded.h) comes first. Other sources depend on the kind of dso:
 * kallsyms (of the recorded kernel only), vmlinux by build-id, modules, ELF .symtab, .dynsym and
 * PLT, separate debug files by build-id and .gnu_debuglink, this process's vdso if its build-id
 * matches, perf-PID.map, jit-PID.dump, the name of a ksymbol. Names are demangled (C++, Rust legacy
 * and v0).
 *
 * The resolver never uses a file with another build-id than the recorded one. Without a recorded
 * build-id it uses a file only if the recording is of this machine (host name and kernel release;
 * of a recording that is cut, resolver_origin.h) or --symfs names a directory.
 *
 * Any thread may ask. The first to ask loads a dso's table, under a lock; then the table is
 * read-only. Symbols live as long as the resolver.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_RESOLVER_H
#define RINGTAIL_SYMBOL_RESOLVE_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/state.h"
#include "symbol/elf/table.h"
#include "symbol/elf/wanted.h"
#include "symbol/resolve/jitdump.h"
#include "symbol/resolve/resolver_origin.h"
#include "symbol/recorded/recorded.h"

struct resolver;
struct resolver_pool;

struct resolver_opts {
	const char *symfs;		   /* directory above all files; NULL: / */
	const char *kallsyms;		   /* of the recorded kernel; NULL: find it */
	const char *vmlinux;		   /* of the recorded kernel; NULL: find it by build-id */
	const char *kcore;		   /* of the recording; NULL: it has none */
	struct recorded_symbols *recorded; /* used before all others; NULL: none */
	/*
	 * Says which addresses of @dso are ever asked for, for small tables of them (NULL: any may
	 * be); those outside the kernel's image have no names then. The result must outlive the
	 * resolver.
	 */
	const struct symtab_wanted *(*wanted)(const struct dso *dso, void *arg);
	void *wanted_arg;
	bool no_demangle, no_demangle_kernel;
	bool ignore_vmlinux;	    /* unless @vmlinux names one */
	bool no_debuginfod;	    /* ask none, whatever the user's environment says */
	struct resolver_pool *pool; /* tables that other resolvers share; NULL: none */
	/* Of the recording; NULL or 0: not recorded. Strings must outlive the resolver. */
	const char *hostname, *osrelease, *arch;
	struct origin origin; /* of a recording that is cut, and so lacks these */
};

/*
 * Returns 0 with *@ret for resolver_free(), -ENOMEM, or a negative errno with @err filled if
 * kallsyms or vmlinux of @opts cannot be read (/dev/null stands for none). A missing symfs is no
 * error: it has no symbols.
 */
int resolver_new(const struct resolver_opts *opts, struct resolver **ret, struct error *err);
/* Frees @r with all symbols; accepts NULL. */
void resolver_free(struct resolver *r);

/*
 * Returns the symbol that covers @addr of @dso, or NULL. @addr is as in struct location. @pid
 * selects the perf-PID.map; dso->jit_pid is the second choice. Addresses of a DSO_MODULE count from
 * the start of its text in memory, where a module's map starts (its pgoff is 0). A DSO_KSYMBOL is
 * one symbol from 0 to UINT64_MAX: its map has the length.
 */
const struct symbol *resolver_find(struct resolver *r, const struct dso *dso, uint32_t pid,
				   uint64_t addr);

struct elf_image;

/*
 * Opens the file of a DSO_ELF, or the image of a DSO_VDSO, by the same rules. Any thread. Returns 0
 * with *@ret for elf_image_close(), or a negative errno.
 */
int resolver_open_image(const struct resolver *r, const struct dso *dso, struct elf_image *ret);

/*
 * As resolver_open_image(), and asks debuginfod where the user has set DEBUGINFOD_URLS. Of a
 * DSO_JIT, which is no ELF file, only the descriptor is open.
 */
int resolver_open_code(const struct resolver *r, const struct dso *dso, struct elf_image *ret);

/* As resolver_open_code(), and fills @why on failure. */
int resolver_open_code_why(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
			   struct error *why);

/*
 * Reads the jitdump @path of a process (jitdump_read()), whose recorded inode is @ino (0: not
 * known). Returns a negative errno if it may not be read: it is used as a perf-PID.map is.
 */
int resolver_read_jitdump(const struct resolver *r, const char *path, uint32_t pid, uint64_t ino,
			  struct jitdump_info *ret, jitdump_fn fn, void *arg);

/* Returns whether the user named a vmlinux. */
bool resolver_names_vmlinux(const struct resolver *r);

/*
 * Opens a kcore of DSO_KERNEL @dso: the recording's, or that of the running kernel if it is the
 * recorded one at the same addresses. Its segments have the addresses of the recording. Any thread.
 * Returns as resolver_open_image() does.
 */
int resolver_open_kcore(const struct resolver *r, const struct dso *dso, struct elf_image *ret);

/*
 * Opens the vmlinux of a DSO_KERNEL. *@ret_delta is what the recorded kernel adds to linked
 * addresses. Any thread. Returns as resolver_open_image() does.
 */
int resolver_open_kernel(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
			 uint64_t *ret_delta);

/*
 * Reads the list of symbols of a DSO_KERNEL, as /proc/kallsyms has it: --kallsyms, or that of the
 * running kernel if its build-id is the recorded one. Returns 0 with *@ret for buf_release(), or a
 * negative errno with @why filled.
 */
int resolver_kallsyms(const struct resolver *r, const struct dso *dso, struct buf *ret,
		      struct error *why);

/*
 * Opens the file of a DSO_MODULE, unpacked. Any thread. Returns 0 with *@ret for
 * elf_image_close(), or a negative errno with @why filled.
 */
int resolver_open_module(const struct resolver *r, const struct dso *dso, struct elf_image *ret,
			 struct error *why);

/* Opens the separate debug file of image @program. Any thread. Returns 0 or -ENOENT. */
int resolver_open_debug(const struct resolver *r, const struct dso *dso,
			const struct elf_image *program, struct elf_image *ret);

/* Returns the directory with the user's cache (cache_base()), which lives as long as @r; or NULL.
 */
const char *resolver_cache(const struct resolver *r);

/* Returns whether this machine's files or kernel were asked for symbols of @dso. */
bool resolver_was_asked(const struct resolver *r, const struct dso *dso);

/*
 * Returns how many functions of @dso the recording names itself; 0 if @dso was not asked for, and
 * of generated code.
 */
size_t resolver_recorded(const struct resolver *r, const struct dso *dso);

/* Returns the source lines that the recording has of @dso itself; NULL: none. They live as long as
 * the recording's table. */
const struct pd_symbol_lines *resolver_recorded_lines(const struct resolver *r,
						      const struct dso *dso);

/* Returns why a dso has no symbols ("build-id differs: …", "not found"), for -v; NULL if it has. */
const char *resolver_why_not(struct resolver *r, const struct dso *dso);

/*
 * Returns a sentence about the first perf-PID.map that was ignored, because it needs too much
 * memory or is not text; or NULL. It lives as long as @r.
 */
const char *resolver_refused(struct resolver *r);

/* Returns why a program has only exported symbols (.dynsym), for -v; NULL if it has more. */
const char *resolver_why_few(struct resolver *r, const struct dso *dso);

#endif
