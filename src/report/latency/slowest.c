// SPDX-License-Identifier: Apache-2.0
#include "report/latency/slowest.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

bool slowest_wants(const struct slowest *s, uint64_t ns)
{
	return s->nr < s->max || (s->max && ns > s->calls[s->nr - 1].ns);
}

int slowest_take(struct slowest *s, const struct latency_call *call)
{
	size_t at = s->nr;

	if (s->nr == s->max)
		call_tree_release(&s->calls[--at].tree);
	else if (array_grow(&s->calls, &s->cap, s->nr + 1, sizeof(*s->calls)))
		return -ENOMEM;
	else
		s->nr++;
	for (; at && s->calls[at - 1].ns < call->ns; at--)
		s->calls[at] = s->calls[at - 1];
	s->calls[at] = *call;
	return 0;
}

void slowest_release(struct slowest *s)
{
	for (size_t i = 0; i < s->nr; i++)
		call_tree_release(&s->calls[i].tree);
	free(s->calls);
	*s = (struct slowest){0};
}
