// SPDX-License-Identifier: Apache-2.0
#include "report/trace/dso_alias.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hash_table.h"

struct copy {
	const struct symbol *sym;
	uint32_t group;
};

struct dso_alias {
	uint32_t *group; /* by index of dso */
	bool *several;	 /* by group: it has several dsos */
	size_t nr;
	uint64_t key;
	pthread_mutex_t lock;	 /* guards the copies */
	struct hash_table table; /* the copies */
	struct copy *copy;
	size_t nr_copies, cap;
};

/* --- dsos ----------------------------------------------------------------------------------------
 */

static bool has_name(const void *state, uint32_t number, const void *name)
{
	return !strcmp(state_dso_at(state, number)->short_name, name);
}

static int group_all(struct dso_alias *c, const struct state *s)
{
	struct hash_table table = {0};
	int rc = hash_table_reserve(&table, c->nr);

	for (uint32_t i = 0; !rc && i < c->nr; i++) {
		const char *name = state_dso_at(s, i)->short_name;
		uint64_t hash = hash_bytes(c->key, name, strlen(name));

		c->group[i] = hash_table_find(&table, hash, has_name, s, name);
		if (c->group[i] != HASH_TABLE_NONE) {
			c->several[c->group[i]] = true;
			continue;
		}
		c->group[i] = i;
		hash_table_add(&table, hash, i);
	}
	hash_table_release(&table);
	return rc;
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
	hash_table_release(&c->table);
	free(c->copy);
	free(c);
}

uint32_t dso_alias_group(const struct dso_alias *c, const struct dso *dso)
{
	return c->group[dso->index];
}

/* --- symbols -------------------------------------------------------------------------------------
 */

static bool is_copy(const void *copies, uint32_t number, const void *key)
{
	const struct copy *a = (const struct copy *)copies + number, *b = key;

	return a->group == b->group && a->sym->start == b->sym->start &&
	       a->sym->end == b->sym->end && !strcmp(a->sym->name, b->sym->name);
}

static uint64_t hash_copy(const struct dso_alias *c, const struct copy *copy)
{
	uint64_t hash = hash_word(hash_word(c->key, copy->group), copy->sym->start);

	return hash_bytes(hash, copy->sym->name, strlen(copy->sym->name));
}

/* Returns the first symbol that is the same as that of @copy; without memory its own. */
static const struct symbol *first_of(struct dso_alias *c, const struct copy *copy)
{
	uint64_t hash = hash_copy(c, copy);
	uint32_t found = hash_table_find(&c->table, hash, is_copy, c->copy, copy);

	if (found != HASH_TABLE_NONE)
		return c->copy[found].sym;
	if (hash_table_reserve(&c->table, 1) ||
	    array_grow(&c->copy, &c->cap, c->nr_copies + 1, sizeof(*c->copy)))
		return copy->sym;
	hash_table_add(&c->table, hash, (uint32_t)c->nr_copies);
	c->copy[c->nr_copies++] = *copy;
	return copy->sym;
}

const struct symbol *dso_alias_symbol(struct dso_alias *c, const struct dso *dso,
				      const struct symbol *sym)
{
	const struct copy copy = {.sym = sym, .group = c->group[dso->index]};

	if (dso->kind != DSO_ELF || !c->several[copy.group])
		return sym;
	pthread_mutex_lock(&c->lock);
	sym = first_of(c, &copy);
	pthread_mutex_unlock(&c->lock);
	return sym;
}
