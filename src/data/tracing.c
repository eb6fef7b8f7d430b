// SPDX-License-Identifier: Apache-2.0
#include "data/tracing.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file.h"
#include "data/tracing_check.h"

#define FORMAT_MAX (1u << 20) /* bytes of one format file; the kernel's are a few KiB */

struct tracing {
	struct tep_handle *tep;
};

/* What is left of the blob. After a length that does not fit, @bad is set and nothing is left. */
struct blob {
	const uint8_t *p;
	size_t len;
	bool swap, bad;
};

/* The tracepoints that formats are wanted for, sorted. */
struct wanted {
	uint64_t *config;
	size_t nr;
};

static const uint8_t *take(struct blob *b, uint64_t len)
{
	const uint8_t *p = b->p;

	if (b->bad || len > b->len) {
		b->bad = true;
		b->len = 0;
		return NULL;
	}
	b->p += len;
	b->len -= len;
	return p;
}

static uint32_t take_u32(struct blob *b)
{
	const uint8_t *p = take(b, 4);

	return p ? load_u32(p, b->swap) : 0;
}

static uint64_t take_u64(struct blob *b)
{
	const uint8_t *p = take(b, 8);

	return p ? load_u64(p, b->swap) : 0;
}

/* A string with its NUL, or NULL. */
static const char *take_string(struct blob *b)
{
	size_t n = strnlen((const char *)b->p, b->len);

	return (const char *)take(b, n + 1);
}

static bool take_tag(struct blob *b, const char *tag, size_t len)
{
	const uint8_t *p = take(b, len);

	return p && !memcmp(p, tag, len);
}

/* libtraceevent wants text that it may write to and that ends with a NUL. */
static char *text_dup(const uint8_t *p, size_t len)
{
	char *text = malloc(len + 1);

	if (text) {
		memcpy(text, p, len);
		text[len] = '\0';
	}
	return text;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int list_wanted(const struct pd_evlist *list, struct wanted *w)
{
	size_t nr = pd_evlist_count(list);

	w->nr = 0;
	w->config = calloc(nr + 1, sizeof(*w->config));
	if (!w->config)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct pd_attr *attr = &pd_evlist_at(list, i)->attr;

		if (attr->type == PERF_TYPE_TRACEPOINT)
			w->config[w->nr++] = attr->config;
	}
	qsort(w->config, w->nr, sizeof(*w->config), compare);
	return 0;
}

/* The number in the line "ID: n" that every format has near its beginning. */
static bool format_is_wanted(const char *text, const struct wanted *w)
{
	const char *at = strstr(text, "\nID:");
	uint64_t id;

	if (!at)
		return false;
	id = strtoull(at + 4, NULL, 10);
	return w->nr && bsearch(&id, w->config, w->nr, sizeof(id), compare);
}

/*
 * Gives a format to libtraceevent, without its way of printing if that makes no sense: the fields
 * are then still known. Returns false if something was left out.
 */
static bool give_format(struct tracing *t, char *text, const char *sys)
{
	const char *print = tracing_fields_end(text);
	bool good;

	if (!print)
		return false;
	good = tracing_print_is_good(text, print);
	/* There is room: what is not good has at least "REC->" there. */
	if (!good)
		strcpy(text + (print - text) + strlen("print fmt:"), "\"\"\n");
	return !tep_parse_event(t->tep, text, strlen(text), sys) && good;
}

static int load_format(struct data_file *df, struct tracing *t, struct blob *b, const char *sys,
		       const struct wanted *w)
{
	uint64_t size = take_u64(b);
	const uint8_t *p = take(b, size);
	char *text;

	if (!p || size > FORMAT_MAX)
		return 0;
	text = text_dup(p, (size_t)size);
	if (!text)
		return -ENOMEM;
	if (format_is_wanted(text, w) && !give_format(t, text, sys))
		data_note(df, DATA_ODD, 0, 0, "a tracepoint format of %.60s that does not parse",
			  sys);
	free(text);
	return 0;
}

static int load_formats(struct data_file *df, struct tracing *t, struct blob *b, const char *sys,
			const struct wanted *w)
{
	uint32_t nr = take_u32(b);
	int r = 0;

	for (uint32_t i = 0; i < nr && !b->bad && !r; i++)
		r = load_format(df, t, b, sys, w);
	return r;
}

static int load_systems(struct data_file *df, struct tracing *t, struct blob *b,
			const struct wanted *w)
{
	uint32_t nr = take_u32(b);
	int r = 0;

	for (uint32_t i = 0; i < nr && !b->bad && !r; i++) {
		const char *sys = take_string(b);

		if (sys)
			r = load_formats(df, t, b, sys, w);
	}
	return r;
}

static int load_header_page(struct tracing *t, struct blob *b)
{
	uint64_t size;
	const uint8_t *p;
	char *text;

	if (!take_tag(b, "header_page", 12))
		return -EBADMSG;
	size = take_u64(b);
	p = take(b, size);
	if (!p || size > FORMAT_MAX)
		return -EBADMSG;
	text = text_dup(p, (size_t)size);
	if (!text)
		return -ENOMEM;
	/* The kernel's long, which may be wider than that of the recording program. */
	if (!tep_parse_header_page(t->tep, text, strlen(text), tep_get_long_size(t->tep)) &&
	    (tep_get_header_page_size(t->tep) == 4 || tep_get_header_page_size(t->tep) == 8))
		tep_set_long_size(t->tep, tep_get_header_page_size(t->tep));
	free(text);
	if (!take_tag(b, "header_event", 13))
		return -EBADMSG;
	take(b, take_u64(b));
	return b->bad ? -EBADMSG : 0;
}

/*
 * A line of printk_formats: 0xADDRESS : "format". Taken apart here since libtraceevent reads beyond
 * the end of a line that is cut.
 */
static void load_printk_line(struct tracing *t, char *line)
{
	char *end, *format;
	unsigned long long addr = strtoull(line, &end, 16);
	size_t len;

	if (end == line)
		return;
	format = end + strspn(end, " :");
	len = strlen(format);
	if (len > 2 && format[0] == '"' && format[len - 1] == '"')
		tep_register_print_string(t->tep, format, addr);
}

static int load_printk(struct tracing *t, struct blob *b)
{
	uint32_t size;
	const uint8_t *p;
	char *text, *line, *rest;

	take(b, take_u32(b)); /* kallsyms */
	size = take_u32(b);
	p = take(b, size);
	if (!p || !size)
		return 0;
	text = text_dup(p, size);
	if (!text)
		return -ENOMEM;
	rest = text;
	while ((line = strsep(&rest, "\n")))
		load_printk_line(t, line);
	free(text);
	return 0;
}

static int load_preamble(struct tracing *t, struct blob *b)
{
	const uint8_t *order, *long_size;
	bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	uint32_t page_size;

	if (!take_tag(b, "\x17\x08\x44tracing", 10) || !take_string(b))
		return -EBADMSG;
	order = take(b, 1);
	long_size = take(b, 1);
	if (!long_size || *order > 1 || (*long_size != 4 && *long_size != 8))
		return -EBADMSG;
	b->swap = *order != host_big;
	page_size = take_u32(b);
	if (!page_size || page_size > INT_MAX)
		return -EBADMSG;
	tep_set_file_bigendian(t->tep, *order ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(t->tep, host_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(t->tep, *long_size);
	tep_set_page_size(t->tep, (int)page_size);
	return load_header_page(t, b);
}

/* "sys:name" for tracepoints whose name was only made from the attribute. */
static int set_names(struct data_file *df, const struct tracing *t)
{
	size_t nr = pd_evlist_count(df->list);

	for (size_t i = 0; i < nr; i++) {
		struct pd_evsel *evsel = pd_evlist_at(df->list, i);
		struct tep_event *event = tracing_event(t, evsel);
		char made[128], *name;
		int r;

		pd_attr_name(&evsel->attr, made, sizeof(made));
		if (!event || strcmp(made, evsel->name))
			continue;
		if (asprintf(&name, "%s:%s", event->system, event->name) < 0)
			return -ENOMEM;
		r = pd_evsel_set_name(evsel, name);
		free(name);
		if (r)
			return r;
	}
	return 0;
}

static int load(struct data_file *df, struct tracing *t, struct blob *b)
{
	struct wanted w;
	int r = list_wanted(df->list, &w);

	if (r)
		return r;
	t->tep = tep_alloc();
	if (!t->tep) {
		r = -ENOMEM;
		goto out;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_flag(t->tep, TEP_NSEC_OUTPUT);
	r = load_preamble(t, b);
	if (!r)
		r = load_formats(df, t, b, "ftrace", &w);
	if (!r)
		r = load_systems(df, t, b, &w);
	if (!r && b->bad)
		data_note(df, DATA_DAMAGED, 0, 0, "the tracepoint formats are cut");
	else if (!r)
		r = load_printk(t, b);
	if (!r)
		r = set_names(df, t);
out:
	free(w.config);
	return r;
}

int tracing_load(struct data_file *df, struct tracing **ret, struct error *err)
{
	struct tracing *t;
	struct blob b = {0};
	int r = data_feature(df, HEADER_TRACING_DATA, &b.p, &b.len);

	if (r)
		return r;
	t = calloc(1, sizeof(*t));
	if (!t)
		return error_set(err, -ENOMEM, "out of memory");
	r = load(df, t, &b);
	if (r) {
		tracing_free(t);
		return error_set(err, r, "%s: the tracepoint formats cannot be read",
				 data_segment_path(df, 0));
	}
	*ret = t;
	return 0;
}

void tracing_free(struct tracing *t)
{
	if (!t)
		return;
	if (t->tep)
		tep_free(t->tep);
	free(t);
}

struct tep_handle *tracing_tep(const struct tracing *t)
{
	return t->tep;
}

struct tep_event *tracing_event(const struct tracing *t, const struct pd_evsel *evsel)
{
	if (evsel->attr.type != PERF_TYPE_TRACEPOINT || evsel->attr.config > INT_MAX)
		return NULL;
	return tep_find_event(t->tep, (int)evsel->attr.config);
}
