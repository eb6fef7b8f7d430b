// SPDX-License-Identifier: Apache-2.0
#include "report/script/source_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/id_table.h"
#include "symbol/lines/source_texts.h"

struct thread_line {
	char *path; /* NULL: none yet */
	unsigned int line;
};

struct source_reader {
	struct source_texts *texts;
	struct id_table tids;
	struct thread_line *last; /* by number in @tids */
	size_t cap_last;
};

int source_reader_new(struct source_reader **ret)
{
	struct source_reader *s = calloc(1, sizeof(*s));

	if (!s || source_texts_new(NULL, &s->texts)) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void source_reader_free(struct source_reader *s)
{
	if (!s)
		return;
	source_texts_free(s->texts);
	for (size_t i = 0; i < id_table_count(&s->tids); i++)
		free(s->last[i].path);
	free(s->last);
	id_table_release(&s->tids);
	free(s);
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
	const char *text;

	if (!last || (last->path && last->line == line && !strcmp(last->path, path)))
		return NULL;
	text = source_texts_line(s->texts, path, line, ret_len);
	if (!text)
		return NULL;
	if (!last->path || strcmp(last->path, path) != 0) {
		free(last->path);
		last->path = strdup(path);
	}
	last->line = line;
	return text;
}
