/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libpfm4 that vendor.c uses. Internal to event/catalog. */
#ifndef RINGTAIL_EVENT_CATALOG_PFM_H
#define RINGTAIL_EVENT_CATALOG_PFM_H

#include <perfmon/pfmlib_perf_event.h>

#include "sys/io/library.h"

#define PFM_FUNCTIONS(X)             \
	X(pfm_initialize)            \
	X(pfm_get_os_event_encoding) \
	X(pfm_get_event_attr_info) X(pfm_get_event_info) X(pfm_get_event_next) X(pfm_get_pmu_info)

/* clang-format off */
struct pfm {
	PFM_FUNCTIONS(LIBRARY_POINTER)
};
/* clang-format on */

/*
 * Loads and initialises the library. Returns 0, -ENOENT if it knows no PMU of this machine, or
 * -ELIBACC with @err filled: it is not installed. One thread at a time.
 */
int pfm_load(struct pfm *ret, struct error *err);

#endif
