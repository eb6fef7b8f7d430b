/* SPDX-License-Identifier: Apache-2.0 */
/* What to use in place of the commands of perf that ringtail lacks. Static texts; any thread. */
#ifndef RINGTAIL_CLI_HELP_INSTEAD_H
#define RINGTAIL_CLI_HELP_INSTEAD_H

/* Returns a sentence without its end, or NULL if perf has no such command. */
const char *instead_of(const char *perf_command);

#endif
