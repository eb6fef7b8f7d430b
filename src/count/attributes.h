/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attribute of a counter, and the unit of its count. Source: perf_event_open(2);
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-events (6.18).
 */
#ifndef RINGTAIL_COUNT_ATTRIBUTES_H
#define RINGTAIL_COUNT_ATTRIBUTES_H

#include "count/counters.h"

/*
 * Fills @event from @spec. @leader: it leads its group, or has none. Returns 0, or a negative errno
 * with @err filled: the event cannot count these targets, or memory is short. The caller calls
 * count_event_release() in any case.
 */
int count_event_init(struct count_event *event, const struct event_spec *spec,
		     const struct count_targets *targets, bool leader, const struct event_env *env,
		     struct error *err);
void count_event_release(struct count_event *event);

/* Makes @event count user space only. Returns 0 or -ENOMEM. */
int count_event_user_only(struct count_event *event);

#endif
