/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of --off-cpu: why threads leave CPUs, who wakes them, and when they run again.
 *
 * sched:sched_switch is sampled in the thread that leaves, so its call chain shows what waits.
 * sched:sched_waking is sampled in the waker. Of these two, sched_wakeup would come later, and
 * often on another CPU. One thread.
 */
#ifndef RINGTAIL_RECORD_PLAN_OFF_CPU_H
#define RINGTAIL_RECORD_PLAN_OFF_CPU_H

#include "event/parse/event.h"

#define OFF_CPU_SWITCH "sched:sched_switch"

/*
 * Fills @ret, which is empty, with the events. @wakers: wakeups have call chains, too. Returns 0 or
 * a negative errno as event_parse() does; -EACCES and -ENOENT where tracefs cannot be read.
 */
int off_cpu_events(struct event_list *ret, bool wakers, const struct event_env *env,
		   struct error *err);

#endif
