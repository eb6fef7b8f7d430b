// SPDX-License-Identifier: Apache-2.0
#include "record/trigger/rate.h"

#include <errno.h>
#include <stdlib.h>

int rate_init(struct rate *r, size_t limit, uint64_t stretch)
{
	*r = (struct rate){.limit = limit, .stretch = stretch};
	if (!limit)
		return 0;
	r->times = calloc(limit, sizeof(*r->times));
	return r->times ? 0 : -ENOMEM;
}

void rate_release(struct rate *r)
{
	free(r->times);
	*r = (struct rate){0};
}

bool rate_allows(struct rate *r, uint64_t now)
{
	if (!r->limit)
		return true;
	if (r->nr == r->limit && now - r->times[r->at] < r->stretch)
		return false;
	r->times[r->at] = now;
	r->at = (r->at + 1) % r->limit;
	r->nr += r->nr < r->limit;
	return true;
}
