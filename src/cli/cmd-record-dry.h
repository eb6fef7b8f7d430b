/* SPDX-License-Identifier: Apache-2.0 */
/* `ringtail record --dry-run`: checks everything that needs no event to be open. Main thread. */
#ifndef RINGTAIL_CLI_CMD_RECORD_DRY_H
#define RINGTAIL_CLI_CMD_RECORD_DRY_H

#include "cli/cmd-record-options.h"
#include "record/plan/messages.h"

/*
 * Plans the recording and opens nothing; with -v prints the attribute of each event on standard
 * output. Returns 0, or a negative errno with @err filled.
 */
int record_dry_run(const struct record_command *cmd, const struct messages *messages,
		   struct error *err);

#endif
