/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of debug information that hold strings, and tables that refer to them. Internal to
 * symbol/lines. */
#ifndef RINGTAIL_SYMBOL_LINES_STRINGS_H
#define RINGTAIL_SYMBOL_LINES_STRINGS_H

#include <libelf.h>
#include <stdbool.h>

/*
 * Returns whether each section of strings ends in NUL, and each table has room for its length.
 * libdw of elfutils before 0.189 reads strings up to a NUL, and lengths, beyond the section if it
 * must, so it may not see a file where this is false. Sections that are compressed are decompressed
 * in @elf's memory, as libdw does.
 */
bool strings_are_sound(Elf *elf);

#endif
