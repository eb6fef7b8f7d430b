// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/input/input.h"
#include "cli/input/output.h"
#include "cli/machine/commands.h"
#include "cli/terminal/terminal.h"
#include "event/catalog/suggest.h"
#include "event/listing/listing.h"
#include "perfdata/abi.h"
#include "render/json.h"
#include "render/text.h"
#include "sys/kernel/perf_event.h"

#define WIDTH	     80 /* of a terminal that does not say */
#define NAME_COLUMNS 34
#define INDENT	     2

struct list_args {
	struct listing_choice choice;
	const char **words; /* behind the kinds; owned */
	bool verbose, json, quiet;
	enum { LOOK_DEFAULT, LOOK_PLAIN } look;
	const char *path; /* of the output; NULL: standard output */
};

enum {
	OPT_RAW_DUMP = 0x7000,
	OPT_DESC,
};

static const struct argp_option options[] = {
	{"verbose", 'v', NULL, 0, "Show terms, unit masks and the fields of tracepoints, too", 0},
	{"json", 'j', NULL, 0, "Write all of it as JSON", 0},
	{"output", 'o', "FILE", 0, "Write to FILE", 0},
	{"raw-dump", OPT_RAW_DUMP, NULL, 0, "Write the names alone", 0},
	{"quiet", 'q', NULL, 0, "Do not print why kinds of events are missing", 0},
	REFUSED("no-desc", OPT_DESC, "--raw-dump writes names alone"),
	REFUSED("desc", 'd', "descriptions are always shown"),
	REFUSED("long-desc", OPT_DESC + 1, "-v shows all that is known of an event"),
	REFUSED("details", OPT_DESC + 2, "-v shows all that is known of an event"),
	REFUSED("deprecated", OPT_DESC + 3, "there is no list of deprecated events"),
	REFUSED("unit", OPT_DESC + 4, "give the name of the PMU: 'ringtail list uncore'"),
	{0},
};

/* Kinds of perf that are none here. */
static void refuse_kind(const struct argp_state *state, const char *word)
{
	if (!strcmp(word, "metric") || !strcmp(word, "metrics") || !strcmp(word, "metricgroup") ||
	    !strcmp(word, "metricgroups"))
		usage_error(state, "there are no metrics, which need counts: use 'perf stat -M'");
	if (!strcmp(word, "sdt"))
		usage_error(state, "there is no list of SDT markers: 'readelf -n FILE' shows those "
				   "of a program, 'perf list sdt' those that perf knows");
}

static void take_word(struct list_args *a, const struct argp_state *state, const char *word)
{
	enum listing_kind kind;

	refuse_kind(state, word);
	if (listing_kind_find(word, &kind))
		a->choice.kinds[kind] = true;
	else
		a->words[a->choice.nr_words++] = word;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_args *a = state->input;

	switch (key) {
	case 'v': a->verbose = true; break;
	case 'q': a->quiet = true; break;
	case 'j': a->json = true; break;
	case 'o': a->path = arg; break;
	case OPT_RAW_DUMP: a->look = LOOK_PLAIN; break;
	case ARGP_KEY_ARG: take_word(a, state, arg); break;
	default: return refuse_option(options, key, state);
	}
	return 0;
}

/* --- text ----------------------------------------------------------------------------------------
 */

struct list_output {
	const struct list_args *args;
	bool terminal;
	size_t width;
	int last_kind; /* -1: none yet */
	size_t shown;
	json_t *events; /* with --json */
};

/* Writes @text from column @at on in lines of the terminal's width, indented by @indent. */
static void put_wrapped(const char *text, size_t at, size_t indent, size_t width)
{
	while (*text) {
		size_t len = strcspn(text, " "), gap = at > indent;

		if (gap && at + 1 + len > width) {
			printf("\n%*s", (int)indent, "");
			at = indent;
			gap = 0;
		}
		printf("%s%.*s", gap ? " " : "", (int)len, text);
		at += gap + len;
		text += len + (text[len] == ' ');
	}
}

static void put_padded(size_t at, size_t to)
{
	if (at < to)
		printf("%*s", (int)(to - at), "");
	else
		printf("\n%*s", (int)to, "");
}

static void put_for_people(struct list_output *o, const struct listed_event *e)
{
	const char *title;
	size_t at;

	listing_kind_word(e->kind, &title);
	if (o->last_kind != (int)e->kind)
		printf("%s%s:\n", o->shown ? "\n" : "", title);
	at = (size_t)printf("%*s%s", INDENT, "", e->name);
	if (e->alias && e->kind != LISTING_PMU)
		at += (size_t)printf(" or %s", e->alias);
	if (e->what) {
		put_padded(at, NAME_COLUMNS);
		put_wrapped(e->what, NAME_COLUMNS, NAME_COLUMNS, o->width);
	}
	putchar('\n');
	for (size_t i = 0; (o->args->verbose || e->kind == LISTING_PMU) && i < e->nr_terms; i++) {
		printf("%*s", 2 * INDENT, "");
		put_wrapped(e->terms[i], 2 * INDENT, 4 * INDENT, o->width);
		putchar('\n');
	}
}

/* A line for programs: name, kind, description, other name, terms, with tabs between. */
static void put_plain(const struct list_output *o, const struct listed_event *e)
{
	printf("%s\t%s\t%s\t%s", e->name, listing_kind_word(e->kind, NULL), e->what ? e->what : "",
	       e->alias ? e->alias : "");
	for (size_t i = 0; (o->args->verbose || e->kind == LISTING_PMU) && i < e->nr_terms; i++)
		printf("%c%s", i ? ';' : '\t', e->terms[i]);
	putchar('\n');
}

static void put_name(const struct listed_event *e)
{
	if (!e->pattern)
		printf("%s\n", e->name);
}

/* --- JSON ----------------------------------------------------------------------------------------
 */

static int add_text(json_t *object, const char *key, const char *text)
{
	return text ? json_object_set_new(object, key, json_name(text)) : 0;
}

static int add_json(struct list_output *o, const struct listed_event *e)
{
	json_t *object = json_object(), *terms = json_array();
	int rc = add_text(object, "kind", listing_kind_word(e->kind, NULL)) ||
		 add_text(object, "name", e->name) || add_text(object, "alias", e->alias) ||
		 add_text(object, "description", e->what) ||
		 (e->pattern && json_object_set_new(object, "pattern", json_true()));

	for (size_t i = 0; !rc && i < e->nr_terms; i++)
		rc = json_array_append_new(terms, json_name(e->terms[i]));
	rc = json_object_set_new(object, "terms", terms) || rc;
	rc = json_array_append_new(o->events, object) || rc;
	return rc ? -ENOMEM : 0;
}

/* -------------------------------------------------------------------------------------------------
 */

static int take_event(void *arg, const struct listed_event *e)
{
	struct list_output *o = arg;
	int rc = 0;

	if (o->args->json)
		rc = add_json(o, e);
	else if (o->args->look == LOOK_PLAIN)
		put_name(e);
	else if (o->terminal)
		put_for_people(o, e);
	else
		put_plain(o, e);
	o->last_kind = (int)e->kind;
	o->shown++;
	return rc;
}

/* A refusal for other reasons than a lack of the event counts as presence. */
static bool machine_counts(uint32_t type, uint64_t config)
{
	struct pd_attr attr = {.type = type,
			       .size = PD_ATTR_SIZE_VER0,
			       .config = config,
			       .flags = PD_ATTR_DISABLED | PD_ATTR_EXCLUDE_KERNEL |
					PD_ATTR_EXCLUDE_HV};
	int fd = perf_event_open(&attr, 0, -1, -1);

	if (fd < 0)
		return fd == -EACCES || fd == -EPERM || fd == -EMFILE || fd == -EBUSY;
	close(fd);
	return true;
}

static bool wants(const struct listing_choice *c, enum listing_kind kind)
{
	bool all = true;

	for (size_t i = 0; i < LISTING_KINDS; i++)
		all &= !c->kinds[i];
	return all || c->kinds[kind];
}

static int note_event(void *arg, const struct listed_event *e)
{
	bool *found = arg;

	*found |= !e->pattern;
	return 0;
}

/* Whether the words match events that CPUs have, and the counters of this machine do not count. */
static bool lacks_counters(const struct list_args *a)
{
	const struct event_env here = {0};
	struct listing_choice every = {
		.kinds = {[LISTING_HARDWARE] = true, [LISTING_CACHE] = true},
		.words = a->choice.words,
		.nr_words = a->choice.nr_words,
	};
	struct error err = ERROR_INIT;
	bool found = false;

	return !listing_each(&here, &every, note_event, &found, &err) && found;
}

static void explain_words(const struct list_args *a)
{
	const struct event_env here = {0};
	char near[256] = "";

	if (lacks_counters(a)) {
		complain("no counter of this machine counts '%s': many virtual machines offer "
			 "none; record cpu-clock, and 'ringtail doctor' says more",
			 a->words[0]);
		return;
	}
	if (a->choice.nr_words == 1)
		suggest_event(&here, a->words[0], near, sizeof(near));
	complain("no event matches '%s'%s", a->words[0], near);
}

/* Prints why kinds of events that were asked for are missing, and the nearest name. */
static int explain(const struct list_args *a, const struct list_output *o, const struct error *err)
{
	/* Tracepoints do not matter to somebody who searched for another event. */
	bool known = a->choice.nr_words && (o->shown || lacks_counters(a));

	if (!a->quiet && *err->text && !known)
		complain("%s", err->text);
	if (!a->quiet &&
	    (wants(&a->choice, LISTING_HARDWARE) || wants(&a->choice, LISTING_CACHE) ||
	     wants(&a->choice, LISTING_VENDOR) || wants(&a->choice, LISTING_RAW)) &&
	    !a->choice.nr_words && !machine_counts(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))
		complain("no events of the CPU: this machine offers no counters, as many virtual "
			 "machines; record cpu-clock");
	if (o->shown)
		return 0;
	if (a->choice.nr_words)
		explain_words(a);
	else if (!*err->text && wants(&a->choice, LISTING_PROBE))
		complain("no probes are defined here: 'ringtail record -e uprobe:FILE:FUNCTION' "
			 "makes one for its time");
	return -ENOENT;
}

/* Makes the file standard output. Returns 0 or a negative errno, which it has printed. */
static int open_output(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = fd < 0 || dup2(fd, STDOUT_FILENO) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (rc)
		complain("%s: %s", path, strerror(-rc));
	return rc;
}

static int list(struct list_args *a)
{
	const struct event_env here = {0};
	struct list_output o = {.args = a, .terminal = isatty(STDOUT_FILENO), .last_kind = -1};
	struct winsize size;
	struct error err = ERROR_INIT;
	json_t *doc = NULL;
	int rc;

	o.width = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : WIDTH;
	if (a->json) {
		doc = json_object();
		o.events = json_array();
		json_object_set_new(doc, "events", o.events);
	}
	a->choice.fields = a->verbose || a->json;
	output_begin();
	rc = listing_each(&here, &a->choice, take_event, &o, &err);
	if (!rc && doc)
		rc = json_write(stdout, doc);
	else
		json_decref(doc);
	if (rc == -ENOMEM)
		complain("%s", strerror(-rc));
	return rc ? rc : explain(a, &o, &err);
}

int cmd_list(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&pager_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[WORD...]",
		.doc = "Show the events of this machine. WORD is a kind (hw, sw, cache, pmu, "
		       "vendor, raw, breakpoint, probe, tracepoint), a part of a name, or a "
		       "pattern such as 'sched:*'.",
		.children = children,
	};
	struct list_args a = {.choice.counts = machine_counts};
	int rc;

	a.words = calloc((size_t)argc + 1, sizeof(*a.words));
	a.choice.words = a.words;
	if (!a.words || argp_parse(&argp, argc, argv, 0, NULL, &a))
		exit(EXIT_USAGE);
	rc = a.path ? open_output(a.path) : 0;
	if (!rc)
		rc = list(&a);
	free(a.words);
	return input_end(NULL, NULL, rc);
}
