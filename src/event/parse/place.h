/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and variables in events: [FILE:]NAME[+OFFSET], where FILE or NAME may stand in single
 * quotes. Internal to src/event.
 *
 * A colon ends the FILE; two of them are part of a NAME ("ns::parse"). Without quotes a NAME ends
 * at white space, a comma, a slash, a brace or one colon.
 */
#ifndef RINGTAIL_EVENT_PARSE_PLACE_H
#define RINGTAIL_EVENT_PARSE_PLACE_H

#include "event/syntax/lexer.h"
#include "event/parse/parser_state.h"

/* What was written. Owns its strings. */
struct place_text {
	char *file; /* NULL: none, the kernel */
	char *name; /* or a number */
	uint64_t plus;
};

/*
 * Takes a place off @lexer. Returns 0 or, with the sentence set, -EINVAL or -ENOMEM; *@ret is to be
 * released in any case.
 */
int place_scan_function(struct parser *parser, bool with_file, struct place_text *ret);

/*
 * The same of a breakpoint: a number, a name of the kernel, or a file and a name. What stands
 * before a colon is a file if it has a slash that no length follows, or if what stands behind it is
 * neither access nor modifiers.
 */
int place_scan_address(struct parser *parser, struct place_text *ret);

/* Frees the strings of @text. */
void place_text_release(struct place_text *text);

enum place_kind { PLACE_BREAKPOINT, PLACE_USER_PROBE, PLACE_KERNEL_PROBE };

/*
 * The length of the place that @text begins with, in characters, whatever is in its names. 0: its
 * file or its first name does not end.
 */
size_t place_length(const char *text, enum place_kind kind);

/*
 * Finds out where @text is: *@ret_file is the path of its file, for free(), or NULL, *@ret what its
 * name stands for, without the offset, which was checked. Returns as event_symbols' find().
 */
int place_find(struct parser *parser, const struct place_text *text, char **ret_file,
	       struct event_symbol *ret);

/*
 * The path of a program or library: with a slash in it the file itself, else what is found in PATH,
 * where libraries are, or here; absolute, but no link in it is followed, since those of
 * /proc/PID/root lead nowhere else. Returns a string for free(), or NULL with the sentence set.
 */
char *place_find_file(const char *name, struct error *err);

#endif
