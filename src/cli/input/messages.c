// SPDX-License-Identifier: Apache-2.0
#include "cli/input/input.h"

#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "cli/complete/complete.h"
#include "cli/complete/options.h"
#include "cli/terminal/terminal.h"
#include "render/text.h"

#define KEY_COMPLETE 0x4000

#define HELP_COLUMNS   80 /* the fewest that need no care */
#define HELP_NARROWEST 40

/* Standard error is what JOURNAL_STREAM says (systemd.exec(5)), whose lines may have a priority. */
static bool to_journal(void)
{
	const char *stream = secure_getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

static void print_message(int priority, const char *who, const char *line)
{
	struct buf text = {0};
	char prefix[8] = "";

	if (to_journal())
		snprintf(prefix, sizeof(prefix), "<%d>", priority);
	fflush(stdout);
	if (text_escape(&text, line) == 0)
		fprintf(terminal_messages(), "%s%s: %.*s\n", prefix, who, (int)text.len,
			text.len ? (char *)text.data : "");
	buf_release(&text);
}

void vcomplain_at(int priority, const char *fmt, va_list ap)
{
	char line[1024];

	vsnprintf(line, sizeof(line), fmt, ap);
	print_message(priority, "ringtail", line);
}

void complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcomplain_at(LOG_INFO, fmt, ap);
	va_end(ap);
}

void complain_at(int priority, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vcomplain_at(priority, fmt, ap);
	va_end(ap);
}

void usage_error(const struct argp_state *state, const char *fmt, ...)
{
	struct buf text = {0};
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (text_escape(&text, line) == 0)
		fprintf(stderr, "%s: %.*s\n", state->name, (int)text.len,
			text.len ? (char *)text.data : "");
	buf_release(&text);
	exit(EXIT_USAGE);
}

void input_refuse(struct input *in, int code, const struct error *err)
{
	in->misused = code == -EINVAL;
	print_message(LOG_INFO, in->misused ? in->command : "ringtail", err->text);
}

/* Prints lines of messages, with control characters made harmless for a terminal. */
static ssize_t write_escaped(void *plain_stderr, const char *text, size_t len)
{
	const char *end = text + len, *line, *stop;
	struct buf out = {0};

	for (line = text; line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		if (text_escape_len(&out, line, (size_t)((stop ? stop : end) - line)) || !stop)
			break;
		buf_append(&out, "\n", 1);
	}
	if (out.len)
		fwrite(out.data, 1, out.len, plain_stderr);
	buf_release(&out);
	return (ssize_t)len;
}

/*
 * getopt prints unknown words unescaped, and only to stderr. Until the end of the parsing, this
 * replaces stderr, and @state->hook keeps the original.
 */
static void escape_messages(struct argp_state *state, bool begin)
{
	const cookie_io_functions_t io = {.write = write_escaped};
	FILE *escaped;

	if (begin) {
		escaped = fopencookie(stderr, "w", io);
		if (!escaped)
			return;
		state->hook = stderr;
		stderr = escaped;
	} else if (state->hook) {
		escaped = stderr;
		fclose(escaped);
		stderr = state->hook;
		state->hook = NULL;
	}
}

/* Replaces getopt's message on an unknown long option, which is still in the buffer of stderr. */
static void explain_option(const struct argp_state *state)
{
	const char *word = state->next > 0 ? state->argv[state->next - 1] : "";
	char near[256];

	if (!state->hook || strncmp(word, "--", 2) || !word[2] ||
	    !option_suggest(state->root_argp, word, near, sizeof(near)))
		return;
	__fpurge(stderr);
	usage_error(state, "unrecognized option '%.*s'%s%s%s%s", (int)strcspn(word, "="), word,
		    near, *near ? "" : "; '", *near ? "" : state->name,
		    *near ? "" : " --help' lists the options");
}

/*
 * argp writes lines of 79 columns. On a narrower terminal these are broken at its edge, so argp
 * gets its width, by the variable that it knows. Other programs must not: @begin is false when the
 * options are parsed.
 */
static void fit_help(bool begin)
{
	static const char name[] = "ARGP_HELP_FMT";
	const char *now = getenv(name);
	struct winsize size;
	char format[64];

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < HELP_NARROWEST ||
	    size.ws_col >= HELP_COLUMNS)
		return;
	snprintf(format, sizeof(format), "rmargin=%d,opt-doc-col=%d", size.ws_col - 1,
		 size.ws_col * 29 / HELP_COLUMNS);
	if (begin && !now)
		setenv(name, format, 1);
	else if (!begin && now && !strcmp(now, format))
		unsetenv(name);
}

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = NULL;
		escape_messages(state, true);
		fit_help(true);
		return 0;
	case ARGP_KEY_ERROR: explain_option(state); return 0;
	case ARGP_KEY_FINI:
		escape_messages(state, false);
		fit_help(false);
		return 0;
	case 'h': argp_state_help(state, stdout, ARGP_HELP_STD_HELP); return 0;
	case KEY_COMPLETE:
		if (state->next < state->argc)
			complete_word(state->root_argp, state->argv + state->next,
				      (size_t)(state->argc - state->next), stdout);
		exit(input_end(NULL, NULL, 0));
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option help_options[] = {
	{NULL, 'h', NULL, 0, "As --help", -1},
	{COMPLETE_OPTION, KEY_COMPLETE, NULL, OPTION_HIDDEN, "Complete the words behind it", -1},
	{0},
};

const struct argp help_argp = {.options = help_options, .parser = parse_help};

error_t refuse_option(const struct argp_option *options, int key, struct argp_state *state)
{
	for (const struct argp_option *o = options; o->name || o->key || o->doc; o++) {
		if (!o->key || o->key != key || !(o->flags & OPTION_HIDDEN))
			continue;
		if (key < 256)
			usage_error(state, "there is no -%c, --%s: %s", key, o->name, o->doc);
		else
			usage_error(state, "there is no --%s: %s", o->name, o->doc);
	}
	return ARGP_ERR_UNKNOWN;
}
