// SPDX-License-Identifier: Apache-2.0
#include "report/script/source_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/id_table.h"
#include "symbol/elf/elf_image.h"

#define NR_FILES 16
#define FILE_MAX (16u << 20) /* bytes */

struct source_copy {
	char *path; /* NULL: none */
	struct buf text;
	size_t *begin; /* of each line; of one more the end. NULL: the file cannot be read */
	size_t nr;
};

struct thread_line {
	char *path; /* NULL: none yet */
	unsigned int line;
};

struct source_reader {
	struct source_copy file[NR_FILES];
	size_t next; /* the file that goes first */
	struct id_table tids;
	struct thread_line *last; /* by number in @tids */
	size_t cap_last;
};

int source_reader_new(struct source_reader **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void file_release(struct source_copy *f)
{
	free(f->path);
	free(f->begin);
	buf_release(&f->text);
	*f = (struct source_copy){0};
}

void source_reader_free(struct source_reader *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < NR_FILES; i++)
		file_release(&s->file[i]);
	for (size_t i = 0; i < id_table_count(&s->tids); i++)
		free(s->last[i].path);
	free(s->last);
	id_table_release(&s->tids);
	free(s);
}

static int read_all(const char *path, struct buf *ret)
{
	uint64_t size;
	int fd = elf_open_regular(path, &size), rc = 0;

	if (fd < 0)
		return fd;
	if (size > FILE_MAX)
		rc = -EFBIG;
	else if (size)
		rc = buf_reserve(ret, size);
	while (!rc && ret->len < size) {
		ssize_t n = pread(fd, ret->data + ret->len, size - ret->len, (off_t)ret->len);

		if (n <= 0)
			break;
		ret->len += (size_t)n;
	}
	close(fd);
	return rc;
}

static int find_lines(struct source_copy *f)
{
	size_t nr = 1, n = 0;

	for (size_t i = 0; i < f->text.len; i++)
		nr += f->text.data[i] == '\n';
	f->begin = calloc(nr + 1, sizeof(*f->begin));
	if (!f->begin)
		return -ENOMEM;
	n = 1; /* the first begins at 0 */
	for (size_t i = 0; i < f->text.len; i++)
		if (f->text.data[i] == '\n')
			f->begin[n++] = i + 1;
	f->begin[nr] = f->text.len + 1; /* as if a newline ended the last */
	f->nr = nr;
	return 0;
}

/* Returns the file, read or not, or NULL when memory is short. */
static const struct source_copy *file_at(struct source_reader *s, const char *path)
{
	struct source_copy *f;

	for (size_t i = 0; i < NR_FILES; i++)
		if (s->file[i].path && !strcmp(s->file[i].path, path))
			return &s->file[i];
	f = &s->file[s->next];
	s->next = (s->next + 1) % NR_FILES;
	file_release(f);
	f->path = strdup(path);
	if (f->path && !read_all(path, &f->text))
		find_lines(f);
	return f->path ? f : NULL;
}

/* Returns what @tid had last, or NULL when memory is short. */
static struct thread_line *line_of(struct source_reader *s, uint32_t tid)
{
	uint32_t before = id_table_count(&s->tids), n;

	if (array_grow(&s->last, &s->cap_last, before + 1, sizeof(*s->last)))
		return NULL;
	n = id_table_add(&s->tids, tid);
	if (n == ID_TABLE_NONE)
		return NULL;
	if (n == before)
		s->last[n] = (struct thread_line){0};
	return &s->last[n];
}

const char *source_reader_next(struct source_reader *s, uint32_t tid, const char *path,
			       unsigned int line, size_t *ret_len)
{
	struct thread_line *last = line_of(s, tid);
	const struct source_copy *f;

	if (!last || (last->path && last->line == line && !strcmp(last->path, path)))
		return NULL;
	f = file_at(s, path);
	if (!f || !line || line > f->nr)
		return NULL;
	if (!last->path || strcmp(last->path, path) != 0) {
		free(last->path);
		last->path = strdup(path);
	}
	last->line = line;
	*ret_len = f->begin[line] - f->begin[line - 1] - 1;
	return f->text.len ? (const char *)f->text.data + f->begin[line - 1] : "";
}
