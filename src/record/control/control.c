// SPDX-License-Identifier: Apache-2.0
#include "record/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "record/control/control_open.h"
#include "record/control/control_socket.h"

/* Clients at a time; more wait in the socket's queue. */
#define CLIENTS_MAX 512

/* A write to a pipe is atomic up to this size. */
#define ANSWER_MAX PIPE_BUF

/* A connection: commands come in, answers go out. */
struct channel {
	struct channel *next, **link; /* @link: the pointer to this channel */
	bool client;		      /* else it is that of --control */
	int in, out;		      /* @out is @in for clients; -1: no answers */
	char line[CONTROL_LINE_MAX];
	size_t at, len; /* line[at..len) is read and not a whole command yet */
	bool skipping;	/* the rest of an overlong line is to be dropped */
	bool ended;	/* the input has ended */
	bool due;	/* control_next() has to look for a line */
	/* Of the command that is not answered yet; until then nothing is read. Ticket 0: none. */
	uint64_t ticket;
	enum control_verb verb;
	/* Of clients: answers, unsent from byte @sent on; meanwhile nothing is read. */
	struct buf pending;
	size_t sent;
};

struct control {
	const struct messages *messages;
	int epoll, timer;
	struct control_socket socket;
	bool paused; /* the socket is not polled until the timer, or ever if there is none */
	struct channel *channels;
	uint64_t tickets; /* number given out so far */
	struct control_stats stats;
};

/* --- life ----------------------------------------------------------------------------------------
 */

static int watch(struct control *c, int how, int fd, uint32_t events, void *who)
{
	struct epoll_event ev = {.events = events, .data.ptr = who};

	return epoll_ctl(c->epoll, how, fd, &ev) ? -errno : 0;
}

int control_new(const struct messages *messages, struct control **ret, struct error *err)
{
	struct control *c = calloc(1, sizeof(*c));
	int rc = 0;

	if (!c)
		return error_set(err, -ENOMEM, "out of memory");
	c->messages = messages;
	c->socket = (struct control_socket)CONTROL_SOCKET_INIT;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (c->epoll < 0 || c->timer < 0)
		rc = -errno;
	if (!rc)
		rc = watch(c, EPOLL_CTL_ADD, c->timer, EPOLLIN, &c->timer);
	if (rc) {
		error_sys(err, rc, "cannot open the descriptors for commands");
		control_free(c);
		return rc;
	}
	*ret = c;
	return 0;
}

static void channel_free(struct channel *ch)
{
	if (ch->out >= 0 && ch->out != ch->in)
		close(ch->out);
	if (ch->in >= 0)
		close(ch->in);
	buf_release(&ch->pending);
	free(ch);
}

/* Removes a channel from the list and closes its descriptors. */
static void channel_drop(struct control *c, struct channel *ch)
{
	/* Closing does not remove it from epoll while another process has the file open. */
	watch(c, EPOLL_CTL_DEL, ch->in, 0, NULL);
	c->stats.connected -= ch->client;
	*ch->link = ch->next;
	if (ch->next)
		ch->next->link = ch->link;
	channel_free(ch);
}

void control_free(struct control *c)
{
	if (!c)
		return;
	control_socket_close(&c->socket);
	while (c->channels)
		channel_drop(c, c->channels);
	if (c->timer >= 0)
		close(c->timer);
	if (c->epoll >= 0)
		close(c->epoll);
	free(c);
}

int control_fd(const struct control *c)
{
	return c->epoll;
}

const struct control_stats *control_stats(const struct control *c)
{
	return &c->stats;
}

/* Adds a channel for the descriptors. Closes them on failure, too. */
static int channel_add(struct control *c, bool client, int in, int out)
{
	struct channel *ch = calloc(1, sizeof(*ch));
	int rc;

	if (!ch) {
		close(in);
		if (out >= 0 && out != in)
			close(out);
		return -ENOMEM;
	}
	ch->client = client;
	ch->in = in;
	ch->out = out;
	rc = watch(c, EPOLL_CTL_ADD, in, EPOLLIN, ch);
	if (rc) {
		channel_free(ch);
		return rc;
	}
	ch->next = c->channels;
	ch->link = &c->channels;
	if (ch->next)
		ch->next->link = &ch->next;
	c->channels = ch;
	c->stats.clients += client;
	c->stats.connected += client;
	return 0;
}

/* The timer serves lines without an end, and a socket that is not polled for a while. */
static void arm(struct control *c)
{
	const struct itimerspec when = {.it_value.tv_nsec = CONTROL_PATIENCE_MS * 1000000l};

	timerfd_settime(c->timer, 0, &when, NULL);
}

/* --- answers -------------------------------------------------------------------------------------
 */

static bool ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, 0) > 0;
}

/* Writes without blocking. Returns the number of bytes or a negative errno. */
static ssize_t put(int fd, const void *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == ENOTSOCK)
		n = ready(fd, POLLOUT) ? write(fd, data, len) : (errno = EAGAIN, -1);
	return n < 0 ? -errno : n;
}

/* Sends a client as much as it takes. Returns 0, or a negative errno if it is gone. */
static int channel_flush(struct channel *ch)
{
	while (ch->sent < ch->pending.len) {
		ssize_t n = put(ch->in, ch->pending.data + ch->sent, ch->pending.len - ch->sent);

		if (n == -EAGAIN)
			return 0;
		if (n < 0)
			return (int)n;
		ch->sent += (size_t)n;
	}
	ch->pending.len = ch->sent = 0;
	return 0;
}

/* Passes text to messages, line by line. */
static void say_lines(struct control *c, enum message_level level, const struct buf *text)
{
	const char *at = (const char *)text->data, *end = at + text->len;

	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const char *stop = nl ? nl : end;

		messages_say(c->messages, level, "%.*s", (int)(stop - at), at);
		at = stop + 1;
	}
}

/* Answers on --control: a pipe takes an answer as a whole or not at all. */
static void answer_now(struct control *c, struct channel *ch, const struct buf *answer)
{
	ssize_t n = answer->len > ANSWER_MAX ? -EMSGSIZE : put(ch->out, answer->data, answer->len);

	if (n == (ssize_t)answer->len)
		return;
	c->stats.unread++;
	if (n != -EPIPE)
		return;
	messages_say(c->messages, MESSAGE_DETAIL, "control: the reader of the answers has gone");
	close(ch->out);
	ch->out = -1;
}

/*
 * Sends @text and the result. Returns 0, or a negative errno if the channel is to be dropped: a
 * client that is gone, or without memory for its answer.
 */
static int answer(struct control *c, struct channel *ch, struct buf *text, int rc,
		  const struct error *err)
{
	if (!ch->client && ch->out < 0) {
		say_lines(c, MESSAGE_INFO, text);
		if (rc)
			messages_say(c->messages, MESSAGE_WARNING, "control: %s", err->text);
		return 0;
	}
	if (control_answer_end(rc, err->text, text))
		return ch->client ? -ENOMEM : 0;
	if (ch->client && buf_append(&ch->pending, text->data, text->len))
		return -ENOMEM;
	if (ch->client)
		return channel_flush(ch);
	answer_now(c, ch, text);
	return 0;
}

/* Answers what is no command. Returns as answer() does. */
static int refuse(struct control *c, struct channel *ch, const struct error *err)
{
	struct buf text = {0};
	int rc = answer(c, ch, &text, err->code, err);

	c->stats.errors++;
	buf_release(&text);
	return rc;
}

/* Drops text for --control: perf's acknowledgements have none. */
static void keep_to_perf(struct control *c, enum control_verb verb, struct buf *text)
{
	if (verb == CONTROL_STATS || verb == CONTROL_HELP)
		return;
	if (verb == CONTROL_EVLIST)
		say_lines(c, MESSAGE_INFO, text);
	text->len = 0;
}

void control_answer(struct control *c, uint64_t ticket, struct buf *text, const struct error *err)
{
	struct channel *ch = c->channels;

	while (ch && ch->ticket != ticket)
		ch = ch->next;
	if (!ch)
		return;
	ch->ticket = 0;
	ch->due = true;
	c->stats.errors += err->code != 0;
	if (err->code)
		text->len = 0;
	else if (!ch->client)
		keep_to_perf(c, ch->verb, text);
	if (answer(c, ch, text, err->code, err))
		channel_drop(c, ch);
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* Reads once, if there are room and input. Returns 0 or a negative errno. */
static int channel_fill(struct channel *ch)
{
	ssize_t n;

	if (ch->ended || ch->pending.len || !ready(ch->in, POLLIN))
		return 0;
	memmove(ch->line, ch->line + ch->at, ch->len - ch->at);
	ch->len -= ch->at;
	ch->at = 0;
	if (ch->len == sizeof(ch->line))
		return 0;
	n = read(ch->in, ch->line + ch->len, sizeof(ch->line) - ch->len);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	ch->len += (size_t)n;
	ch->ended = !n;
	/* The end of input ends the last line; there is room, because a full buffer was skipped. */
	if (ch->ended && (ch->len || ch->skipping))
		ch->line[ch->len++] = '\n';
	return 0;
}

/* End of the first line; NULL if it is not there yet. Drops the rest of an overlong line. */
static char *line_end(struct channel *ch)
{
	for (size_t i = ch->at; i < ch->len; i++)
		if (ch->line[i] == '\n' || ch->line[i] == '\0')
			return ch->line + i;
	if (ch->skipping)
		ch->at = ch->len = 0;
	return NULL;
}

/* Sets the channel's ticket if the line is a command. Returns as answer() does. */
static int take_line(struct control *c, struct channel *ch, char *line, struct control_command *ret)
{
	struct error err = ERROR_INIT;
	int rc = control_command_parse(line, ret, &err);

	if (rc == -ENOMSG)
		return 0;
	c->stats.commands++;
	if (rc)
		return refuse(c, ch, &err);
	ch->ticket = ret->ticket = ++c->tickets;
	ch->verb = ret->verb;
	return 0;
}

static int refuse_long(struct control *c, struct channel *ch)
{
	struct error err = ERROR_INIT;

	c->stats.commands++;
	error_set(&err, -E2BIG, "a command must have at most %d bytes", CONTROL_LINE_MAX - 1);
	return refuse(c, ch, &err);
}

/* Takes lines up to the first command, which sets the ticket. Returns as answer() does. */
static int take_lines(struct control *c, struct channel *ch, struct control_command *ret)
{
	int rc = 0;
	char *end;

	while (!rc && !ch->ticket && !ch->pending.len && (end = line_end(ch))) {
		char *line = ch->line + ch->at;

		*end = '\0';
		ch->at = (size_t)(end + 1 - ch->line);
		rc = ch->skipping ? 0 : take_line(c, ch, line, ret);
		ch->skipping = false;
	}
	/* Answers at once: a client that waits for this answer may never end the line. */
	if (rc || ch->ticket || ch->pending.len || ch->skipping || ch->at ||
	    ch->len < sizeof(ch->line))
		return rc;
	ch->skipping = true;
	ch->len = 0;
	return refuse_long(c, ch);
}

/* Decides what to wait for when there is no more line to take; @rc: the channel is dropped. */
static void channel_wait(struct control *c, struct channel *ch, int rc)
{
	ch->due = false;
	if (rc || (ch->ended && !ch->ticket && !ch->pending.len)) {
		if (!ch->client)
			messages_say(
				c->messages, MESSAGE_DETAIL,
				"control: the sender of commands has gone; the recording goes on");
		channel_drop(c, ch);
		return;
	}
	/* A client that hangs up while it waits for an answer is reported once. */
	watch(c, EPOLL_CTL_MOD, ch->in,
	      ch->ticket	? EPOLLONESHOT
	      : ch->pending.len ? EPOLLOUT
				: EPOLLIN,
	      ch);
	if (!ch->client && !ch->ticket && ch->at < ch->len && !ch->skipping)
		arm(c);
}

bool control_next(struct control *c, struct control_command *ret)
{
	struct channel *ch, *next;

	for (ch = c->channels; ch; ch = next) {
		bool answered = !ch->ticket;
		int rc;

		next = ch->next;
		if (!ch->due)
			continue;
		rc = take_lines(c, ch, ret);
		if (answered && ch->ticket)
			return true;
		channel_wait(c, ch, rc);
	}
	return false;
}

static void channel_read(struct control *c, struct channel *ch)
{
	int rc;

	if (ch->ticket)
		return;
	rc = channel_flush(ch);
	if (!rc)
		rc = channel_fill(ch);
	if (rc)
		channel_wait(c, ch, rc);
	else
		ch->due = true;
}

/* Ends a line without an end, if it is a command. */
static void channel_hurry(struct channel *ch)
{
	char line[CONTROL_LINE_MAX + 1];
	struct control_command command;
	size_t len = ch->len - ch->at;

	if (ch->client || !len || ch->skipping || ch->ticket || ch->due)
		return;
	memcpy(line, ch->line + ch->at, len);
	line[len] = '\0';
	if (control_command_parse(line, &command, NULL))
		return;
	/* There is room for the end, because a full buffer was skipped. */
	memmove(ch->line, ch->line + ch->at, len);
	ch->line[len] = '\n';
	ch->at = 0;
	ch->len = len + 1;
	ch->due = true;
}

/* --- --control -----------------------------------------------------------------------------------
 */

int control_add(struct control *c, const struct control_spec *spec, struct error *err)
{
	int in, out, rc = control_open(spec, c->messages, &in, &out, err);

	if (rc)
		return rc;
	rc = channel_add(c, false, in, out);
	if (rc == -EPERM) /* epoll's errno for such files */
		return error_set(err, rc,
				 "--control: ringtail cannot wait for input on descriptor %d: give "
				 "a pipe, socket or terminal",
				 spec->fd);
	return rc ? error_sys(err, rc, "--control") : 0;
}

/* --- the socket ----------------------------------------------------------------------------------
 */

int control_listen(struct control *c, const char *base, struct error *err)
{
	int rc = control_socket_open(&c->socket, base, err);

	if (rc)
		return rc;
	rc = watch(c, EPOLL_CTL_ADD, c->socket.fd, EPOLLIN, &c->socket);
	if (rc)
		control_socket_close(&c->socket);
	return rc ? error_sys(err, rc, "control socket") : 0;
}

/*
 * Lets clients wait in the queue until the timer; otherwise epoll would report the socket again and
 * again.
 */
static void pause_listening(struct control *c)
{
	watch(c, EPOLL_CTL_DEL, c->socket.fd, 0, NULL);
	c->paused = true;
	arm(c);
}

static void resume_listening(struct control *c)
{
	if (c->stats.connected >= CLIENTS_MAX ||
	    watch(c, EPOLL_CTL_ADD, c->socket.fd, EPOLLIN, &c->socket))
		arm(c);
	else
		c->paused = false;
}

/* Accepts one client a call, because there is other work, too. */
static void welcome(struct control *c)
{
	int fd = -EMFILE;

	if (c->stats.connected < CLIENTS_MAX) {
		fd = accept4(c->socket.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	if (fd == -EAGAIN || fd == -ECONNABORTED || fd == -EINTR)
		return;
	if (fd < 0)
		pause_listening(c);
	else if (control_socket_trusts(fd))
		channel_add(c, true, fd, fd);
	else
		close(fd);
}

/* --- reading -------------------------------------------------------------------------------------
 */

static void on_timer(struct control *c)
{
	uint64_t times;

	if (read(c->timer, &times, sizeof(times)) < 0)
		return;
	for (struct channel *ch = c->channels; ch; ch = ch->next)
		channel_hurry(ch);
	if (c->paused)
		resume_listening(c);
}

void control_read(struct control *c)
{
	struct epoll_event events[32];
	int n = epoll_wait(c->epoll, events, 32, 0);

	for (int i = 0; i < n; i++) {
		void *who = events[i].data.ptr;

		if (who == &c->timer)
			on_timer(c);
		else if (who == &c->socket)
			welcome(c);
		else
			channel_read(c, who);
	}
}
