/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU vendors' event names (INST_RETIRED:ANY, skl::MEM_LOAD_RETIRED), from libpfm4.
 *
 * The library is loaded on first use, and builds process-wide tables; one thread at a time may
 * call.
 */
#ifndef RINGTAIL_EVENT_CATALOG_VENDOR_H
#define RINGTAIL_EVENT_CATALOG_VENDOR_H

#include <stddef.h>

#include "base/error.h"
#include "perfdata/abi.h"

/*
 * Looks up @name, which may have unit masks and libpfm4's own modifiers (":u", ":cmask=1"). Fills
 * type, config words, period, and the flags for privilege levels and precision in the name. Returns
 * 0, -ENOENT (unknown, ambiguous, or libpfm4 knows no PMU of this machine) with @attr untouched, or
 * -ELIBACC with @err filled if libpfm4 is not installed.
 */
int vendor_find(const char *name, struct pd_attr *attr, struct error *err);

/* An event of a vendor, valid during the call that receives it. */
struct vendor_event {
	const char *pmu;  /* libpfm4's name of the PMU, "skl" */
	const char *name; /* "INST_RETIRED" */
	const char *what; /* a sentence; may be NULL */
	/* Its unit masks, "ANY_P: what it counts". */
	char **masks;
	size_t nr_masks;
};

/*
 * Calls @fn for each event of the PMUs of this machine that libpfm4 knows, without the kernel's
 * generic ones. A negative value of @fn ends the walk and is returned. Returns 0, -ENOMEM, or
 * -ELIBACC with @err filled if libpfm4 is not installed; 0 without a call if it knows no PMU of
 * this machine.
 */
int vendor_each(int (*fn)(void *arg, const struct vendor_event *event), void *arg,
		struct error *err);

#endif
