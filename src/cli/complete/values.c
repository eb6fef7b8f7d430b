// SPDX-License-Identifier: Apache-2.0
#include "cli/complete/values.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "event/catalog/suggest.h"
#include "event/listing/listing.h"
#include "report/script/script.h"
#include "report/table/columns.h"

struct value_taker {
	value_fn fn;
	void *arg;
};

static void take_name(void *arg, const char *name)
{
	const struct value_taker *t = arg;

	t->fn(t->arg, name, NULL);
}

static void each_event(value_fn fn, void *arg)
{
	const struct event_env here = {0};
	struct value_taker t = {fn, arg};

	suggest_each(&here, take_name, &t);
}

/* Kinds of events, and their names. */
static void each_list_word(value_fn fn, void *arg)
{
	const char *title;

	for (size_t i = 0; i < LISTING_KINDS; i++) {
		const char *word = listing_kind_word((enum listing_kind)i, &title);

		fn(arg, word, title);
	}
	each_event(fn, arg);
}

static void each_key(value_fn fn, void *arg)
{
	const struct sort_key *key;

	for (size_t i = 0; (key = sort_key_at(i)); i++)
		fn(arg, key->name, key->header);
}

/* Of report -F: sums, and keys. */
static void each_column(value_fn fn, void *arg)
{
	const struct field *field;

	for (size_t i = 0; (field = field_at(i)); i++)
		fn(arg, field->name, field->header);
	each_key(fn, arg);
}

static void each_field(value_fn fn, void *arg)
{
	const char *name;

	for (size_t i = 0; (name = script_field_at(i)); i++)
		fn(arg, name, NULL);
}

/* With the names of their programs. */
static void each_process(value_fn fn, void *arg)
{
	char path[300], comm[64];
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	FILE *f;

	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f))
			fn(arg, entry->d_name, comm);
		fclose(f);
	}
	if (dir)
		closedir(dir);
}

static const struct {
	const char *word;
	enum value_kind kind;
	bool list;
	void (*each)(value_fn fn, void *arg);
} placeholders[] = {
	{"EVENT", VALUE_LISTED, true, each_event}, {"[WORD", VALUE_LISTED, false, each_list_word},
	{"KEYS", VALUE_LISTED, true, each_key},	   {"FIELDS", VALUE_LISTED, true, each_column},
	{"[TYPE", VALUE_LISTED, true, each_field}, {"PID", VALUE_LISTED, true, each_process},
	{"TID", VALUE_LISTED, true, each_process}, {"FILE", VALUE_FILE, false, NULL},
	{"DIR", VALUE_DIRECTORY, false, NULL},
};

#define NR_PLACEHOLDERS (sizeof(placeholders) / sizeof(*placeholders))

/* Returns the index of a placeholder's first word; NR_PLACEHOLDERS: it has no meaning here. */
static size_t find(const char *placeholder)
{
	size_t len = strcspn(placeholder + 1, "[,:|.") + 1, i;

	for (i = 0; i < NR_PLACEHOLDERS; i++)
		if (strlen(placeholders[i].word) == len &&
		    !memcmp(placeholders[i].word, placeholder, len))
			break;
	return i;
}

/* always|never[,SIZE]: words in lower case, up to what is not one. */
static bool has_choices(const char *placeholder)
{
	return islower((unsigned char)*placeholder) && strchr(placeholder, '|');
}

enum value_kind values_kind(const char *placeholder, bool *ret_list)
{
	size_t i = find(placeholder);

	*ret_list = i < NR_PLACEHOLDERS && placeholders[i].list;
	if (i < NR_PLACEHOLDERS)
		return placeholders[i].kind;
	return has_choices(placeholder) ? VALUE_LISTED : VALUE_UNKNOWN;
}

void values_each(const char *placeholder, value_fn fn, void *arg)
{
	size_t i = find(placeholder), len, word;
	char choice[64];

	if (i < NR_PLACEHOLDERS && placeholders[i].each) {
		placeholders[i].each(fn, arg);
		return;
	}
	for (const char *s = placeholder; has_choices(placeholder) && *s;
	     s += len + (s[len] == '|')) {
		len = strcspn(s, "|");
		for (word = 0; word < len && (islower((unsigned char)s[word]) || s[word] == '-' ||
					      isdigit((unsigned char)s[word]));
		     word++)
			;
		if (!word || word >= sizeof(choice))
			continue;
		memcpy(choice, s, word);
		choice[word] = '\0';
		fn(arg, choice, NULL);
	}
}
