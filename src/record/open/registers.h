/* SPDX-License-Identifier: Apache-2.0 */
/* Which registers the kernel samples, by trying. Any thread may call. */
#ifndef RINGTAIL_RECORD_OPEN_REGISTERS_H
#define RINGTAIL_RECORD_OPEN_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns those of the registers @wanted, bits of struct pd_attr, that can be sampled: with @user
 * those of user space, else those at the moment of the sample, for which some need a PMU that has
 * them in its own records. Returns @wanted where no event can be opened.
 */
uint64_t registers_sampled(uint64_t wanted, bool user);

#endif
