// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/input/input.h"
#include "record/control/control.h"
#include "record/control/control_socket.h"

#define TIMEOUT_S 10

/* The end of a positive answer; the NUL behind it ends any answer. */
#define ACK "ack\n"

struct ctl_request {
	pid_t pid; /* 0: the only recording */
	unsigned int timeout_s;
	struct buf line;
};

static void take_words(struct argp_state *state, struct ctl_request *r)
{
	for (int i = state->next - 1; i < state->argc; i++) {
		if (strchr(state->argv[i], '\n'))
			usage_error(state, "a command must not contain a line break");
		if (buf_printf(&r->line, "%s%s", r->line.len ? " " : "", state->argv[i])) {
			complain("out of memory");
			exit(EXIT_ERROR);
		}
	}
	state->next = state->argc;
	if (!r->line.len || r->line.len >= CONTROL_LINE_MAX)
		usage_error(state, "a command must have 1 to %d bytes", CONTROL_LINE_MAX - 1);
}

static uint64_t number(struct argp_state *state, const char *option, const char *arg)
{
	uint64_t n = 0;

	if (parse_u64(arg, &n) || !n || n > INT_MAX)
		usage_error(state, "%s: '%s' is no number from 1 to %d", option, arg, INT_MAX);
	return n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct ctl_request *r = state->input;

	switch (key) {
	case 'p': r->pid = (pid_t)number(state, "--pid", arg); break;
	case 't': r->timeout_s = (unsigned int)number(state, "--timeout", arg); break;
	case ARGP_KEY_ARG: take_words(state, r); break;
	case ARGP_KEY_NO_ARGS:
		usage_error(state, "no command given: 'ringtail ctl help' lists the commands");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void say_error(const char *text)
{
	fprintf(stderr, "ringtail: %s\n", text);
}

/* Reads up to the NUL that ends an answer, or to the end of the recording. 0 or a negative errno.
 */
static int receive(int fd, struct buf *answer)
{
	char bytes[4096];
	ssize_t n;

	do {
		n = recv(fd, bytes, sizeof(bytes), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == ECONNRESET ? -EPIPE : -errno;
		if (n == 0)
			return -EPIPE;
		if (buf_append(answer, bytes, (size_t)n))
			return -ENOMEM;
	} while (answer->data[answer->len - 1]);
	return 0;
}

/* Prints the text before the ack; a command that only acts has none. */
static int show(const struct buf *answer)
{
	const char *text = (const char *)answer->data;
	size_t len = answer->len - 1, ack = strlen(ACK);

	if (len < ack || strcmp(text + len - ack, ACK)) {
		fprintf(stderr, "ringtail: %s", text);
		return EXIT_ERROR;
	}
	fwrite(text, 1, len - ack, stdout);
	return fflush(stdout) ? EXIT_ERROR : EXIT_FINE;
}

/* A recording that stops closes the socket when its output is complete. */
static int wait_for_end(int fd, const struct ctl_request *r)
{
	struct buf rest = {0};
	int rc = receive(fd, &rest);

	buf_release(&rest);
	if (rc == -EPIPE)
		return EXIT_FINE;
	fprintf(stderr,
		"ringtail: the recording accepted 'stop', but did not end within %u s: it may "
		"still be writing its output\n",
		r->timeout_s);
	return EXIT_ERROR;
}

static int converse(int fd, struct ctl_request *r)
{
	const struct timeval limit = {.tv_sec = r->timeout_s};
	struct buf answer = {0};
	int status = EXIT_ERROR, rc;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	rc = buf_append(&r->line, "\n", 1);
	if (!rc && send(fd, r->line.data, r->line.len, MSG_NOSIGNAL) != (ssize_t)r->line.len)
		rc = -errno;
	if (!rc)
		rc = receive(fd, &answer);
	if (!rc)
		status = show(&answer);
	else if (rc == -EPIPE || rc == -ECONNRESET)
		say_error("the recording ended before it answered");
	else if (rc == -EAGAIN)
		fprintf(stderr,
			"ringtail: the recording did not answer within %u s: wait longer with "
			"--timeout\n",
			r->timeout_s);
	else
		say_error(strerror(-rc));
	if (status == EXIT_FINE && !strncmp((char *)r->line.data, "stop\n", 5))
		status = wait_for_end(fd, r);
	buf_release(&answer);
	return status;
}

int cmd_ctl(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"pid", 'p', "PID", 0,
		 "Command the recorder with this process id (default: the only one that runs)", 0},
		{"timeout", 't', "SECONDS", 0, "Wait this long for an answer (default 10)", 0},
		{0},
	};
	static const struct argp_child children[] = {{&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.children = children,
		.options = options,
		.parser = parse_option,
		.args_doc = "enable|disable|snapshot|rotate|stop|ping|evlist|stats|help [ARG]",
		.doc = "Send a command to a running recording of yours: enable [EVENT], disable "
		       "[EVENT], snapshot [--reason TEXT] [--last TIME|SIZE|all] [--since-last], "
		       "rotate, stop, ping, evlist [-v|-g|-F], stats [-j], help.\vExit status: 0 "
		       "done, 1 the recording refused or did not answer, 2 wrong usage.",
	};
	struct ctl_request r = {.timeout_s = TIMEOUT_S};
	struct error err = ERROR_INIT;
	int fd, status = EXIT_ERROR;

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &r)) {
		status = EXIT_USAGE;
	} else if (control_socket_connect(r.pid, r.timeout_s, &fd, &err)) {
		say_error(err.text);
	} else {
		status = converse(fd, &r);
		close(fd);
	}
	buf_release(&r.line);
	return status;
}
