// SPDX-License-Identifier: Apache-2.0
/*
 * The session runs in a thread of its own, with signals blocked. The caller's thread commands it
 * over a socket, with the words of `ringtail ctl`.
 */
#include "record/session/session.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/error.h"
#include "api/options.h"
#include "api/session_options.h"
#include "sys/kernel/signal_mask.h"

struct ringtail_session {
	struct ringtail_session_opts given;
	char *output; /* opts refers to it */
	struct record_opts opts;
	struct messages messages;
	struct session *session;
	pthread_t thread;
	bool running;	    /* the thread is to be joined; until then the next two are its own */
	int rc;		    /* of session_record() */
	struct error error; /* likewise */
	int ended;	    /* an eventfd, readable when the thread ends */
	int commands;	    /* our end of the socket */
	char control[32];   /* opts refers to it: the other end */
	bool stopped;
	struct ringtail_session_result result;
};

static void pass_message(enum message_level level, const char *text, void *arg)
{
	static const enum ringtail_message levels[] = {
		[MESSAGE_WARNING] = RINGTAIL_WARNING,
		[MESSAGE_INFO] = RINGTAIL_INFO,
		[MESSAGE_DETAIL] = RINGTAIL_DETAIL,
	};
	const struct ringtail_session *s = arg;

	s->given.message(levels[level], text, s->given.message_arg);
}

static void *run_session(void *arg)
{
	const struct session_host host = SESSION_HOST_INIT;
	struct ringtail_session *s = arg;

	s->rc = session_record(s->session, &host, &s->error);
	eventfd_write(s->ended, 1);
	return NULL;
}

/* The thread inherits the mask: no signal of the process is delivered there. */
static int start_thread(struct ringtail_session *s, struct error *err)
{
	sigset_t before;
	int rc;

	signal_mask_block(&before);
	rc = pthread_create(&s->thread, NULL, run_session, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	s->running = !rc;
	return rc ? error_sys(err, -rc, "cannot start the thread of the recording") : 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Makes the session, which takes its end of the socket. */
static int make_session(struct ringtail_session *s, struct error *err)
{
	int ends[2] = {-1, -1}, rc;

	s->ended = eventfd(0, EFD_CLOEXEC);
	if (s->ended < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_sys(err, -errno,
				 "cannot open a channel for commands to the recording");
	s->commands = ends[0];
	snprintf(s->control, sizeof(s->control), "fd:%d,%d", ends[1], ends[1]);
	s->opts.control.spec = s->control;
	s->opts.control.no_socket = true;
	if (s->given.message)
		s->messages = (struct messages){.say = pass_message, .arg = s};
	rc = session_new(&s->opts, &s->messages, &s->session, err);
	close_fd(ends[1]);
	return rc;
}

/* Waits for an answer or the end. Returns 1, 0 at the end, or a negative errno. */
static int wait_for_answer(const struct ringtail_session *s, struct error *err)
{
	struct pollfd polled[] = {
		{.fd = s->commands, .events = POLLIN},
		{.fd = s->ended, .events = POLLIN},
	};

	while (poll(polled, 2, -1) < 0)
		if (errno != EINTR)
			return error_sys(err, -errno, "cannot wait for an answer of the recording");
	return (polled[0].revents & POLLIN) != 0;
}

/*
 * Sends a command and takes the answer, which ends with a NUL. Returns 0; -ESHUTDOWN when the
 * recording has ended; -EIO with the answer in @err when it is an error.
 */
static int command(struct ringtail_session *s, const char *line, struct error *err)
{
	char answer[sizeof(((struct error *)0)->text)], byte = 1;
	size_t len = 0;
	int rc;

	if (send(s->commands, line, strlen(line), MSG_NOSIGNAL) < 0)
		return error_set(err, -ESHUTDOWN, "the recording has ended");
	do {
		rc = wait_for_answer(s, err);
		if (rc < 0)
			return rc;
		if (!rc || recv(s->commands, &byte, 1, 0) != 1)
			return error_set(err, -ESHUTDOWN, "the recording has ended");
		if (len < sizeof(answer) - 1)
			answer[len++] = byte;
	} while (byte);
	answer[len] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	if (!strcmp(answer, "ack"))
		return 0;
	return error_set(err, -EIO, "%s",
			 strncmp(answer, "error: ", 7) ? answer : answer + strlen("error: "));
}

/* Ends the thread, and keeps what it has recorded. */
static void join_thread(struct ringtail_session *s)
{
	struct session_result r;
	struct history_figures f;

	pthread_join(s->thread, NULL);
	s->running = false;
	session_result(s->session, &r);
	s->result = (struct ringtail_session_result){
		.samples = session_memory(s->session, &f) ? f.written : r.samples,
		.lost = r.loss->total,
		.bytes = r.bytes,
		.snapshots = r.snapshots,
		.seconds = r.seconds,
	};
	s->stopped = true;
}

/* Returns when events are enabled, which is when the session takes commands. */
static int start(struct ringtail_session *s, struct error *err)
{
	int rc = session_options_make(&s->given, &s->opts, err);

	if (!rc)
		rc = make_session(s, err);
	if (!rc)
		rc = start_thread(s, err);
	if (rc)
		return rc;
	rc = command(s, "ping\n", err);
	if (rc != -ESHUTDOWN)
		return rc;
	join_thread(s);
	*err = s->error;
	/* It may have ended well before it took the command, if no process is left. */
	return s->rc;
}

int ringtail_session_start(const struct ringtail_session_opts *opts, struct ringtail_session **ret,
			   struct ringtail_error *err)
{
	struct ringtail_session *s = calloc(1, sizeof(*s));
	struct error why = ERROR_INIT;
	int rc;

	if (!s)
		return api_error(err, -ENOMEM, &why);
	s->ended = s->commands = -1;
	rc = api_options_read(opts, &s->given, sizeof(s->given), &why);
	if (!rc && s->given.output) {
		s->given.output = s->output = strdup(s->given.output);
		rc = s->output ? 0 : error_set(&why, -ENOMEM, "out of memory");
	}
	if (!rc)
		rc = start(s, &why);
	if (rc) {
		ringtail_session_free(s);
		return api_error(err, rc, &why);
	}
	*ret = s;
	return 0;
}

int ringtail_session_snapshot(struct ringtail_session *s, const char *reason,
			      struct ringtail_error *err)
{
	struct error why = ERROR_INIT;
	char line[256];
	int rc;

	if (reason && (strstr(reason, "--") || strpbrk(reason, "\n\r") || strlen(reason) > 159))
		rc = error_set(&why, -EINVAL,
			       "a reason must be one line of at most 159 bytes, without '--'");
	else if (!s->opts.output.memory.bytes)
		rc = error_set(&why, -EINVAL,
			       "snapshots need samples in memory: set 'memory' in the options of "
			       "the session");
	else if (s->stopped)
		rc = error_set(&why, -ESHUTDOWN, "the recording has ended");
	else {
		snprintf(line, sizeof(line), "snapshot%s%s\n",
			 reason && *reason ? " --reason " : "", reason ? reason : "");
		rc = command(s, line, &why);
	}
	return rc ? api_error(err, rc, &why) : 0;
}

int ringtail_session_stop(struct ringtail_session *s, struct ringtail_error *err)
{
	if (s->running) {
		/* No answer means that it has ended already. */
		command(s, "stop\n", NULL);
		join_thread(s);
	}
	return s->rc ? api_error(err, s->rc, &s->error) : 0;
}

const struct ringtail_session_result *ringtail_session_result(const struct ringtail_session *s)
{
	return s->stopped ? &s->result : NULL;
}

void ringtail_session_free(struct ringtail_session *s)
{
	if (!s)
		return;
	if (s->running)
		ringtail_session_stop(s, NULL);
	session_free(s->session);
	session_options_release(&s->opts);
	close_fd(s->commands);
	close_fd(s->ended);
	free(s->output);
	free(s);
}
