/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of ncurses that a screen uses. Internal to view/screen. */
#ifndef RINGTAIL_VIEW_SCREEN_CURSES_H
#define RINGTAIL_VIEW_SCREEN_CURSES_H

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1

#include <curses.h>
#include <term.h>

#include "sys/io/library.h"

/* clang-format off */
#define CURSES_FUNCTIONS(X)                                                              \
	X(setupterm) X(set_curterm) X(del_curterm) X(tigetstr) X(tigetnum)               \
	X(newterm) X(delscreen) X(endwin) X(resizeterm)                                  \
	X(cbreak) X(noecho) X(nonl) X(nodelay) X(keypad) X(set_escdelay) X(curs_set)     \
	X(has_colors) X(start_color) X(use_default_colors) X(init_pair)                  \
	X(clearok) X(werase) X(wrefresh) X(wmove) X(wattr_set) X(waddch) X(waddnwstr)    \
	X(wget_wch) X(getmaxy) X(getmaxx)                                                \
	X(stdscr) /* a variable */

struct curses {
	CURSES_FUNCTIONS(LIBRARY_POINTER)
};
/* clang-format on */

/* Returns 0, or -ELIBACC with @err filled: the library is not installed. Any thread. */
int curses_load(struct curses *ret, struct error *err);

#endif
