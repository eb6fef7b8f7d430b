// SPDX-License-Identifier: Apache-2.0
/*
 * Records from type 64 up, which tools write: perf.data-file-format.txt and
 * tools/lib/perf/include/perf/event.h. Same rules as record.c. They have no sample_id trailer.
 */
#include "perfdata/record.h"

#include "perfdata/codec.h"

/* misc of HEADER_BUILD_ID: the record holds the size of the id */
#define BUILD_ID_SIZE_TOLD (1u << 15)

enum {
	EVENT_UPDATE_UNIT,
	EVENT_UPDATE_SCALE,
	EVENT_UPDATE_NAME,
	EVENT_UPDATE_CPUS,
};

enum {
	CPU_MAP_CPUS,
	CPU_MAP_MASK,
	CPU_MAP_RANGE,
};

static void skip_u64s(struct cursor *c)
{
	uint64_t word;

	while (cursor_left(c) >= sizeof(word))
		cursor_u64(c, &word);
}

static void walk_attr(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	struct pd_attr_record *a = &r->attr;
	const uint8_t *start = c->p + c->at;
	uint32_t size;

	if (cursor_left(c) < PD_ATTR_SIZE_VER0) {
		c->bad = true;
		return;
	}
	memcpy(&size, start + offsetof(struct pd_attr, size), sizeof(size));
	if (c->swap)
		size = __builtin_bswap32(size);
	if (!size)
		size = PD_ATTR_SIZE_VER0;
	if (size < PD_ATTR_SIZE_VER0)
		c->bad = true;
	a->attr = cursor_bytes(c, size);
	if (!a->attr)
		return;
	a->attr_len = size;
	if (c->in_place)
		pd_attr_turn((uint8_t *)start, size);
	a->nr_ids = cursor_left(c) / sizeof(uint64_t);
	a->ids = cursor_u64s(c, a->nr_ids);
}

static void walk_event_type(struct cursor *c, const struct perf_event_header *hdr,
			    struct pd_record *r)
{
	struct pd_words *w = &r->words;
	uint64_t id = 0, nr;

	cursor_u64(c, &id);
	if (id != PD_SNAPSHOT_MAGIC || !cursor_u64(c, &nr))
		return;
	w->words = cursor_u64s(c, nr);
	w->nr = nr;
	w->text_len = cursor_left(c);
	w->text = cursor_bytes(c, w->text_len);
}

static void walk_tracing_data(struct cursor *c, const struct perf_event_header *hdr,
			      struct pd_record *r)
{
	cursor_u32(c, &r->tracing_data_size);
}

/* Reads the part that Ringtail adds behind the name, if there is one. */
static void walk_build_id_file(struct cursor *c, size_t name_end, struct pd_build_id *b)
{
	const size_t len = sizeof(struct pd_build_id_file),
		     magic = sizeof(PD_BUILD_ID_FILE_MAGIC) - 1;

	if (c->end < len || c->end - len < name_end ||
	    memcmp(c->p + c->end - len, PD_BUILD_ID_FILE_MAGIC, magic))
		return;
	c->at = c->end - len + magic;
	cursor_u32(c, &b->maj);
	cursor_u32(c, &b->min);
	cursor_u64(c, &b->ino);
	cursor_u64(c, &b->ino_generation);
}

static void walk_build_id(struct cursor *c, const struct perf_event_header *hdr,
			  struct pd_record *r)
{
	struct pd_build_id *b = &r->build_id;
	const uint8_t *id;
	uint32_t pid = 0;

	cursor_u32(c, &pid);
	id = cursor_bytes(c, PD_BUILD_ID_MAX + 4); /* the id, its size, 3 reserved */
	if (!id)
		return;
	b->pid = (int32_t)pid;
	b->size = hdr->misc & BUILD_ID_SIZE_TOLD ? id[PD_BUILD_ID_MAX] : PD_BUILD_ID_MAX;
	if (b->size > PD_BUILD_ID_MAX) {
		c->bad = true;
		return;
	}
	memcpy(b->build_id, id, b->size);
	b->filename = cursor_tail_string(c);
	if (!c->bad)
		walk_build_id_file(
			c, (size_t)((const uint8_t *)b->filename - c->p) + strlen(b->filename) + 1,
			b);
}

static void walk_empty(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
}

static void walk_id_index(struct cursor *c, const struct perf_event_header *hdr,
			  struct pd_record *r)
{
	struct pd_id_index *x = &r->id_index;

	cursor_u64(c, &x->nr);
	if (x->nr > cursor_left(c) / (4 * sizeof(uint64_t))) {
		c->bad = true;
		return;
	}
	x->entries = cursor_u64s(c, 4 * x->nr);
	skip_u64s(c); /* since 5.20: machine_pid and vcpu of each entry */
}

static void walk_auxtrace_info(struct cursor *c, const struct perf_event_header *hdr,
			       struct pd_record *r)
{
	uint32_t reserved;

	cursor_u32(c, &r->auxtrace_info.type);
	cursor_u32(c, &reserved);
	r->auxtrace_info.nr_priv = cursor_left(c) / sizeof(uint64_t);
	r->auxtrace_info.priv = cursor_u64s(c, r->auxtrace_info.nr_priv);
}

static void walk_auxtrace(struct cursor *c, const struct perf_event_header *hdr,
			  struct pd_record *r)
{
	cursor_u64(c, &r->auxtrace.size);
	cursor_u64(c, &r->auxtrace.offset);
	cursor_u64(c, &r->auxtrace.reference);
	cursor_u32(c, &r->auxtrace.idx);
	cursor_u32(c, &r->auxtrace.tid);
	cursor_u32(c, &r->auxtrace.cpu);
}

static void walk_auxtrace_error(struct cursor *c, const struct perf_event_header *hdr,
				struct pd_record *r)
{
	const size_t msg_max = 64;
	struct pd_auxtrace_error *e = &r->auxtrace_error;
	uint32_t format = 0, machine_pid, vcpu;

	cursor_u32(c, &e->type);
	cursor_u32(c, &e->code);
	cursor_u32(c, &e->cpu);
	cursor_u32(c, &e->pid);
	cursor_u32(c, &e->tid);
	cursor_u32(c, &format);
	cursor_u64(c, &e->ip);
	if (format)
		cursor_u64(c, &e->time);
	if (format < 2 || cursor_left(c) < msg_max + sizeof(machine_pid) + sizeof(vcpu)) {
		e->msg = cursor_tail_string(c);
		return;
	}
	e->msg = (const char *)cursor_bytes(c, msg_max);
	if (!memchr(e->msg, 0, msg_max))
		c->bad = true;
	cursor_u32(c, &machine_pid);
	cursor_u32(c, &vcpu);
}

static void walk_thread_map(struct cursor *c, const struct perf_event_header *hdr,
			    struct pd_record *r)
{
	const size_t comm_len = 16;
	uint64_t nr = 0, pid;

	cursor_u64(c, &nr);
	for (uint64_t i = 0; i < nr && !c->bad; i++) {
		cursor_u64(c, &pid);
		cursor_bytes(c, comm_len);
	}
}

/* Four bytes of padding precede masks of 64-bit words, for their alignment. */
static void walk_cpu_mask(struct cursor *c)
{
	uint16_t nr = 0, word_size = 0;
	uint32_t word32, pad;
	uint64_t word64;

	cursor_u16(c, &nr);
	cursor_u16(c, &word_size);
	if (word_size == sizeof(word64)) {
		cursor_u32(c, &pad);
		for (unsigned int i = 0; i < nr && !c->bad; i++)
			cursor_u64(c, &word64);
	} else if (word_size == sizeof(word32)) {
		for (unsigned int i = 0; i < nr && !c->bad; i++)
			cursor_u32(c, &word32);
	} else {
		c->bad = true;
	}
}

/* Checks the body of a CPU_MAP, also inside an EVENT_UPDATE; stores nothing of it. */
static void cpus_walk(struct cursor *c)
{
	uint16_t type = 0, nr = 0, cpu;

	if (!cursor_u16(c, &type))
		return;
	switch (type) {
	case CPU_MAP_CPUS:
		cursor_u16(c, &nr);
		for (unsigned int i = 0; i < nr && !c->bad; i++)
			cursor_u16(c, &cpu);
		break;
	case CPU_MAP_MASK: walk_cpu_mask(c); break;
	case CPU_MAP_RANGE:
		cursor_bytes(c, 2); /* any_cpu, padding */
		cursor_u16(c, &cpu);
		cursor_u16(c, &cpu);
		break;
	}
}

static void walk_cpu_map(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cpus_walk(c);
}

static void walk_stat_config(struct cursor *c, const struct perf_event_header *hdr,
			     struct pd_record *r)
{
	uint64_t nr = 0;

	cursor_u64(c, &nr);
	if (nr > cursor_left(c) / (2 * sizeof(uint64_t)))
		c->bad = true;
	else
		cursor_u64s(c, 2 * nr);
}

static void walk_stat(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cursor_u64(c, &r->stat.id);
	cursor_u32(c, &r->stat.cpu);
	cursor_u32(c, &r->stat.thread);
	cursor_u64(c, &r->stat.val);
	cursor_u64(c, &r->stat.ena);
	cursor_u64(c, &r->stat.run);
}

static void walk_stat_round(struct cursor *c, const struct perf_event_header *hdr,
			    struct pd_record *r)
{
	cursor_u64(c, &r->stat_round.type);
	cursor_u64(c, &r->stat_round.time);
}

static void walk_event_update(struct cursor *c, const struct perf_event_header *hdr,
			      struct pd_record *r)
{
	struct pd_event_update *u = &r->update;
	uint64_t scale;

	cursor_u64(c, &u->type);
	cursor_u64(c, &u->id);
	u->data = c->p + c->at;
	u->len = cursor_left(c);
	switch (u->type) {
	case EVENT_UPDATE_UNIT:
	case EVENT_UPDATE_NAME: cursor_tail_string(c); break;
	case EVENT_UPDATE_SCALE:
		cursor_u64(c, &scale); /* a double, same size */
		break;
	case EVENT_UPDATE_CPUS: cpus_walk(c); break;
	}
}

static void walk_time_conv(struct cursor *c, const struct perf_event_header *hdr,
			   struct pd_record *r)
{
	struct pd_time_conv *t = &r->time_conv;
	const uint8_t *flags;

	cursor_u64(c, &t->time_shift);
	cursor_u64(c, &t->time_mult);
	cursor_u64(c, &t->time_zero);
	t->cap_user_time_zero = true;
	if (cursor_left(c) < sizeof(t->time_cycles) + sizeof(t->time_mask))
		return;
	cursor_u64(c, &t->time_cycles);
	cursor_u64(c, &t->time_mask);
	if (cursor_left(c) < 2)
		return;
	flags = cursor_bytes(c, 2);
	t->cap_user_time_zero = flags[0];
	t->cap_user_time_short = flags[1];
}

static void walk_feature(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cursor_u64(c, &r->feature.feature);
	r->feature.len = cursor_left(c);
	r->feature.data = cursor_bytes(c, r->feature.len);
}

static void walk_compressed(struct cursor *c, const struct perf_event_header *hdr,
			    struct pd_record *r)
{
	uint64_t len = cursor_left(c);

	if (hdr->type == PERF_RECORD_COMPRESSED2)
		cursor_u64(c, &len); /* the record is padded to 8 behind it */
	r->compressed.data = cursor_bytes(c, len);
	r->compressed.len = len;
}

static void walk_bpf_metadata(struct cursor *c, const struct perf_event_header *hdr,
			      struct pd_record *r)
{
	const size_t name_len = 16, entry_len = 64 + 256;
	uint64_t nr = 0;

	cursor_bytes(c, name_len);
	cursor_u64(c, &nr);
	if (nr > cursor_left(c) / entry_len)
		c->bad = true;
}

static pd_record_walk_fn *const user_walks[] = {
	[PERF_RECORD_HEADER_ATTR - PD_FIRST_USER_RECORD] = walk_attr,
	[PERF_RECORD_HEADER_EVENT_TYPE - PD_FIRST_USER_RECORD] = walk_event_type,
	[PERF_RECORD_HEADER_TRACING_DATA - PD_FIRST_USER_RECORD] = walk_tracing_data,
	[PERF_RECORD_HEADER_BUILD_ID - PD_FIRST_USER_RECORD] = walk_build_id,
	[PERF_RECORD_FINISHED_ROUND - PD_FIRST_USER_RECORD] = walk_empty,
	[PERF_RECORD_ID_INDEX - PD_FIRST_USER_RECORD] = walk_id_index,
	[PERF_RECORD_AUXTRACE_INFO - PD_FIRST_USER_RECORD] = walk_auxtrace_info,
	[PERF_RECORD_AUXTRACE - PD_FIRST_USER_RECORD] = walk_auxtrace,
	[PERF_RECORD_AUXTRACE_ERROR - PD_FIRST_USER_RECORD] = walk_auxtrace_error,
	[PERF_RECORD_THREAD_MAP - PD_FIRST_USER_RECORD] = walk_thread_map,
	[PERF_RECORD_CPU_MAP - PD_FIRST_USER_RECORD] = walk_cpu_map,
	[PERF_RECORD_STAT_CONFIG - PD_FIRST_USER_RECORD] = walk_stat_config,
	[PERF_RECORD_STAT - PD_FIRST_USER_RECORD] = walk_stat,
	[PERF_RECORD_STAT_ROUND - PD_FIRST_USER_RECORD] = walk_stat_round,
	[PERF_RECORD_EVENT_UPDATE - PD_FIRST_USER_RECORD] = walk_event_update,
	[PERF_RECORD_TIME_CONV - PD_FIRST_USER_RECORD] = walk_time_conv,
	[PERF_RECORD_HEADER_FEATURE - PD_FIRST_USER_RECORD] = walk_feature,
	[PERF_RECORD_COMPRESSED - PD_FIRST_USER_RECORD] = walk_compressed,
	[PERF_RECORD_FINISHED_INIT - PD_FIRST_USER_RECORD] = walk_empty,
	[PERF_RECORD_COMPRESSED2 - PD_FIRST_USER_RECORD] = walk_compressed,
	[PERF_RECORD_BPF_METADATA - PD_FIRST_USER_RECORD] = walk_bpf_metadata,
};

pd_record_walk_fn *pd_user_record_walk(uint32_t type)
{
	type -= PD_FIRST_USER_RECORD;
	return type < sizeof(user_walks) / sizeof(user_walks[0]) ? user_walks[type] : NULL;
}
