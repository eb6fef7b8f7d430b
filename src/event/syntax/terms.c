// SPDX-License-Identifier: Apache-2.0
#include "event/syntax/terms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/parse.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Largest stack dump of a sample, a multiple of 8 (kernel: perf_prepare_sample()). */
#define STACK_SIZE_MAX 65528

enum setter {
	SET_NUMBER, /* a field of the attribute, 64 bits */
	SET_PERIOD,
	SET_FREQ,
	SET_NAME,
	SET_SWITCH,	/* a tri-state of the spec */
	SET_NOT_SWITCH, /* the same, value reversed */
	SET_CALLGRAPH,
	SET_STACK_SIZE,
	SET_MAX_STACK,
	SET_BRANCH_TYPE,
	SET_AUX_OUTPUT,
	SET_AUX_ACTION,
	SET_AUX_SAMPLE_SIZE,
	SET_NOTHING, /* known to perf; means nothing in a recording */
};

struct term_row {
	const char *key;
	enum setter setter;
	bool tracepoint; /* allowed for tracepoints */
	size_t offset;	 /* SET_NUMBER: in struct pd_attr; SET_*SWITCH: in struct event_spec */
};

// clang-format off
static const struct term_row term_rows[] = {
	{"config", SET_NUMBER, false, offsetof(struct pd_attr, config)},
	{"config1", SET_NUMBER, false, offsetof(struct pd_attr, config1)},
	{"config2", SET_NUMBER, false, offsetof(struct pd_attr, config2)},
	{"config3", SET_NUMBER, false, offsetof(struct pd_attr, config3)},
	{"config4", SET_NUMBER, false, offsetof(struct pd_attr, config4)},
	{"period", SET_PERIOD, true, 0},
	{"freq", SET_FREQ, true, 0},
	{"name", SET_NAME, true, 0},
	{"branch_type", SET_BRANCH_TYPE, false, 0},
	{"time", SET_SWITCH, true, offsetof(struct event_spec, time)},
	{"inherit", SET_SWITCH, true, offsetof(struct event_spec, inherit)},
	{"no-inherit", SET_NOT_SWITCH, true, offsetof(struct event_spec, inherit)},
	{"overwrite", SET_SWITCH, true, offsetof(struct event_spec, overwrite)},
	{"no-overwrite", SET_NOT_SWITCH, true, offsetof(struct event_spec, overwrite)},
	{"call-graph", SET_CALLGRAPH, true, 0},
	{"stack-size", SET_STACK_SIZE, true, 0},
	{"max-stack", SET_MAX_STACK, true, 0},
	{"aux-output", SET_AUX_OUTPUT, true, 0},
	{"aux-action", SET_AUX_ACTION, true, 0},
	{"aux-sample-size", SET_AUX_SAMPLE_SIZE, true, 0},
	{"nr", SET_NOTHING, true, 0},
	{"percore", SET_NOTHING, true, 0},
};

struct word_value {
	const char *word;
	uint64_t value;
};

static const struct word_value branch_types[] = {
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"counter", 1u << 19}, /* PERF_SAMPLE_BRANCH_COUNTERS, not in the headers of 6.1 */
};

static const struct word_value callgraphs[] = {{"no", 0}, {"fp", 1}, {"dwarf", 2}, {"lbr", 3}};

static const struct word_value aux_actions[] = {{"start-paused", 1}, {"pause", 2}, {"resume", 4}};
// clang-format on

static const struct term_row *row_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(term_rows); i++) {
		if (strcmp(term_rows[i].key, key) == 0)
			return &term_rows[i];
	}
	return NULL;
}

static const struct word_value *find_word(const struct word_value *rows, size_t count,
					  const char *word, size_t len)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(rows[i].word) == len && memcmp(rows[i].word, word, len) == 0)
			return &rows[i];
	}
	return NULL;
}

static int push_term(struct term_list *list, const struct token *key, const struct token *value)
{
	struct term *term;
	int rc = array_grow(&list->items, &list->cap, list->count + 1, sizeof(*list->items));

	if (rc)
		return rc;
	term = &list->items[list->count];
	*term = (struct term){.at = key->start, .key = strndup(key->start, key->len)};
	if (value)
		term->value = strndup(value->start, value->len);
	if (!term->key || (value && !term->value)) {
		free(term->key);
		free(term->value);
		return -ENOMEM;
	}
	list->count++;
	return 0;
}

static int unexpected(const struct token *token, const char *wanted, const char **ret_at,
		      struct error *err)
{
	*ret_at = token->start;
	if (token->type == TOKEN_UNTERMINATED)
		return error_set(err, -EINVAL, "the closing quote is missing");
	if (token->type == TOKEN_END)
		return error_set(err, -EINVAL, "%s expected at the end", wanted);
	return error_set(err, -EINVAL, "%s expected", wanted);
}

/* Parses one key[=value]. */
static int parse_term(struct term_list *list, struct lexer *lexer, const char **ret_at,
		      struct error *err)
{
	struct token key = lexer_next(lexer, LEX_TERMS), value;

	if (key.type != TOKEN_WORD)
		return unexpected(&key, "a term", ret_at, err);
	if (lexer_peek(lexer, LEX_TERMS).type != TOKEN_EQUALS)
		return push_term(list, &key, NULL);
	lexer_next(lexer, LEX_TERMS);
	value = lexer_next(lexer, LEX_TERMS);
	if (value.type != TOKEN_WORD && value.type != TOKEN_QUOTED)
		return unexpected(&value, "a value", ret_at, err);
	return push_term(list, &key, &value);
}

int term_list_parse(struct term_list *list, struct lexer *lexer, bool closed, const char **ret_at,
		    struct error *err)
{
	enum token_type close = closed ? TOKEN_SLASH : TOKEN_END;
	struct token token = lexer_peek(lexer, LEX_TERMS);
	int rc;

	if (token.type == close) {
		lexer_next(lexer, LEX_TERMS);
		return 0;
	}
	do {
		rc = parse_term(list, lexer, ret_at, err);
		if (rc)
			return rc;
		token = lexer_next(lexer, LEX_TERMS);
	} while (token.type == TOKEN_COMMA);
	if (token.type != close)
		return unexpected(&token, closed ? "',' or the closing '/'" : "','", ret_at, err);
	return 0;
}

void term_list_release(struct term_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].key);
		free(list->items[i].value);
	}
	free(list->items);
	*list = (struct term_list){0};
}

const struct term *term_find(const struct term_list *list, const char *key)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].key, key) == 0)
			return &list->items[i];
	}
	return NULL;
}

bool term_is_common(const struct term *term)
{
	return row_of(term->key) != NULL;
}

int term_number(const struct term *term, uint64_t *ret, struct error *err)
{
	int rc;

	if (!term->value) {
		*ret = 1;
		return 0;
	}
	rc = parse_u64(term->value, ret);
	if (rc == -ERANGE)
		return error_set(err, -EINVAL, "the value of term '%s' needs more than 64 bits",
				 term->key);
	if (rc)
		return error_set(err, -EINVAL, "term '%s' takes a number, not '%.64s'", term->key,
				 term->value);
	return 0;
}

/* Parses a number of at most @max; with @size it may have a size's suffix. */
static int number_up_to(const struct term *term, bool size, uint64_t max, uint64_t *ret,
			struct error *err)
{
	uint64_t v = 0;
	int rc;

	if (!term->value)
		return error_set(err, -EINVAL, "term '%s' needs a value", term->key);
	if (!size || parse_size(term->value, &v) != 0) {
		rc = term_number(term, &v, err);
		if (rc)
			return rc;
	}
	if (v > max)
		return error_set(err, -EINVAL, "term '%s' is at most %" PRIu64, term->key, max);
	*ret = v;
	return 0;
}

static int set_rate(struct event_spec *spec, const struct term *term, bool freq, struct error *err)
{
	uint64_t v = 0;
	int rc = number_up_to(term, false, INT64_MAX, &v, err);

	if (rc)
		return rc;
	if (!v)
		return error_set(err, -EINVAL, "term '%s' is at least 1", term->key);
	spec->attr.sample_period = v;
	spec->attr.flags &= ~PD_ATTR_FREQ;
	if (freq)
		spec->attr.flags |= PD_ATTR_FREQ;
	spec->explicit_period = true;
	return 0;
}

static int set_name(struct event_spec *spec, const struct term *term, struct error *err)
{
	char *name;

	if (!term->value || !*term->value)
		return error_set(err, -EINVAL, "term 'name' needs a value");
	name = strdup(term->value);
	if (!name)
		return error_sys(err, -ENOMEM, "event name");
	free(spec->name);
	spec->name = name;
	return 0;
}

static int set_switch(struct event_spec *spec, const struct term *term, const struct term_row *row,
		      struct error *err)
{
	uint64_t v = 1;
	int flag;

	if (term->value) {
		int rc = number_up_to(term, false, 1, &v, err);

		if (rc)
			return rc;
	}
	flag = row->setter == SET_NOT_SWITCH ? !v : (int)v;
	memcpy((char *)spec + row->offset, &flag, sizeof(flag));
	return 0;
}

static int set_callgraph(struct event_spec *spec, const struct term *term, struct error *err)
{
	const char *value = term->value ? term->value : "";
	const struct word_value *row =
		find_word(callgraphs, ARRAY_SIZE(callgraphs), value, strlen(value));

	if (!row)
		return error_set(err, -EINVAL,
				 "term 'call-graph' is fp, dwarf, lbr or no, not '%.32s'", value);
	spec->callgraph = (int)row->value;
	return 0;
}

int term_branches_parse(const char *list, uint64_t *ret, struct error *err)
{
	const uint64_t levels =
		PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
	const char *p = list;
	uint64_t mask = 0;

	for (;;) {
		/* A comma ends the term unless the value is in quotes; '|' needs none. */
		size_t len = strcspn(p, "|,");
		const struct word_value *row =
			find_word(branch_types, ARRAY_SIZE(branch_types), p, len);

		if (!row)
			return error_set(err, -EINVAL, "unknown branch filter '%.*s' in '%.64s'",
					 len > 32 ? 32 : (int)len, p, list);
		mask |= row->value;
		if (!p[len])
			break;
		p += len + 1;
	}
	/* Levels without a kind of branch mean every branch on these levels. */
	if (!(mask & ~levels))
		mask |= PERF_SAMPLE_BRANCH_ANY;
	*ret = mask;
	return 0;
}

static int set_branch_type(struct event_spec *spec, const struct term *term, struct error *err)
{
	const char *list = term->value ? term->value : "any";

	spec->no_branches = strcmp(list, "no") == 0;
	if (spec->no_branches) {
		spec->attr.branch_sample_type = 0;
		return 0;
	}
	return term_branches_parse(list, &spec->attr.branch_sample_type, err);
}

static int set_stack(struct event_spec *spec, const struct term *term, enum setter setter,
		     struct error *err)
{
	bool dump = setter == SET_STACK_SIZE;
	uint64_t v = 0;
	int rc = number_up_to(term, dump, dump ? STACK_SIZE_MAX : UINT16_MAX, &v, err);

	if (rc)
		return rc;
	if (!v || (dump && v % 8))
		return error_set(err, -EINVAL, "term '%s' must be %s above 0", term->key,
				 dump ? "a multiple of 8" : "a number");
	if (dump)
		spec->stack_size = (uint32_t)v;
	else
		spec->max_stack = (uint32_t)v;
	return 0;
}

static int set_aux(struct event_spec *spec, const struct term *term, enum setter setter,
		   struct error *err)
{
	const char *value = term->value ? term->value : "";
	const struct word_value *row;
	uint64_t v = 1;
	int rc;

	if (setter == SET_AUX_ACTION) {
		row = find_word(aux_actions, ARRAY_SIZE(aux_actions), value, strlen(value));
		if (!row)
			return error_set(err, -EINVAL,
					 "term 'aux-action' is start-paused, pause or resume, "
					 "not '%.32s'",
					 value);
		spec->attr.aux_action = (uint32_t)row->value;
		return 0;
	}
	if (setter == SET_AUX_SAMPLE_SIZE) {
		rc = number_up_to(term, true, UINT32_MAX, &v, err);
		if (rc)
			return rc;
		spec->attr.aux_sample_size = (uint32_t)v;
		spec->aux_size_given = true;
		return 0;
	}
	rc = term_number(term, &v, err);
	if (rc)
		return rc;
	spec->attr.flags &= ~PD_ATTR_AUX_OUTPUT;
	if (v)
		spec->attr.flags |= PD_ATTR_AUX_OUTPUT;
	return 0;
}

static int set_number(struct event_spec *spec, const struct term *term, const struct term_row *row,
		      struct error *err)
{
	uint64_t v = 0;
	int rc = number_up_to(term, false, UINT64_MAX, &v, err);

	if (!rc)
		memcpy((char *)&spec->attr + row->offset, &v, sizeof(v));
	return rc;
}

int term_apply(struct event_spec *spec, const struct term *term, bool tracepoint, struct error *err)
{
	const struct term_row *row = row_of(term->key);

	if (tracepoint && !row->tracepoint)
		return error_set(err, -EINVAL, "term '%s' has no meaning for a tracepoint or probe",
				 term->key);
	switch (row->setter) {
	case SET_NUMBER: return set_number(spec, term, row, err);
	case SET_PERIOD: return set_rate(spec, term, false, err);
	case SET_FREQ: return set_rate(spec, term, true, err);
	case SET_NAME: return set_name(spec, term, err);
	case SET_SWITCH:
	case SET_NOT_SWITCH: return set_switch(spec, term, row, err);
	case SET_CALLGRAPH: return set_callgraph(spec, term, err);
	case SET_STACK_SIZE:
	case SET_MAX_STACK: return set_stack(spec, term, row->setter, err);
	case SET_BRANCH_TYPE: return set_branch_type(spec, term, err);
	case SET_AUX_OUTPUT:
	case SET_AUX_ACTION:
	case SET_AUX_SAMPLE_SIZE: return set_aux(spec, term, row->setter, err);
	case SET_NOTHING: break;
	}
	return error_set(err, -EINVAL, "term '%s' has no meaning in a recording", term->key);
}
