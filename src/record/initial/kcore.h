/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the code of the running kernel (--kcore), as "perf record --kcore" lays it out:
 *
 *   kcore_dir/kcore     the executable parts of /proc/kcore, as an ELF core file
 *   kcore_dir/kallsyms  the kernel's symbols
 *   kcore_dir/modules   the kernel's modules and their addresses
 *
 * /proc/kallsyms says where code is: from _stext to _etext, and the functions of modules, BPF
 * programs and trampolines. Threads: any.
 */
#ifndef RINGTAIL_RECORD_INITIAL_KCORE_H
#define RINGTAIL_RECORD_INITIAL_KCORE_H

#include "base/error.h"

/*
 * Makes @dir/kcore_dir from the files kcore, kallsyms and modules in @proc ("/proc"). Returns 0, or
 * a negative errno with @err filled; what was written so far then remains.
 */
int kcore_copy(const char *proc, const char *dir, struct error *err);

#endif
