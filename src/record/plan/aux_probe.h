/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel about AUX areas with events that never run. Any thread. */
#ifndef RINGTAIL_RECORD_PLAN_AUX_PROBE_H
#define RINGTAIL_RECORD_PLAN_AUX_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "perfdata/abi.h"

/*
 * Returns whether the PMU of number @type has an AUX area. Opens a disabled event on the calling
 * thread, and maps an AUX area of a page. A PMU without one is not involved: the kernel refuses.
 */
bool aux_probe_pmu(uint32_t type);

/*
 * Asks whether the trace of an event like @event can be paused (aux-action). Returns 0, -ENOSYS:
 * the kernel does not know the action (before 6.13), or -EOPNOTSUPP: the PMU cannot. Opens a
 * disabled event on the calling thread.
 */
int aux_probe_action(const struct pd_attr *event);

#endif
