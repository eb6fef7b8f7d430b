// SPDX-License-Identifier: Apache-2.0
#include "data/tracing/tracing.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/file/file_priv.h"
#include "data/tracing/tracing_event.h"

#define HEADER_PAGE_MAX 4096	   /* bytes of text */
#define PRINTK_MAX	(4u << 20) /* bytes of all formats of trace_printk() */

struct tracing {
	struct tep_handle *tep;
	bool swap;  /* the byte order of the recording is not this machine's */
	bool again; /* not the first one: what is odd is known, and all events have names */
	/* The tracepoints of the recording by id, and the event of each. */
	uint64_t *id;
	struct tracing_event *events;
	size_t nr;
	tracing_function function; /* NULL: print addresses as numbers */
	void *function_arg;
};

/* The rest of the blob. A length that does not fit sets @bad and leaves nothing. */
struct tracing_blob {
	const uint8_t *p;
	size_t len;
	bool swap, bad;
};

static const uint8_t *take(struct tracing_blob *b, uint64_t len)
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

static uint32_t take_u32(struct tracing_blob *b)
{
	const uint8_t *p = take(b, 4);

	return p ? load_u32(p, b->swap) : 0;
}

static uint64_t take_u64(struct tracing_blob *b)
{
	const uint8_t *p = take(b, 8);

	return p ? load_u64(p, b->swap) : 0;
}

/* Takes a string with its NUL, or NULL. */
static const char *take_string(struct tracing_blob *b)
{
	size_t n = strnlen((const char *)b->p, b->len);

	return (const char *)take(b, n + 1);
}

static bool take_tag(struct tracing_blob *b, const char *tag, size_t len)
{
	const uint8_t *p = take(b, len);

	return p && !memcmp(p, tag, len);
}

/* libtraceevent needs text that it may write to and that ends with NUL. */
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

static int list_wanted(struct tracing *t, const struct pd_evlist *list)
{
	size_t nr = pd_evlist_count(list), distinct = 0;

	t->id = calloc(nr + 1, sizeof(*t->id));
	t->events = calloc(nr + 1, sizeof(*t->events));
	if (!t->id || !t->events)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct pd_attr *attr = &pd_evlist_at(list, i)->attr;

		if (attr->type == PERF_TYPE_TRACEPOINT)
			t->id[t->nr++] = attr->config;
	}
	qsort(t->id, t->nr, sizeof(*t->id), compare);
	for (size_t i = 0; i < t->nr; i++) {
		if (!i || t->id[i] != t->id[i - 1])
			t->id[distinct++] = t->id[i];
	}
	t->nr = distinct;
	return 0;
}

/* The event of that id; NULL if the recording has none. */
static struct tracing_event *find_event(const struct tracing *t, uint64_t id)
{
	const uint64_t *at;

	if (!t->nr)
		return NULL;
	at = bsearch(&id, t->id, t->nr, sizeof(id), compare);
	return at ? &t->events[at - t->id] : NULL;
}

/* Finds the event of a format by the line "ID: n", which every format has near its beginning. */
static struct tracing_event *find_wanted(const struct tracing *t, const char *text)
{
	const char *at = strstr(text, "\nID:");
	struct tracing_event *event;

	if (!at)
		return NULL;
	event = find_event(t, strtoull(at + 4, NULL, 10));
	return event && !event->sys ? event : NULL;
}

static int load_format(struct data_file *df, struct tracing *t, struct tracing_blob *b,
		       const char *sys)
{
	uint64_t size = take_u64(b);
	const uint8_t *p = take(b, size);
	struct tracing_event *event, loaded;
	char *text;
	int rc = 0;

	if (!p || size > TRACING_FORMAT_MAX)
		return 0;
	text = text_dup(p, (size_t)size);
	if (!text)
		return -ENOMEM;
	event = find_wanted(t, text);
	if (event)
		rc = tracing_event_load(t->tep, sys, text, &loaded);
	if (event && !rc)
		*event = loaded;
	free(text);
	if (rc != -EBADMSG)
		return rc;
	if (!t->again)
		data_finding_add(df, DATA_ODD, 0, 0, "cannot parse a tracepoint format of %.60s",
				 sys);
	return 0;
}

static int load_formats(struct data_file *df, struct tracing *t, struct tracing_blob *b,
			const char *sys)
{
	uint32_t nr = take_u32(b);
	int rc = 0;

	for (uint32_t i = 0; i < nr && !b->bad && !rc; i++)
		rc = load_format(df, t, b, sys);
	return rc;
}

static int load_systems(struct data_file *df, struct tracing *t, struct tracing_blob *b)
{
	uint32_t nr = take_u32(b);
	int rc = 0;

	for (uint32_t i = 0; i < nr && !b->bad && !rc; i++) {
		const char *sys = take_string(b);

		if (sys)
			rc = load_formats(df, t, b, sys);
	}
	return rc;
}

/*
 * Bytes of a long of the kernel, which may be wider than a long of the recorder. The line is
 * "field: local_t commit; offset:8; size:8;". Returns 0 if there is none.
 */
static int commit_size(const char *text)
{
	const char *at = strstr(text, " commit;");

	at = at ? strstr(at, "size:") : NULL;
	return at ? atoi(at + 5) : 0;
}

static int load_header_page(struct tracing *t, struct tracing_blob *b)
{
	uint64_t size;
	const uint8_t *p;
	char *text;
	int long_size;

	if (!take_tag(b, "header_page", 12))
		return -EBADMSG;
	size = take_u64(b);
	p = take(b, size);
	if (!p || size > HEADER_PAGE_MAX)
		return -EBADMSG;
	text = text_dup(p, (size_t)size);
	if (!text)
		return -ENOMEM;
	long_size = commit_size(text);
	if (long_size == 4 || long_size == 8)
		tep_set_long_size(t->tep, long_size);
	free(text);
	if (!take_tag(b, "header_event", 13))
		return -EBADMSG;
	take(b, take_u64(b));
	return b->bad ? -EBADMSG : 0;
}

/*
 * Loads a line of printk_formats: 0xADDRESS : "format". libtraceevent would read beyond the end of
 * a truncated line, so it is parsed here. The library cuts a "\n" off the end of the text; if the
 * text is shorter, it reads before its first byte. So short texts get a "\n".
 */
static void load_printk_line(struct tracing *t, char *line)
{
	char *end, *format, ended[sizeof("\"x\\n\"")];
	unsigned long long addr = strtoull(line, &end, 16);
	size_t len;

	if (end == line)
		return;
	format = end + strspn(end, " :");
	len = strlen(format);
	if (len < 2 || format[0] != '"' || format[len - 1] != '"')
		return;
	if (len <= strlen("\"x\"")) {
		snprintf(ended, sizeof(ended), "%.*s\\n\"", (int)len - 1, format);
		format = ended;
	}
	tep_register_print_string(t->tep, format, addr);
}

static int load_printk(struct tracing *t, struct tracing_blob *b)
{
	uint32_t size;
	const uint8_t *p;
	char *text, *line, *rest;

	take(b, take_u32(b)); /* kallsyms */
	size = take_u32(b);
	p = take(b, size);
	if (!p || !size || size > PRINTK_MAX)
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

static int load_preamble(struct tracing *t, struct tracing_blob *b)
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
	t->swap = b->swap;
	page_size = take_u32(b);
	if (!page_size || page_size > INT_MAX)
		return -EBADMSG;
	tep_set_file_bigendian(t->tep, *order ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(t->tep, host_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(t->tep, *long_size);
	tep_set_page_size(t->tep, (int)page_size);
	return load_header_page(t, b);
}

static const struct tracing_event *event_of(const struct tracing *t, const struct pd_evsel *evsel)
{
	const struct tracing_event *event = NULL;

	if (evsel->attr.type == PERF_TYPE_TRACEPOINT)
		event = find_event(t, evsel->attr.config);
	return event && event->sys ? event : NULL;
}

/* Sets "sys:name" for tracepoints whose name was derived from the attribute only. */
static int set_names(struct data_file *df, const struct tracing *t)
{
	size_t nr = pd_evlist_count(df->list);

	for (size_t i = 0; i < nr; i++) {
		struct pd_evsel *evsel = pd_evlist_at(df->list, i);
		const struct tracing_event *event = event_of(t, evsel);
		char made[128], *name;
		int rc;

		pd_attr_name(&evsel->attr, made, sizeof(made));
		if (!event || strcmp(made, evsel->name))
			continue;
		if (asprintf(&name, "%s:%s", event->sys, event->format.name) < 0)
			return -ENOMEM;
		rc = pd_evsel_set_name(evsel, name);
		free(name);
		if (rc)
			return rc;
	}
	return 0;
}

static int load(struct data_file *df, struct tracing *t, struct tracing_blob *b)
{
	int rc = list_wanted(t, df->list);

	if (rc)
		return rc;
	t->tep = tep_alloc();
	if (!t->tep)
		return -ENOMEM;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_flag(t->tep, TEP_NSEC_OUTPUT);
	rc = load_preamble(t, b);
	if (!rc)
		rc = load_formats(df, t, b, "ftrace");
	if (!rc)
		rc = load_systems(df, t, b);
	if (!rc && b->bad && !t->again)
		data_finding_add(df, DATA_DAMAGED, 0, 0, "the tracepoint formats are truncated");
	else if (!rc && !b->bad)
		rc = load_printk(t, b);
	return rc || t->again ? rc : set_names(df, t);
}

static int load_new(struct data_file *df, struct tracing_blob *b, bool again, struct tracing **ret)
{
	struct tracing *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	t->again = again;
	rc = load(df, t, b);
	if (rc)
		tracing_free(t);
	else
		*ret = t;
	return rc;
}

int tracing_load(struct data_file *df, struct tracing **ret, struct error *err)
{
	struct tracing_blob b = {0};
	int rc = data_feature(df, HEADER_TRACING_DATA, &b.p, &b.len);

	if (rc)
		return rc;
	rc = load_new(df, &b, false, ret);
	return rc ? error_set(err, rc, "%s: cannot read the tracepoint formats",
			      data_segment_path(df, 0))
		  : 0;
}

int tracing_load_again(struct data_file *df, struct tracing **ret)
{
	struct tracing_blob b = {0};
	int rc = data_feature(df, HEADER_TRACING_DATA, &b.p, &b.len);

	return rc ? rc : load_new(df, &b, true, ret);
}

void tracing_free(struct tracing *t)
{
	if (!t)
		return;
	if (t->tep)
		tep_free(t->tep);
	for (size_t i = 0; i < t->nr; i++)
		tracing_event_release(&t->events[i]);
	free(t->events);
	free(t->id);
	free(t);
}

/* Signature of libtraceevent, which neither writes to the name nor frees it. */
static char *find_function(void *tracing, unsigned long long *addr, char **ret_module)
{
	const struct tracing *t = tracing;
	uint64_t start;
	const char *name = t->function(t->function_arg, *addr, &start);

	*ret_module = NULL;
	if (name)
		*addr = start;
	return (char *)name;
}

int tracing_name_functions(struct tracing *t, tracing_function find, void *arg)
{
	t->function = find;
	t->function_arg = arg;
	tep_reset_function_resolver(t->tep);
	return find && tep_set_function_resolver(t->tep, find_function, t) ? -ENOMEM : 0;
}

/* Returns a field that lies in @raw, with the bytes there; or NULL. */
static const struct tracing_field *field_of(const struct tracing *t, const struct tracing_raw *raw,
					    const char *name, struct tracing_data *ret)
{
	const struct tracing_event *event = event_of(t, raw->evsel);
	const struct tracing_field *field =
		event ? tracing_format_field(&event->format, name, strlen(name)) : NULL;

	*ret = (struct tracing_data){.p = raw->p, .size = raw->size, .swap = t->swap};
	return field && tracing_field_inside(field, ret) ? field : NULL;
}

bool tracing_number(const struct tracing *t, const struct tracing_raw *raw, const char *field,
		    int64_t *ret)
{
	struct tracing_data data;
	const struct tracing_field *f = field_of(t, raw, field, &data);
	unsigned int unused;

	if (!f || f->flags & (TRACING_ARRAY | TRACING_DYNAMIC) || !f->size || f->size > 8)
		return false;
	unused = 64 - 8 * f->size;
	*ret = (int64_t)(tracing_field_number(f, &data) << unused);
	*ret = f->flags & TRACING_SIGNED ? *ret >> unused : (int64_t)((uint64_t)*ret >> unused);
	return true;
}

bool tracing_text(const struct tracing *t, const struct tracing_raw *raw, const char *field,
		  const char **ret, size_t *ret_len)
{
	struct tracing_data data;
	const struct tracing_field *f = field_of(t, raw, field, &data);
	uint32_t offset, len;

	if (!f || !(f->flags & TRACING_STRING) || !tracing_field_extent(f, &data, &offset, &len))
		return false;
	*ret = (const char *)data.p + offset;
	*ret_len = strnlen(*ret, len);
	return true;
}

int tracing_print_raw(struct tracing *t, const struct pd_evsel *evsel, const void *raw,
		      uint32_t size, struct buf *out)
{
	const struct tracing_event *event = event_of(t, evsel);
	struct tracing_data data = {.p = raw, .size = size, .swap = t->swap};

	return event ? tracing_event_print_raw(event, &data, out) : 0;
}

int tracing_print(struct tracing *t, const struct pd_evsel *evsel, const void *raw, uint32_t size,
		  struct buf *out)
{
	const struct tracing_event *event = event_of(t, evsel);
	struct tracing_data data = {.p = raw, .size = size, .swap = t->swap};

	return event ? tracing_event_print(event, t->tep, &data, out) : 0;
}

const char *tracing_field_name(const struct tracing *t, const struct pd_evsel *evsel, size_t index)
{
	const struct tracing_event *event = event_of(t, evsel);
	const struct tracing_format *f = event ? &event->format : NULL;

	return f && index < f->nr - f->nr_common ? f->fields[f->nr_common + index].name : NULL;
}

bool tracing_has_field(const struct tracing *t, const struct pd_evsel *evsel, const char *field)
{
	const struct tracing_event *event = event_of(t, evsel);

	return event && tracing_format_field(&event->format, field, strlen(field));
}

/* Finds the text behind "@name=" at the beginning of a word of @text. */
static const char *find_value(const char *text, const char *name, size_t *ret_len)
{
	size_t len = strlen(name);

	for (const char *s = text; s; s = strchr(s, ' ')) {
		s += *s == ' ';
		if (strncmp(s, name, len) || s[len] != '=')
			continue;
		*ret_len = strcspn(s + len + 1, " ");
		return s + len + 1;
	}
	return NULL;
}

/*
 * Sets *@ret if a string of the record has the text "@name=", too: who chose the string, as a task
 * its name, would choose the value that find_value() finds. Returns 0 or -ENOMEM.
 */
static int is_forgeable(const struct tracing_format *format, const struct tracing_data *data,
			const char *name, bool *ret)
{
	struct buf text = {0}, mark = {0};
	int rc = buf_printf(&mark, "%s=", name);

	*ret = false;
	for (size_t i = 0; !rc && !*ret && i < format->nr; i++) {
		if (!(format->fields[i].flags & TRACING_STRING))
			continue;
		text.len = 0;
		rc = tracing_field_print(&format->fields[i], data, &text);
		*ret = !rc && text.len && memmem(text.data, text.len, mark.data, mark.len);
	}
	buf_release(&text);
	buf_release(&mark);
	return rc;
}

int tracing_print_field(struct tracing *t, const struct tracing_raw *raw, const char *field,
			bool plain, struct buf *out)
{
	struct tracing_data data;
	const struct tracing_field *f = field_of(t, raw, field, &data);
	struct buf text = {0};
	const char *value = NULL;
	bool forgeable = false;
	size_t len;
	int rc = 0;

	if (!f)
		return 0;
	if (!plain)
		rc = is_forgeable(&event_of(t, raw->evsel)->format, &data, field, &forgeable);
	if (rc)
		return rc;
	if (plain || forgeable || f->flags & TRACING_STRING)
		return tracing_field_print(f, &data, out);
	rc = tracing_print(t, raw->evsel, raw->p, raw->size, &text) ?: buf_zero(&text, 1);
	if (!rc)
		value = find_value((const char *)text.data, field, &len);
	if (!rc)
		rc = value ? buf_append(out, value, len) : tracing_field_print(f, &data, out);
	buf_release(&text);
	return rc;
}
