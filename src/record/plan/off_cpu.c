// SPDX-License-Identifier: Apache-2.0
#include "record/plan/off_cpu.h"

#include <string.h>

#include "record/plan/options.h"

int off_cpu_events(struct event_list *ret, bool wakers, const struct event_env *env,
		   struct error *err)
{
	int rc = event_parse(ret, OFF_CPU_SWITCH ",sched:sched_waking,sched:sched_wakeup_new", env,
			     err);

	for (size_t i = 0; !rc && i < ret->count; i++) {
		struct event_spec *spec = &ret->specs[i];

		/* Each one counts, whatever -c and -F say of other events. */
		spec->attr.sample_period = 1;
		spec->explicit_period = true;
		if (!wakers && strcmp(spec->name, OFF_CPU_SWITCH) != 0)
			spec->callgraph = CALLGRAPH_NONE;
	}
	return rc;
}
