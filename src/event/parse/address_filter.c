// SPDX-License-Identifier: Apache-2.0
#include "event/parse/address_filter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/parse.h"
#include "event/catalog/pmu.h"
#include "event/parse/place.h"

#define SYNTAX "write filter|start|stop|tracestop START [/ SIZE] [@ FILE]"

/* With @range, the kernel stops the trace inside of it: perf's name is tracestop. */
static const struct action {
	const char *name, *kernel;
	bool range; /* it has a size */
} actions[] = {
	{"filter", "filter", true},
	{"start", "start", false},
	{"stop", "stop", false},
	{"tracestop", "stop", true},
};

/* One filter; owns its strings. */
struct filter_text {
	const struct action *action;
	char *start, *size, *file; /* as written; NULL: not given */
	char path[PATH_MAX];	   /* of the file */
};

static void filter_text_release(struct filter_text *f)
{
	free(f->start);
	free(f->size);
	free(f->file);
}

static const char *skip(const char *at, const char *characters)
{
	return at + strspn(at, characters);
}

/* Takes a word, which may be in single quotes, from *@at. Returns 0, -EINVAL or -ENOMEM. */
static int take_word(const char **at, const char *part, char **ret, struct error *err)
{
	const char *p = skip(*at, " \t");
	bool quoted = *p == '\'';
	/* A path has slashes. */
	const char *ends = quoted ? "'" : !strcmp(part, "FILE") ? " \t," : " \t,/@";
	size_t len = strcspn(p += quoted, ends);

	if (quoted && !p[len])
		return error_set(err, -EINVAL, "the quote before '%.128s' does not end", p);
	if (!len)
		return error_set(err, -EINVAL, "%s is missing: " SYNTAX, part);
	*ret = strndup(p, len);
	if (!*ret)
		return error_sys(err, -ENOMEM, "filter");
	*at = p + len + quoted;
	return 0;
}

static int take_action(const char **at, struct filter_text *f, struct error *err)
{
	size_t len = strcspn(*at, " \t");

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (strlen(actions[i].name) == len && !strncmp(*at, actions[i].name, len))
			f->action = &actions[i];
	if (!f->action)
		return error_set(err, -EINVAL, "'%.*s' is no address filter: " SYNTAX,
				 (int)(len < 64 ? len : 64), *at);
	*at += len;
	return 0;
}

static int take_filter(const char **at, struct filter_text *f, struct error *err)
{
	int rc = take_action(at, f, err);

	if (!rc)
		rc = take_word(at, "START", &f->start, err);
	if (rc)
		return rc;
	*at = skip(*at, " \t");
	if (**at == '#')
		return error_set(err, -EINVAL,
				 "'%.64s': functions are not chosen by number; give the address",
				 *at);
	if (**at == '/') {
		++*at;
		rc = take_word(at, "SIZE", &f->size, err);
		*at = skip(*at, " \t");
	}
	if (!rc && **at == '@') {
		++*at;
		rc = take_word(at, "FILE", &f->file, err);
	}
	return rc;
}

/* The kernel splits filters at blanks and commas, and knows no quotes. */
static int find_file(struct filter_text *f, struct error *err)
{
	char *found = place_find_file(f->file, err);

	if (!found)
		return err->code ? err->code : -ENOENT;
	if (!realpath(found, f->path)) {
		free(found);
		return error_sys(err, -errno, "%.128s", f->file);
	}
	free(found);
	if (strpbrk(f->path, " ,\n"))
		return error_set(err, -EINVAL,
				 "the kernel takes no path with a blank or a comma: '%.128s'",
				 f->path);
	return 0;
}

/* Finds a function, or takes a number: then *@ret_size is 0. */
static int find_address(const struct filter_text *f, const char *text,
			const struct event_symbols *symbols, uint64_t *ret, uint64_t *ret_size,
			struct error *err)
{
	struct event_symbol symbol = {0};
	int rc;

	*ret_size = 0;
	if (isdigit((unsigned char)*text)) {
		rc = parse_u64(text, ret);
		return rc ? error_set(err, rc, "'%.64s' is no address", text) : 0;
	}
	if (!symbols)
		return error_set(err, -EINVAL, "'%.128s': functions cannot be found here", text);
	rc = symbols->find(f->file ? f->path : NULL, text, &symbol, err);
	if (rc)
		return rc;
	if (f->file && (!symbol.function || !symbol.offset))
		return error_set(err, -EINVAL, "'%.128s' is no function in %.128s", text, f->file);
	*ret = f->file ? symbol.offset : symbol.address;
	*ret_size = symbol.size;
	return 0;
}

static int whole_file(const struct filter_text *f, uint64_t *ret_size, struct error *err)
{
	struct stat st;

	if (!f->file)
		return error_set(
			err, -EINVAL,
			"'*' is a whole file, and none is given; :k at the event limits it "
			"to the kernel");
	if (stat(f->path, &st))
		return error_sys(err, -errno, "%.128s", f->path);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

/* Finds where the range of @f begins, and its size; 0: it has none. */
static int find_range(const struct filter_text *f, const struct event_symbols *symbols,
		      uint64_t *ret_start, uint64_t *ret_size, struct error *err)
{
	uint64_t start = 0, size = 0, last, last_size;
	bool all = !strcmp(f->start, "*");
	int rc = all ? whole_file(f, &size, err)
		     : find_address(f, f->start, symbols, &start, &size, err);

	if (rc)
		return rc;
	if (f->size && all)
		return error_set(err, -EINVAL, "'*' is a whole file, and has no other size");
	if (f->size) {
		rc = find_address(f, f->size, symbols, &last, &last_size, err);
		if (rc)
			return rc;
		size = last;
		if (!isdigit((unsigned char)*f->size)) {
			if (last < start)
				return error_set(
					err, -EINVAL,
					"'%.64s' is before '%.64s', where the range begins",
					f->size, f->start);
			size = last_size ? last + last_size - start : 0;
		}
	}
	if (!size && (f->action->range || f->size))
		return error_set(err, -EINVAL,
				 "the size of '%.64s' is unknown: write %s %.64s / SIZE",
				 f->size ? f->size : f->start, f->action->name, f->start);
	*ret_start = start;
	*ret_size = f->action->range || f->size || all ? size : 0;
	return 0;
}

/* Appends the filter at *@at to @b. */
static int translate(const char **at, const struct event_symbols *symbols, struct buf *b,
		     struct error *err)
{
	struct filter_text f = {0};
	char words[64];
	uint64_t start = 0, size = 0;
	int rc = take_filter(at, &f, err), len;

	if (!rc && f.file)
		rc = find_file(&f, err);
	if (!rc)
		rc = find_range(&f, symbols, &start, &size, err);
	if (!rc) {
		len = snprintf(words, sizeof(words),
			       size ? "%s%s 0x%" PRIx64 "/0x%" PRIx64 : "%s%s 0x%" PRIx64,
			       b->len ? "," : "", f.action->kernel, start, size);
		rc = buf_append(b, words, (size_t)len);
		if (!rc && f.file)
			rc = buf_append(b, "@", 1);
		if (!rc && f.file)
			rc = buf_append(b, f.path, strlen(f.path));
		if (rc)
			error_sys(err, rc, "filter");
	}
	filter_text_release(&f);
	return rc;
}

int address_filter_parse(const char *text, const struct event_symbols *symbols, char **ret,
			 size_t *ret_nr, struct error *err)
{
	struct buf b = {0};
	const char *at = skip(text, " \t,");
	size_t nr = 0;
	int rc = 0;

	if (!*at)
		return error_set(err, -EINVAL, "the filter is empty");
	while (!rc && *at) {
		rc = translate(&at, symbols, &b, err);
		at = skip(at, " \t,");
		nr++;
	}
	if (!rc && buf_append(&b, "", 1))
		rc = error_sys(err, -ENOMEM, "filter");
	if (rc) {
		buf_release(&b);
		return rc;
	}
	*ret = (char *)b.data;
	*ret_nr = nr;
	return 0;
}

/* How many filters an event has: each but the first follows a comma. */
static size_t count_filters(const char *filter)
{
	size_t nr = filter != NULL;

	for (; filter && *filter; filter++)
		nr += *filter == ',';
	return nr;
}

/* Checks that the hardware behind @spec has as many filters. */
static int check_room(const struct event_spec *spec, size_t nr, const struct event_env *env,
		      struct error *err)
{
	char path[PATH_MAX], text[32];
	uint64_t most = 0;
	int len;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/nr_addr_filters",
		 env && env->sysfs ? env->sysfs : "/sys", spec->pmu);
	len = read_small_file(path, text, sizeof(text));
	if (len < 0 || parse_u64(text, &most) || !most)
		return error_set(err, -EINVAL, "the PMU %.64s has no address filters", spec->pmu);
	nr += count_filters(spec->filter);
	if (nr > most)
		return error_set(err, -EINVAL, "%zu address filters for %.64s, which has %" PRIu64,
				 nr, spec->name, most);
	return 0;
}

static char *joined(const char *was, const char *filter)
{
	char *ret;

	if (!was)
		return strdup(filter);
	return asprintf(&ret, "%s,%s", was, filter) < 0 ? NULL : ret;
}

int address_filter_set(struct event_list *list, size_t first, const char *text,
		       const struct event_env *env, struct error *err)
{
	char *filter, *longer;
	size_t nr, traces = 0;
	int rc;

	for (size_t i = first; i < list->count; i++)
		traces += list->specs[i].aux;
	if (!traces || traces < list->count - first)
		return event_set_filter(list, first, text, err);
	if (traces > 1)
		return error_set(err, -EINVAL,
				 "an address filter is for one event, and must follow its -e");
	rc = address_filter_parse(text, env ? env->symbols : NULL, &filter, &nr, err);
	if (rc)
		return rc;
	rc = check_room(&list->specs[first], nr, env, err);
	if (!rc) {
		longer = joined(list->specs[first].filter, filter);
		if (longer) {
			free(list->specs[first].filter);
			list->specs[first].filter = longer;
		} else {
			rc = error_sys(err, -ENOMEM, "filter");
		}
	}
	free(filter);
	return rc;
}
