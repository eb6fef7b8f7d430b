// SPDX-License-Identifier: Apache-2.0
#include "symbol/resolve/module_list.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/resolve/kallsyms.h"

/* A line, or all lines, about a module. Offsets into the text, which kallsyms_read() bounds. */
struct module_entry {
	uint32_t name, name_len;
	uint32_t start, len;
};

/* Entries by name. Read-only once @read is set. */
struct index {
	bool read; /* if reading failed, @code and @why say why */
	int code;
	struct error why;
	struct buf text;
	struct module_entry *entries;
	size_t nr, cap;
};

struct module_list {
	pthread_mutex_t lock; /* guards the reading and @kernel */
	struct index symbols, files;
	bool hidden;
	struct buf kernel; /* kallsyms, until the kernel's table is made */
};

struct module_list *module_list_new(void)
{
	struct module_list *l = calloc(1, sizeof(*l));

	if (l)
		pthread_mutex_init(&l->lock, NULL);
	return l;
}

static void index_release(struct index *x)
{
	buf_release(&x->text);
	free(x->entries);
}

void module_list_free(struct module_list *l)
{
	if (!l)
		return;
	index_release(&l->symbols);
	index_release(&l->files);
	buf_release(&l->kernel);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static int add(struct index *x, const struct module_entry *e)
{
	if (array_grow(&x->entries, &x->cap, x->nr + 1, sizeof(*x->entries)))
		return -ENOMEM;
	x->entries[x->nr++] = *e;
	return 0;
}

static int compare_names(const char *a, size_t a_len, const char *b, size_t b_len)
{
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	for (size_t i = 0; i < a_len; i++) {
		int x = a[i] == '-' ? '_' : a[i], y = b[i] == '-' ? '_' : b[i];

		if (x != y)
			return x - y;
	}
	return 0;
}

/* By name; of equal names by their order in the text. */
static int compare(const void *pa, const void *pb, void *text)
{
	const struct module_entry *a = pa, *b = pb;
	const char *t = text;
	int rc = compare_names(t + a->name, a->name_len, t + b->name, b->name_len);

	return rc ? rc : (a->start > b->start) - (a->start < b->start);
}

/* Returns the first entry of that name, or NULL. */
static const struct module_entry *find(const struct index *x, const char *name)
{
	const char *text = (const char *)x->text.data;
	size_t low = 0, high = x->nr, mid, len = strlen(name);

	while (low < high) {
		const struct module_entry *e;

		mid = low + (high - low) / 2;
		e = &x->entries[mid];
		if (compare_names(text + e->name, e->name_len, name, len) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == x->nr ||
	    compare_names(text + x->entries[low].name, x->entries[low].name_len, name, len))
		return NULL;
	return &x->entries[low];
}

/* --- kallsyms ------------------------------------------------------------------------------------
 */

/* Indexes the lines of @text about code of modules. */
static int take_lines(struct index *x, const struct buf *text)
{
	const char *base = (const char *)text->data;
	struct kallsyms_line line;
	size_t pos = 0, start;
	int rc = 0;

	for (start = 0; !rc && kallsyms_next(text, &pos, &line); start = pos) {
		struct module_entry e = {
			.name_len = (uint32_t)line.module_len,
			.start = (uint32_t)start,
			.len = (uint32_t)(pos - start),
		};

		if (!line.module || !line.addr || !kallsyms_is_code(&line))
			continue;
		e.name = (uint32_t)(line.module - base);
		rc = add(x, &e);
	}
	return rc;
}

static bool same_name(const struct buf *text, const struct module_entry *a,
		      const struct module_entry *b)
{
	const char *t = (const char *)text->data;

	return !compare_names(t + a->name, a->name_len, t + b->name, b->name_len);
}

/*
 * Moves the lines of each module together into @x->text, one entry a module. @text ends with a
 * newline.
 */
static int group(struct index *x, const struct buf *text)
{
	struct buf all = {0};
	size_t out = 0;
	int rc = 0;

	for (size_t i = 0, next; !rc && i < x->nr; i = next) {
		struct module_entry first = x->entries[i], e = {.start = (uint32_t)all.len};

		e.name = e.start + (first.name - first.start);
		e.name_len = first.name_len;
		for (next = i; !rc && next < x->nr && same_name(text, &first, &x->entries[next]);
		     next++)
			rc = buf_append(&all, text->data + x->entries[next].start,
					x->entries[next].len);
		e.len = (uint32_t)all.len - e.start;
		x->entries[out++] = e;
	}
	x->nr = out;
	x->text = all;
	return rc;
}

static void read_symbols(struct module_list *l, const char *path)
{
	struct index *x = &l->symbols;
	struct buf *text = &l->kernel;

	x->read = true;
	x->code = kallsyms_read(path, text, &x->why);
	/* Makes the last line end like the others. */
	if (!x->code && text->len && text->data[text->len - 1] != '\n')
		x->code = buf_append(text, "\n", 1);
	if (x->code)
		return;
	l->hidden = kallsyms_hidden(text);
	x->code = take_lines(x, text);
	if (!x->code && x->nr) {
		qsort_r(x->entries, x->nr, sizeof(*x->entries), compare, text->data);
		x->code = group(x, text);
	}
	if (x->code)
		error_sys(&x->why, x->code, "%s", path);
}

int module_list_text(struct module_list *l, const char *path, struct buf *ret, struct error *why)
{
	int rc = 0;

	pthread_mutex_lock(&l->lock);
	if (!l->symbols.read)
		read_symbols(l, path);
	if (l->symbols.code) {
		rc = l->symbols.code;
		if (why)
			*why = l->symbols.why;
	} else if (l->kernel.data) {
		*ret = l->kernel;
		l->kernel = (struct buf){0};
	} else {
		rc = kallsyms_read(path, ret, why);
	}
	pthread_mutex_unlock(&l->lock);
	return rc;
}

int module_list_symbols(struct module_list *l, const char *path, const char *name, struct buf *ret,
			struct error *why)
{
	const struct index *x = &l->symbols;
	const struct module_entry *e;

	pthread_mutex_lock(&l->lock);
	if (!x->read)
		read_symbols(l, path);
	pthread_mutex_unlock(&l->lock);
	if (x->code) {
		*why = x->why;
		return x->code;
	}
	if (l->hidden)
		return kallsyms_say_hidden(path, why);
	e = find(x, name);
	if (!e)
		return error_set(why, -ENOENT, "%s does not have the module", path);
	*ret = (struct buf){.data = x->text.data + e->start, .len = e->len};
	return 0;
}

/* --- modules.dep ---------------------------------------------------------------------------------
 */

/* "kernel/fs/ext4/ext4.ko.xz: …" */
static int take_file(struct index *x, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len), *base, *end;
	struct module_entry e = {.start = (uint32_t)(line - (const char *)x->text.data)};

	if (!colon)
		return 0;
	e.len = (uint32_t)(colon - line);
	base = memrchr(line, '/', e.len);
	base = base ? base + 1 : line;
	end = memmem(base, (size_t)(colon - base), ".ko", 3);
	if (!end)
		end = colon;
	e.name = (uint32_t)(base - (const char *)x->text.data);
	e.name_len = (uint32_t)(end - base);
	return add(x, &e);
}

static void read_files(struct index *x, const char *path)
{
	size_t pos, len;

	x->read = true;
	x->code = kallsyms_read(path, &x->text, NULL);
	for (pos = 0; !x->code && pos < x->text.len; pos += len + 1) {
		const char *line = (const char *)x->text.data + pos;
		const char *end = memchr(line, '\n', x->text.len - pos);

		len = end ? (size_t)(end - line) : x->text.len - pos;
		x->code = take_file(x, line, len);
	}
	if (!x->code && x->nr)
		qsort_r(x->entries, x->nr, sizeof(*x->entries), compare, x->text.data);
}

bool module_list_file(struct module_list *l, const char *path, const char *name, char ret[PATH_MAX])
{
	const struct module_entry *e;

	pthread_mutex_lock(&l->lock);
	if (!l->files.read)
		read_files(&l->files, path);
	pthread_mutex_unlock(&l->lock);
	e = l->files.code ? NULL : find(&l->files, name);
	if (!e || e->len >= PATH_MAX)
		return false;
	memcpy(ret, l->files.text.data + e->start, e->len);
	ret[e->len] = '\0';
	return true;
}
