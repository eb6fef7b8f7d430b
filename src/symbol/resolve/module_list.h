/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index of this machine's kernel modules: their symbols in kallsyms, their files in modules.dep.
 *
 * Each of these files is read once, for any number of modules. Any thread may call; the list holds
 * a lock while it reads a file. @path must be the same in all calls of a function on one list.
 * Internal to symbol/.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_MODULE_LIST_H
#define RINGTAIL_SYMBOL_RESOLVE_MODULE_LIST_H

#include <limits.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

struct module_list;

/* Returns an empty list, or NULL when memory is short. */
struct module_list *module_list_new(void);
/* Frees the list; accepts NULL. */
void module_list_free(struct module_list *l);

/*
 * Hands out the text of kallsyms once, for the kernel's own table; later calls read the file again.
 * The caller owns @ret. Returns as kallsyms_read() does.
 */
int module_list_text(struct module_list *l, const char *path, struct buf *ret, struct error *why);

/*
 * Finds the lines of kallsyms about the code of module @name. The list owns *@ret. Returns 0;
 * -ENOENT: no such module; -EACCES: addresses are hidden; or as kallsyms_read(). Fills @why on
 * failure.
 */
int module_list_symbols(struct module_list *l, const char *path, const char *name, struct buf *ret,
			struct error *why);

/*
 * Finds the file of module @name in modules.dep: "kernel/fs/ext4/ext4.ko.xz". Returns whether it is
 * there.
 */
bool module_list_file(struct module_list *l, const char *path, const char *name,
		      char ret[PATH_MAX]);

#endif
