/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands to a running recording: receives them, hands them out, sends the answers.
 *
 * Commands come from a descriptor or FIFO (--control) and from any number of clients of a socket
 * (`ringtail ctl`), in the same words (record/control/control_command.h).
 *
 * A command is a line that ends in a newline or, as perf sends it, a NUL. Its answer is the lines
 * it asks for, then "ack\n" or "error: REASON\n", then a NUL as perf sends one. On --control two
 * things are as in perf: all but `stats` and `help` get only the last line, and `evlist` prints
 * messages; and a line without an end counts as a command after CONTROL_PATIENCE_MS of silence.
 *
 * The caller runs the commands: control_read(), then control_next() and control_answer() until
 * there is no command left. An answer may come later; its peer's next command waits for it.
 *
 * Nothing here waits for a peer. An answer is kept until its client takes it, and meanwhile nothing
 * more is read from that client. An answer on --control that finds no room is counted and dropped.
 *
 * One thread uses a struct control. SIGPIPE must be blocked or ignored.
 */
#ifndef RINGTAIL_RECORD_CONTROL_CONTROL_H
#define RINGTAIL_RECORD_CONTROL_CONTROL_H

#include "record/control/control_command.h"
#include "record/plan/messages.h"

#define CONTROL_LINE_MAX    4096 /* bytes of a command, with what ends it */
#define CONTROL_PATIENCE_MS 200

struct control;

/* @messages must outlive it. Returns 0 or a negative errno with @err filled. */
int control_new(const struct messages *messages, struct control **ret, struct error *err);
void control_free(struct control *c); /* accepts NULL; removes the socket */

/*
 * Takes commands from the FIFOs or descriptors of --control. A FIFO must belong to this user and be
 * writable for nobody else; others lose the right to read it. Descriptors stay open, with their
 * flags unchanged, because other processes share these. Returns 0 or a negative errno with @err
 * filled.
 */
int control_add(struct control *c, const struct control_spec *spec, struct error *err);

/* Takes commands from clients of the socket below @base. As control_socket_open(). */
int control_listen(struct control *c, const char *base, struct error *err);

/* Readable when control_read() has something to do. */
int control_fd(const struct control *c);

/* Reads what has come, accepts clients, and sends answers that had no room. */
void control_read(struct control *c);

/*
 * Takes a command out of what was read. Returns false if there is none. @ret is valid until
 * control_answer(), which is due for its ticket.
 */
bool control_next(struct control *c, struct control_command *ret);

/*
 * Answers the command that has this ticket, if its peer is still there: by @text and an ack, or by
 * @err if it is an error. @text stays the caller's, and is changed. Reads nothing; control_next()
 * must follow, which may have the peer's next command.
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
