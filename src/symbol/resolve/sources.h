/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaders of symbols, one for each kind of dso.
 *
 * A loader returns 0 with *@ret for symtab_free(), or a negative errno with @why for the user.
 * Loaders only read struct sources; any thread may run one.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_SOURCES_H
#define RINGTAIL_SYMBOL_RESOLVE_SOURCES_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "state/state.h"
#include "symbol/elf/elf_image.h"
#include "symbol/resolve/file_tables.h"
#include "symbol/resolve/jitdump.h"
#include "symbol/resolve/module_list.h"
#include "symbol/resolve/resolver.h"
#include "symbol/elf/table.h"

/* The machine that the resolver runs on. Tests have their own below @root. */
struct symbol_host {
	/* "" or a directory: prefix of /proc, /sys, /boot, /usr/lib/debug, /lib and /tmp. */
	const char *root;
	const char *home;      /* of the user, for the build-id cache; NULL: none */
	const char *build_ids; /* the folder of that cache; NULL or "": .debug in @home */
	const char *cache;     /* cache_base(); NULL: none */
	const char *hostname, *osrelease;
	bool debuginfod; /* the resolver may use debuginfod's cache and servers */
};

struct sources {
	struct resolver_opts opts;
	struct module_list *modules; /* of this machine */
	struct file_tables *files;   /* tables of files read so far */
	struct symbol_host host;
	/* The recording is of this machine: it has its host name and release; or ORIGIN_HERE. */
	bool same_machine;
};

/* Returns the only addresses of @dso that are asked for; NULL: any may be. */
static inline const struct symtab_wanted *source_wanted(const struct sources *src,
							const struct dso *dso)
{
	return src->opts.wanted ? src->opts.wanted(dso, src->opts.wanted_arg) : NULL;
}

/* Loads the symbols of the kernel, or only those of its image (symtab_covers()). */
int kernel_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
		struct error *why);
/* Loads all symbols of the running kernel, which is the recorded one, with modules and BPF. */
int kernel_load_whole(const struct sources *src, const struct dso *dso, struct symtab **ret,
		      struct error *why);
/*
 * Checks that the user's kallsyms and vmlinux can be read; /dev/null stands for none. Returns 0, or
 * a negative errno with @err naming the option and the file.
 */
int kernel_check_named(const struct resolver_opts *opts, struct error *err);
/*
 * Opens the vmlinux of the kernel: --vmlinux, or where distributions install it. *@ret_delta is
 * what the recorded kernel adds to linked addresses. Returns 0 or a negative errno.
 */
int kernel_open_image(const struct sources *src, const struct dso *dso, struct elf_image *ret,
		      uint64_t *ret_delta);
/* As resolver_kallsyms(). */
int kernel_kallsyms(const struct sources *src, const struct dso *dso, struct buf *ret,
		    struct error *why);
/* As resolver_open_kcore(). */
int kernel_open_kcore(const struct sources *src, const struct dso *dso, struct elf_image *ret);
/* Loads the symbols of a kernel module. */
int module_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
		struct error *why);
/*
 * Opens the file of a kernel module, unpacked, or a debug file of it. Returns 0 with *@ret for
 * elf_image_close(), or a negative errno with @why filled.
 */
int module_open(const struct sources *src, const struct dso *dso, struct elf_image *ret,
		struct error *why);
/* Loads the symbols of a vdso. */
int vdso_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
	      struct error *why);
/*
 * Loads the symbols of a program file. *@ret belongs to src->files, not to the caller. On success
 * @why->text is empty, or explains why the table has only exported symbols.
 */
int file_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
	      struct error *why);

/* Limit for the symbols of all perf-PID.map files, and estimated size of one symbol; bytes. */
#define PERFMAPS_MAX	     (512u << 20)
#define PERFMAPS_WANTED_MAX  (64u << 20) /* if only some addresses are wanted */
#define PERFMAP_SYMBOL_BYTES 96u

/*
 * Loads the perf-PID.map of a process. *@left is the unused rest of PERFMAPS_MAX; a map that needs
 * more is not read (-EFBIG). -EBADMSG: the map is not text.
 */
int perfmap_load(const struct sources *src, uint32_t pid, uint64_t *left, struct symtab **ret,
		 struct error *why);

/*
 * Opens a file that process @pid has written for profilers. It must belong to the user of the
 * process, if that still runs, to root or to the caller; -ESTALE: it is of another process of that
 * number. Returns a descriptor, or a negative errno with @why filled.
 */
int source_open_jit(const struct sources *src, const char *path, uint32_t pid, struct error *why);

/* Opens the jitdump @path of some processes, by the same rules. */
int jitdump_open(const struct sources *src, const char *path, const uint32_t *pids, size_t nr_pids,
		 struct error *why);
/* Loads the symbols of a jitdump. */
int jitdump_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
		 struct error *why);

/*
 * Returns whether @img may stand for @dso: their build-ids are equal, or @dso has none and the
 * caller trusts the file (@trusted). If not, fills @why, which names @path.
 */
bool source_accept(const struct sources *src, const struct dso *dso, const struct elf_image *img,
		   bool trusted, const char *path, struct error *why);

/*
 * Opens the recorded file itself: below --symfs, at its path, at its path in the mounts of the
 * process, or in the build-id cache. Returns 0 or a negative errno with @why filled.
 */
int source_open_program(const struct sources *src, const struct dso *dso, struct elf_image *ret,
			struct error *why);

/*
 * Asks debuginfod for the file, if the user wants it to be asked. Returns 0, -ENOENT or another
 * negative errno.
 */
int source_open_downloaded(const struct sources *src, const struct dso *dso, struct elf_image *ret);

/*
 * Opens the image of a vdso: this process's own, or from the build-id cache. Returns as above.
 */
int source_open_vdso(const struct sources *src, const struct dso *dso, struct elf_image *ret,
		     struct error *why);

/*
 * Opens a separate debug file with .symtab for @dso: by build-id, and by the link in @program, if
 * that is open (NULL: no program). Returns 0 or -ENOENT.
 */
int source_open_debug(const struct sources *src, const struct dso *dso,
		      const struct elf_image *program, struct elf_image *ret);

/*
 * Opens the symbols that a program has compressed in .gnu_debugdata. Returns 0 or a negative errno.
 */
int source_open_minidebug(const struct elf_image *program, struct elf_image *ret);

/* Returns whether the image has a .symtab with contents. */
bool source_has_symtab(const struct elf_image *img);

/*
 * Makes the table of the image's .symtab, or of what is @wanted (NULL: all). Returns 0, -ENOENT (no
 * functions; @why names @path) or -ENOMEM.
 */
int source_symtab(const struct elf_image *img, const struct elf_space *space,
		  const struct symtab_wanted *wanted, const char *path, struct symtab **ret,
		  struct error *why);

/*
 * Reads a whole regular file, at most 1 GiB; unpacks it if its name ends in .xz, .gz or .zst.
 * Returns 0, or a negative errno with @why filled.
 */
int source_read(const char *path, struct buf *ret, struct error *why);

/* Unpacks LZMA (.xz) data. Returns 0, -EBADMSG, -EFBIG or -ENOMEM. */
int source_unxz(const void *data, size_t len, struct buf *ret);

/* Writes @id as lower-case hex. @ret holds 2 * @size + 1 bytes. */
void source_hex(const uint8_t *id, size_t size, char *ret);

/*
 * Makes a path in perf's build-id cache, ~/.debug/.build-id/xx/yyyy/@file; in old caches yyyy is
 * the file itself. Returns false without home or build-id.
 */
bool source_cache_path(const struct sources *src, const struct dso *dso, const char *file,
		       char ret[PATH_MAX]);

/* Makes the path @file in that cache. Returns false if there is none. */
bool source_cache_file(const struct sources *src, const char *file, char ret[PATH_MAX]);

/* Prints into a path as snprintf() does. Returns whether it fits. */
bool source_path(char ret[PATH_MAX], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns whether the running kernel has the build-id recorded for @dso. */
bool kernel_is_running(const struct sources *src, const struct dso *dso);

/* As resolver_new(), on a test's machine. @host's strings must outlive the resolver. */
int resolver_new_on(const struct resolver_opts *opts, const struct symbol_host *host,
		    struct resolver **ret, struct error *err);

#endif
