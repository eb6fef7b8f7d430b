// SPDX-License-Identifier: Apache-2.0
#include "view/screen/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <wchar.h>

#include "view/model/keys.h"
#include "view/screen/curses.h"

#define ESCAPE_MS 25 /* after which Esc is a key, not the beginning of one */

/* Colours of 256: those that colour-blind people tell apart, too. -1: the terminal's own. */
static const struct {
	short fore, back, fore8, back8;
	attr_t plain; /* without colours */
} styles[] = {
	[STYLE_PLAIN] = {-1, -1, -1, -1, A_NORMAL},
	[STYLE_TITLE] = {255, 24, COLOR_WHITE, COLOR_BLUE, A_REVERSE},
	[STYLE_HEADING] = {250, 237, COLOR_BLACK, COLOR_CYAN, A_BOLD | A_UNDERLINE},
	[STYLE_CURSOR] = {16, 153, COLOR_BLACK, COLOR_WHITE, A_REVERSE},
	[STYLE_HOT] = {203, -1, COLOR_RED, -1, A_BOLD},
	[STYLE_WARM] = {78, -1, COLOR_GREEN, -1, A_NORMAL},
	[STYLE_DIM] = {244, -1, -1, -1, A_NORMAL},
	[STYLE_MATCH] = {227, -1, COLOR_YELLOW, -1, A_UNDERLINE},
	[STYLE_STRIP] = {75, -1, COLOR_CYAN, -1, A_NORMAL},
	[STYLE_MARKED] = {16, 215, COLOR_BLACK, COLOR_YELLOW, A_REVERSE},
	[STYLE_STATUS] = {250, 237, COLOR_WHITE, COLOR_BLUE, A_REVERSE},
	[STYLE_ERROR] = {255, 124, COLOR_WHITE, COLOR_RED, A_REVERSE | A_BOLD},
	[STYLE_BOX] = {255, 236, COLOR_WHITE, COLOR_BLUE, A_NORMAL},
	[STYLE_FLAME_AT] = {16, 153, COLOR_BLACK, COLOR_WHITE, A_REVERSE},
	[STYLE_FLAME_MATCH] = {231, 127, COLOR_WHITE, COLOR_MAGENTA, A_BOLD | A_UNDERLINE},
	/* User: orange. Kernel: blue. Inlined: yellow. */
	[STYLE_FLAME] = {16, 208, COLOR_BLACK, COLOR_YELLOW, A_NORMAL},
	{16, 214, COLOR_BLACK, COLOR_RED, A_NORMAL},
	{16, 215, COLOR_BLACK, COLOR_YELLOW, A_NORMAL},
	{16, 209, COLOR_BLACK, COLOR_RED, A_NORMAL},
	{16, 74, COLOR_BLACK, COLOR_CYAN, A_NORMAL},
	{16, 75, COLOR_WHITE, COLOR_BLUE, A_NORMAL},
	{16, 110, COLOR_BLACK, COLOR_CYAN, A_NORMAL},
	{16, 68, COLOR_WHITE, COLOR_BLUE, A_NORMAL},
	{16, 228, COLOR_BLACK, COLOR_GREEN, A_NORMAL},
	{16, 222, COLOR_BLACK, COLOR_GREEN, A_NORMAL},
	{16, 229, COLOR_BLACK, COLOR_GREEN, A_NORMAL},
	{16, 186, COLOR_BLACK, COLOR_GREEN, A_NORMAL},
};

#define NR_STYLES (sizeof(styles) / sizeof(*styles))

static void make_colors(struct screen *s, bool wanted)
{
	if (!wanted || !s->lib->has_colors() || s->lib->start_color() == ERR)
		return;
	s->lib->use_default_colors();
	s->colors = s->lib->tigetnum("colors");
	s->colors = s->colors < 8 ? 0 : s->colors;
	for (size_t i = 1; s->colors && i < NR_STYLES; i++)
		s->lib->init_pair((short)i, s->colors >= 256 ? styles[i].fore : styles[i].fore8,
				  s->colors >= 256 ? styles[i].back : styles[i].back8);
}

static bool can_move(const struct curses *lib, const char *name)
{
	const char *move;
	int rc;

	if (!*name || lib->setupterm(name, STDOUT_FILENO, &rc) == ERR)
		return false;
	move = lib->tigetstr("cup");
	lib->del_curterm(lib->set_curterm(NULL));
	return move && move != (const char *)-1;
}

bool screen_can_draw(const char *name)
{
	struct curses lib;

	return curses_load(&lib, NULL) || can_move(&lib, name);
}

static int open_terminal(struct screen *s, struct error *err)
{
	const char *name = getenv("TERM");
	int rc = curses_load(s->lib, err);

	if (rc)
		return rc;
	if (!name || !can_move(s->lib, name))
		return error_set(err, -ENOTTY, "the terminal '%s' cannot move its cursor",
				 name ? name : "");
	s->terminal = s->lib->newterm(name, stdout, stdin);
	return s->terminal ? 0 : error_set(err, -ENOTTY, "cannot use the terminal '%s'", name);
}

int screen_open(struct screen *s, int signals, bool color, struct error *err)
{
	struct curses *lib = calloc(1, sizeof(*lib));
	int rc;

	*s = (struct screen){.lib = lib, .signals = signals};
	rc = lib ? open_terminal(s, err) : error_set(err, -ENOMEM, "out of memory");
	if (rc) {
		screen_close(s);
		return rc;
	}
	s->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	lib->cbreak();
	lib->noecho();
	lib->nonl();
	lib->nodelay(*lib->stdscr, TRUE);
	lib->keypad(*lib->stdscr, TRUE);
	lib->set_escdelay(ESCAPE_MS);
	lib->curs_set(0);
	make_colors(s, color);
	screen_resize(s);
	return 0;
}

void screen_close(struct screen *s)
{
	if (s->terminal) {
		s->lib->endwin();
		s->lib->delscreen(s->terminal);
	}
	free(s->lib);
	s->terminal = NULL;
	s->lib = NULL;
}

void screen_leave(struct screen *s)
{
	s->lib->endwin();
}

void screen_return(struct screen *s)
{
	s->lib->clearok(*s->lib->stdscr, TRUE);
	screen_show(s);
	screen_resize(s);
}

void screen_resize(struct screen *s)
{
	const struct curses *lib = s->lib;
	WINDOW *window = *lib->stdscr;
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col &&
	    (size.ws_row != lib->getmaxy(window) || size.ws_col != lib->getmaxx(window))) {
		lib->resizeterm(size.ws_row, size.ws_col);
		lib->clearok(window, TRUE);
	}
	s->height = lib->getmaxy(window);
	s->width = lib->getmaxx(window);
}

void screen_clear(struct screen *s)
{
	s->lib->werase(*s->lib->stdscr);
}

void screen_show(struct screen *s)
{
	s->lib->wrefresh(*s->lib->stdscr);
}

static void set_style(const struct screen *s, enum screen_style style)
{
	WINDOW *window = *s->lib->stdscr;

	if (s->colors)
		s->lib->wattr_set(window, style == STYLE_HEADING ? A_BOLD : A_NORMAL, (short)style,
				  NULL);
	else
		s->lib->wattr_set(window, styles[style].plain, 0, NULL);
}

/* Decodes a character. Returns its bytes, and in *@ret what a cell shows for it. */
static size_t decode(const struct screen *s, const char *text, size_t len, wchar_t *ret)
{
	mbstate_t state = {0};
	size_t n = s->utf8 ? mbrtowc(ret, text, len, &state) : (size_t)-1;

	if (n && n <= len) {
		if (wcwidth(*ret) <= 0)
			*ret = L'?';
		return n;
	}
	*ret = (unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e ? L'?' : *text;
	for (n = 1; *ret == L'?' && n < len && ((unsigned char)text[n] & 0xc0) == 0x80;)
		n++;
	return n;
}

int screen_put(struct screen *s, int y, int x, int width, const char *text, size_t len,
	       enum screen_style style, bool fill)
{
	WINDOW *window = *s->lib->stdscr;
	int used = 0;
	wchar_t c[2] = {0};

	if (y < 0 || y >= s->height || x < 0 || x >= s->width)
		return 0;
	if (width > s->width - x)
		width = s->width - x;
	set_style(s, style);
	s->lib->wmove(window, y, x);
	while (len) {
		size_t n = decode(s, text, len, c);
		int cells = wcwidth(c[0]);

		cells = cells < 1 ? 1 : cells;
		if (used + cells > width)
			break;
		s->lib->waddnwstr(window, c, 1);
		used += cells;
		text += n;
		len -= n;
	}
	for (int i = used; fill && i < width; i++)
		s->lib->waddch(window, ' ');
	s->lib->wattr_set(window, A_NORMAL, 0, NULL);
	return used;
}

int screen_printf(struct screen *s, int y, int x, int width, enum screen_style style, bool fill,
		  const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return screen_put(s, y, x, width, text, strlen(text), style, fill);
}

void screen_bar(struct screen *s, int y, int x, unsigned int level, enum screen_style style)
{
	static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char plain[] = " .:-=+*#@";

	if (s->utf8)
		screen_put(s, y, x, 1, bars[level], strlen(bars[level]), style, false);
	else
		screen_put(s, y, x, 1, &plain[level], 1, style, false);
}

/* Returns what stands at line @y, column @x of a frame. */
static const char *frame_piece(const struct screen *s, int y, int x, int height, int width)
{
	static const char *const boxed[] = {"┌", "┐", "└", "┘", "─", "│"};
	static const char *const plain[] = {"+", "+", "+", "+", "-", "|"};
	const char *const *piece = s->utf8 ? boxed : plain;
	bool side = !x || x == width - 1;

	if (y && y < height - 1)
		return piece[5];
	return side ? piece[2 * (y > 0) + (x > 0)] : piece[4];
}

void screen_frame(struct screen *s, int y, int x, int height, int width)
{
	for (int i = 0; i < height; i++) {
		bool edge = !i || i == height - 1;

		screen_put(s, y + i, x, width, "", 0, STYLE_BOX, true);
		for (int k = 0; k < width; k += edge || k == width - 1 ? 1 : width - 1) {
			const char *piece = frame_piece(s, i, k, height, width);

			screen_put(s, y + i, x + k, 1, piece, strlen(piece), STYLE_BOX, false);
		}
	}
}

static int special_key(wint_t key)
{
	switch (key) {
	case KEY_UP: return VIEW_KEY_UP;
	case KEY_DOWN: return VIEW_KEY_DOWN;
	case KEY_LEFT: return VIEW_KEY_LEFT;
	case KEY_RIGHT: return VIEW_KEY_RIGHT;
	case KEY_HOME: return VIEW_KEY_HOME;
	case KEY_END: return VIEW_KEY_END;
	case KEY_PPAGE: return VIEW_KEY_PAGE_UP;
	case KEY_NPAGE: return VIEW_KEY_PAGE_DOWN;
	case KEY_ENTER: return VIEW_KEY_ENTER;
	case KEY_BACKSPACE: return VIEW_KEY_BACKSPACE;
	case KEY_BTAB: return VIEW_KEY_BACKTAB;
	case KEY_RESIZE: return VIEW_KEY_RESIZE;
	case KEY_F(1): return VIEW_KEY_HELP;
	default: return 0;
	}
}

int screen_key(struct screen *s)
{
	wint_t c;
	int rc = s->lib->wget_wch(*s->lib->stdscr, &c);

	if (rc == KEY_CODE_YES)
		return special_key(c);
	if (rc == ERR)
		return 0;
	switch (c) {
	case '\r':
	case '\n': return VIEW_KEY_ENTER;
	case '\t': return VIEW_KEY_TAB;
	case '\b':
	case 0x7f: return VIEW_KEY_BACKSPACE;
	case 0x1b: return VIEW_KEY_ESCAPE;
	default: return (int)c;
	}
}

int screen_wait(struct screen *s, struct screen_wait *w)
{
	struct pollfd polled[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = s->signals, .events = POLLIN},
		{.fd = w->fd, .events = POLLIN},
	};
	struct signalfd_siginfo info;
	int key = screen_key(s);

	w->signal = 0;
	w->fd_is_ready = false;
	if (key)
		return key;
	if (poll(polled, 3, w->timeout_ms) <= 0)
		return 0;
	w->fd_is_ready = polled[2].revents;
	if (polled[1].revents && read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		w->signal = (int)info.ssi_signo;
		return 0;
	}
	/* Nobody is at the other end of the terminal any more. */
	if (polled[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		w->signal = SIGHUP;
	return polled[0].revents & POLLIN ? screen_key(s) : 0;
}
