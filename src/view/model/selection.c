// SPDX-License-Identifier: Apache-2.0
#include "view/model/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/text.h"

void selection_release(struct selection *s)
{
	while (selection_pop(s) != SELECTION_NONE)
		;
}

static bool add_kind(struct selection *s, enum selection_kind kind)
{
	if (s->nr == SELECTION_MAX)
		return false;
	s->kinds[s->nr++] = kind;
	return true;
}

static bool has_key(const struct selection *s, const struct sort_key *key, const char *text)
{
	for (size_t i = 0; i < s->nr_zooms; i++)
		if (s->zooms[i].key == key && !strcmp(s->zooms[i].text, text))
			return true;
	return false;
}

bool selection_add_key(struct selection *s, const struct sort_key *key, char *text)
{
	if (text && has_key(s, key, text)) {
		free(text);
		return true;
	}
	if (!text || s->nr_zooms == ROWS_ZOOMS_MAX || !add_kind(s, SELECTION_KEY)) {
		free(text);
		return false;
	}
	s->zooms[s->nr_zooms++] = (struct rows_zoom){key, text};
	return true;
}

bool selection_add_span(struct selection *s, uint64_t first, uint64_t last)
{
	if (!add_kind(s, SELECTION_TIME))
		return false;
	s->spans[s->nr_spans++] = (struct selection_span){first, last};
	return true;
}

enum selection_kind selection_pop(struct selection *s)
{
	enum selection_kind kind = s->nr ? s->kinds[--s->nr] : SELECTION_NONE;

	if (kind == SELECTION_KEY)
		free(s->zooms[--s->nr_zooms].text);
	if (kind == SELECTION_TIME)
		s->nr_spans--;
	return kind;
}

const struct selection_span *selection_span(const struct selection *s)
{
	return s->nr_spans ? &s->spans[s->nr_spans - 1] : NULL;
}

int selection_text(const struct selection *s, uint64_t origin, struct buf *out)
{
	size_t key = 0, span = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->nr; i++) {
		rc = buf_append(out, " > ", 3);
		if (rc)
			break;
		if (s->kinds[i] == SELECTION_KEY) {
			const struct rows_zoom *z = &s->zooms[key++];

			rc = buf_printf(out, "%s ", z->key->name);
			if (!rc)
				rc = text_escape(out, z->text);
		} else {
			const struct selection_span *t = &s->spans[span++];

			rc = buf_printf(out, "%.3f-%.3f s", (double)(t->first - origin) / 1e9,
					(double)(t->last - origin) / 1e9);
		}
	}
	return rc;
}
