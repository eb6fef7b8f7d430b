// SPDX-License-Identifier: Apache-2.0
#include "record/session/hosted.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/kernel/thread.h"

struct hosted_session {
	struct session *session;
	pthread_t thread;
	bool running;	    /* the thread is to be joined; until then the next two are its own */
	int rc;		    /* of session_record() */
	struct error error; /* likewise */
	int ended;	    /* an eventfd, readable when the thread ends */
	int commands;	    /* our end of the socket */
	char control[32];   /* the options refer to it: the other end */
};

static void *run_session(void *arg)
{
	const struct session_host host = SESSION_HOST_INIT;
	struct hosted_session *h = arg;

	h->rc = session_record(h->session, &host, &h->error);
	eventfd_write(h->ended, 1);
	return NULL;
}

/* The thread inherits the mask: no signal of the process is delivered there. */
static int start_thread(struct hosted_session *h, struct error *err)
{
	sigset_t before;
	int rc;

	thread_mask_signals(&before);
	rc = pthread_create(&h->thread, NULL, run_session, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	h->running = !rc;
	return rc ? error_sys(err, -rc, "cannot start the thread of the recording") : 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Makes the session, which takes its end of the socket. */
static int make_session(struct hosted_session *h, struct record_opts *opts,
			const struct messages *messages, struct error *err)
{
	int ends[2] = {-1, -1}, rc;

	h->ended = eventfd(0, EFD_CLOEXEC);
	if (h->ended < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_sys(err, -errno,
				 "cannot open a channel for commands to the recording");
	h->commands = ends[0];
	snprintf(h->control, sizeof(h->control), "fd:%d,%d", ends[1], ends[1]);
	opts->control.spec = h->control;
	opts->control.no_socket = true;
	rc = session_new(opts, messages, &h->session, err);
	close_fd(ends[1]);
	return rc;
}

/* Waits for an answer or the end. Returns 1, 0 at the end, or a negative errno. */
static int wait_for_answer(const struct hosted_session *h, struct error *err)
{
	struct pollfd polled[] = {
		{.fd = h->commands, .events = POLLIN},
		{.fd = h->ended, .events = POLLIN},
	};

	while (poll(polled, 2, -1) < 0)
		if (errno != EINTR)
			return error_sys(err, -errno, "cannot wait for an answer of the recording");
	return (polled[0].revents & POLLIN) != 0;
}

/* Takes the answer, which ends with a NUL. */
int hosted_command(struct hosted_session *h, const char *line, struct error *err)
{
	char answer[sizeof(((struct error *)0)->text)], text[256], byte = 1;
	size_t len = 0;
	int rc;

	snprintf(text, sizeof(text), "%s\n", line);
	if (!h->running || send(h->commands, text, strlen(text), MSG_NOSIGNAL) < 0)
		return error_set(err, -ESHUTDOWN, "the recording has ended");
	do {
		rc = wait_for_answer(h, err);
		if (rc < 0)
			return rc;
		if (!rc || recv(h->commands, &byte, 1, 0) != 1)
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

static void join_thread(struct hosted_session *h)
{
	pthread_join(h->thread, NULL);
	h->running = false;
}

/* Returns when events are enabled, which is when the session takes commands. */
int hosted_start(struct record_opts *opts, const struct messages *messages,
		 struct hosted_session **ret, struct error *err)
{
	struct hosted_session *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return error_set(err, -ENOMEM, "out of memory");
	h->ended = h->commands = -1;
	rc = make_session(h, opts, messages, err);
	if (!rc)
		rc = start_thread(h, err);
	if (!rc)
		rc = hosted_command(h, "ping", err);
	if (rc == -ESHUTDOWN) {
		join_thread(h);
		rc = h->rc;
		*err = h->error;
	}
	if (rc)
		hosted_free(h);
	else
		*ret = h;
	return rc;
}

int hosted_stop(struct hosted_session *h, struct error *err)
{
	if (h->running) {
		/* No answer means that it has ended already. */
		hosted_command(h, "stop", NULL);
		join_thread(h);
	}
	if (h->rc && err)
		*err = h->error;
	return h->rc;
}

int hosted_ended(const struct hosted_session *h)
{
	return h->ended;
}

struct session *hosted_session(const struct hosted_session *h)
{
	return h->session;
}

void hosted_free(struct hosted_session *h)
{
	if (!h)
		return;
	if (h->running)
		hosted_stop(h, NULL);
	session_free(h->session);
	close_fd(h->commands);
	close_fd(h->ended);
	free(h);
}
