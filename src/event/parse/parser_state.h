/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parser knows while it reads an -e argument: the text, where it failed, and the events so
 * far. Shared by parser.c (grammar: lists, groups, positions) and the modules that find out what
 * the words of an event mean.
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
	const char *fault; /* where in @text it went wrong; set by whoever sets @err */

	struct draft *drafts; /* events so far; nothing is in the caller's list before success */
	size_t count, cap;

	/*
	 * Kinds of cores of a hybrid machine, read when the first generic event is met. A generic
	 * event counts on one kind only, so it becomes an event for each; a group becomes a group
	 * for each, and @group_core says which one is being made.
	 */
	struct pmu *cores;
	size_t nr_cores;
	bool cores_read;
	bool in_group;
	size_t group_core;
	bool group_generic; /* the group has generic events */
};

/* The words of an event: what stands before the slash, the terms, and modifiers behind them. */
struct event_words {
	const char *start; /* in the parser's text */
	char *head;	   /* "cycles:u", "sched:sched_switch", "cpu" */
	bool slashes;	   /* /terms/ were given, if only // */
	struct term_list terms;
	char *modifiers; /* behind the closing slash, or NULL */
	char *written;	 /* the whole event as it was written */
};

/*
 * Appends a draft with the defaults of an event and the name @words was written with.
 * Returns NULL when out of memory.
 */
struct draft *parser_add(struct parser *parser, const struct event_words *words);

/* Drops the drafts from @count on. */
void parser_truncate(struct parser *parser, size_t count);

#endif
