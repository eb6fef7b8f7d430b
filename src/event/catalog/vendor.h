/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU vendors' event names (INST_RETIRED:ANY, skl::MEM_LOAD_RETIRED), from libpfm4.
 *
 * libpfm4 keeps process-wide tables that it builds on first use; one thread at a time.
 */
#ifndef RINGTAIL_EVENT_CATALOG_VENDOR_H
#define RINGTAIL_EVENT_CATALOG_VENDOR_H

#include "perfdata/abi.h"

/*
 * Looks @name up, unit masks and libpfm4's own modifiers included (":u", ":cmask=1"). Fills type,
 * config words, period, and the flags of levels and precision that the name asks for. Returns 0
 * or -ENOENT (unknown, ambiguous, or no PMU here that libpfm4 knows); @attr is then untouched.
 */
int vendor_find(const char *name, struct pd_attr *attr);

#endif
