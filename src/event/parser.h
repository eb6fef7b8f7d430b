/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser's state, shared by parser.c (grammar: lists, groups, positions) and resolve.c (what
 * an event's words mean). Internal to src/event.
 */
#ifndef RINGTAIL_EVENT_PARSER_H
#define RINGTAIL_EVENT_PARSER_H

#include "event/lexer.h"
#include "event/modifier.h"
#include "event/pmu.h"
#include "event/terms.h"

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

/* Finds out what @words mean and appends the events. Returns 0 or an error, as event_parse(). */
int event_resolve(struct parser *parser, const struct event_words *words);

/*
 * Terms that every event takes; @tracepoint: only those that make sense for one. Modifiers are
 * those of all drafts from @first on; NULL or an empty text behind slashes: none.
 */
int event_apply_terms(struct parser *parser, const struct event_words *words, struct draft *draft,
		      bool tracepoint);
int event_apply_modifiers(struct parser *parser, size_t first, const char *text);

struct place_text;

/* A breakpoint: @length is what stands behind its slash, @tail behind its colon, or NULL. */
int event_add_breakpoint(struct parser *parser, const struct event_words *words,
			 const struct place_text *text, const char *length, const char *tail);

/* The characters of "uprobe:" and the like that @text begins with; 0: it is no probe. */
size_t event_probe_prefix(const char *text);

/* Takes what stands behind the prefix that @prefix begins with. Returns as place.h's functions. */
int event_scan_probe(struct parser *parser, const char *prefix, struct place_text *ret);

/* A probe, of the kind that @words->head begins with. */
int event_add_probe(struct parser *parser, const struct event_words *words,
		    const struct place_text *text);

void event_spec_release(struct event_spec *spec);

#endif
