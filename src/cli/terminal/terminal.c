// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/terminal/pager.h"

#define MIN_WIDTH 40u

enum {
	OPT_NO_PAGER = 0x8000,
	OPT_COLOR,
	OPT_STDIO_COLOR,
};

struct terminal {
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
	bool pages, forbidden;
	const char *pager; /* that was chosen last */
	FILE *held;	   /* messages; NULL: none so far */
	char *held_text;
	size_t held_len;
};

static struct terminal *the_terminal(void)
{
	static struct terminal terminal;

	return &terminal;
}

static const struct argp_option pager_options[] = {
	{"no-pager", OPT_NO_PAGER, NULL, 0, "Print long output without a pager", 0},
	{0},
};

static const struct argp_option color_options[] = {
	{"no-pager", OPT_NO_PAGER, NULL, 0, "Print long output without a pager", 0},
	{"color", OPT_COLOR, "auto|always|never", OPTION_ARG_OPTIONAL,
	 "Color percentages as perf does (default auto: on a terminal, unless NO_COLOR is set)", 0},
	{"stdio-color", OPT_STDIO_COLOR, "auto|always|never", 0, "As --color", 0},
	{0},
};

/* An unknown word is an error of the command line, in the manner of usage_error(). */
static void parse_color(const struct argp_state *state, const char *option, const char *arg)
{
	static const char *const words[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(arg, words[i]) != 0)
			continue;
		the_terminal()->color = i;
		return;
	}
	fprintf(stderr, "%s: %s is auto, always or never\n", state->name, option);
	exit(argp_err_exit_status);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT: the_terminal()->pages = true; return 0;
	case OPT_NO_PAGER: the_terminal()->forbidden = true; return 0;
	case OPT_COLOR: parse_color(state, "--color", arg ?: "always"); return 0;
	case OPT_STDIO_COLOR: parse_color(state, "--stdio-color", arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

const struct argp pager_argp = {.options = pager_options, .parser = parse};
const struct argp color_argp = {.options = color_options, .parser = parse};

void terminal_forbid_pager(void)
{
	the_terminal()->forbidden = true;
}

/* The terminal stays behind the pipe to a pager. */
static bool has_terminal(void)
{
	return pager_runs() || isatty(STDOUT_FILENO);
}

static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

/* Returns the pager to use; NULL: none. */
static const char *wanted_pager(void)
{
	return the_terminal()->pages && !the_terminal()->forbidden && isatty(STDOUT_FILENO) &&
			       !is_dumb()
		       ? pager_command()
		       : NULL;
}

unsigned int terminal_width(void)
{
	struct winsize ws;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col)
		return 0;
	return ws.ws_col < MIN_WIDTH ? MIN_WIDTH : ws.ws_col;
}

bool terminal_colors(void)
{
	const char *no_color = getenv("NO_COLOR"), *command = wanted_pager();

	if (the_terminal()->color != COLOR_AUTO)
		return the_terminal()->color == COLOR_ALWAYS;
	return has_terminal() && !is_dumb() && !(no_color && *no_color) &&
	       (!command || pager_takes_colors(command));
}

int terminal_page(const char **ret_command)
{
	const char *command = pager_runs() ? NULL : wanted_pager();

	if (!command)
		return 0;
	the_terminal()->forbidden = true; /* it is tried once */
	*ret_command = the_terminal()->pager = command;
	return pager_start(command);
}

const char *terminal_pager(void)
{
	return the_terminal()->pager;
}

FILE *terminal_messages(void)
{
	if (pager_runs() && !the_terminal()->held)
		the_terminal()->held =
			open_memstream(&the_terminal()->held_text, &the_terminal()->held_len);
	return pager_runs() && the_terminal()->held ? the_terminal()->held : stderr;
}

bool terminal_page_end(int *ret_status)
{
	bool ran = pager_runs();

	*ret_status = pager_end();
	if (the_terminal()->held) {
		fclose(the_terminal()->held);
		fwrite(the_terminal()->held_text, 1, the_terminal()->held_len, stderr);
		free(the_terminal()->held_text);
		the_terminal()->held = NULL;
	}
	return ran;
}
