/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms: the kernel's list of its symbols, as text.
 *
 * A line is "ADDRESS TYPE NAME", followed by "\t[MODULE]" for symbols of a module. Any thread.
 * Source: kernel/kallsyms.c, s_show().
 */
#ifndef RINGTAIL_SYMBOL_RESOLVE_KALLSYMS_H
#define RINGTAIL_SYMBOL_RESOLVE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "symbol/elf/table.h"

struct kallsyms_line {
	uint64_t addr;
	const char *name, *module; /* not NUL-terminated; module NULL: the kernel itself */
	size_t name_len, module_len;
	char type; /* nm's letter; 't', 'T', 'w', 'W' are code */
};

/*
 * Parses the line at *@pos and moves behind it; skips lines of another form. Returns false at the
 * end.
 */
bool kallsyms_next(const struct buf *text, size_t *pos, struct kallsyms_line *ret);

/* Returns whether the symbol is code. */
bool kallsyms_is_code(const struct kallsyms_line *line);

/* Bytes. Longer lists are refused: no kernel has as many symbols. */
#define KALLSYMS_MAX ((size_t)128 << 20)

/*
 * Reads the whole file. Returns 0, or a negative errno with @why filled; -EFBIG: it is longer than
 * KALLSYMS_MAX; -EBADMSG: it is not text, because it has a NUL byte.
 */
int kallsyms_read(const char *path, struct buf *ret, struct error *why);

/*
 * Checks the beginning and the size of the file as kallsyms_read() does, and returns as it does.
 * -EINVAL: it is not a regular file.
 */
int kallsyms_check(const char *path, struct error *why);

/*
 * Reads the beginning of the file, up to its first page with an address, at most about @max bytes.
 * Returns 0, -EACCES (no address there) or another negative errno.
 */
int kallsyms_read_beginning(const char *path, size_t max, struct buf *ret);

/* Reads the kernel's ELF notes from sysfs, at most 1 MiB. Returns 0 or a negative errno. */
int kallsyms_read_notes(const char *path, struct buf *ret);

/* Returns whether the kernel hid the addresses (kptr_restrict): all are 0. */
bool kallsyms_hidden(const struct buf *text);

/* Fills @why: addresses are hidden, and how to see them. Returns -EACCES. */
int kallsyms_say_hidden(const char *path, struct error *why);

/* Finds the address of a symbol of the kernel itself. Returns whether it exists. */
bool kallsyms_address(const struct buf *text, const char *name, uint64_t *ret);

/*
 * Finds the image of the kernel: the addresses of its first and its last function. Returns false if
 * there are none, or if code of a module or the like lies between.
 */
bool kallsyms_image(const struct buf *text, uint64_t *ret_first, uint64_t *ret_last);

/*
 * Makes the table of the kernel (@module NULL), with addresses moved by @delta; or of a module,
 * with addresses relative to the page of its first function. Dashes and underscores in module names
 * are equal. BPF programs and "[__builtin__…]" symbols belong to the kernel. @wanted: as in struct
 * symtab_builder. Returns 0, -ENOENT (no
 * such symbols) or -ENOMEM.
 */
int kallsyms_table(const struct buf *text, const char *module, uint64_t delta,
		   const struct symtab_wanted *wanted, struct symtab **ret);

#endif
