// SPDX-License-Identifier: Apache-2.0
/*
 * The grammar:
 *
 *   events    := item ("," item)*
 *   item      := event | [name] "{" event ("," event)* "}" [":" modifiers]
 *   event     := word [ "/" terms "/" [":"] [modifiers] ] | probe | breakpoint
 *   probe     := ("uprobe:" | "uretprobe:") file ":" function ["/" terms "/"] [":"] [modifiers]
 *              | ("kprobe:" | "kretprobe:") function ["/" terms "/"] [":"] [modifiers]
 *   breakpoint := "mem:" (address | [file ":"] name) ["/" length] [":" access] [":" modifiers]
 *
 * A word holds its colons; resolve.c interprets them. place.h has the syntax of files and names.
 */
#include "event/parse/parser_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "event/parse/breakpoint.h"
#include "event/parse/event.h"
#include "event/parse/probe.h"
#include "event/parse/resolve.h"
#include "event/catalog/suggest.h"

/* Longer than any list that users or scripts write; bounds the time spent on suggestions. */
#define TEXT_MAX (1U << 20)

static void event_words_release(struct event_words *words)
{
	free(words->head);
	free(words->modifiers);
	free(words->written);
	term_list_release(&words->terms);
}

static int no_memory(struct parser *parser)
{
	return error_sys(parser->err, -ENOMEM, "event list");
}

static int expected(struct parser *parser, const struct token *token, const char *what)
{
	parser->fault = token->start;
	if (token->type == TOKEN_END)
		return error_set(parser->err, -EINVAL, "%s expected at the end", what);
	return error_set(parser->err, -EINVAL, "%s expected instead of '%.*s'", what,
			 token->len > 32 ? 32 : (int)token->len, token->start);
}

/* Parses terms, the closing slash and modifiers. The caller has taken the first "/". */
static int parse_slashes(struct parser *parser, struct event_words *words)
{
	struct token token;
	int rc = term_list_parse(&words->terms, &parser->lexer, true, &parser->fault, parser->err);

	if (rc)
		return rc == -ENOMEM ? no_memory(parser) : rc;
	words->slashes = true;
	token = lexer_peek(&parser->lexer, LEX_EVENTS);
	if (token.type != TOKEN_WORD)
		return 0;
	lexer_next(&parser->lexer, LEX_EVENTS);
	if (*token.start == ':') {
		token.start++;
		token.len--;
	}
	words->modifiers = strndup(token.start, token.len);
	return words->modifiers ? 0 : no_memory(parser);
}

static bool begins_with(const struct token *token, const char *text)
{
	size_t len = strlen(text);

	return token->len >= len && memcmp(token->start, text, len) == 0;
}

static void trim_end(char *s)
{
	size_t len = strlen(s);

	while (len && strchr(" \t\r\n", s[len - 1]))
		s[--len] = '\0';
}

/* Takes a word behind a slash or a colon. NULL without one; *@ret_code is set on failure. */
static char *take_word(struct parser *parser, const char *what, int *ret_code)
{
	struct token token = lexer_next(&parser->lexer, LEX_EVENTS);
	char *word;

	if (token.type != TOKEN_WORD) {
		*ret_code = expected(parser, &token, what);
		return NULL;
	}
	word = strndup(token.start, token.len);
	if (!word)
		*ret_code = no_memory(parser);
	return word;
}

static int write_down(struct parser *parser, struct event_words *words)
{
	words->written = strndup(words->start, (size_t)(parser->lexer.at - words->start));
	if (!words->written)
		return no_memory(parser);
	trim_end(words->written);
	return 0;
}

/* mem:PLACE/LENGTH:ACCESS:MODIFIERS: its slash has no closing slash. */
static int parse_breakpoint(struct parser *parser, struct event_words *words)
{
	char *length = NULL, *tail = NULL;
	struct place_text text = {0};
	int rc;

	parser->lexer.at = words->start + strlen("mem:");
	rc = place_scan_address(parser, &text);
	if (!rc && lexer_peek(&parser->lexer, LEX_EVENTS).type == TOKEN_SLASH) {
		lexer_next(&parser->lexer, LEX_EVENTS);
		length = take_word(parser, "the length of the breakpoint", &rc);
	} else if (!rc && *parser->lexer.at == ':') {
		parser->lexer.at++;
		tail = take_word(parser, "the access of the breakpoint", &rc);
	}
	if (!rc)
		rc = write_down(parser, words);
	if (!rc)
		rc = event_add_breakpoint(parser, words, &text, length, tail);
	place_text_release(&text);
	free(length);
	free(tail);
	return rc;
}

static int parse_probe(struct parser *parser, struct event_words *words, size_t prefix)
{
	struct place_text text = {0};
	int rc;

	parser->lexer.at = words->start + prefix;
	rc = event_scan_probe(parser, words->start, &text);
	if (!rc && *parser->lexer.at == ':') {
		parser->lexer.at++;
		words->modifiers = take_word(parser, "modifiers", &rc);
	} else if (!rc && lexer_peek(&parser->lexer, LEX_EVENTS).type == TOKEN_SLASH) {
		lexer_next(&parser->lexer, LEX_EVENTS);
		rc = parse_slashes(parser, words);
	}
	if (!rc)
		rc = write_down(parser, words);
	if (!rc)
		rc = event_add_probe(parser, words, &text);
	place_text_release(&text);
	return rc;
}

/* If the word belongs to --trigger or is a probe's, the error gives that as its reason. */
static int say_whose(struct parser *parser, const struct event_words *words, int rc)
{
	const char *whose = suggest_whose(words->head, rc);

	if (!whose)
		return rc;
	parser->fault = words->start;
	return error_set(parser->err, rc, "'%.64s' %s", words->head, whose);
}

static int parse_event(struct parser *parser)
{
	struct token token = lexer_next(&parser->lexer, LEX_EVENTS);
	struct event_words words = {.start = token.start};
	int rc = 0;

	if (token.type != TOKEN_WORD)
		return expected(parser, &token, "an event");
	words.head = strndup(token.start, token.len);
	if (!words.head)
		return no_memory(parser);
	if (begins_with(&token, "mem:")) {
		rc = parse_breakpoint(parser, &words);
		goto out;
	}
	if (event_probe_prefix(token.start)) {
		rc = parse_probe(parser, &words, event_probe_prefix(token.start));
		goto out;
	}
	if (lexer_peek(&parser->lexer, LEX_EVENTS).type == TOKEN_SLASH) {
		lexer_next(&parser->lexer, LEX_EVENTS);
		rc = parse_slashes(parser, &words);
		if (rc)
			goto out;
	}
	rc = write_down(parser, &words);
	if (!rc)
		rc = event_resolve(parser, &words);
out:
	if (rc == -ENOENT || rc == -EINVAL)
		rc = say_whose(parser, &words, rc);
	if (rc && !parser->fault)
		parser->fault = words.start;
	event_words_release(&words);
	return rc;
}

/* Only the leader of a group is pinned or exclusive; its members follow it. */
static void close_group(struct parser *parser, size_t first)
{
	struct event_spec *leader = &parser->drafts[first].spec;
	bool pinned = leader->pinned_group, exclusive = leader->attr.flags & PD_ATTR_EXCLUSIVE;
	bool weak = leader->weak_group;

	for (size_t i = first; i < parser->count; i++) {
		struct event_spec *spec = &parser->drafts[i].spec;

		spec->leader = (int)first;
		spec->pinned_group = pinned;
		spec->weak_group = weak;
		spec->attr.flags &= ~(PD_ATTR_PINNED | PD_ATTR_EXCLUSIVE);
	}
	if (pinned)
		leader->attr.flags |= PD_ATTR_PINNED;
	if (exclusive)
		leader->attr.flags |= PD_ATTR_EXCLUSIVE;
}

static int apply_group_modifiers(struct parser *parser, size_t first)
{
	struct token token = lexer_peek(&parser->lexer, LEX_EVENTS);
	char *text;
	int rc;

	if (token.type != TOKEN_WORD)
		return 0;
	lexer_next(&parser->lexer, LEX_EVENTS);
	parser->fault = token.start;
	if (*token.start != ':')
		return expected(parser, &token, "',' or ':' and modifiers");
	text = strndup(token.start + 1, token.len - 1);
	if (!text)
		return no_memory(parser);
	rc = modifier_check(text, parser->err);
	for (size_t i = first; !rc && i < parser->count; i++)
		rc = modifier_apply(&parser->drafts[i], text, true, parser->err);
	free(text);
	if (!rc)
		parser->fault = NULL;
	return rc;
}

/* Parses a group. The caller has taken "{". */
static int parse_group_body(struct parser *parser, const char *open)
{
	size_t first = parser->count;
	struct token token;
	int rc;

	do {
		rc = parse_event(parser);
		if (rc)
			return rc;
		token = lexer_next(&parser->lexer, LEX_EVENTS);
	} while (token.type == TOKEN_COMMA);
	if (token.type != TOKEN_CLOSE) {
		rc = expected(parser, &token, "'}'");
		if (token.type == TOKEN_END)
			parser->fault = open;
		return rc;
	}
	rc = apply_group_modifiers(parser, first);
	if (!rc)
		close_group(parser, first);
	return rc;
}

/* Adds a group; on a hybrid machine, with generic events in it, once for each kind of core. */
static int parse_group(struct parser *parser)
{
	const char *open = parser->lexer.at - 1;
	struct lexer start = parser->lexer;
	int rc;

	parser->in_group = true;
	parser->group_generic = false;
	parser->group_core = 0;
	rc = parse_group_body(parser, open);
	while (!rc && parser->group_generic && ++parser->group_core < parser->nr_cores) {
		parser->lexer = start;
		rc = parse_group_body(parser, open);
	}
	parser->in_group = false;
	return rc;
}

static int parse_item(struct parser *parser)
{
	struct lexer before = parser->lexer;
	struct token token = lexer_next(&parser->lexer, LEX_EVENTS);

	/* perf allows a name before the brace, and writes it nowhere in a recording. */
	if (token.type == TOKEN_WORD && lexer_peek(&parser->lexer, LEX_EVENTS).type == TOKEN_OPEN)
		token = lexer_next(&parser->lexer, LEX_EVENTS);
	if (token.type == TOKEN_OPEN)
		return parse_group(parser);
	parser->lexer = before;
	return parse_event(parser);
}

static int parse_list(struct parser *parser)
{
	struct token token;
	int rc;

	do {
		rc = parse_item(parser);
		if (rc)
			return rc;
		token = lexer_next(&parser->lexer, LEX_EVENTS);
	} while (token.type == TOKEN_COMMA);
	return token.type == TOKEN_END ? 0 : expected(parser, &token, "','");
}

/* Outside a group, D pins the event alone. */
static void finish_single(struct parser *parser)
{
	for (size_t i = 0; i < parser->count; i++) {
		struct event_spec *spec = &parser->drafts[i].spec;

		if (spec->leader == (int)i && spec->pinned_group)
			spec->attr.flags |= PD_ATTR_PINNED;
	}
}

static int hand_over(struct parser *parser, struct event_list *list)
{
	int rc = array_grow(&list->specs, &list->capacity, list->count + parser->count,
			    sizeof(*list->specs));

	if (rc)
		return no_memory(parser);
	for (size_t i = 0; i < parser->count; i++) {
		list->specs[list->count + i] = parser->drafts[i].spec;
		list->specs[list->count + i].leader += (int)list->count;
	}
	list->count += parser->count;
	parser->count = 0; /* the list owns the names now */
	return 0;
}

/* Adds the position of the fault to the error, unless the fault is at the beginning. */
static void say_where(struct parser *parser)
{
	size_t at;

	if (!parser->fault || !parser->err)
		return;
	at = (size_t)(parser->fault - parser->text);
	if (at)
		error_prefix(parser->err, "character %zu of '%.80s%s': ", at + 1, parser->text,
			     strlen(parser->text) > 80 ? "..." : "");
}

size_t event_place_length(const char *text)
{
	bool breakpoint = !strncmp(text, "mem:", 4);
	size_t prefix = breakpoint ? 4 : event_probe_prefix(text);

	if (!prefix)
		return 0;
	return prefix + place_length(text + prefix, breakpoint	   ? PLACE_BREAKPOINT
						    : *text == 'u' ? PLACE_USER_PROBE
								   : PLACE_KERNEL_PROBE);
}

int event_parse(struct event_list *list, const char *text, const struct event_env *env,
		struct error *err)
{
	static const struct event_env machine = {0};
	struct parser parser = {
		.text = text, .env = env ? env : &machine, .err = err, .lexer = {text}};
	int rc;

	if (strlen(text) > TEXT_MAX)
		return error_set(err, -EINVAL, "the list of events has more than %u characters",
				 TEXT_MAX);
	rc = parse_list(&parser);
	if (!rc) {
		finish_single(&parser);
		rc = hand_over(&parser, list);
	} else if (rc != -ENOMEM) {
		say_where(&parser);
	}
	parser_truncate(&parser, 0);
	free(parser.drafts);
	for (size_t i = 0; i < parser.nr_cores; i++)
		pmu_release(&parser.cores[i]);
	free(parser.cores);
	return rc;
}
