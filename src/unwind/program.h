/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs call frame instructions (DWARF 5, 6.4.2) up to an address, and returns the row for it. Any
 * thread.
 */
#ifndef RINGTAIL_UNWIND_PROGRAM_H
#define RINGTAIL_UNWIND_PROGRAM_H

#include "unwind/arch.h"
#include "unwind/reader.h"
#include "unwind/row.h"

/* An entry of a section with its common entry: it describes one range of code. */
struct cfi_entry {
	uint64_t start, end;			    /* of the code; end exclusive */
	struct unwind_reader initial, instructions; /* of the common entry, and its own */
	uint64_t code_align, data_align;	    /* the latter is signed */
	/* The register that holds the caller's address. */
	uint64_t ra;
	uint64_t section_addr; /* with @section: resolves addresses relative to their own place */
	const uint8_t *section;
	uint8_t encoding; /* of addresses: DW_EH_PE_* */
	uint8_t word;	  /* bytes of an address */
	bool signal;	  /* it is the code that a signal handler returns to */
};

/* Reads an address in @encoding; sets r->bad if the file alone does not give it. */
uint64_t cfi_entry_address(const struct cfi_entry *e, struct unwind_reader *r, uint8_t encoding);

/*
 * Builds the row of @e for @addr. Returns 0 with *@ret for free(), -EBADMSG if the instructions
 * cannot be followed, or -ENOMEM.
 */
int cfi_program_run(const struct cfi_entry *e, const struct unwind_arch *arch, uint64_t addr,
		    struct cfi_row **ret);

#endif
