/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address filters of hardware traces: perf's --filter for an event with an AUX area.
 *
 * ACTION START [/ SIZE] [@ FILE], several separated by commas or blanks. ACTION is filter (trace
 * only there), start, stop, or tracestop (stop inside of it). START and SIZE are numbers or
 * functions; START in a FILE is an offset. A function as SIZE is the last of the range. "*" is the
 * whole file. Names with blanks, commas, "/" or "@" stand in single quotes. Without a FILE the
 * range is in the kernel.
 *
 * Sources: tools/perf/Documentation/perf-record.txt; kernel/events/core.c,
 * perf_event_parse_addr_filter(). One thread.
 */
#ifndef RINGTAIL_EVENT_PARSE_ADDRESS_FILTER_H
#define RINGTAIL_EVENT_PARSE_ADDRESS_FILTER_H

#include "event/syntax/spec.h"

/*
 * Translates @text to addresses, in the kernel's syntax. Returns 0 with *@ret for free() and the
 * number of filters in *@ret_nr, or a negative errno with @err filled.
 */
int address_filter_parse(const char *text, const struct event_symbols *symbols, char **ret,
			 size_t *ret_nr, struct error *err);

/*
 * Sets the filter of the events from @first on. If they have AUX areas, @text is a list of address
 * filters, added to those that the events have; else it is a filter as of event_set_filter().
 * Returns 0, or a negative errno with @err filled; then the events keep the filters that they had.
 */
int address_filter_set(struct event_list *list, size_t first, const char *text,
		       const struct event_env *env, struct error *err);

#endif
