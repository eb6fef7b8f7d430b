// SPDX-License-Identifier: Apache-2.0
/* EVENT_DESC and GROUP_DESC: names and groups of events. */
#include "perfdata/feature.h"

#include <errno.h>
#include <stdlib.h>

#include "perfdata/feature_codec.h"

/* An entry: attribute of @attr_size bytes, number of ids, name, ids. */
static int event_desc_one(struct cursor *c, uint32_t attr_size, struct pd_evlist *list,
			  uint32_t index)
{
	struct pd_evsel *evsel = NULL;
	uint32_t nr_ids = 0;
	uint64_t id = 0;
	char *name = NULL;
	int err = -EBADMSG;

	cursor_bytes(c, attr_size);
	cursor_u32(c, &nr_ids);
	if (c->bad)
		return err;
	err = pd_string_get(c, &name);
	if (err)
		return err;
	if (nr_ids && cursor_u64(c, &id))
		cursor_bytes(c, (uint64_t)(nr_ids - 1) * sizeof(id));
	if (c->bad) {
		err = -EBADMSG;
		goto out;
	}
	if (id && pd_evlist_count(list) > 1) /* a single event matches any id */
		evsel = pd_evlist_by_id(list, id);
	if (!evsel)
		evsel = pd_evlist_at(list, index);
	if (evsel && *name)
		err = pd_evsel_set_name(evsel, name);
out:
	free(name);
	return err;
}

int pd_feature_event_desc_decode(const uint8_t *p, size_t len, bool swap, struct pd_evlist *list)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t nr = 0, attr_size = 0;
	int err = 0;

	cursor_u32(&c, &nr);
	cursor_u32(&c, &attr_size);
	if (c.bad || attr_size < PD_ATTR_SIZE_VER0)
		return -EBADMSG;
	for (uint32_t i = 0; !err && i < nr; i++)
		err = event_desc_one(&c, attr_size, list, i);
	return err;
}

int pd_feature_event_desc_encode(struct buf *b, const struct pd_evlist *list)
{
	size_t nr = pd_evlist_count(list);
	uint32_t attr_size = 0;
	int err;

	for (size_t i = 0; i < nr; i++) {
		uint32_t size = pd_attr_wire_size(&pd_evlist_at(list, i)->attr);

		attr_size = size > attr_size ? size : attr_size;
	}
	err = pd_u32_put(b, (uint32_t)nr);
	if (!err)
		err = pd_u32_put(b, attr_size);
	for (size_t i = 0; !err && i < nr; i++) {
		const struct pd_evsel *evsel = pd_evlist_at(list, i);
		struct pd_attr attr = evsel->attr;

		attr.size = attr_size;
		err = buf_append(b, &attr, attr_size);
		if (!err)
			err = pd_u32_put(b, (uint32_t)evsel->nr_ids);
		if (!err)
			err = pd_string_put(b, evsel->name);
		if (!err)
			err = buf_append(b, evsel->ids, evsel->nr_ids * sizeof(*evsel->ids));
	}
	return err;
}

/* @next is the index after the last group: groups are in order and do not overlap. */
static int group_desc_one(struct cursor *c, struct pd_evlist *list, size_t *next)
{
	size_t count = pd_evlist_count(list);
	uint32_t len = 0, leader = 0, members = 0;

	cursor_u32(c, &len);
	cursor_bytes(c, len); /* the group's name */
	cursor_u32(c, &leader);
	cursor_u32(c, &members);
	if (c->bad || leader < *next || leader >= count || !members || members > count - leader)
		return -EBADMSG;
	for (uint32_t i = leader; i < leader + members; i++)
		pd_evlist_at(list, i)->leader = leader;
	pd_evlist_at(list, leader)->nr_members = members;
	*next = (size_t)leader + members;
	return 0;
}

int pd_feature_group_desc_decode(const uint8_t *p, size_t len, bool swap, struct pd_evlist *list)
{
	struct cursor c = {.p = p, .end = len, .swap = swap};
	uint32_t nr;
	size_t next = 0;
	int err = 0;

	if (!cursor_u32(&c, &nr))
		return -EBADMSG;
	for (uint32_t i = 0; !err && i < nr; i++)
		err = group_desc_one(&c, list, &next);
	return err;
}

int pd_feature_group_desc_encode(struct buf *b, const struct pd_evlist *list)
{
	size_t count = pd_evlist_count(list);
	uint32_t nr = 0;
	int err;

	for (size_t i = 0; i < count; i++)
		nr += pd_evlist_at(list, i)->nr_members > 1;
	err = pd_u32_put(b, nr);
	for (size_t i = 0; !err && i < count; i++) {
		const struct pd_evsel *evsel = pd_evlist_at(list, i);

		if (evsel->nr_members <= 1)
			continue;
		err = pd_string_put(b, "{anon_group}"); /* perf's name of a group without one */
		if (!err)
			err = pd_u32_put(b, evsel->index);
		if (!err)
			err = pd_u32_put(b, evsel->nr_members);
	}
	return err;
}
