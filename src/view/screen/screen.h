/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Screen: a terminal in the hands of ncurses. Text in cells, colours or none, keys, signals.
 *
 * A process has one screen at a time, and one thread uses it. Text is UTF-8, and escaped
 * (render/text.h) if it comes from a recording.
 */
#ifndef RINGTAIL_VIEW_SCREEN_SCREEN_H
#define RINGTAIL_VIEW_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What a text is; how it looks depends on the colours of the terminal. */
enum screen_style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_HEADING,
	STYLE_CURSOR,
	STYLE_HOT,
	STYLE_WARM,
	STYLE_DIM,
	STYLE_MATCH,
	STYLE_STRIP,
	STYLE_MARKED,
	STYLE_STATUS,
	STYLE_ERROR,
	STYLE_BOX,
	STYLE_FLAME_AT, /* the box that the user is at */
	STYLE_FLAME_MATCH,
	STYLE_FLAME, /* and the next ones: user, kernel, inlined; SCREEN_SHADES of each */
};

#define SCREEN_SHADES 4

struct curses;

struct screen {
	struct curses *lib; /* NULL: closed */
	void *terminal;	    /* SCREEN of ncurses */
	int signals;	    /* a signalfd; borrowed */
	bool utf8;
	int colors; /* 0: none */
	int height, width;
};

/* What screen_wait() waits for, beside keys. */
struct screen_wait {
	int fd;		  /* -1: nothing */
	int timeout_ms;	  /* -1: none */
	int signal;	  /* set: the signal that came; 0 */
	bool fd_is_ready; /* set */
};

/* Returns whether the cursor of a terminal of the kind @name can be moved, as far as is known. */
bool screen_can_draw(const char *name);

/*
 * Begins to draw. @color: if the terminal has colours. Returns 0, -ENOTTY with @err filled if the
 * terminal cannot move its cursor, -ELIBACC likewise if ncurses is not installed, or -ENOMEM.
 */
int screen_open(struct screen *s, int signals, bool color, struct error *err);
/* Gives the terminal back as it was; accepts zeroes. */
void screen_close(struct screen *s);
/* The same for a while, and back. */
void screen_leave(struct screen *s);
void screen_return(struct screen *s);

/* Takes the size that the terminal has now. */
void screen_resize(struct screen *s);

/* Erases what was drawn, but only in memory. */
void screen_clear(struct screen *s);
/* Shows what was drawn. */
void screen_show(struct screen *s);

/*
 * Puts text at line @y, column @x, in at most @width columns, and fills these if @fill. Returns the
 * columns that the text takes.
 */
int screen_put(struct screen *s, int y, int x, int width, const char *text, size_t len,
	       enum screen_style style, bool fill);
/* As screen_put(), a formatted text of up to 1023 bytes. */
int screen_printf(struct screen *s, int y, int x, int width, enum screen_style style, bool fill,
		  const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* Puts a bar of @level, 0 to 8, into a cell. */
void screen_bar(struct screen *s, int y, int x, unsigned int level, enum screen_style style);
/* Draws a frame around an area, and empties it. */
void screen_frame(struct screen *s, int y, int x, int height, int width);

/* Waits for a key, a signal or @w->fd. Returns the key (a character, or enum view_key), or 0. */
int screen_wait(struct screen *s, struct screen_wait *w);
/* Returns a key that was typed already, or 0. */
int screen_key(struct screen *s);

#endif
