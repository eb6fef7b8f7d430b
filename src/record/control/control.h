/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to a running recording: from a descriptor or FIFO (--control) and from any number of
 * clients of a socket (`ringtail ctl`), all in the same words (record/control_command.h).
 *
 * A command is a line, ended by a newline or, as perf takes it, a NUL. Each gets an answer: what it
 * asks for, line by line, and then "ack\n" or "error: REASON\n", with a NUL behind it as perf sends
 * one. Two of perf's ways hold for --control: all but `stats` and `help` is only acknowledged, with
 * `evlist` said as messages, and a command whose line is not ended is taken when nothing follows
 * for CONTROL_PATIENCE_MS.
 *
 * Nothing here waits for a peer. Answers to a client are kept until it takes them, and nothing more
 * is read from it meanwhile; one on --control that finds no room is counted and dropped.
 *
 * One thread uses a struct control. SIGPIPE must be blocked or ignored.
 */
#ifndef RINGTAIL_RECORD_CONTROL_CONTROL_H
#define RINGTAIL_RECORD_CONTROL_CONTROL_H

#include "record/control/control_command.h"
#include "record/plan/messages.h"

#define CONTROL_LINE_MAX    4096 /* bytes of a command, with what ends it */
#define CONTROL_PATIENCE_MS 200

/* What commands do. Each returns 0, or a negative errno with @err saying the reason. */
struct control_ops {
	int (*enable)(void *arg, const char *event, struct error *err); /* NULL: all */
	int (*disable)(void *arg, const char *event, struct error *err);
	/* Of these two -EINPROGRESS is no error: control_answer() follows. */
	int (*snapshot)(void *arg, const struct snapshot_request *request, struct error *err);
	int (*rotate)(void *arg, const struct snapshot_request *request, struct buf *text,
		      struct error *err);
	int (*stop)(void *arg, struct error *err); /* soon; returns before it is done */
	int (*evlist)(void *arg, enum control_list list, struct buf *text, struct error *err);
	int (*stats)(void *arg, struct control_figures *ret, struct error *err);
};

struct control;

/* @ops, @arg and @notes must outlive it. Returns 0 or a negative errno with @err filled. */
int control_new(const struct control_ops *ops, void *arg, const struct messages *messages,
		struct control **ret, struct error *err);
void control_free(struct control *c); /* accepts NULL; removes the socket */

/*
 * Takes commands from what --control names. A FIFO must belong to this user and be writable for
 * nobody else; others lose the right to read it. Descriptors are used as they are (flags of theirs
 * are shared with whoever gave them) and stay open. Returns 0 or a negative errno with @err filled.
 */
int control_add(struct control *c, const struct control_spec *spec, struct error *err);

/* Takes commands from clients of the socket below @base. As control_socket_open(). */
int control_listen(struct control *c, const char *base, struct error *err);

/* Readable when there is something to do. */
int control_fd(const struct control *c);

/* Does what there is to do. */
void control_dispatch(struct control *c);

/*
 * Answers the command that has this ticket, if who gave it is still there: @text and an ack, or the
 * error if @err is one. @text is the caller's, and changed. May take further commands of the same
 * peer. Not to be called by what a command does.
 */
void control_answer(struct control *c, uint64_t ticket, struct buf *text, const struct error *err);

struct control_stats {
	uint64_t commands, errors; /* errors: commands answered with one */
	uint64_t unread;	   /* answers on --control that found no room */
	uint64_t clients;	   /* so far */
	size_t connected;	   /* now */
};
/* Counts of all clients and of --control. Valid as long as @c. */
const struct control_stats *control_stats(const struct control *c);

#endif
