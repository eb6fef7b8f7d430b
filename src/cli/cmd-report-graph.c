// SPDX-License-Identifier: Apache-2.0
#include "cli/cmd-report-graph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"

#define JOINED "--call-graph="

enum word_kind {
	WORD_STYLE,
	WORD_NONE,
	WORD_ORDER,
	WORD_VALUE,
	WORD_KEY,
	WORD_BRANCH,
};

static const struct graph_word {
	const char *name;
	enum word_kind kind;
	int value;
} words[] = {
	{"graph", WORD_STYLE, GRAPH_TREE},
	{"fractal", WORD_STYLE, GRAPH_FRACTAL},
	{"flat", WORD_STYLE, GRAPH_FLAT},
	{"folded", WORD_STYLE, GRAPH_FOLDED},
	{"none", WORD_NONE, 0},
	{"caller", WORD_ORDER, REPORT_GRAPH_CALLER},
	{"callee", WORD_ORDER, REPORT_GRAPH_CALLEE},
	{"percent", WORD_VALUE, GRAPH_PERCENT},
	{"period", WORD_VALUE, GRAPH_PERIOD},
	{"count", WORD_VALUE, GRAPH_SAMPLES},
	{"function", WORD_KEY, CALLGRAPH_BY_FUNCTION},
	{"address", WORD_KEY, CALLGRAPH_BY_ADDRESS},
	{"srcline", WORD_KEY, CALLGRAPH_BY_LINE},
	{"branch", WORD_BRANCH, 0},
};

static const struct graph_word *find_word(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(words[i].name, name, len) && !words[i].name[len])
			return &words[i];
	return NULL;
}

static void apply_word(const struct graph_word *w, struct graph_spec *ret)
{
	switch (w->kind) {
	case WORD_STYLE: ret->style = (enum graph_style)w->value; break;
	case WORD_NONE: ret->order = REPORT_GRAPH_NONE; break;
	case WORD_ORDER:
		ret->order = (enum report_graph)w->value;
		ret->ordered = true;
		break;
	case WORD_VALUE: ret->value = (enum graph_value)w->value; break;
	case WORD_KEY:
		ret->key = (enum callgraph_key)w->value;
		ret->keyed = true;
		break;
	case WORD_BRANCH: ret->branches = true; break;
	}
}

/* The first number is the percentage, the second the limit. */
static int apply_number(const char *part, unsigned int nth, struct graph_spec *ret,
			struct error *err)
{
	uint64_t limit;
	char *end;
	double v;

	if (nth == 1) {
		if (parse_u64(part, &limit) < 0 || limit > UINT32_MAX)
			return error_set(err, -EINVAL, "'%s' is no number of branches", part);
		ret->limit = (unsigned int)limit;
		return 0;
	}
	if (nth > 1)
		return error_set(
			err, -EINVAL,
			"'%s' is one number too many: give a percentage and a limit at most", part);
	v = strtod(part, &end);
	if (*end || !(v >= 0 && v <= 100))
		return error_set(err, -EINVAL, "'%s' is no percentage from 0 to 100", part);
	ret->percent = v;
	return 0;
}

static bool is_number(const char *s)
{
	return (s[0] >= '0' && s[0] <= '9') || (s[0] == '.' && s[1] >= '0' && s[1] <= '9');
}

int graph_spec_parse(const char *arg, struct graph_spec *ret, struct error *err)
{
	unsigned int numbers = 0;
	char part[64];
	int rc = 0;

	ret->given = true;
	if (ret->order == REPORT_GRAPH_NONE)
		ret->order = REPORT_GRAPH_CALLER; /* of an earlier -g none */
	for (const char *s = arg; s && !rc; s = *s ? s + 1 : NULL) {
		size_t len = strcspn(s, ",");
		const struct graph_word *w = find_word(s, len);

		snprintf(part, sizeof(part), "%.*s", (int)len, s);
		if (w)
			apply_word(w, ret);
		else if (is_number(part))
			rc = apply_number(part, numbers++, ret, err);
		else if (len)
			rc = error_set(err, -EINVAL,
				       "'%s' is none of graph, flat, fractal, folded, none, "
				       "caller, callee, function, address, srcline, branch, "
				       "percent, period, count, or a percentage",
				       part);
		s += len;
	}
	return rc;
}

/* Whether @word, which follows -g, is its argument: not an option, and not the recording. */
static bool is_spec(const char *word)
{
	size_t len = strcspn(word, ",");

	if (word[0] == '-' || word[0] == '\0')
		return false;
	if (find_word(word, len) || is_number(word))
		return true;
	/* A word that is nothing else is better explained than looked for. */
	return (word[len] || !strpbrk(word, "./")) && access(word, F_OK) != 0;
}

char **graph_spec_join(int *argc, char **argv)
{
	char **ret = calloc((size_t)*argc + 1, sizeof(*ret));
	int n = 0;

	for (int i = 0; ret && i < *argc; i++) {
		bool is_g = !strcmp(argv[i], "-g") || !strcmp(argv[i], "--call-graph");

		ret[n] = argv[i];
		if (is_g && i + 1 < *argc && is_spec(argv[i + 1])) {
			i++;
			if (asprintf(&ret[n], JOINED "%s", argv[i]) < 0) {
				ret[n] = NULL;
				graph_spec_join_free(ret, argv);
				return NULL;
			}
		}
		n++;
	}
	if (ret)
		*argc = n;
	return ret;
}

static bool is_of(const char *word, char **argv)
{
	for (; *argv; argv++)
		if (*argv == word)
			return true;
	return false;
}

void graph_spec_join_free(char **joined, char **argv)
{
	for (size_t i = 0; joined && joined[i]; i++)
		if (!is_of(joined[i], argv))
			free(joined[i]);
	free(joined);
}
