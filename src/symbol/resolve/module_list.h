/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What files of this machine say about all modules of its kernel: kallsyms and modules.dep. Each
 * file is read once, however many modules a recording has. Internal to symbol/.
 *
 * Any thread may call; a lock is held while a file is read. @path is the same in all calls of a
 * function on one list.
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_MODULE_LIST_H
#define RINGTAIL_SYMBOL_RESOLVE_MODULE_LIST_H

#include <limits.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

struct module_list;

struct module_list *module_list_new(void);    /* NULL when out of memory */
void module_list_free(struct module_list *l); /* accepts NULL */

/*
 * The text of kallsyms for the kernel's own table, once; later calls read the file again. @ret is
 * the caller's. Returns as kallsyms_read().
 */
int module_list_text(struct module_list *l, const char *path, struct buf *ret, struct error *why);

/*
 * Lines of kallsyms about the code of module @name; *@ret is the list's and is not released.
 * Returns 0; -ENOENT: it is not there; -EACCES: addresses are hidden; or as kallsyms_read(). @why
 * is filled.
 */
int module_list_symbols(struct module_list *l, const char *path, const char *name, struct buf *ret,
			struct error *why);

/*
 * The file of module @name, as modules.dep has it: "kernel/fs/ext4/ext4.ko.xz". Returns whether it
 * is there.
 */
bool module_list_file(struct module_list *l, const char *path, const char *name,
		      char ret[PATH_MAX]);

#endif
