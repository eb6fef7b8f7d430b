// SPDX-License-Identifier: Apache-2.0
#include "report/table/unknown.h"

#include <errno.h>
#include <stdlib.h>

int unknown_init(struct unknown *u, const struct state *s)
{
	size_t nr = state_dso_count(s);

	*u = (struct unknown){.nr_dsos = nr, .by_dso = calloc(nr + 1, sizeof(*u->by_dso))};
	return u->by_dso ? 0 : -ENOMEM;
}

void unknown_release(struct unknown *u)
{
	free(u->by_dso);
	*u = (struct unknown){0};
}

void unknown_add(struct unknown *u, const struct frame *own, uint64_t samples)
{
	u->samples += samples;
	if (own->sym)
		return;
	u->unresolved += samples;
	u->by_dso[own->dso ? own->dso->index : u->nr_dsos] += samples;
}

void unknown_add_chain(struct unknown *u, const struct frame *chain, size_t nr)
{
	bool any = false, astray = false;

	for (size_t i = 1; i < nr; i++) {
		bool caller = chain[i].cpumode == PERF_RECORD_MISC_USER &&
			      chain[i - 1].cpumode == PERF_RECORD_MISC_USER;

		/* The outermost frame may be unmapped: a program's entry point has no caller. */
		if (caller && !chain[i].dso && (!any || i + 1 < nr))
			astray = true;
		any |= caller;
	}
	u->chains += any;
	u->astray += astray;
}

void unknown_merge(struct unknown *u, const struct unknown *from)
{
	u->samples += from->samples;
	u->unresolved += from->unresolved;
	u->chains += from->chains;
	u->astray += from->astray;
	for (size_t i = 0; i <= u->nr_dsos; i++)
		u->by_dso[i] += from->by_dso[i];
}

const struct dso *unknown_most(const struct unknown *u, const struct state *s,
			       uint64_t *ret_samples)
{
	size_t most = u->nr_dsos;

	for (size_t i = 0; i < u->nr_dsos; i++)
		if (u->by_dso[i] > u->by_dso[most])
			most = i;
	*ret_samples = u->by_dso[most];
	return most < u->nr_dsos ? state_dso_at(s, most) : NULL;
}
