// SPDX-License-Identifier: Apache-2.0
#include "report/annotate/source.h"

#include <errno.h>
#include <stdlib.h>

#define OPEN_MAX_DSOS 4

/* The debug information of a dso. */
struct source_dso {
	const struct dso *dso;	    /* NULL: a free slot */
	struct source_lines *lines; /* NULL: there is none */
};

struct source_files {
	const struct resolver *resolver;
	const struct source_opts *opts;
	struct source_dso opened[OPEN_MAX_DSOS];
	size_t next;		    /* slot that is used next */
	struct source_lines *lines; /* of the current dso; NULL: none */
	struct source_texts *texts;
};

int source_new(const struct resolver *r, const struct source_opts *opts, struct source_files **ret)
{
	struct source_files *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->resolver = r;
	s->opts = opts;
	if (source_texts_new(&opts->texts, &s->texts)) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void source_free(struct source_files *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < OPEN_MAX_DSOS; i++)
		lines_free(s->opened[i].lines);
	source_texts_free(s->texts);
	free(s);
}

/* --- places --------------------------------------------------------------------------------------
 */

int source_begin(struct source_files *s, const struct dso *dso)
{
	struct source_dso *slot = &s->opened[s->next];
	int rc;

	for (size_t i = 0; i < OPEN_MAX_DSOS; i++)
		if (s->opened[i].dso == dso) {
			s->lines = s->opened[i].lines;
			return 0;
		}
	lines_free(slot->lines);
	*slot = (struct source_dso){.dso = dso};
	s->lines = NULL;
	s->next = (s->next + 1) % OPEN_MAX_DSOS;
	rc = lines_open(s->resolver, dso, s->opts->demangle, &slot->lines);
	if (!rc)
		s->lines = slot->lines;
	return rc == -ENOMEM ? rc : 0;
}

bool source_place(struct source_files *s, uint64_t addr, struct line_frame *ret)
{
	return s->lines && lines_find(s->lines, addr, ret, 1) && ret->file && ret->line;
}

const char *source_text(struct source_files *s, const char *path, uint32_t line, size_t *ret_len)
{
	return source_texts_line(s->texts, path, line, ret_len);
}
