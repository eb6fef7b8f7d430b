/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session in a thread of its own, for a program that does something else meanwhile.
 *
 * All signals are blocked in that thread. The owner's thread commands it over a socket, with the
 * words of `ringtail ctl`. One thread at a time uses a hosted session.
 */
#ifndef RINGTAIL_RECORD_SESSION_HOSTED_H
#define RINGTAIL_RECORD_SESSION_HOSTED_H

#include "record/session/session.h"

struct hosted_session;

/*
 * Starts a recording, and returns when events are enabled. @opts->control is set; @opts and
 * @messages outlive the result; @messages are said in the session's thread. Returns 0 with *@ret
 * for hosted_free(), or a negative errno with @err filled. A recording that ended before it took a
 * command gives 0, too: there was nothing to record.
 */
int hosted_start(struct record_opts *opts, const struct messages *messages,
		 struct hosted_session **ret, struct error *err);

/*
 * Sends a command, a line without its end, and waits for the answer. Returns 0; -ESHUTDOWN when the
 * recording has ended; -EIO with the answer in @err when it refuses; or another negative errno.
 */
int hosted_command(struct hosted_session *h, const char *line, struct error *err);

/* Ends the recording, if it runs. Returns what session_record() returned, with @err filled. */
int hosted_stop(struct hosted_session *h, struct error *err);

/* A descriptor that is readable when the recording has ended. */
int hosted_ended(const struct hosted_session *h);

/* The session; session_result() only after hosted_stop(). */
struct session *hosted_session(const struct hosted_session *h);

/* Ends and frees it; accepts NULL. */
void hosted_free(struct hosted_session *h);

#endif
