// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-record-dry.h"

#include <stdio.h>
#include <unistd.h>

#include "record/plan/plan.h"
#include "record/session/workload.h"
#include "render/attr_text.h"
#include "render/text.h"
#include "sys/kernel/cgroup.h"
#include "sys/kernel/limits.h"

static void print_events(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++) {
		struct pd_attr attr = plan->events[i].attr;

		attr.size = pd_attr_wire_size(&attr);
		fputs("event : name = ", stdout);
		text_put(stdout, plan->events[i].name, 0);
		if (plan->events[i].cgroup) {
			fputs(", cgroup = ", stdout);
			text_put(stdout, plan->events[i].cgroup, 0);
		}
		if (plan->events[i].filter) {
			fputs(", filter = ", stdout);
			text_put(stdout, plan->events[i].filter, 0);
		}
		if (plan->events[i].leader != i)
			printf(", leader = %u", plan->events[i].leader);
		attr_text(stdout, &attr);
		putchar('\n');
	}
}

/* Opens the cgroups, and closes them: one that is missing is an error of the recording, too. */
static int check_cgroups(const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->nr; i++) {
		int fd = plan->events[i].cgroup ? cgroup_open(plan->events[i].cgroup, err) : -1;

		if (plan->events[i].cgroup && fd < 0)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

int record_dry_run(const struct record_command *cmd, const struct messages *messages,
		   struct error *err)
{
	const char *const *command = cmd->opts.plan.target.command;
	int rc = command ? workload_find(command[0], err) : 0;
	struct limits limits;
	struct plan *plan;

	if (rc)
		return rc;
	limits_read(&limits);
	rc = plan_new(&cmd->opts.plan, &limits, messages, &plan, err);
	if (rc)
		return rc;
	rc = check_cgroups(plan, err);
	if (!rc && cmd->verbose)
		print_events(plan);
	plan_free(plan);
	return rc;
}
