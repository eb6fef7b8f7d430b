/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's generic event names, in perf's spelling.
 *
 * Source: tools/perf/util/parse-events.l and perf-list(1), 6.1. Static tables; any thread.
 */
#ifndef RINGTAIL_EVENT_CATALOG_NAMES_H
#define RINGTAIL_EVENT_CATALOG_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct generic_event {
	uint32_t type;	 /* PERF_TYPE_HARDWARE, _SOFTWARE, _HW_CACHE or _RAW */
	uint64_t config; /* PERF_COUNT_*, or the number of rNNN */
};

/*
 * Looks up a hardware, software or hardware-cache name, or rNNN. Returns 0, -ENOENT, or -EINVAL for
 * a cache name with known parts that do not make an event ("L1-icache-stores").
 */
int names_find(const char *name, struct generic_event *ret);

/* Returns the name of the alias that sysfs has for a hardware event ("cpu-cycles"), or NULL. */
const char *names_hardware_symbol(uint64_t config);

/*
 * Calls @fn for every hardware, software and cache name, in its usual spelling. Names of one event
 * follow one another.
 */
void names_each(void (*fn)(void *arg, const char *name, const struct generic_event *event),
		void *arg);

#endif
