// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel's records. Each layout is written down once, in its walk, which serves decoding and
 * the swap to host order (cursor.h). The layouts follow include/uapi/linux/perf_event.h.
 */
#include "perfdata/record.h"

#include <errno.h>
#include <sys/mman.h>

#include "perfdata/codec.h"

static void walk_mmap(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	struct pd_mmap *m = &r->mmap;

	cursor_u32(c, &m->pid);
	cursor_u32(c, &m->tid);
	cursor_u64(c, &m->addr);
	cursor_u64(c, &m->len);
	cursor_u64(c, &m->pgoff);
	m->prot = hdr->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
	m->filename = cursor_tail_string(c);
}

static void walk_mmap_build_id(struct cursor *c, struct pd_mmap *m)
{
	const uint8_t *p = cursor_bytes(c, 4 + PD_BUILD_ID_MAX); /* size, 3 reserved, id */

	if (!p)
		return;
	if (p[0] > PD_BUILD_ID_MAX) {
		c->bad = true;
		return;
	}
	m->build_id_size = p[0];
	memcpy(m->build_id, p + 4, p[0]);
}

/*
 * Before Linux 3.16, and in RHEL 7's 3.10, the name is in the place of prot and flags. The record
 * ends with the last word of the name. No name fits both layouts: prot is a small number, with zero
 * bytes, and so not text.
 */
static bool mmap2_lacks_prot(const struct cursor *c)
{
	const uint8_t *name = c->p + c->at, *nul;
	size_t left = cursor_left(c);

	if (!left || *name < ' ')
		return false;
	nul = memchr(name, 0, left);
	return nul && left - (size_t)(nul - name) <= sizeof(uint64_t);
}

static void walk_mmap2(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	struct pd_mmap *m = &r->mmap;

	cursor_u32(c, &m->pid);
	cursor_u32(c, &m->tid);
	cursor_u64(c, &m->addr);
	cursor_u64(c, &m->len);
	cursor_u64(c, &m->pgoff);
	if (hdr->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		walk_mmap_build_id(c, m);
	} else {
		cursor_u32(c, &m->maj);
		cursor_u32(c, &m->min);
		cursor_u64(c, &m->ino);
		cursor_u64(c, &m->ino_generation);
	}
	if (mmap2_lacks_prot(c)) {
		m->prot = hdr->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
	} else {
		cursor_u32(c, &m->prot);
		cursor_u32(c, &m->flags);
	}
	m->filename = cursor_tail_string(c);
}

uint16_t pd_mmap2_encode(const struct pd_mmap *m, struct pd_mmap2_body *ret)
{
	*ret = (struct pd_mmap2_body){
		.pid = m->pid,
		.tid = m->tid,
		.addr = m->addr,
		.len = m->len,
		.pgoff = m->pgoff,
		.prot = m->prot,
		.flags = m->flags,
	};
	if (m->build_id_size) {
		ret->build_id_size = m->build_id_size;
		memcpy(ret->build_id, m->build_id, sizeof(ret->build_id));
		return PERF_RECORD_MISC_MMAP_BUILD_ID;
	}
	ret->maj = m->maj;
	ret->min = m->min;
	ret->ino = m->ino;
	ret->ino_generation = m->ino_generation;
	return 0;
}

static void walk_comm(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cursor_u32(c, &r->comm.pid);
	cursor_u32(c, &r->comm.tid);
	r->comm.exec = hdr->misc & PERF_RECORD_MISC_COMM_EXEC;
	r->comm.comm = cursor_tail_string(c);
}

static void walk_task(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cursor_u32(c, &r->task.pid);
	cursor_u32(c, &r->task.ppid);
	cursor_u32(c, &r->task.tid);
	cursor_u32(c, &r->task.ptid);
	cursor_u64(c, &r->task.time);
}

static void walk_lost(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cursor_u64(c, &r->lost.id);
	cursor_u64(c, &r->lost.lost);
}

static void walk_lost_samples(struct cursor *c, const struct perf_event_header *hdr,
			      struct pd_record *r)
{
	cursor_u64(c, &r->lost.lost);
}

static void walk_throttle(struct cursor *c, const struct perf_event_header *hdr,
			  struct pd_record *r)
{
	cursor_u64(c, &r->throttle.time);
	cursor_u64(c, &r->throttle.id);
	cursor_u64(c, &r->throttle.stream_id);
}

static void walk_read(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	size_t nr;

	cursor_u32(c, &r->read.pid);
	cursor_u32(c, &r->read.tid);
	nr = cursor_left(c) / sizeof(uint64_t);
	r->read.values = cursor_u64s(c, nr);
	r->read.nr_values = nr;
}

static void walk_aux(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cursor_u64(c, &r->aux.aux_offset);
	cursor_u64(c, &r->aux.aux_size);
	cursor_u64(c, &r->aux.flags);
}

static void walk_itrace_start(struct cursor *c, const struct perf_event_header *hdr,
			      struct pd_record *r)
{
	cursor_u32(c, &r->itrace_start[0]);
	cursor_u32(c, &r->itrace_start[1]);
}

static void walk_switch(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	struct pd_switch *s = &r->cswitch;

	s->out = hdr->misc & PERF_RECORD_MISC_SWITCH_OUT;
	s->preempt = s->out && hdr->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	s->next_prev_pid = s->next_prev_tid = ~0u;
	if (hdr->type == PERF_RECORD_SWITCH_CPU_WIDE) {
		cursor_u32(c, &s->next_prev_pid);
		cursor_u32(c, &s->next_prev_tid);
	}
}

static void walk_namespaces(struct cursor *c, const struct perf_event_header *hdr,
			    struct pd_record *r)
{
	struct pd_namespaces *ns = &r->namespaces;

	cursor_u32(c, &ns->pid);
	cursor_u32(c, &ns->tid);
	cursor_u64(c, &ns->nr);
	if (ns->nr > cursor_left(c) / (2 * sizeof(uint64_t)))
		c->bad = true;
	else
		ns->link = cursor_u64s(c, 2 * ns->nr);
}

static void walk_ksymbol(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cursor_u64(c, &r->ksymbol.addr);
	cursor_u32(c, &r->ksymbol.len);
	cursor_u16(c, &r->ksymbol.ksym_type);
	cursor_u16(c, &r->ksymbol.flags);
	r->ksymbol.name = cursor_tail_string(c);
}

static void walk_bpf_event(struct cursor *c, const struct perf_event_header *hdr,
			   struct pd_record *r)
{
	const uint8_t *tag;

	cursor_u16(c, &r->bpf.type);
	cursor_u16(c, &r->bpf.flags);
	cursor_u32(c, &r->bpf.id);
	tag = cursor_bytes(c, sizeof(r->bpf.tag));
	if (tag)
		memcpy(r->bpf.tag, tag, sizeof(r->bpf.tag));
}

static void walk_cgroup(struct cursor *c, const struct perf_event_header *hdr, struct pd_record *r)
{
	cursor_u64(c, &r->cgroup.id);
	r->cgroup.path = cursor_tail_string(c);
}

static void walk_text_poke(struct cursor *c, const struct perf_event_header *hdr,
			   struct pd_record *r)
{
	struct pd_text_poke *t = &r->text_poke;

	cursor_u64(c, &t->addr);
	cursor_u16(c, &t->old_len);
	cursor_u16(c, &t->new_len);
	t->bytes = cursor_bytes(c, (uint64_t)t->old_len + t->new_len);
}

static void walk_aux_output_hw_id(struct cursor *c, const struct perf_event_header *hdr,
				  struct pd_record *r)
{
	cursor_u64(c, &r->aux_hw_id);
}

static void walk_callchain_deferred(struct cursor *c, const struct perf_event_header *hdr,
				    struct pd_record *r)
{
	cursor_u64(c, &r->deferred.cookie);
	cursor_u64(c, &r->deferred.nr);
	r->deferred.ips = cursor_u64s(c, r->deferred.nr);
}

static pd_record_walk_fn *const kernel_walks[] = {
	[PERF_RECORD_MMAP] = walk_mmap,
	[PERF_RECORD_LOST] = walk_lost,
	[PERF_RECORD_COMM] = walk_comm,
	[PERF_RECORD_EXIT] = walk_task,
	[PERF_RECORD_THROTTLE] = walk_throttle,
	[PERF_RECORD_UNTHROTTLE] = walk_throttle,
	[PERF_RECORD_FORK] = walk_task,
	[PERF_RECORD_READ] = walk_read,
	[PERF_RECORD_MMAP2] = walk_mmap2,
	[PERF_RECORD_AUX] = walk_aux,
	[PERF_RECORD_ITRACE_START] = walk_itrace_start,
	[PERF_RECORD_LOST_SAMPLES] = walk_lost_samples,
	[PERF_RECORD_SWITCH] = walk_switch,
	[PERF_RECORD_SWITCH_CPU_WIDE] = walk_switch,
	[PERF_RECORD_NAMESPACES] = walk_namespaces,
	[PERF_RECORD_KSYMBOL] = walk_ksymbol,
	[PERF_RECORD_BPF_EVENT] = walk_bpf_event,
	[PERF_RECORD_CGROUP] = walk_cgroup,
	[PERF_RECORD_TEXT_POKE] = walk_text_poke,
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = walk_aux_output_hw_id,
	[PERF_RECORD_CALLCHAIN_DEFERRED] = walk_callchain_deferred,
};

static pd_record_walk_fn *record_walk(uint32_t type)
{
	if (type >= PD_FIRST_USER_RECORD)
		return pd_user_record_walk(type);
	return type < sizeof(kernel_walks) / sizeof(kernel_walks[0]) ? kernel_walks[type] : NULL;
}

static void walk_sample_id(struct cursor *c, uint64_t type, struct pd_sample_id *id)
{
	uint32_t reserved;

	if (type & PERF_SAMPLE_TID) {
		cursor_u32(c, &id->pid);
		cursor_u32(c, &id->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		cursor_u64(c, &id->time);
	if (type & PERF_SAMPLE_ID)
		cursor_u64(c, &id->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		cursor_u64(c, &id->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		cursor_u32(c, &id->cpu);
		cursor_u32(c, &reserved);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_u64(c, &id->id);
}

/*
 * Kernels up to at least 6.18 set MMAP_BUILD_ID in a header that all events share
 * (perf_event_mmap_output() in kernel/events/core.c). If one of them asks for build-ids, the events
 * after it get the bit too, but with device and inode in the body.
 */
static struct perf_event_header mmap_header(const struct perf_event_header *hdr,
					    const struct pd_attr *attr)
{
	struct perf_event_header h = *hdr;

	if (h.type == PERF_RECORD_MMAP2 && attr &&
	    (attr->flags & (PD_ATTR_MMAP2 | PD_ATTR_BUILD_ID)) == PD_ATTR_MMAP2)
		h.misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	return h;
}

int pd_record_walk(struct cursor *c, const struct perf_event_header *hdr,
		   const struct pd_attr *attr, struct pd_record *ret)
{
	const struct perf_event_header h = mmap_header(hdr, attr);
	size_t trailer = 0, body;
	pd_record_walk_fn *walk = record_walk(hdr->type);

	memset(ret, 0, sizeof(*ret));
	ret->hdr = hdr;
	ret->id = PD_SAMPLE_ID_NONE;
	if (c->end < PD_RECORD_HEADER_SIZE)
		return -EBADMSG;
	if (attr && hdr->type < PD_FIRST_USER_RECORD && hdr->type != PERF_RECORD_SAMPLE)
		trailer = pd_attr_id_trailer_size(attr);
	if (trailer) {
		/* The trailer is whole words; bytes behind the last word are not part of it. */
		c->end -= c->end % sizeof(uint64_t);
		body = c->end - PD_RECORD_HEADER_SIZE;
		if (trailer > body)
			return -EBADMSG;
		c->at = c->end - trailer;
		walk_sample_id(c, attr->sample_type, &ret->id);
		c->end -= trailer;
	}
	if (!walk)
		return -ENOTSUP;
	c->at = PD_RECORD_HEADER_SIZE;
	walk(c, &h, ret);
	return c->bad ? -EBADMSG : 0;
}

int pd_record_decode(const struct perf_event_header *hdr, const struct pd_evsel *evsel,
		     struct pd_record *ret)
{
	struct cursor c = {.p = (const uint8_t *)hdr, .end = hdr->size};

	return pd_record_walk(&c, hdr, evsel ? &evsel->attr : NULL, ret);
}

static uint64_t record_u64(const struct perf_event_header *hdr, size_t at)
{
	uint64_t v;

	if (at + sizeof(v) > hdr->size)
		return 0;
	memcpy(&v, (const uint8_t *)hdr + at, sizeof(v));
	return v;
}

static bool is_task(uint32_t type)
{
	return type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT;
}

/*
 * Not __builtin_popcountll(): on CPUs without such an instruction that is a function call, made
 * twice a record.
 */
uint64_t pd_record_time(const struct perf_event_header *hdr, const struct pd_evsel *evsel)
{
	const size_t word = sizeof(uint64_t);
	uint64_t type = evsel ? evsel->attr.sample_type : 0;
	bool has_time = type & PERF_SAMPLE_TIME;
	size_t words;

	if (hdr->type == PERF_RECORD_SAMPLE)
		return evsel ? pd_sample_time(hdr, evsel) : 0;
	if (hdr->type >= PD_FIRST_USER_RECORD)
		return 0;
	if (has_time && evsel->attr.flags & PD_ATTR_SAMPLE_ID_ALL) {
		/* from the time to the end of the trailer */
		words = 1 + !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) +
			!!(type & PERF_SAMPLE_CPU) + !!(type & PERF_SAMPLE_IDENTIFIER);
		if (hdr->size < PD_RECORD_HEADER_SIZE + pd_attr_id_trailer_size(&evsel->attr))
			return 0;
		return record_u64(hdr, hdr->size - hdr->size % word - words * word);
	}
	return is_task(hdr->type) ? record_u64(hdr, PD_RECORD_HEADER_SIZE + 4 * sizeof(uint32_t))
				  : 0;
}
