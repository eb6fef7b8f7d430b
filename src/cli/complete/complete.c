// SPDX-License-Identifier: Apache-2.0
#include "cli/complete/complete.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "cli/complete/options.h"
#include "cli/complete/values.h"

/* Of a description; shells show it beside the word. */
#define WHAT_MAX 60

/* Returns the length of the beginning of @what that is shown: whole words of its first line. */
static size_t what_length(const char *what)
{
	size_t len = strcspn(what, "\n\v;:.("), last;

	while (len && what[len - 1] == ' ')
		len--;
	if (len <= WHAT_MAX)
		return len;
	for (last = WHAT_MAX; last && what[last] != ' '; last--)
		;
	return last ? last : WHAT_MAX;
}

void complete_offer(const char *prefix, const char *word, const char *what, FILE *out)
{
	if (strncmp(prefix, word, strlen(prefix)) != 0)
		return;
	fprintf(out, "%s\t%.*s\n", word, what ? (int)what_length(what) : 0, what ? what : "");
}

/* --- the options of a command --------------------------------------------------------------------
 */

struct option_search {
	const char *name; /* NULL: by @key */
	size_t len;
	int key;
	const struct argp_option *found;
};

static bool is_option(const struct argp_option *o, const struct argp_option *named, void *arg)
{
	struct option_search *s = arg;

	if (!option_is_shown(o, named))
		return false;
	if (s->name ? !o->name || strlen(o->name) != s->len || memcmp(o->name, s->name, s->len) != 0
		    : o->key != s->key)
		return false;
	s->found = named;
	return true;
}

/* Returns the option --name (@len characters of it), which has an argument; NULL: there is none. */
static const struct argp_option *find_option(const struct argp *root, struct option_search s)
{
	options_each(root, is_option, &s);
	return s.found && s.found->arg ? s.found : NULL;
}

/*
 * Returns the option of @word whose argument is the word behind it; NULL: it has none, or has it
 * in itself.
 */
static const struct argp_option *wants_next(const struct argp *root, const char *word)
{
	const struct argp_option *o;
	size_t len = strlen(word);

	if (*word != '-' || len < 2 || !strcmp(word, "--"))
		return NULL;
	if (word[1] == '-') {
		o = find_option(root, (struct option_search){.name = word + 2, .len = len - 2});
		return o && !(o->flags & OPTION_ARG_OPTIONAL) ? o : NULL;
	}
	for (size_t i = 1; i < len; i++) {
		o = find_option(root, (struct option_search){.key = (unsigned char)word[i]});
		if (o)
			return i + 1 == len && !(o->flags & OPTION_ARG_OPTIONAL) ? o : NULL;
	}
	return NULL;
}

/* --- what is offered -----------------------------------------------------------------------------
 */

struct offers {
	const char *word; /* to complete */
	size_t head;	  /* characters of it before the part that is completed */
	FILE *out;
};

static bool offer_option(const struct argp_option *o, const struct argp_option *named, void *arg)
{
	const struct offers *f = arg;
	char text[128];

	if (!option_is_shown(o, named))
		return false;
	if (o->name) {
		snprintf(text, sizeof(text), "--%s%s", o->name,
			 named->arg && !(named->flags & OPTION_ARG_OPTIONAL) ? "=" : "");
		complete_offer(f->word, text, named->doc, f->out);
	}
	if (o->key > 0 && o->key < 256 && isgraph(o->key)) {
		snprintf(text, sizeof(text), "-%c", o->key);
		complete_offer(f->word, text, named->doc, f->out);
	}
	return false;
}

static void offer_value(void *arg, const char *value, const char *what)
{
	const struct offers *f = arg;

	if (strncmp(f->word + f->head, value, strlen(f->word + f->head)) != 0)
		return;
	fprintf(f->out, "%.*s", (int)f->head, f->word);
	complete_offer("", value, what, f->out);
}

/* Completes the value that begins at @head of the word. */
static void offer_values(const char *placeholder, const char *word, size_t head, FILE *out)
{
	struct offers f = {word, head, out};
	const char *comma = strrchr(word + head, ',');
	bool list;

	switch (values_kind(placeholder, &list)) {
	case VALUE_FILE: fprintf(out, ":files\t%.*s\n", (int)head, word); break;
	case VALUE_DIRECTORY: fprintf(out, ":directories\t%.*s\n", (int)head, word); break;
	case VALUE_LISTED:
		if (list && comma)
			f.head = (size_t)(comma + 1 - word);
		else if (list && word[head] == '+')
			f.head++;
		values_each(placeholder, offer_value, &f);
		break;
	case VALUE_UNKNOWN: break;
	}
}

/* Returns the arguments of a command; argp_parse() may have made it a child of a table of its own.
 */
static const char *arguments_of(const struct argp *argp)
{
	const char *doc = argp->args_doc;

	for (const struct argp_child *c = argp->children; !doc && c && c->argp; c++)
		doc = arguments_of(c->argp);
	return doc;
}

/* "extract|show|table [FILE]": the first argument is one of these words, others are files. */
static void offer_argument(const char *doc, const char *word, size_t number, size_t first,
			   FILE *out)
{
	bool list;

	if (!doc)
		return;
	if (!number && values_kind(doc, &list) == VALUE_LISTED)
		offer_values(doc, word, 0, out);
	else if (strstr(doc, "COMMAND"))
		fprintf(out, ":command\t%zu\n", first);
	else if (strstr(doc, "FILE") || strstr(doc, "BEFORE"))
		fprintf(out, ":files\t\n");
}

void complete_word(const struct argp *root, char *const *words, size_t nr, FILE *out)
{
	const struct argp_option *wanting = NULL, *o;
	const char *word = words[nr - 1], *equals = strchr(word, '=');
	const char *doc = arguments_of(root);
	bool command = doc && strstr(doc, "COMMAND"), ended = false;
	size_t arguments = 0, first = nr - 1;

	for (size_t i = 0; i + 1 < nr; i++) {
		if (wanting)
			wanting = NULL;
		else if (!ended && !strcmp(words[i], "--"))
			ended = true;
		else if (ended || words[i][0] != '-' || !words[i][1])
			first = arguments++ ? first : i;
		else
			wanting = wants_next(root, words[i]);
		/* Behind a command, all words are its own. */
		ended |= command && arguments;
	}
	if (wanting) {
		offer_values(wanting->arg, word, 0, out);
	} else if (ended || *word != '-') {
		offer_argument(doc, word, arguments, first, out);
	} else if (!strncmp(word, "--", 2) && equals) {
		o = find_option(root, (struct option_search){.name = word + 2,
							     .len = (size_t)(equals - word) - 2});
		if (o)
			offer_values(o->arg, word, (size_t)(equals + 1 - word), out);
	} else {
		options_each(root, offer_option, &(struct offers){word, 0, out});
	}
}
