/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places: functions and variables in events, [FILE:]NAME[+OFFSET]. Internal to event/.
 *
 * FILE or NAME may be in single quotes. A colon ends the FILE; two colons are part of a NAME
 * ("ns::parse"). Without quotes a NAME ends at white space, a comma, a slash, a brace or one colon.
 */
#ifndef RINGTAIL_EVENT_PARSE_PLACE_H
#define RINGTAIL_EVENT_PARSE_PLACE_H

#include "event/syntax/lexer.h"
#include "event/parse/parser_state.h"

/* The parts of a place, as written. Owns its strings. */
struct place_text {
	char *file; /* NULL: none, the kernel */
	char *name; /* or a number */
	uint64_t plus;
};

/*
 * Parses a place. Returns 0, or -EINVAL or -ENOMEM with the parser's message set. The caller
 * releases *@ret in any case.
 */
int place_scan_function(struct parser *parser, bool with_file, struct place_text *ret);

/*
 * Parses the place of a breakpoint: a number, a name in the kernel, or a file and a name. The part
 * before a colon is a file if it has a slash without a length behind it, or if the part behind the
 * colon is neither access nor modifiers. Returns as place_scan_function() does.
 */
int place_scan_address(struct parser *parser, struct place_text *ret);

/* Frees the strings of @text. */
void place_text_release(struct place_text *text);

enum place_kind { PLACE_BREAKPOINT, PLACE_USER_PROBE, PLACE_KERNEL_PROBE };

/*
 * Returns the length, in characters, of the place at the start of @text, whatever its names
 * contain. 0: its file or its first name does not end.
 */
size_t place_length(const char *text, enum place_kind kind);

/*
 * Looks up @text. *@ret_file is the path of its file, for free(), or NULL; *@ret is the target of
 * its name, without the offset, which has been checked. Returns as event_symbols' find() does.
 */
int place_find(struct parser *parser, const struct place_text *text, char **ret_file,
	       struct event_symbol *ret);

/*
 * Finds the path of a program or library. A name with a slash is the file itself; others are
 * searched in PATH, in the libraries' directories and here. The path is absolute; links in it are
 * not followed, because those of /proc/PID/root lead nowhere else. Returns a string for free(), or
 * NULL with @err filled.
 */
char *place_find_file(const char *name, struct error *err);

#endif
