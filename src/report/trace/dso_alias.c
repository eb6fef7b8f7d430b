// SPDX-License-Identifier: Apache-2.0
#include "report/trace/dso_alias.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct copy {
	const struct symbol *sym; /* NULL: an empty slot */
	uint32_t group;
};

struct dso_alias {
	uint32_t *group; /* by index of dso */
	bool *several;	 /* by group: it has more than one */
	size_t nr;
	uint64_t key;
	pthread_mutex_t lock; /* guards the members below */
	struct copy *slot;
	size_t size, used;
};

/* --- dsos ----------------------------------------------------------------------------------------
 */

static int group_all(struct dso_alias *c, const struct state *s)
{
	size_t cap = 16, mask;
	uint32_t *table;

	while (cap < c->nr * 2)
		cap *= 2;
	mask = cap - 1;
	table = calloc(cap, sizeof(*table)); /* index + 1; 0: empty */
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr; i++) {
		const char *name = state_dso_at(s, i)->short_name;
		size_t at = hash_bytes(c->key, name, strlen(name)) & mask;

		for (; table[at]; at = (at + 1) & mask)
			if (!strcmp(state_dso_at(s, table[at] - 1)->short_name, name))
				break;
		if (table[at])
			c->several[table[at] - 1] = true;
		else
			table[at] = i + 1;
		c->group[i] = table[at] - 1;
	}
	free(table);
	return 0;
}

int dso_alias_new(const struct state *s, struct dso_alias **ret)
{
	struct dso_alias *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	if (!c)
		return -ENOMEM;
	c->nr = state_dso_count(s);
	c->key = hash_key();
	c->group = calloc(c->nr + 1, sizeof(*c->group));
	c->several = calloc(c->nr + 1, sizeof(*c->several));
	pthread_mutex_init(&c->lock, NULL);
	if (c->group && c->several)
		rc = group_all(c, s);
	if (rc)
		dso_alias_free(c);
	else
		*ret = c;
	return rc;
}

void dso_alias_free(struct dso_alias *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c->group);
	free(c->several);
	free(c->slot);
	free(c);
}

uint32_t dso_alias_group(const struct dso_alias *c, const struct dso *dso)
{
	return c->group[dso->index];
}

/* --- symbols -------------------------------------------------------------------------------------
 */

static bool same(const struct copy *a, const struct copy *b)
{
	return a->group == b->group && a->sym->start == b->sym->start &&
	       a->sym->end == b->sym->end && !strcmp(a->sym->name, b->sym->name);
}

/* Returns the symbol's slot, or the empty slot for it. The table always has one. */
static struct copy *find(struct dso_alias *c, const struct copy *copy)
{
	uint64_t hash = hash_word(hash_word(c->key, copy->group), copy->sym->start);
	size_t at = hash_bytes(hash, copy->sym->name, strlen(copy->sym->name)) & (c->size - 1);

	while (c->slot[at].sym && !same(&c->slot[at], copy))
		at = (at + 1) & (c->size - 1);
	return &c->slot[at];
}

static int grow(struct dso_alias *c)
{
	size_t old_size = c->size;
	struct copy *old = c->slot, *slot = calloc(old_size ? old_size * 2 : 64, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	c->size = old_size ? old_size * 2 : 64;
	c->slot = slot;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].sym)
			*find(c, &old[i]) = old[i];
	free(old);
	return 0;
}

const struct symbol *dso_alias_symbol(struct dso_alias *c, const struct dso *dso,
				      const struct symbol *sym)
{
	const struct copy copy = {.sym = sym, .group = c->group[dso->index]};
	struct copy *first;

	if (dso->kind != DSO_ELF || !c->several[copy.group])
		return sym;
	pthread_mutex_lock(&c->lock);
	if ((c->used + 1) * 2 <= c->size || !grow(c)) {
		first = find(c, &copy);
		c->used += !first->sym;
		if (!first->sym)
			*first = copy;
		sym = first->sym;
	}
	pthread_mutex_unlock(&c->lock);
	return sym;
}
