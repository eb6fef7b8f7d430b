// SPDX-License-Identifier: Apache-2.0
#include "cli/complete/options.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

static bool is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

bool options_each(const struct argp *root, option_fn *fn, void *arg)
{
	const struct argp_option *named = root->options;

	for (const struct argp_option *o = named; o && !is_end(o); o++) {
		if (!(o->flags & OPTION_ALIAS))
			named = o;
		if (!o->name && !o->key)
			continue; /* a heading */
		if (fn(o, named, arg))
			return true;
	}
	for (const struct argp_child *c = root->children; c && c->argp; c++)
		if (options_each(c->argp, fn, arg))
			return true;
	return false;
}

bool option_is_shown(const struct argp_option *o, const struct argp_option *named)
{
	return !((o->flags | named->flags) & (OPTION_HIDDEN | OPTION_DOC));
}

struct misspelt {
	const char *name; /* behind the dashes */
	size_t len;
	struct nearest *nearest; /* NULL: too short or too long for any to be near */
};

static bool consider(const struct argp_option *o, const struct argp_option *named, void *arg)
{
	const struct misspelt *m = arg;
	char dashed[NEAREST_NAME_MAX];

	if (!o->name)
		return false;
	if (!strncmp(o->name, m->name, m->len))
		return true;
	if (m->nearest && option_is_shown(o, named) &&
	    (size_t)snprintf(dashed, sizeof(dashed), "--%s", o->name) < sizeof(dashed))
		nearest_offer_as(m->nearest, o->name, dashed);
	return false;
}

bool option_suggest(const struct argp *root, const char *word, char *out, size_t size)
{
	const char *begin = word + strspn(word, "-");
	struct misspelt m = {begin, strcspn(begin, "="), NULL};
	struct nearest nearest;

	*out = '\0';
	if (nearest_init_len(&nearest, begin, m.len))
		m.nearest = &nearest;
	if (options_each(root, consider, &m))
		return false;
	if (m.nearest)
		nearest_write(m.nearest, out, size);
	return true;
}
