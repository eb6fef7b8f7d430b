// SPDX-License-Identifier: Apache-2.0
#include "report/table/parent.h"

#include <string.h>

static bool matches(struct parent_match *m, const struct symbol *sym)
{
	size_t slot = (uintptr_t)sym / sizeof(*sym) % PARENT_RECENT;

	if (!sym || !m->regex)
		return false;
	if (m->recent[slot].sym != sym) {
		m->recent[slot].matches = !regexec(m->regex, sym->name, 0, NULL, 0);
		m->recent[slot].sym = sym;
	}
	return m->recent[slot].matches;
}

size_t parent_innermost(struct parent_match *m, const struct frames *f)
{
	for (size_t i = 0; i < f->nr; i++)
		if (matches(m, f->frame[i].sym))
			return i;
	return SIZE_MAX;
}

size_t parent_outermost(struct parent_match *m, const struct frames *f)
{
	for (size_t i = f->nr; i--;)
		if (matches(m, f->frame[i].sym))
			return i;
	return SIZE_MAX;
}

void parent_drop_callees(struct parent_match *m, struct frames *f)
{
	size_t root = parent_outermost(m, f);

	if (root == SIZE_MAX)
		return;
	f->nr -= root;
	f->leaf = 0;
	f->leafless = false;
	memmove(f->frame, f->frame + root, f->nr * sizeof(*f->frame));
}
