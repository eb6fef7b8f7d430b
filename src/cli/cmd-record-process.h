/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects of `ringtail record` on the whole process: signals, priority, the service manager.
 *
 * Code below cli/ does not change the process. Main thread only.
 */
#ifndef RINGTAIL_CLI_CMD_RECORD_PROCESS_H
#define RINGTAIL_CLI_CMD_RECORD_PROCESS_H

#include <signal.h>

#include "record/session/session.h"
#include "sys/io/notify.h"

struct record_process {
	struct session_host host; /* for session_record(); its argument is this struct */
	struct notify notify;
	char **environment; /* the command's: without the service manager's variables */
	sigset_t mask_before;
	struct sigaction child_before;
	bool child_changed;
	bool raised; /* the priority was raised */
	int nice_before;
};

/*
 * Blocks SIGINT, SIGTERM, SIGHUP (unless ignored), SIGUSR2, SIGPIPE and SIGXFSZ. Opens the
 * descriptors for signals and for the service manager. With @command there will be a child to wait
 * for. @with_parent: SIGTERM comes when the parent ends. Returns 0 or a negative errno with @err
 * filled; call record_process_leave() in both cases.
 */
int record_process_enter(struct record_process *p, bool command, bool with_parent,
			 struct error *err);

/*
 * Undoes record_process_enter(), except for the blocked signals: one that arrives now must not
 * change the exit status of a complete recording. Call it after session_free().
 */
void record_process_leave(struct record_process *p);

#endif
