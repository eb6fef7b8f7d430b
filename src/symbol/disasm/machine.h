/* SPDX-License-Identifier: Apache-2.0 */
/* Which machine code is for: by the file that it is in, or by uname's name. Pure functions. */
#ifndef RINGTAIL_SYMBOL_DISASM_MACHINE_H
#define RINGTAIL_SYMBOL_DISASM_MACHINE_H

#include <stddef.h>

#include "symbol/disasm/disasm.h"

#define MACHINE_HEADER_SIZE 20u /* bytes */

/*
 * By the first MACHINE_HEADER_SIZE bytes of an ELF file or of a jitdump. Returns false if it is
 * neither; *@ret is then unchanged.
 */
bool machine_of_file(const void *header, size_t len, struct disasm_machine *ret);

/* By the name of a machine ("x86_64"), which may be NULL. machine 0: not known. */
struct disasm_machine machine_of_name(const char *name);

#endif
