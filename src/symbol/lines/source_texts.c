// SPDX-License-Identifier: Apache-2.0
#include "symbol/lines/source_texts.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "symbol/elf/elf_image.h"

#define FILES_MAX   64
#define FILE_BYTES  (16u << 20) /* of one file */
#define FILES_BYTES (64u << 20) /* of all */

struct source_file {
	char *path;	 /* as in the debug information */
	struct buf data; /* empty: not found */
	size_t *line;	 /* offset of each */
	size_t nr, cap;
};

struct source_texts {
	struct source_texts_opts opts;
	struct source_file file[FILES_MAX];
	size_t nr, bytes;
};

int source_texts_new(const struct source_texts_opts *opts, struct source_texts **ret)
{
	struct source_texts *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (opts)
		s->opts = *opts;
	*ret = s;
	return 0;
}

static void drop_texts(struct source_texts *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->file[i].path);
		free(s->file[i].line);
		buf_release(&s->file[i].data);
		s->file[i] = (struct source_file){0};
	}
	s->nr = 0;
	s->bytes = 0;
}

void source_texts_free(struct source_texts *s)
{
	if (!s)
		return;
	drop_texts(s);
	free(s);
}

static bool read_file(const char *path, struct buf *ret)
{
	uint64_t size;
	int fd = elf_open_regular(path, &size);
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (size && size <= FILE_BYTES && !buf_reserve(ret, size))
		n = pread(fd, ret->data, size, 0);
	close(fd);
	if (n <= 0) {
		buf_release(ret);
		return false;
	}
	ret->len = (size_t)n;
	return true;
}

/* Returns @path behind its first @n folders; NULL if it has fewer. */
static const char *skip_folders(const char *path, unsigned int n)
{
	path += strspn(path, "/");
	for (; n; n--) {
		path = strchr(path, '/');
		if (!path)
			return NULL;
		path += strspn(path, "/");
	}
	return path;
}

static bool read_at(const char *folder, const char *path, struct buf *ret)
{
	char whole[PATH_MAX];
	int n = snprintf(whole, sizeof(whole), "%s/%s", folder, path);

	return n > 0 && n < PATH_MAX && read_file(whole, ret);
}

/* Below a folder: at the whole path, else without its first folders, so that a checkout is found.
 */
static bool read_below(const char *folder, const char *path, struct buf *ret)
{
	for (unsigned int n = 0;; n++) {
		const char *rest = skip_folders(path, n);

		if (!rest)
			return false;
		if (read_at(folder, rest, ret))
			return true;
	}
}

static bool read_source(const struct source_texts_opts *opts, const char *path, struct buf *ret)
{
	if (opts->dir && read_below(opts->dir, path, ret))
		return true;
	if (opts->prefix && *path == '/') {
		const char *rest = skip_folders(path, opts->strip);

		return rest && read_at(opts->prefix, rest, ret);
	}
	return read_file(path, ret);
}

static int index_lines(struct source_file *t)
{
	const char *data = (const char *)t->data.data;

	for (size_t at = 0; at < t->data.len;) {
		const char *end = memchr(data + at, '\n', t->data.len - at);

		if (array_grow(&t->line, &t->cap, t->nr + 1, sizeof(*t->line)))
			return -ENOMEM;
		t->line[t->nr++] = at;
		at = end ? (size_t)(end - data) + 1 : t->data.len;
	}
	return 0;
}

static const struct source_file *find_text(struct source_texts *s, const char *path)
{
	struct source_file *t;

	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->file[i].path, path))
			return &s->file[i];
	if (s->nr == FILES_MAX || s->bytes > FILES_BYTES)
		drop_texts(s);
	t = &s->file[s->nr];
	t->path = strdup(path);
	if (!t->path)
		return NULL;
	s->nr++;
	if (read_source(&s->opts, path, &t->data) && index_lines(t))
		t->nr = 0;
	s->bytes += t->data.len + t->cap * sizeof(*t->line);
	return t;
}

const char *source_texts_line(struct source_texts *s, const char *path, uint32_t line,
			      size_t *ret_len)
{
	const struct source_file *t = find_text(s, path);
	size_t start, end;

	if (!t || !line || line > t->nr)
		return NULL;
	start = t->line[line - 1];
	end = line < t->nr ? t->line[line] : t->data.len;
	while (end > start && (t->data.data[end - 1] == '\n' || t->data.data[end - 1] == '\r'))
		end--;
	*ret_len = end - start;
	return (const char *)t->data.data + start;
}
