/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's list of its symbols, as text: "ADDRESS TYPE NAME", with "\t[MODULE]" behind the
 * names of a module. Source: kernel/kallsyms.c, s_show().
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
	char type; /* as nm has it; 't', 'T', 'w', 'W' are code */
};

/*
 * Takes the line at *@pos and moves on; lines that are not of the form are passed over. Returns
 * false at the end.
 */
bool kallsyms_next(const struct buf *text, size_t *pos, struct kallsyms_line *ret);

/* Whether the symbol is a function (types T, t, W, w). */
bool kallsyms_is_code(const struct kallsyms_line *line);

/* No kernel has as many symbols; what is longer is not read. */
#define KALLSYMS_MAX ((size_t)128 << 20)

/*
 * Reads the file whole. Returns 0; -EFBIG: it is longer than KALLSYMS_MAX; -EBADMSG: it has a NUL
 * byte and so is no text; or another negative errno; with @why filled.
 */
int kallsyms_read(const char *path, struct buf *ret, struct error *why);

/*
 * Whether kallsyms_read() would read it, as far as its beginning and its size tell. Returns as
 * that, and -EINVAL where it is no regular file.
 */
int kallsyms_check(const char *path, struct error *why);

/* Reads notes, as the kernel shows them, of at most 1 MiB. Returns 0 or a negative errno. */
int kallsyms_read_notes(const char *path, struct buf *ret);

/* Whether the kernel hid the addresses: all are 0 (kptr_restrict). */
bool kallsyms_hidden(const struct buf *text);

/* Says so, and what helps. Returns -EACCES. */
int kallsyms_say_hidden(const char *path, struct error *why);

/* The address of a symbol of the kernel itself. Returns whether it is there. */
bool kallsyms_address(const struct buf *text, const char *name, uint64_t *ret);

/*
 * Makes the table of the kernel (@module NULL), its addresses moved by @delta; or of a module, its
 * addresses counted from the page of its first function. Dashes in module names are underscores.
 * BPF programs and what the kernel calls built in ("[__builtin__…]") belong to the kernel.
 * Returns 0, -ENOENT (no such symbols) or -ENOMEM.
 */
int kallsyms_table(const struct buf *text, const char *module, uint64_t delta, struct symtab **ret);

#endif
