// SPDX-License-Identifier: Apache-2.0
#include "perfdata/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/id_table.h"
#include "perfdata/codec.h"

#define EVLIST_MAX 65536

struct pd_evlist {
	struct pd_evsel **evsels; /* allocated one by one, so that pointers to them stay valid */
	size_t nr, cap;
	size_t nr_recorded; /* the first ones */

	struct id_table ids; /* to indices of events */

	uint64_t sample_type; /* of all events together */

	/* id_position() by the first event. */
	int id_in_samples, id_in_others;
};

struct pd_evlist *pd_evlist_new(void)
{
	return calloc(1, sizeof(struct pd_evlist));
}

static void evsel_free(struct pd_evsel *evsel)
{
	if (!evsel)
		return;
	free(evsel->name);
	free(evsel->ids);
	free(evsel);
}

void pd_evlist_free(struct pd_evlist *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->nr; i++)
		evsel_free(list->evsels[i]);
	free(list->evsels);
	id_table_release(&list->ids);
	free(list);
}

static char *attr_name_dup(const struct pd_attr *attr)
{
	char name[128];

	pd_attr_name(attr, name, sizeof(name));
	return strdup(name);
}

/*
 * Returns the position of the id in words: in samples from the start of the body, in others back
 * from its end (1 is the last word). -1: there is none.
 */
static int id_position(uint64_t sample_type, bool sample)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return sample ? 0 : 1;
	if (!(sample_type & PERF_SAMPLE_ID))
		return -1;
	if (!sample)
		return 1 + !!(sample_type & PERF_SAMPLE_CPU) +
		       !!(sample_type & PERF_SAMPLE_STREAM_ID);
	return !!(sample_type & PERF_SAMPLE_IP) + !!(sample_type & PERF_SAMPLE_TID) +
	       !!(sample_type & PERF_SAMPLE_TIME) + !!(sample_type & PERF_SAMPLE_ADDR);
}

int pd_evlist_add(struct pd_evlist *list, const struct pd_attr *attr, const char *name,
		  const uint64_t *ids, size_t nr_ids)
{
	struct pd_evsel *evsel;
	int err = -ENOMEM;

	if (list->nr >= EVLIST_MAX)
		return -E2BIG;
	evsel = calloc(1, sizeof(*evsel));
	if (!evsel)
		return -ENOMEM;
	evsel->attr = *attr;
	evsel->index = evsel->leader = (unsigned int)list->nr;
	evsel->nr_members = 1;
	evsel->name = name ? strdup(name) : attr_name_dup(attr);
	if (!evsel->name)
		goto out;
	if (nr_ids) {
		evsel->ids = calloc(nr_ids, sizeof(*ids));
		if (!evsel->ids)
			goto out;
		memcpy(evsel->ids, ids, nr_ids * sizeof(*ids));
		evsel->nr_ids = nr_ids;
	}
	if (id_table_reserve(&list->ids, nr_ids) ||
	    array_grow(&list->evsels, &list->cap, list->nr + 1, sizeof(*list->evsels)))
		goto out;

	for (size_t i = 0; i < nr_ids; i++)
		id_table_put(&list->ids, ids[i], evsel->index); /* there is room */
	if (!list->nr) {
		list->id_in_samples = id_position(attr->sample_type, true);
		list->id_in_others = id_position(attr->sample_type, false);
	}
	list->sample_type |= attr->sample_type;
	list->evsels[list->nr++] = evsel;
	list->nr_recorded = list->nr;
	return 0;
out:
	evsel_free(evsel);
	return err;
}

int pd_evlist_add_made(struct pd_evlist *list, const struct pd_attr *attr, const char *name)
{
	size_t recorded = list->nr_recorded;
	int rc = pd_evlist_add(list, attr, name, NULL, 0);

	list->nr_recorded = recorded;
	if (!rc)
		list->evsels[list->nr - 1]->made = true;
	return rc;
}

void pd_evlist_extend(struct pd_evlist *list, struct pd_evsel *evsel, uint64_t sample_type)
{
	evsel->added_type |= sample_type & ~evsel->attr.sample_type;
	list->sample_type |= sample_type;
}

uint64_t pd_evsel_fields(const struct pd_evsel *evsel)
{
	return evsel->attr.sample_type | evsel->added_type;
}

int pd_evsel_set_name(struct pd_evsel *evsel, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(evsel->name);
	evsel->name = copy;
	return 0;
}

size_t pd_evlist_count(const struct pd_evlist *list)
{
	return list->nr;
}

size_t pd_evlist_recorded(const struct pd_evlist *list)
{
	return list->nr_recorded;
}

struct pd_evsel *pd_evlist_at(const struct pd_evlist *list, size_t index)
{
	return index < list->nr ? list->evsels[index] : NULL;
}

uint64_t pd_evlist_sample_type(const struct pd_evlist *list)
{
	return list->sample_type;
}

struct pd_evsel *pd_evlist_by_id(const struct pd_evlist *list, uint64_t id)
{
	uint32_t index;

	if (list->nr_recorded == 1 || (!id && list->nr_recorded))
		return list->evsels[0];
	index = id_table_find(&list->ids, id);
	return index == ID_TABLE_NONE ? NULL : list->evsels[index];
}

/* Finds the id in the record at @hdr. Returns 1; 0: there is none; or -1: the record is too short.
 */
static inline int record_id(const struct pd_evlist *list, const struct perf_event_header *hdr,
			    bool swap, uint64_t *ret)
{
	bool sample = hdr->type == PERF_RECORD_SAMPLE;
	int words, pos = sample ? list->id_in_samples : list->id_in_others;

	if (pos < 0 || (!sample && (!(list->evsels[0]->attr.flags & PD_ATTR_SAMPLE_ID_ALL) ||
				    hdr->type >= PD_FIRST_USER_RECORD)))
		return 0;
	words = hdr->size / (int)sizeof(*ret) - 1; /* without the header, which is one */
	if (!sample)
		pos = words - pos;
	if (pos < 0 || pos >= words)
		return -1;
	memcpy(ret, (const uint8_t *)(hdr + 1) + (size_t)pos * sizeof(*ret), sizeof(*ret));
	if (swap)
		*ret = __builtin_bswap64(*ret);
	return 1;
}

struct pd_evsel *pd_evlist_of_record(const struct pd_evlist *list,
				     const struct perf_event_header *hdr, bool swap)
{
	uint64_t id;
	int found;

	if (list->nr_recorded <= 1)
		return list->nr_recorded ? list->evsels[0] : NULL;
	found = record_id(list, hdr, swap, &id);
	if (found <= 0)
		return found ? NULL : list->evsels[0];
	return pd_evlist_by_id(list, id);
}

const struct pd_evsel *pd_evlist_of_next(const struct pd_evlist *list,
					 const struct perf_event_header *hdr,
					 struct pd_last_id *last)
{
	uint64_t id;
	int found;

	if (list->nr_recorded <= 1)
		return list->nr_recorded ? list->evsels[0] : NULL;
	found = record_id(list, hdr, false, &id);
	if (found <= 0)
		return found ? NULL : list->evsels[0];
	if (id != last->id || !last->evsel)
		*last = (struct pd_last_id){id, pd_evlist_by_id(list, id)};
	return last->evsel;
}
