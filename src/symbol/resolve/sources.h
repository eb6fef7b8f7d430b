/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where symbols come from, one loader for each kind of dso.
 *
 * A loader returns 0 with *@ret for symtab_free(), or a negative errno with @why saying what stood
 * in the way, in words for the user. Loaders only read struct sources; any thread may run one.
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
#include "symbol/resolve/module_list.h"
#include "symbol/resolve/resolver.h"
#include "symbol/elf/table.h"

/* The machine that the resolver runs on. Tests put their own below @root. */
struct symbol_host {
	const char *
		root; /* "" or a directory: before /proc, /sys, /boot, /usr/lib/debug, /lib, /tmp */
	const char *home; /* of the user, for the build-id cache; NULL: none */
	const char *hostname, *osrelease;
	bool debuginfod; /* may be asked */
};

struct sources {
	struct resolver_opts opts;
	struct module_list *modules; /* of the machine */
	struct file_tables *files;   /* that were read */
	struct symbol_host host;
	/* The recording says that it is of this machine and kernel release. */
	bool same_machine;
};

/* Loaders: of the kernel, a module, the vdso. */
int kernel_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
		struct error *why);
/*
 * Whether the files of kernel symbols that the user names can be read; /dev/null stands for none.
 * Returns 0, or a negative errno with @err naming the option and the file.
 */
int kernel_check_named(const struct resolver_opts *opts, struct error *err);
int module_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
		struct error *why);
int vdso_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
	      struct error *why);
/*
 * Here *@ret is of src->files and not for symtab_free(). On success @why->text says why there are
 * but the symbols that it exports, or is empty.
 */
int file_load(const struct sources *src, const struct dso *dso, struct symtab **ret,
	      struct error *why);

/* Memory for the symbols of all perf-PID.map files, and about what one of them takes, bytes. */
#define PERFMAPS_MAX	     (512u << 20)
#define PERFMAP_SYMBOL_BYTES 96u

/*
 * The map of a process. *@left is what of PERFMAPS_MAX is left; a map that would take more is not
 * read (-EFBIG). -EBADMSG: it is no text.
 */
int perfmap_load(const struct sources *src, uint32_t pid, uint64_t *left, struct symtab **ret,
		 struct error *why);

/*
 * Whether @img may stand for @dso: build-ids are equal, or none is recorded and @trusted says that
 * the file is the recorded one anyway. Fills @why (with @path) if not.
 */
bool source_accept(const struct dso *dso, const struct elf_image *img, bool trusted,
		   const char *path, struct error *why);

/*
 * Opens the recorded file itself: below --symfs, at its path, at that of a process with mounts of
 * its own, or in the build-id cache.
 */
int source_open_program(const struct sources *src, const struct dso *dso, struct elf_image *ret,
			struct error *why);

/* Opens the image of a vdso: this process's own, or from the build-id cache. Returns as above. */
int source_open_vdso(const struct sources *src, const struct dso *dso, struct elf_image *ret,
		     struct error *why);

/*
 * Opens a file with .symtab for @dso: separate debug files, by build-id and by the link in
 * @program (NULL or not open: by build-id only). Returns 0 or -ENOENT.
 */
int source_open_debug(const struct sources *src, const struct dso *dso,
		      const struct elf_image *program, struct elf_image *ret);

/* Opens the symbols that a program has packed in .gnu_debugdata. Returns 0 or a negative errno. */
int source_open_minidebug(const struct elf_image *program, struct elf_image *ret);

/* Whether .symtab is there, with content. */
bool source_has_symtab(const struct elf_image *img);

/*
 * Reads a whole regular file, unpacked if its name ends in .xz, .gz or .zst. Stops at 1 GiB.
 * Returns 0, or a negative errno with @why filled.
 */
int source_read(const char *path, struct buf *ret, struct error *why);

/* Unpacks LZMA (.xz) data. Returns 0, -EBADMSG, -EFBIG or -ENOMEM. */
int source_unxz(const void *data, size_t len, struct buf *ret);

/* Lower-case hex. @ret holds 2 * @size + 1 bytes. */
void source_hex(const uint8_t *id, size_t size, char *ret);

/*
 * A path in perf's build-id cache, ~/.debug/.build-id/xx/yyyy/@file (older: yyyy is the file).
 * Returns false without home or build-id.
 */
bool source_cache_path(const struct sources *src, const struct dso *dso, const char *file,
		       char ret[PATH_MAX]);

/* snprintf() into a path. Returns whether it fit. */
bool source_path(char ret[PATH_MAX], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether the kernel that runs here has the build-id recorded for @dso. */
bool kernel_is_running(const struct sources *src, const struct dso *dso);

/* As resolver_new(), on a machine made up by a test. @host's strings must outlive the resolver. */
int resolver_new_on(const struct resolver_opts *opts, const struct symbol_host *host,
		    struct resolver **ret, struct error *err);

#endif
