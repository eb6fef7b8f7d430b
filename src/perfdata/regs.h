/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the registers in samples (PERF_SAMPLE_REGS_USER, PERF_SAMPLE_REGS_INTR), by
 * architecture. Pure functions; any thread.
 *
 * @arch is a machine's name as uname(2) has it ("x86_64", "aarch64", …); NULL: of this machine.
 * Source: arch/ARCH/include/uapi/asm/perf_regs.h; the names are perf's.
 */
#ifndef RINGTAIL_PERFDATA_REGS_H
#define RINGTAIL_PERFDATA_REGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Returns the name of the register at @bit of a mask, or NULL if the architecture has none there.
 */
const char *pd_reg_name(const char *arch, unsigned int bit);

/* Returns the registers that every processor of the architecture has in samples; 0: unknown. */
uint64_t pd_regs_general(const char *arch);

/*
 * Reads a comma list of names in any case ("ax,IP"). Returns 0, or -EINVAL with @err filled: an
 * unknown name, and the names that there are.
 */
int pd_regs_parse(const char *arch, const char *list, uint64_t *ret, struct error *err);

#endif
