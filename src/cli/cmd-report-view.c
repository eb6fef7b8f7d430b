// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-report-view.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	int (*run)(int argc, char **argv);
} views[] = {{"sched", cmd_report_sched}, {"latency", cmd_report_latency}};

bool cmd_report_view(int argc, char **argv, int *ret_status)
{
	static char name[64];

	for (size_t i = 0; argc > 1 && i < sizeof(views) / sizeof(views[0]); i++) {
		if (strcmp(argv[1], views[i].word) != 0)
			continue;
		snprintf(name, sizeof(name), "ringtail report %s", views[i].word);
		argv[1] = name;
		*ret_status = views[i].run(argc - 1, argv + 1);
		return true;
	}
	return false;
}
