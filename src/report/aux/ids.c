// SPDX-License-Identifier: Apache-2.0
#include "report/aux/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

int aux_ids_add(struct aux_ids *ids, const struct data_record *rec)
{
	struct pd_record r;
	size_t nr;

	if (rec->hdr->type != PERF_RECORD_ID_INDEX || pd_record_decode(rec->hdr, rec->evsel, &r) ||
	    !r.id_index.nr)
		return 0;
	nr = (size_t)r.id_index.nr;
	if (array_grow(&ids->ids, &ids->cap, ids->nr + nr, sizeof(*ids->ids)))
		return -ENOMEM;
	memcpy(ids->ids + ids->nr, r.id_index.entries, nr * sizeof(*ids->ids));
	ids->nr += nr;
	return 0;
}

void aux_ids_place(const struct aux_ids *ids, uint64_t id, uint32_t *cpu, uint32_t *tid)
{
	const struct aux_id *found = NULL;

	for (size_t i = 0; *cpu == UINT32_MAX && !found && i < ids->nr; i++)
		if (ids->ids[i].id == id)
			found = &ids->ids[i];
	if (!found)
		return;
	*cpu = (uint32_t)found->cpu;
	if (*cpu == UINT32_MAX)
		*tid = (uint32_t)found->tid;
}

void aux_ids_release(struct aux_ids *ids)
{
	free(ids->ids);
	*ids = (struct aux_ids){0};
}
