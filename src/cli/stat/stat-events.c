// SPDX-License-Identifier: Apache-2.0
#include "cli/stat/stat-events.h"

#include <errno.h>

#include "event/parse/event.h"

/* Index: how often -d was given. */
static const char *const defaults[] = {
	"cycles,stalled-cycles-frontend,stalled-cycles-backend,instructions,branches,branch-misses",
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,"
	 "iTLB-loads,iTLB-load-misses"),
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

#define NR_DEFAULTS (sizeof(defaults) / sizeof(*defaults))

/* Software events: the time on CPUs by the task's clock, or by that of the CPUs. */
static int add_software(struct stat_command *cmd, struct error *err)
{
	const char *clock = cmd->targets.tasks.nr || cmd->command ? "task-clock" : "cpu-clock";
	int rc = event_parse(&cmd->events, clock, &stat_events_here, err);

	if (rc)
		return rc;
	return event_parse(&cmd->events, "context-switches,cpu-migrations,page-faults",
			   &stat_events_here, err);
}

static void set_levels(struct stat_command *cmd)
{
	for (size_t i = 0; i < cmd->events.count; i++) {
		struct pd_attr *attr = &cmd->events.specs[i].attr;

		if (cmd->all_user)
			attr->flags |= PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;
		if (cmd->all_kernel)
			attr->flags |= PD_ATTR_EXCLUDE_USER;
		cmd->events.specs[i].modifier_given |= cmd->all_user || cmd->all_kernel;
	}
}

int stat_events_complete(struct stat_command *cmd, struct error *err)
{
	bool given = cmd->events.count;
	int rc = given ? 0 : add_software(cmd, err);

	for (size_t i = 0; !rc && i < NR_DEFAULTS && i <= cmd->details; i++)
		if (i || !given)
			rc = event_parse(&cmd->events, defaults[i], &stat_events_here, err);
	set_levels(cmd);
	return rc;
}
