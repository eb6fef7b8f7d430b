/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU vendors' event names (INST_RETIRED:ANY, skl::MEM_LOAD_RETIRED), from libpfm4.
 *
 * libpfm4 builds process-wide tables on first use; one thread at a time may call.
 */
#ifndef RINGTAIL_EVENT_CATALOG_VENDOR_H
#define RINGTAIL_EVENT_CATALOG_VENDOR_H

#include "perfdata/abi.h"

/*
 * Looks up @name, which may have unit masks and libpfm4's own modifiers (":u", ":cmask=1"). Fills
 * type, config words, period, and the flags for privilege levels and precision in the name. Returns
 * 0, or -ENOENT (unknown, ambiguous, or libpfm4 knows no PMU of this machine) with @attr untouched.
 */
int vendor_find(const char *name, struct pd_attr *attr);

#endif
