/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the parser of an -e argument: the text, the position of a fault, the events so far.
 *
 * Shared by parser.c (grammar: lists, groups, positions) and the modules that resolve the words of
 * an event.
 */
#ifndef RINGTAIL_EVENT_PARSE_PARSER_STATE_H
#define RINGTAIL_EVENT_PARSE_PARSER_STATE_H

#include "event/syntax/lexer.h"
#include "event/syntax/modifier.h"
#include "event/catalog/pmu.h"
#include "event/syntax/terms.h"

struct parser {
	const char *text;
	const struct event_env *env;
	struct error *err;
	struct lexer lexer;
	const char *fault; /* position of the error in @text; set together with @err */

	struct draft *drafts; /* events so far; they enter the caller's list only on success */
	size_t count, cap;

	/*
	 * Kinds of cores of a hybrid machine, read at the first generic event. A generic event
	 * counts on one kind only, so it becomes an event for each kind. A group becomes a group
	 * for each kind; @group_core is the kind of the present one.
	 */
	struct pmu *cores;
	size_t nr_cores;
	bool cores_read;
	bool in_group;
	size_t group_core;
	bool group_generic; /* the group has generic events */
};

/* The words of an event: the head before the slash, the terms, and the modifiers after them. */
struct event_words {
	const char *start; /* in the parser's text */
	char *head;	   /* "cycles:u", "sched:sched_switch", "cpu" */
	bool slashes;	   /* has /terms/, maybe empty */
	struct term_list terms;
	char *modifiers; /* after the closing slash, or NULL */
	char *written;	 /* the text of the whole event */
};

/*
 * Appends a draft with the defaults of an event and the text of @words as its name. Returns the
 * draft, which the parser owns, or NULL if memory runs out.
 */
struct draft *parser_add(struct parser *parser, const struct event_words *words);

/* Frees the drafts from index @count on. */
void parser_truncate(struct parser *parser, size_t count);

#endif
