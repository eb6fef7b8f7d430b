// SPDX-License-Identifier: Apache-2.0
/*
 * Control: commands through pipes, FIFOs and sockets to handlers that log their calls. Each command
 * gets one answer, in whatever pieces it arrives; nothing waits for a peer; when all is done, the
 * descriptor is quiet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/control/control.h"
#include "record/control/control_socket.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- words ---------------------------------------------------------------------------------------
 */

// clang-format off
static const struct {
	const char *line;
	int code;
	enum control_verb verb;
	const char *event;
	enum control_list list;
	bool json;
} lines[] = {
	{"enable", 0, CONTROL_ENABLE, NULL, 0, false},
	{"enable cycles:u", 0, CONTROL_ENABLE, "cycles:u", 0, false},
	{"  disable \t page-faults \r", 0, CONTROL_DISABLE, "page-faults", 0, false},
	{"enable cpu/event=0x3c, umask=1/", 0, CONTROL_ENABLE, "cpu/event=0x3c, umask=1/", 0, false},
	{"snapshot", 0, CONTROL_SNAPSHOT, NULL, 0, false},
	{"snapshot --last 10s --reason why not", 0, CONTROL_SNAPSHOT, NULL, 0, false},
	{"snapshot --last ten", -EINVAL, 0, NULL, 0, false},
	{"rotate", 0, CONTROL_ROTATE, NULL, 0, false},
	{"stop", 0, CONTROL_STOP, NULL, 0, false},
	{"ping", 0, CONTROL_PING, NULL, 0, false},
	{"evlist", 0, CONTROL_EVLIST, NULL, CONTROL_LIST_NAMES, false},
	{"evlist -v", 0, CONTROL_EVLIST, NULL, CONTROL_LIST_FIELDS, false},
	{"evlist -g", 0, CONTROL_EVLIST, NULL, CONTROL_LIST_GROUPS, false},
	{"evlist -F", 0, CONTROL_EVLIST, NULL, CONTROL_LIST_FREQ, false},
	{"stats", 0, CONTROL_STATS, NULL, 0, false},
	{"stats -j", 0, CONTROL_STATS, NULL, 0, true},
	{"help", 0, CONTROL_HELP, NULL, 0, false},
	{"", -ENOMSG, 0, NULL, 0, false},
	{" \t\r ", -ENOMSG, 0, NULL, 0, false},
	{"enabled", -EINVAL, 0, NULL, 0, false},
	{"stop now", -EINVAL, 0, NULL, 0, false},
	{"evlist -x", -EINVAL, 0, NULL, 0, false},
	{"evlist -vg", -EINVAL, 0, NULL, 0, false},
	{"stats -v", -EINVAL, 0, NULL, 0, false},
	{"Stop", -EINVAL, 0, NULL, 0, false},
	{"ack", -EINVAL, 0, NULL, 0, false},
};
// clang-format on

static void test_lines(void **state)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct control_command c = {.verb = 99};
		struct error err = ERROR_INIT;
		char line[64];

		strcpy(line, lines[i].line);
		assert_int_equal(control_command_parse(line, &c, &err), lines[i].code);
		if (lines[i].code) {
			assert_int_equal(c.verb, 99);
			assert_int_equal(err.code, lines[i].code == -EINVAL ? -EINVAL : 0);
			assert_true(!err.code || *err.text);
			continue;
		}
		assert_int_equal(c.verb, lines[i].verb);
		assert_int_equal(c.list, lines[i].list);
		assert_int_equal(c.json, lines[i].json);
		if (lines[i].event)
			assert_string_equal(c.event, lines[i].event);
		else
			assert_null(c.event);
	}
}

// clang-format off
static const struct {
	const char *arg;
	int code;
	bool fifo;
	int fd, ack_fd;
	const char *path, *ack_path;
} specs[] = {
	{"fd:10,11", 0, false, 10, 11, "", ""},
	{"fd:10", 0, false, 10, -1, "", ""},
	{"fd:0x10,5", 0, false, 16, 5, "", ""},
	{"fd:5,5", 0, false, 5, 5, "", ""},
	{"fifo:/a/b,c", 0, true, -1, -1, "/a/b", "c"},
	{"fifo:c", 0, true, -1, -1, "c", ""},
	{"fifo:c,", 0, true, -1, -1, "c", ""},
	{"fifo:a:b,c,d", 0, true, -1, -1, "a:b", "c,d"},
	{"", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:,", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:10,", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:,11", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:-1", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:10x", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:10,11,12", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:99999999999", -EINVAL, false, 0, 0, NULL, NULL},
	{"fd:00000000000000000000000001", -EINVAL, false, 0, 0, NULL, NULL},
	{"fifo:", -EINVAL, false, 0, 0, NULL, NULL},
	{"fifo:,a", -EINVAL, false, 0, 0, NULL, NULL},
	{"pipe:a", -EINVAL, false, 0, 0, NULL, NULL},
};
// clang-format on

static void test_specs(void **state)
{
	for (size_t i = 0; i < COUNT(specs); i++) {
		struct error err = ERROR_INIT;
		struct control_spec s;

		assert_int_equal(control_spec_parse(specs[i].arg, &s, &err), specs[i].code);
		assert_int_equal(err.code, specs[i].code);
		if (specs[i].code)
			continue;
		assert_int_equal(s.fifo, specs[i].fifo);
		assert_int_equal(s.fd, specs[i].fd);
		assert_int_equal(s.ack_fd, specs[i].ack_fd);
		assert_string_equal(s.path, specs[i].path);
		assert_string_equal(s.ack_path, specs[i].ack_path);
	}
}

static void test_endings(void **state)
{
	struct buf b = {0};

	assert_int_equal(control_answer_end(0, "", &b), 0);
	assert_int_equal(b.len, 5);
	assert_memory_equal(b.data, "ack\n", 5); /* five bytes, as perf sends them */
	b.len = 0;
	assert_int_equal(control_answer_end(-EINVAL, "no \x1b[31m\n", &b), 0);
	assert_string_equal((char *)b.data, "error: no ?[31m?\n");
	buf_release(&b);
}

static void test_figures(void **state)
{
	static const struct control_trigger triggers[] = {
		{"sched:sched_switch prev_comm == \"a\\b\n\"", 30, 2, 27, 0},
		{"load:8", 0, 0, 0, 0},
	};
	struct control_figures f = {.nr_triggers = 2, .triggered = 30, .triggers = triggers};
	struct buf b = {0};

	assert_int_equal(control_figures_print(&f, false, &b), 0);
	assert_int_equal(buf_zero(&b, 1), 0);
	assert_non_null(strstr((char *)b.data,
			       " triggered=30 limited=0 forgotten=0\n"
			       "times=30 snapshots=2 limited=27 forgotten=0 "
			       "trigger=sched:sched_switch prev_comm == \"a\\b?\"\n"
			       "times=0 snapshots=0 limited=0 forgotten=0 trigger=load:8\n"));
	b.len = 0;
	assert_int_equal(control_figures_print(&f, true, &b), 0);
	assert_int_equal(buf_zero(&b, 1), 0);
	assert_non_null(strstr((char *)b.data,
			       "\"forgotten\": 0, \"triggers\": [{\"times\": 30, \"snapshots\": 2, "
			       "\"limited\": 27, \"forgotten\": 0, \"trigger\": "
			       "\"sched:sched_switch prev_comm == \\\"a\\\\b?\\\"\"}, {"));
	assert_non_null(strstr((char *)b.data, "\"trigger\": \"load:8\"}]}\n"));
	f.nr_triggers = 0;
	b.len = 0;
	assert_int_equal(control_figures_print(&f, true, &b), 0);
	assert_int_equal(buf_zero(&b, 1), 0);
	assert_null(strstr((char *)b.data, "trigger"));
	buf_release(&b);
}

/* --- a recorder that only writes down ------------------------------------------------------------
 */

struct lab {
	struct control *control;
	struct buf told; /* what handlers were asked, and notes */
	size_t list_bytes;
	bool later; /* snapshots are answered later, by these: */
	uint64_t tickets[64];
	size_t waiting;
	struct messages messages;
	char dir[32];
};

static int told(struct lab *lab, const char *what, const char *event)
{
	return buf_printf(&lab->told, "%s %s;", what, event ? event : "-");
}

static int snapshot(struct lab *lab, const struct control_command *command, struct error *err)
{
	if (!lab->later)
		return error_set(err, -ENOTSUP, "nothing is held");
	lab->tickets[lab->waiting++] = command->ticket;
	told(lab, "snapshot", command->snapshot.what.reason);
	return -EINPROGRESS;
}

static int run(struct lab *lab, const struct control_command *command, struct buf *text,
	       struct error *err)
{
	struct control_figures figures = {.samples = 7, .seconds = 1.5};

	switch (command->verb) {
	case CONTROL_ENABLE:
		if (command->event && !strcmp(command->event, "nothing"))
			return error_set(err, -ENOENT, "no event 'nothing'; there is: cycles");
		return told(lab, "enable", command->event);
	case CONTROL_DISABLE: return told(lab, "disable", command->event);
	case CONTROL_SNAPSHOT: return snapshot(lab, command, err);
	case CONTROL_ROTATE:
		assert_int_equal(buf_printf(text, "file=it\n"), 0);
		return told(lab, "rotate", NULL);
	case CONTROL_STOP: return told(lab, "stop", NULL);
	case CONTROL_PING: return 0;
	case CONTROL_EVLIST:
		return lab->list_bytes ? buf_zero(text, lab->list_bytes)
				       : buf_printf(text, "cycles\nlist %d\n", command->list);
	case CONTROL_STATS: return control_figures_print(&figures, command->json, text);
	case CONTROL_HELP: return control_command_help(text);
	}
	return -EINVAL;
}

static void take_commands(struct lab *lab)
{
	struct control_command command;

	while (control_next(lab->control, &command)) {
		struct error err = ERROR_INIT;
		struct buf text = {0};

		if (run(lab, &command, &text, &err) != -EINPROGRESS)
			control_answer(lab->control, command.ticket, &text, &err);
		buf_release(&text);
	}
}

static void say(enum message_level level, const char *text, void *arg)
{
	told(arg, level == MESSAGE_DETAIL ? "detail" : "note", text);
}

static void lab_open(struct lab *lab)
{
	*lab = (struct lab){.messages = {.say = say, .arg = lab}, .dir = "/tmp/control-XXXXXX"};
	assert_non_null(mkdtemp(lab->dir));
	assert_int_equal(control_new(&lab->messages, &lab->control, NULL), 0);
}

static void lab_close(struct lab *lab)
{
	char command[64];

	control_free(lab->control);
	buf_release(&lab->told);
	snprintf(command, sizeof(command), "rm -r %s", lab->dir);
	assert_int_equal(system(command), 0);
}

/* Takes commands until there is nothing to do for @ms. A busy loop would never end. */
static void settle(struct lab *lab, int ms)
{
	struct pollfd p = {.fd = control_fd(lab->control), .events = POLLIN};

	take_commands(lab);
	for (int i = 0; poll(&p, 1, ms) > 0; i++) {
		assert_true(i < 20000);
		control_read(lab->control);
		take_commands(lab);
	}
}

static void expect_told(struct lab *lab, const char *what)
{
	assert_int_equal(buf_append(&lab->told, "", 1), 0);
	assert_string_equal((char *)lab->told.data, what);
	lab->told.len = 0;
}

/* All that can be read from @fd now is @what with the NULs as '|'. */
static void expect_read(int fd, const char *what)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char text[8192] = "";
	size_t len = 0;

	while (poll(&p, 1, 0) > 0 && len < sizeof(text) - 1) {
		ssize_t n = read(fd, text + len, sizeof(text) - 1 - len);

		if (n <= 0)
			break;
		len += (size_t)n;
	}
	for (size_t i = 0; i < len; i++)
		text[i] = text[i] ? text[i] : '|';
	text[len] = '\0';
	assert_string_equal(text, what);
}

static void send_text(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* --- pipes ---------------------------------------------------------------------------------------
 */

struct pipes {
	int to[2], from[2];
};

static void pipes_open(struct lab *lab, struct pipes *p)
{
	struct control_spec spec = {0};

	assert_int_equal(pipe(p->to), 0);
	assert_int_equal(pipe(p->from), 0);
	spec.fd = p->to[0];
	spec.ack_fd = p->from[1];
	assert_int_equal(control_add(lab->control, &spec, NULL), 0);
	/* The flags are not ours to change: a shell reads the same open file. */
	assert_int_equal(fcntl(p->to[0], F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(p->from[1], F_GETFL) & O_NONBLOCK, 0);
}

static void pipes_close(struct pipes *p)
{
	for (int i = 0; i < 2; i++) {
		if (p->to[i] >= 0)
			close(p->to[i]);
		close(p->from[i]);
	}
}

static void test_pipe(void **state)
{
	struct pipes p;
	struct lab lab;

	lab_open(&lab);
	pipes_open(&lab, &p);
	send_text(p.to[1], "enable\n");
	settle(&lab, 0);
	expect_read(p.from[0], "ack\n|");
	expect_told(&lab, "enable -;");

	send_text(p.to[1], "ena");
	settle(&lab, 0);
	expect_read(p.from[0], "");
	send_text(p.to[1], "ble cycles\nping\nstats -j\ndis");
	settle(&lab, 0);
	expect_told(&lab, "enable cycles;");
	expect_read(p.from[0], "ack\n|ack\n|{\"seconds\": 1.500, \"samples\": 7, \"lost\": 0, "
			       "\"bytes\": 0, \"rings\": 0, \"threads\": 0, \"events\": 0, "
			       "\"enabled\": 0, \"unread\": 0, \"missed_cpus\": 0, "
			       "\"throttled\": 0, \"throttled_seconds\": 0.000}\nack\n|");
	send_text(p.to[1], "able\n\n\nenable nothing\nsnapshot\nwhat\n");
	settle(&lab, 0);
	expect_told(&lab, "disable -;");
	expect_read(p.from[0], "ack\n|error: no event 'nothing'; there is: cycles\n|"
			       "error: nothing is held\n|"
			       "error: there is no command 'what'; the commands are: enable, "
			       "disable, snapshot, rotate, "
			       "stop, ping, evlist, stats, help\n|");
	/* As perf has it: the list is said here, the answer is an ack. */
	send_text(p.to[1], "evlist -g\n");
	settle(&lab, 0);
	expect_told(&lab, "note cycles;note list 2;");
	expect_read(p.from[0], "ack\n|");
	assert_int_equal(control_stats(lab.control)->commands, 9);
	assert_int_equal(control_stats(lab.control)->errors, 3);
	pipes_close(&p);
	settle(&lab, 0);
	lab_close(&lab);
}

/* perf takes what one write brings for a command, ended or not, and a NUL for an end. */
static void test_unended_lines(void **state)
{
	struct pipes p;
	struct lab lab;

	lab_open(&lab);
	pipes_open(&lab, &p);
	assert_int_equal(write(p.to[1], "enable\n", 8), 8); /* with its NUL */
	assert_int_equal(write(p.to[1], "disable", 8), 8);
	settle(&lab, 0);
	expect_told(&lab, "enable -;disable -;");
	expect_read(p.from[0], "ack\n|ack\n|");
	send_text(p.to[1], "stop");
	settle(&lab, 2 * CONTROL_PATIENCE_MS);
	expect_told(&lab, "stop -;");
	expect_read(p.from[0], "ack\n|");
	/* What is no command is waited for. */
	send_text(p.to[1], "pi");
	settle(&lab, 2 * CONTROL_PATIENCE_MS);
	send_text(p.to[1], "ng\n");
	settle(&lab, 0);
	expect_read(p.from[0], "ack\n|");
	/* The rest of a line may come in time, and more behind it, and only then be read. */
	send_text(p.to[1], "enable");
	settle(&lab, 0);
	send_text(p.to[1], " cycles\ndis");
	usleep(2000 * CONTROL_PATIENCE_MS);
	settle(&lab, 0);
	expect_told(&lab, "enable cycles;");
	send_text(p.to[1], "able\n");
	settle(&lab, 0);
	expect_told(&lab, "disable -;");
	expect_read(p.from[0], "ack\n|ack\n|");
	/* The end of the pipe ends the line, and is no reason to be called again. */
	send_text(p.to[1], "rotate");
	close(p.to[1]);
	p.to[1] = -1;
	settle(&lab, 0);
	expect_told(
		&lab,
		"rotate -;detail control: the sender of commands has gone; the recording goes on;");
	expect_read(p.from[0], "ack\n|");
	pipes_close(&p);
	lab_close(&lab);
}

static void test_long_lines(void **state)
{
	char text[4 * CONTROL_LINE_MAX];

	for (size_t len = CONTROL_LINE_MAX - 2; len < CONTROL_LINE_MAX + 2; len++) {
		for (int parts = 1; parts <= 3; parts++) {
			struct pipes p;
			struct lab lab;

			lab_open(&lab);
			pipes_open(&lab, &p);
			memset(text, 'x', sizeof(text));
			memcpy(text, "enable ", 7);
			text[len * (size_t)parts] = '\n';
			for (size_t at = 0; at <= len * (size_t)parts; at += 1000) {
				size_t n = len * (size_t)parts + 1 - at;

				n = n > 1000 ? 1000 : n;
				assert_int_equal(write(p.to[1], text + at, n), n);
				settle(&lab, 0);
			}
			send_text(p.to[1], "ping\n");
			settle(&lab, 0);
			if (len * (size_t)parts < CONTROL_LINE_MAX)
				expect_read(p.from[0], "ack\n|ack\n|");
			else
				expect_read(p.from[0],
					    "error: a command must have at most 4095 bytes\n|"
					    "ack\n|");
			pipes_close(&p);
			lab_close(&lab);
		}
	}
}

/* Whoever waits for the answer before the line's end has it. */
static void test_long_line_without_end(void **state)
{
	char text[CONTROL_LINE_MAX + 100];
	struct pipes p;
	struct lab lab;

	lab_open(&lab);
	pipes_open(&lab, &p);
	memset(text, 'x', sizeof(text));
	for (size_t at = 0; at < sizeof(text); at += sizeof(text) / 4) {
		assert_int_equal(write(p.to[1], text + at, sizeof(text) / 4), sizeof(text) / 4);
		settle(&lab, 0);
	}
	expect_read(p.from[0], "error: a command must have at most 4095 bytes\n|");
	send_text(p.to[1], "x\nping\n");
	settle(&lab, 0);
	expect_read(p.from[0], "ack\n|");
	pipes_close(&p);
	lab_close(&lab);
}

/* A client that reads no answers stops nothing; a client that comes back gets whole answers. */
static void test_unread_answers(void **state)
{
	char text[4096];
	struct pipes p;
	struct lab lab;
	uint64_t unread;
	size_t read_bytes = 0;
	ssize_t n;

	lab_open(&lab);
	pipes_open(&lab, &p);
	for (int i = 0; i < 20000; i++) {
		send_text(p.to[1], "ping\n");
		settle(&lab, 0);
	}
	unread = control_stats(lab.control)->unread;
	assert_int_equal(control_stats(lab.control)->commands, 20000);
	assert_true(unread > 0);
	assert_int_equal(fcntl(p.from[0], F_SETFL, O_NONBLOCK), 0);
	while ((n = read(p.from[0], text, sizeof(text))) > 0)
		read_bytes += (size_t)n;
	assert_int_equal(read_bytes, 5 * (20000 - unread));
	send_text(p.to[1], "ping\n");
	settle(&lab, 0);
	expect_read(p.from[0], "ack\n|");
	/* Nobody left to read: said once, and commands go on. */
	close(p.from[0]);
	send_text(p.to[1], "ping\nstop\nenable nothing\n");
	settle(&lab, 0);
	expect_told(&lab, "detail control: the reader of the answers has gone;stop -;"
			  "note control: no event 'nothing'; there is: cycles;");
	p.from[0] = open("/dev/null", O_RDONLY);
	pipes_close(&p);
	lab_close(&lab);
}

/* One socket for both ways, and descriptors that cannot be meant. */
static void test_descriptors(void **state)
{
	struct control_spec spec = {.ack_fd = -1};
	struct error err = ERROR_INIT;
	int pair[2], ends[2];
	struct lab lab;

	lab_open(&lab);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	spec.fd = spec.ack_fd = pair[0];
	assert_int_equal(control_add(lab.control, &spec, NULL), 0);
	send_text(pair[1], "ping\nevlist\n");
	settle(&lab, 0);
	expect_read(pair[1], "ack\n|ack\n|");
	expect_told(&lab, "note cycles;note list 0;");
	close(pair[1]);
	settle(&lab, 0);
	close(pair[0]);

	assert_int_equal(pipe(ends), 0);
	spec = (struct control_spec){.fd = ends[1], .ack_fd = -1};
	assert_int_equal(control_add(lab.control, &spec, &err), -EBADF);
	spec = (struct control_spec){.fd = ends[0], .ack_fd = ends[0]};
	assert_int_equal(control_add(lab.control, &spec, &err), -EBADF);
	spec = (struct control_spec){.fd = 1000, .ack_fd = -1};
	assert_int_equal(control_add(lab.control, &spec, &err), -EBADF);
	assert_string_equal(err.text, "--control: descriptor 1000 for commands is not open");
	spec.fd = open("/proc/self/exe", O_RDONLY);
	assert_int_equal(control_add(lab.control, &spec, &err), -EINVAL);
	close(spec.fd);
	spec.fd = open("/dev/null", O_RDONLY);
	assert_int_equal(control_add(lab.control, &spec, &err), -EPERM);
	close(spec.fd);
	close(ends[0]);
	close(ends[1]);
	lab_close(&lab);
}

/* --- FIFOs ---------------------------------------------------------------------------------------
 */

static void fifo_path(const struct lab *lab, const char *name, char *out)
{
	snprintf(out, PATH_MAX, "%s/%s", lab->dir, name);
}

static void test_fifo(void **state)
{
	struct control_spec spec = {.fifo = true};
	struct stat st;
	struct lab lab;
	int ack;

	lab_open(&lab);
	fifo_path(&lab, "c", spec.path);
	fifo_path(&lab, "a", spec.ack_path);
	assert_int_equal(mkfifo(spec.path, 0644), 0);
	assert_int_equal(mkfifo(spec.ack_path, 0644), 0);
	assert_int_equal(control_add(lab.control, &spec, NULL), 0);
	assert_int_equal(stat(spec.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	ack = open(spec.ack_path, O_RDONLY);
	for (int i = 0; i < 3; i++) { /* writers come and go */
		int fd = open(spec.path, O_WRONLY);

		send_text(fd, "disable\n");
		close(fd);
		settle(&lab, 0);
		expect_read(ack, "ack\n|");
	}
	close(ack);
	lab_close(&lab);
}

static void test_fifo_refused(void **state)
{
	struct control_spec spec = {.fifo = true};
	struct error err = ERROR_INIT;
	struct lab lab;

	lab_open(&lab);
	fifo_path(&lab, "c", spec.path);
	assert_int_equal(control_add(lab.control, &spec, &err), -ENOENT);
	assert_int_equal(mkfifo(spec.path, 0600), 0);
	for (mode_t mode = 0; mode < 0100; mode++) {
		assert_int_equal(chmod(spec.path, 0600 | mode), 0);
		if (mode & 022) {
			assert_int_equal(control_add(lab.control, &spec, &err), -EPERM);
			assert_non_null(strstr(err.text, "others may write"));
		}
	}
	if (!geteuid()) {
		assert_int_equal(chmod(spec.path, 0600), 0);
		assert_int_equal(chown(spec.path, 65534, 65534), 0);
		assert_int_equal(control_add(lab.control, &spec, &err), -EPERM);
		assert_non_null(strstr(err.text, "belongs to user 65534"));
	}
	/* A good one for commands, none for answers: nothing of it is used. */
	assert_int_equal(chown(spec.path, geteuid(), -1), 0);
	strcpy(spec.ack_path, "/dev/null");
	assert_int_equal(control_add(lab.control, &spec, &err), -EINVAL);
	strcpy(spec.path, "/dev/null");
	assert_int_equal(control_add(lab.control, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no FIFO"));
	settle(&lab, 0);
	lab_close(&lab);
}

/* --- the socket ----------------------------------------------------------------------------------
 */

static int client(const struct lab *lab)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/ringtail/%d.sock", lab->dir, getpid());
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static size_t entries(const char *dir)
{
	DIR *stream = opendir(dir);
	size_t n = 0;

	while (readdir(stream))
		n++;
	closedir(stream);
	return n - 2;
}

static void test_socket(void **state)
{
	int clients[40], one;
	char path[64];
	struct stat st;
	struct lab lab;

	lab_open(&lab);
	assert_int_equal(control_listen(lab.control, lab.dir, NULL), 0);
	snprintf(path, sizeof(path), "%s/ringtail", lab.dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(entries(path), 1);
	for (size_t i = 0; i < COUNT(clients); i++) {
		clients[i] = client(&lab);
		send_text(clients[i], i % 2 ? "ping\nhe" : "evlist -F\nhe");
	}
	settle(&lab, 0);
	assert_int_equal(control_stats(lab.control)->connected, COUNT(clients));
	for (size_t i = 0; i < COUNT(clients); i++) {
		expect_read(clients[i], i % 2 ? "ack\n|" : "cycles\nlist 3\nack\n|");
		send_text(clients[i], "lp me\n");
	}
	settle(&lab, 0);
	for (size_t i = 0; i < COUNT(clients); i++) {
		expect_read(clients[i], "error: 'help me' is wrong: the command is help\n|");
		if (i % 3)
			close(clients[i]);
		else
			shutdown(clients[i], SHUT_WR);
	}
	settle(&lab, 0);
	assert_int_equal(control_stats(lab.control)->connected, 0);
	one = client(&lab);
	send_text(one, "rotate"); /* ended by the end */
	shutdown(one, SHUT_WR);
	settle(&lab, 0);
	expect_read(one, "file=it\nack\n|");
	expect_told(&lab, "rotate -;");
	close(one);
	for (size_t i = 0; i < COUNT(clients); i += 3)
		close(clients[i]);
	control_free(lab.control);
	lab.control = NULL;
	assert_int_equal(entries(path), 0);
	lab_close(&lab);
}

/* A client that asks and does not read delays itself, and only itself. */
static void test_slow_client(void **state)
{
	enum { COMMANDS = 2000, LIST = 100000 };
	struct lab lab;
	int slow, fast;
	size_t got = 0, sent = 0;
	static char text[LIST];

	lab_open(&lab);
	lab.list_bytes = LIST;
	assert_int_equal(control_listen(lab.control, lab.dir, NULL), 0);
	slow = client(&lab);
	assert_int_equal(fcntl(slow, F_SETFL, O_NONBLOCK), 0);
	while (sent < COMMANDS && write(slow, "evlist\n", 7) == 7)
		sent++;
	settle(&lab, 0);
	/* So many answers as the socket has room for. */
	assert_true(control_stats(lab.control)->commands < sent / 2);
	fast = client(&lab);
	send_text(fast, "ping\n");
	settle(&lab, 0);
	expect_read(fast, "ack\n|");
	while (got < sent * (LIST + 5)) {
		ssize_t n = read(slow, text, sizeof(text));

		if (n > 0)
			got += (size_t)n;
		settle(&lab, 0);
	}
	assert_int_equal(got, sent * (LIST + 5));
	assert_int_equal(control_stats(lab.control)->commands, sent + 1);
	/* The server forgets a client that leaves before its answers. */
	send_text(slow, "evlist\nevlist\nevlist\n");
	settle(&lab, 0);
	close(slow);
	settle(&lab, 0);
	assert_int_equal(control_stats(lab.control)->connected, 1);
	close(fast);
	lab_close(&lab);
}

static void answer(struct lab *lab, size_t which, int rc)
{
	struct error err = {rc, "no room"};
	struct buf text = {0};

	assert_int_equal(buf_printf(&text, "snapshot=1\n"), 0);
	control_answer(lab->control, lab->tickets[which], &text, &err);
	buf_release(&text);
}

/*
 * What is answered later holds up nobody else, and what the same one says behind it is done behind
 * it; of one who has left nothing is left, and nothing spins meanwhile.
 */
static void test_late_answers(void **state)
{
	int clients[3];
	struct pipes p;
	struct lab lab;

	lab_open(&lab);
	lab.later = true;
	assert_int_equal(control_listen(lab.control, lab.dir, NULL), 0);
	pipes_open(&lab, &p);
	for (size_t i = 0; i < COUNT(clients); i++)
		clients[i] = client(&lab);
	send_text(clients[0], "snapshot --reason one\nping\n");
	settle(&lab, 0);
	send_text(clients[1], "snapshot --reason two\nsnapshot --reason four\n");
	settle(&lab, 0);
	send_text(p.to[1], "snapshot --reason three\nping\n");
	settle(&lab, 0);
	expect_told(&lab, "snapshot one;snapshot two;snapshot three;");
	send_text(clients[0], "ping\n");
	send_text(clients[2], "ping\n");
	send_text(p.to[1], "stop\n");
	settle(&lab, 2 * CONTROL_PATIENCE_MS);
	expect_read(clients[0], "");
	expect_read(clients[2], "ack\n|");
	expect_read(p.from[0], "");
	expect_told(&lab, "");
	/* An answer takes no further command. */
	answer(&lab, 0, 0);
	expect_read(clients[0], "snapshot=1\nack\n|");
	settle(&lab, 0);
	expect_read(clients[0], "ack\n|ack\n|");
	answer(&lab, 1, -ENOSPC);
	answer(&lab, 2, 0);
	expect_told(&lab, "");
	settle(&lab, 0);
	expect_read(clients[1], "error: no room\n|");
	expect_read(p.from[0], "ack\n|ack\n|ack\n|");
	expect_told(&lab, "snapshot four;stop -;");
	close(clients[1]);
	settle(&lab, 0);
	answer(&lab, 3, 0);
	answer(&lab, 3, 0);
	settle(&lab, 0);
	assert_int_equal(control_stats(lab.control)->connected, 2);
	assert_int_equal(control_stats(lab.control)->errors, 1);
	send_text(clients[2], "snapshot\n");
	shutdown(clients[2], SHUT_WR);
	settle(&lab, 0);
	answer(&lab, 4, 0);
	settle(&lab, 0);
	expect_read(clients[2], "snapshot=1\nack\n|");
	assert_int_equal(control_stats(lab.control)->connected, 1);
	close(clients[0]);
	close(clients[2]);
	settle(&lab, 0);
	pipes_close(&p);
	settle(&lab, 0);
	lab_close(&lab);
}

/* Without descriptors, clients wait and the recorder does not spin. */
static void test_no_descriptors(void **state)
{
	struct rlimit before, low;
	int fds[8];
	struct lab lab;

	lab_open(&lab);
	assert_int_equal(control_listen(lab.control, lab.dir, NULL), 0);
	for (size_t i = 0; i < COUNT(fds); i++)
		fds[i] = client(&lab);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = (rlim_t)fds[COUNT(fds) - 1] + 4;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	settle(&lab, CONTROL_PATIENCE_MS / 2);
	assert_int_equal(control_stats(lab.control)->connected, 3);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	settle(&lab, 2 * CONTROL_PATIENCE_MS);
	assert_int_equal(control_stats(lab.control)->connected, COUNT(fds));
	for (size_t i = 0; i < COUNT(fds); i++)
		close(fds[i]);
	lab_close(&lab);
}

/* What dead recorders left goes; what is not ours stays; a folder of others is not used. */
static void test_left_over(void **state)
{
	struct control_socket a = CONTROL_SOCKET_INIT;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct error err = ERROR_INIT;
	char path[64], other[80], target[80];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct lab lab;

	lab_open(&lab);
	snprintf(path, sizeof(path), "%s/ringtail", lab.dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/999999.sock", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	snprintf(other, sizeof(other), "%s/notes.txt", path);
	close(open(other, O_CREAT | O_WRONLY, 0600));
	for (int i = 0; i < 2; i++) { /* the second takes the place of one like a killed one's */
		assert_int_equal(control_socket_open(&a, lab.dir, &err), 0);
		assert_int_equal(entries(path), 2);
		close(a.fd);
		close(a.dir);
	}
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(at.sun_path, F_OK), -1);
	if (!geteuid()) {
		assert_int_equal(chown(path, 65534, -1), 0);
		assert_int_equal(control_socket_open(&a, lab.dir, &err), -EPERM);
	}
	snprintf(target, sizeof(target), "%s/target", lab.dir);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink("target", path), 0);
	assert_true(control_socket_open(&a, lab.dir, &err) < 0);
	assert_true(control_socket_open(&a, "/proc/1", &err) < 0);
	assert_true(*err.text);
	lab_close(&lab);
}

/* The client's search: by pid, or the only one. */
static void test_connect(void **state)
{
	struct error err = ERROR_INIT;
	struct lab lab;
	int fd;

	lab_open(&lab);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", lab.dir, 1), 0);
	assert_string_equal(control_socket_base(), lab.dir);
	assert_int_equal(control_socket_connect(getpid(), 10, &fd, &err), -ESRCH);
	assert_int_equal(control_listen(lab.control, control_socket_base(), NULL), 0);
	assert_int_equal(control_socket_connect(getpid(), 10, &fd, &err), 0);
	send_text(fd, "ping\n");
	settle(&lab, 0);
	expect_read(fd, "ack\n|");
	close(fd);
	assert_int_equal(control_socket_connect(getpid() + 1, 10, &fd, &err), -ESRCH);
	/* A runtime directory that others can write to is none. */
	assert_int_equal(chmod(lab.dir, 0777), 0);
	assert_true(control_socket_base() != lab.dir);
	lab_close(&lab);
}

/* A recorder that stands still lets no more in when its queue is full: that is not waited for
 * forever. */
static void test_connect_in_time(void **state)
{
	struct control_socket a = CONTROL_SOCKET_INIT;
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct error err = ERROR_INIT;
	struct lab lab;
	int fds[64], fd;
	size_t nr = 0;

	lab_open(&lab);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", lab.dir, 1), 0);
	assert_int_equal(control_socket_open(&a, lab.dir, &err), 0);
	/* A backlog that the test can fill. */
	assert_int_equal(listen(a.fd, 4), 0);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s/ringtail/%s", lab.dir, a.name);
	do {
		fds[nr] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		assert_true(fds[nr] >= 0);
	} while (!connect(fds[nr++], (struct sockaddr *)&to, sizeof(to)) && nr < COUNT(fds));
	assert_int_equal(errno, EAGAIN);
	alarm(60);
	assert_int_equal(control_socket_connect(getpid(), 1, &fd, &err), -EAGAIN);
	assert_string_equal(err.text, "the recording did not answer within 1 s");
	alarm(0);
	while (nr)
		close(fds[--nr]);
	control_socket_close(&a);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_unended_lines),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_long_line_without_end),
		cmocka_unit_test(test_connect_in_time),
		cmocka_unit_test(test_unread_answers),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_fifo),
		cmocka_unit_test(test_fifo_refused),
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_slow_client),
		cmocka_unit_test(test_late_answers),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_left_over),
		cmocka_unit_test(test_connect),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
