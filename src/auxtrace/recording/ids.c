// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/recording/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static int add(struct aux_ids *ids, const struct aux_id *id)
{
	uint32_t nr = id_table_count(&ids->table), number;

	if (array_grow(&ids->ids, &ids->cap, (size_t)nr + 1, sizeof(*ids->ids)))
		return -ENOMEM;
	number = id_table_add(&ids->table, id->id);
	if (number == nr)
		ids->ids[nr] = *id;
	return number == ID_TABLE_NONE ? -ENOMEM : 0;
}

int aux_ids_add(struct aux_ids *ids, const struct data_record *rec)
{
	struct pd_record r;
	struct aux_id id;
	int rc = 0;

	if (rec->hdr->type != PERF_RECORD_ID_INDEX || pd_record_decode(rec->hdr, rec->evsel, &r))
		return 0;
	for (uint64_t i = 0; !rc && i < r.id_index.nr; i++) {
		memcpy(&id, r.id_index.entries + 4 * i, sizeof(id));
		rc = add(ids, &id);
	}
	return rc;
}

void aux_ids_ring(const struct aux_ids *ids, uint64_t id, uint32_t *cpu, uint32_t *tid,
		  uint32_t *idx)
{
	uint32_t number = id_table_find(&ids->table, id);

	if (number == ID_TABLE_NONE)
		return;
	*idx = (uint32_t)ids->ids[number].idx;
	*cpu = (uint32_t)ids->ids[number].cpu;
	if (*cpu == UINT32_MAX)
		*tid = (uint32_t)ids->ids[number].tid;
}

void aux_ids_place(const struct aux_ids *ids, uint64_t id, uint32_t *cpu, uint32_t *tid)
{
	uint32_t idx;

	aux_ids_ring(ids, id, cpu, tid, &idx);
}

void aux_ids_release(struct aux_ids *ids)
{
	free(ids->ids);
	id_table_release(&ids->table);
	*ids = (struct aux_ids){0};
}
