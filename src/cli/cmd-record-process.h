/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects of `ringtail record` on the whole process: signals, priority, the service manager.
 *
 * Nothing below cli/ changes the process. All calls are the main thread's.
 */
#ifndef RINGTAIL_CLI_CMD_RECORD_PROCESS_H
#define RINGTAIL_CLI_CMD_RECORD_PROCESS_H

#include <signal.h>

#include "record/session/session.h"
#include "sys/io/notify.h"

struct record_process {
	struct session_host host; /* for session_record(); its argument is this struct */
	struct notify notify;
	char **environment; /* of the command: without the service manager's variables */
	sigset_t mask_before;
	struct sigaction child_before, interrupt_before;
	bool child_changed, interrupt_changed;
	bool raised; /* the priority */
	int nice_before;
};

/*
 * Blocks SIGINT, SIGTERM, SIGHUP (unless ignored), SIGUSR2, SIGPIPE and SIGXFSZ, and opens what
 * they and the service manager are read from. With @command there will be a child to wait for.
 * Returns 0 or a negative errno with @err filled; record_process_leave() is due in both cases.
 */
int record_process_enter(struct record_process *p, bool command, struct error *err);

/* A SIGUSR2 that comes from now on is ignored: a late request for a snapshot does not end us. */
void record_process_recorded(void);

/* Undoes record_process_enter(), but for SIGUSR2. After session_free(). */
void record_process_leave(struct record_process *p);

#endif
