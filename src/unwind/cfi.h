/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of call frame information by dso: .eh_frame and .debug_frame, of the program or its debug
 * file.
 *
 * Any thread may call. One lock guards all tables, because they are dropped and loaded again:
 * loaded tables stay below a fixed amount of memory, and beyond it the least recently used one
 * goes. So callers get copies of rows.
 */
#ifndef RINGTAIL_UNWIND_CFI_H
#define RINGTAIL_UNWIND_CFI_H

#include "symbol/resolve/resolver.h"
#include "unwind/row.h"

struct cfi_tables;

/* @r finds the files; it must outlive the tables. Returns 0 or -ENOMEM. */
int cfi_tables_new(struct resolver *r, struct cfi_tables **ret);
void cfi_tables_free(struct cfi_tables *t); /* accepts NULL */

/* Which table of a dso is to be loaded. */
enum cfi_part {
	CFI_EH,	   /* .eh_frame of the program */
	CFI_DEBUG, /* .debug_frame of the program or of its debug file */
};

/* For a thread that must not wait for files: how another thread loads the tables. */
struct cfi_loader {
	/*
	 * cfi_tables_row() needs @part of @dso. Called with the tables locked; it must not wait.
	 * Returns false if it cannot be loaded now; the next row of @dso asks again.
	 */
	bool (*want)(void *arg, const struct dso *dso, enum cfi_part part, uint64_t generation);
	/* Opens the file of @dso for cfi_tables_load(), as resolver_open_image() does. */
	int (*open)(void *arg, const struct dso *dso, struct elf_image *ret);
	void *arg;
};

/*
 * As cfi_tables_new(), but cfi_tables_row() opens no file. Where a table is not there, it returns
 * -EAGAIN after want(), or -ESRCH if the file could not be opened less than a second ago. @r finds
 * debug files alone.
 */
int cfi_tables_new_loaded(const struct cfi_loader *loader, struct resolver *r,
			  struct cfi_tables **ret);

/*
 * The other thread: loads what want() was called for. It holds no lock while it reads files.
 * @generation: as want() had it.
 */
void cfi_tables_load(struct cfi_tables *t, const struct dso *dso, enum cfi_part part,
		     uint64_t generation);

/*
 * Any thread: nobody waits for a load any more, because it takes too long. @part of the dso @index
 * stays empty, also if the load ends. @generation: as want() had it.
 */
void cfi_tables_give_up(struct cfi_tables *t, uint32_t index, enum cfi_part part,
			uint64_t generation);

/* Drops all tables, because the numbers of dsos change. Loads that were wanted before are void. */
void cfi_tables_forget(struct cfi_tables *t);

/*
 * Finds the row for the code at @addr of @dso (as in struct location). Returns 0 with *@ret for
 * free(); -ENOENT if no table has an entry for it; -ENXIO if none has, and the file is a
 * dynamic linker that starts there: nothing called this code, if no frame pointer says so; -EBADMSG
 * if the entry leads to no caller, because there is none or its rules cannot be followed; -ENOMEM;
 * or as cfi_tables_new_loaded() says.
 */
int cfi_tables_row(struct cfi_tables *t, const struct unwind_arch *arch, const struct dso *dso,
		   uint64_t addr, struct cfi_row **ret);

/* Sets another bound, in bytes; a single table larger than that stays empty with a loader. */
void cfi_tables_limit(struct cfi_tables *t, size_t bytes);
/* Returns the bytes that loaded tables hold. */
size_t cfi_tables_loaded(const struct cfi_tables *t);

#endif
