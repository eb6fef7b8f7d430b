/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame instructions (DWARF 5, 6.4.2): run up to an address, they leave the row for it.
 * Any thread.
 */
#ifndef RINGTAIL_UNWIND_PROGRAM_H
#define RINGTAIL_UNWIND_PROGRAM_H

#include "unwind/arch.h"
#include "unwind/reader.h"
#include "unwind/row.h"

/* What the entries of a section say of the code around an address. */
struct cfi_entry {
	uint64_t start, end;			    /* of the code; end exclusive */
	struct unwind_reader initial, instructions; /* of the common entry, and its own */
	uint64_t code_align, data_align;	    /* the latter signed */
	uint64_t ra;				    /* the register that has the caller's address */
	uint64_t section_addr; /* with @section: for addresses relative to themselves */
	const uint8_t *section;
	uint8_t encoding; /* of addresses: DW_EH_PE_* */
	uint8_t word;	  /* bytes of an address */
	bool signal;	  /* of a signal handler's return */
};

/* An address by @e->encoding; sets r->bad if it is of a kind that needs more than the file. */
uint64_t cfi_entry_address(const struct cfi_entry *e, struct unwind_reader *r, uint8_t encoding);

/*
 * The row of @e for @addr. Returns 0 with *@ret for free(), -EBADMSG if it cannot be followed, or
 * -ENOMEM.
 */
int cfi_program_run(const struct cfi_entry *e, const struct unwind_arch *arch, uint64_t addr,
		    struct cfi_row **ret);

#endif
