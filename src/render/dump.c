// SPDX-License-Identifier: Apache-2.0
#include "render/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "perfdata/aux_record.h"
#include "perfdata/feature.h"
#include "perfdata/snapshot_log.h"
#include "render/attr_text.h"
#include "render/dump_sample.h"
#include "render/text.h"

#define HEX_BYTES 64 /* bytes shown of data without a better form; the others are counted */

static void put_u64(FILE *out, const char *name, uint64_t v)
{
	fprintf(out, " %s=%" PRIu64, name, v);
}

static void put_hex(FILE *out, const char *name, uint64_t v)
{
	fprintf(out, " %s=0x%" PRIx64, name, v);
}

static void put_id32(FILE *out, const char *name, uint32_t v)
{
	fprintf(out, " %s=%d", name, (int)v);
}

static void put_name(FILE *out, const char *name, const char *s)
{
	fprintf(out, " %s='", name);
	text_put(out, s, 0);
	putc('\'', out);
}

static void put_bytes(FILE *out, const char *name, const uint8_t *p, size_t len)
{
	fprintf(out, " %s=", name);
	for (size_t i = 0; i < len && i < HEX_BYTES; i++)
		fprintf(out, "%02x", p[i]);
	if (len > HEX_BYTES)
		fprintf(out, "…(%zu bytes)", len);
}

/* Writes @nr words at @p, which may be unaligned, on lines of their own. */
static void put_words(FILE *out, const uint64_t *p, uint64_t nr, unsigned int per_line)
{
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t v;

		memcpy(&v, (const uint8_t *)p + i * sizeof(v), sizeof(v));
		fputs(i % per_line ? " " : "\n    ", out);
		fprintf(out, "0x%" PRIx64, v);
	}
}

static void put_mmap(FILE *out, const struct pd_record *r)
{
	const struct pd_mmap *m = &r->mmap;

	put_id32(out, "pid", m->pid);
	put_id32(out, "tid", m->tid);
	put_hex(out, "addr", m->addr);
	put_hex(out, "len", m->len);
	put_hex(out, "pgoff", m->pgoff);
	if (r->hdr->type == PERF_RECORD_MMAP2) {
		if (m->build_id_size)
			put_bytes(out, "build_id", m->build_id, m->build_id_size);
		else
			fprintf(out, " dev=%02x:%02x ino=%" PRIu64 " gen=%" PRIu64, m->maj, m->min,
				m->ino, m->ino_generation);
		fprintf(out, " prot=%c%c%c flags=0x%x", m->prot & 1 ? 'r' : '-',
			m->prot & 2 ? 'w' : '-', m->prot & 4 ? 'x' : '-', m->flags);
	}
	put_name(out, "file", m->filename);
}

static void put_comm(FILE *out, const struct pd_record *r)
{
	put_id32(out, "pid", r->comm.pid);
	put_id32(out, "tid", r->comm.tid);
	if (r->comm.exec)
		fputs(" exec", out);
	put_name(out, "comm", r->comm.comm);
}

static void put_task(FILE *out, const struct pd_record *r)
{
	put_id32(out, "pid", r->task.pid);
	put_id32(out, "tid", r->task.tid);
	put_id32(out, "ppid", r->task.ppid);
	put_id32(out, "ptid", r->task.ptid);
	put_u64(out, "time", r->task.time);
}

static void put_lost(FILE *out, const struct pd_record *r)
{
	if (r->hdr->type == PERF_RECORD_LOST)
		put_u64(out, "id", r->lost.id);
	put_u64(out, "lost", r->lost.lost);
}

static void put_throttle(FILE *out, const struct pd_record *r)
{
	put_u64(out, "time", r->throttle.time);
	put_u64(out, "id", r->throttle.id);
	put_u64(out, "stream", r->throttle.stream_id);
}

static void put_switch(FILE *out, const struct pd_record *r)
{
	fputs(r->cswitch.out ? (r->cswitch.preempt ? " out preempt" : " out") : " in", out);
	if (r->hdr->type != PERF_RECORD_SWITCH_CPU_WIDE)
		return;
	put_id32(out, r->cswitch.out ? "next_pid" : "prev_pid", r->cswitch.next_prev_pid);
	put_id32(out, r->cswitch.out ? "next_tid" : "prev_tid", r->cswitch.next_prev_tid);
}

static void put_namespaces(FILE *out, const struct pd_record *r)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};

	put_id32(out, "pid", r->namespaces.pid);
	put_id32(out, "tid", r->namespaces.tid);
	for (uint64_t i = 0; i < r->namespaces.nr; i++) {
		uint64_t pair[2];

		memcpy(pair, (const uint8_t *)r->namespaces.link + i * sizeof(pair), sizeof(pair));
		if (i < sizeof(names) / sizeof(names[0]))
			fprintf(out, " %s=", names[i]);
		else
			fprintf(out, " %" PRIu64 "=", i);
		fprintf(out, "%" PRIu64 "/0x%" PRIx64, pair[0], pair[1]);
	}
}

static void put_ksymbol(FILE *out, const struct pd_record *r)
{
	put_hex(out, "addr", r->ksymbol.addr);
	put_hex(out, "len", r->ksymbol.len);
	put_u64(out, "ksym_type", r->ksymbol.ksym_type);
	put_hex(out, "flags", r->ksymbol.flags);
	put_name(out, "name", r->ksymbol.name);
}

static void put_bpf(FILE *out, const struct pd_record *r)
{
	put_u64(out, "bpf_type", r->bpf.type);
	put_hex(out, "flags", r->bpf.flags);
	put_u64(out, "id", r->bpf.id);
	put_bytes(out, "tag", r->bpf.tag, sizeof(r->bpf.tag));
}

static void put_cgroup(FILE *out, const struct pd_record *r)
{
	put_u64(out, "id", r->cgroup.id);
	put_name(out, "path", r->cgroup.path);
}

static void put_text_poke(FILE *out, const struct pd_record *r)
{
	put_hex(out, "addr", r->text_poke.addr);
	put_bytes(out, "old", r->text_poke.bytes, r->text_poke.old_len);
	put_bytes(out, "new", r->text_poke.bytes + r->text_poke.old_len, r->text_poke.new_len);
}

static void put_aux(FILE *out, const struct pd_record *r)
{
	static const struct {
		uint64_t flag;
		const char *name;
	} flags[] = {
		{PERF_AUX_FLAG_TRUNCATED, "truncated"},
		{PERF_AUX_FLAG_OVERWRITE, "overwrite"},
		{PERF_AUX_FLAG_PARTIAL, "partial"},
		{PERF_AUX_FLAG_COLLISION, "collision"},
	};

	put_hex(out, "offset", r->aux.aux_offset);
	put_hex(out, "size", r->aux.aux_size);
	put_hex(out, "flags", r->aux.flags);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (r->aux.flags & flags[i].flag)
			fprintf(out, " %s", flags[i].name);
	if (r->aux.flags & PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK)
		put_hex(out, "format", (r->aux.flags & PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK) >> 8);
}

static void put_hw_id(FILE *out, const struct pd_record *r)
{
	put_hex(out, "hw_id", r->aux_hw_id);
}

static void put_itrace(FILE *out, const struct pd_record *r)
{
	put_id32(out, "pid", r->itrace_start[0]);
	put_id32(out, "tid", r->itrace_start[1]);
}

static void put_read(FILE *out, const struct pd_record *r)
{
	put_id32(out, "pid", r->read.pid);
	put_id32(out, "tid", r->read.tid);
	put_words(out, r->read.values, r->read.nr_values, 8);
}

static void put_deferred(FILE *out, const struct pd_record *r)
{
	put_hex(out, "cookie", r->deferred.cookie);
	put_u64(out, "nr", r->deferred.nr);
	put_words(out, r->deferred.ips, r->deferred.nr, 1);
}

static void put_auxtrace(FILE *out, const struct pd_record *r)
{
	put_hex(out, "size", r->auxtrace.size);
	put_hex(out, "offset", r->auxtrace.offset);
	put_hex(out, "reference", r->auxtrace.reference);
	put_id32(out, "idx", r->auxtrace.idx);
	put_id32(out, "tid", r->auxtrace.tid);
	put_id32(out, "cpu", r->auxtrace.cpu);
}

static void put_auxtrace_info(FILE *out, const struct pd_record *r)
{
	fprintf(out, " type=%" PRIu32 " (%s)", r->auxtrace_info.type,
		pd_auxtrace_type_name(r->auxtrace_info.type));
	put_u64(out, "words", r->auxtrace_info.nr_priv);
	put_words(out, r->auxtrace_info.priv, r->auxtrace_info.nr_priv, 8);
}

static void put_auxtrace_error(FILE *out, const struct pd_record *r)
{
	put_u64(out, "type", r->auxtrace_error.type);
	put_u64(out, "code", r->auxtrace_error.code);
	put_id32(out, "cpu", r->auxtrace_error.cpu);
	put_id32(out, "pid", r->auxtrace_error.pid);
	put_id32(out, "tid", r->auxtrace_error.tid);
	put_hex(out, "ip", r->auxtrace_error.ip);
	put_u64(out, "time", r->auxtrace_error.time);
	put_name(out, "msg", r->auxtrace_error.msg);
}

static void put_attr(FILE *out, const struct pd_record *r)
{
	struct pd_attr attr;
	bool unknown;

	/* The scan made the record's byte order native, and the attribute's with it. */
	if (pd_attr_decode(r->attr.attr, r->attr.attr_len, false, &attr, &unknown) < 0) {
		put_bytes(out, "attr", r->attr.attr, r->attr.attr_len);
	} else {
		attr_text(out, &attr);
		if (unknown)
			fputs(", and fields that are not known here", out);
	}
	put_u64(out, "ids", r->attr.nr_ids);
	put_words(out, r->attr.ids, r->attr.nr_ids, 8);
}

static void put_build_id(FILE *out, const struct pd_record *r)
{
	put_id32(out, "pid", r->build_id.pid);
	put_bytes(out, "build_id", r->build_id.build_id, r->build_id.size);
	put_name(out, "file", r->build_id.filename);
	if (r->build_id.ino)
		fprintf(out, " dev=%" PRIx32 ":%" PRIx32 " ino=%" PRIu64, r->build_id.maj,
			r->build_id.min, r->build_id.ino);
}

static void put_feature(FILE *out, const struct pd_record *r)
{
	const char *name = r->feature.feature < HEADER_FEAT_BITS
				   ? pd_feature_name((unsigned int)r->feature.feature)
				   : NULL;

	fprintf(out, " feature=%" PRIu64 " (%s) len=%zu", r->feature.feature,
		name ? name : "unknown", r->feature.len);
}

static void put_update(FILE *out, const struct pd_record *r)
{
	static const char *const what[] = {"unit", "scale", "name", "cpus"};
	const struct pd_event_update *u = &r->update;
	struct buf text = {0};

	put_u64(out, "id", u->id);
	fprintf(out, " %s", u->type < 4 ? what[u->type] : "unknown");
	if (u->type == 0 || u->type == 2) {
		size_t len = strnlen((const char *)u->data, u->len);

		if (text_escape_len(&text, (const char *)u->data, len) == 0)
			fprintf(out, "='%.*s'", (int)text.len, text.len ? (char *)text.data : "");
		buf_release(&text);
	} else {
		put_bytes(out, "data", u->data, u->len);
	}
}

static void put_compressed(FILE *out, const struct pd_record *r)
{
	fprintf(out, " compressed=%zu", r->compressed.len);
}

static void put_request(FILE *out, const struct pd_snapshot_request *q)
{
	fprintf(out, " by=%s", pd_snapshot_origin_name(q->origin));
	put_u64(out, "asked", q->asked);
	if (q->bounds.last_ns)
		put_u64(out, "last_ns", q->bounds.last_ns);
	if (q->bounds.last_bytes)
		put_u64(out, "last_bytes", q->bounds.last_bytes);
	if (q->bounds.since_last)
		fputs(" since_last", out);
	if (*q->reason)
		put_name(out, "reason", q->reason);
	if (!*q->cause.event)
		return;
	put_name(out, "event", q->cause.event);
	put_u64(out, "time", q->cause.time);
	put_id32(out, "cpu", q->cause.cpu);
	put_id32(out, "tid", q->cause.tid);
}

static void put_aux_ring(FILE *out, const struct pd_aux_ring *a)
{
	put_id32(out, "idx", a->idx);
	put_id32(out, "cpu", a->cpu);
	put_id32(out, "tid", a->tid);
	fprintf(out, "%s mode=%s scope=%s", a->active ? " active" : "", pd_aux_mode_name(a->mode),
		pd_aux_scope_name(a->scope));
	if (a->window)
		put_u64(out, "window_ns", a->window);
	put_u64(out, "asked", a->asked);
	put_u64(out, "first", a->first);
	put_u64(out, "last", a->last);
	put_hex(out, "position", a->position);
	put_u64(out, "new", a->fresh);
	put_u64(out, "old", a->old);
	put_u64(out, "written", a->written);
	put_u64(out, "area", a->area);
	put_u64(out, "lost", a->lost);
	put_u64(out, "truncated", a->truncated);
	put_u64(out, "restarts", a->restarts);
	put_u64(out, "unreported", a->unreported);
	put_u64(out, "lost_records", a->lost_records);
}

/* A record of the snapshot log. */
static void put_event_type(FILE *out, const struct pd_record *r)
{
	struct pd_snapshot_log log;

	if (pd_snapshot_decode(r->hdr, &log))
		return;
	fprintf(out, " snapshot=%" PRIu64, log.number);
	if (log.kind == PD_SNAPSHOT_REQUEST) {
		put_request(out, &log.request);
		return;
	}
	if (log.kind == PD_SNAPSHOT_TOTALS) {
		put_u64(out, "taken", log.totals.taken);
		put_u64(out, "written", log.totals.written);
		put_u64(out, "passed", log.totals.passed);
		put_u64(out, "held", log.totals.held);
		fputs(log.totals.counted ? " counted" : "", out);
		return;
	}
	if (log.kind == PD_SNAPSHOT_AUX_RING) {
		put_aux_ring(out, &log.aux);
		return;
	}
	put_u64(out, "begun", log.figures.begun);
	put_u64(out, "took_ns", log.figures.took);
	put_u64(out, "bytes", log.figures.bytes);
	put_u64(out, "samples", log.figures.samples);
	put_u64(out, "lost", log.figures.lost);
	put_u64(out, "evicted", log.figures.evicted);
}

static void put_id_index(FILE *out, const struct pd_record *r)
{
	put_u64(out, "nr", r->id_index.nr);
	for (uint64_t i = 0; i < r->id_index.nr; i++) {
		uint64_t e[4];

		memcpy(e, (const uint8_t *)r->id_index.entries + i * sizeof(e), sizeof(e));
		fprintf(out, "\n    id=%" PRIu64 " idx=%" PRIu64 " cpu=%" PRId64 " tid=%" PRId64,
			e[0], e[1], (int64_t)e[2], (int64_t)e[3]);
	}
}

static void put_time_conv(FILE *out, const struct pd_record *r)
{
	put_u64(out, "shift", r->time_conv.time_shift);
	put_u64(out, "mult", r->time_conv.time_mult);
	put_u64(out, "zero", r->time_conv.time_zero);
}

static void put_stat(FILE *out, const struct pd_record *r)
{
	put_u64(out, "id", r->stat.id);
	put_id32(out, "cpu", r->stat.cpu);
	put_id32(out, "thread", r->stat.thread);
	put_u64(out, "val", r->stat.val);
	put_u64(out, "ena", r->stat.ena);
	put_u64(out, "run", r->stat.run);
}

static void put_stat_round(FILE *out, const struct pd_record *r)
{
	fputs(r->stat_round.type ? " final" : " interval", out);
	put_u64(out, "time", r->stat_round.time);
}

static void put_tracing(FILE *out, const struct pd_record *r)
{
	put_u64(out, "size", r->tracing_data_size);
}

static const struct {
	uint32_t type;
	void (*put)(FILE *out, const struct pd_record *r);
} printers[] = {
	{PERF_RECORD_MMAP, put_mmap},
	{PERF_RECORD_MMAP2, put_mmap},
	{PERF_RECORD_COMM, put_comm},
	{PERF_RECORD_FORK, put_task},
	{PERF_RECORD_EXIT, put_task},
	{PERF_RECORD_LOST, put_lost},
	{PERF_RECORD_LOST_SAMPLES, put_lost},
	{PERF_RECORD_THROTTLE, put_throttle},
	{PERF_RECORD_UNTHROTTLE, put_throttle},
	{PERF_RECORD_SWITCH, put_switch},
	{PERF_RECORD_SWITCH_CPU_WIDE, put_switch},
	{PERF_RECORD_NAMESPACES, put_namespaces},
	{PERF_RECORD_KSYMBOL, put_ksymbol},
	{PERF_RECORD_BPF_EVENT, put_bpf},
	{PERF_RECORD_CGROUP, put_cgroup},
	{PERF_RECORD_TEXT_POKE, put_text_poke},
	{PERF_RECORD_AUX, put_aux},
	{PERF_RECORD_AUX_OUTPUT_HW_ID, put_hw_id},
	{PERF_RECORD_ITRACE_START, put_itrace},
	{PERF_RECORD_READ, put_read},
	{PERF_RECORD_CALLCHAIN_DEFERRED, put_deferred},
	{PERF_RECORD_AUXTRACE, put_auxtrace},
	{PERF_RECORD_AUXTRACE_INFO, put_auxtrace_info},
	{PERF_RECORD_AUXTRACE_ERROR, put_auxtrace_error},
	{PERF_RECORD_HEADER_ATTR, put_attr},
	{PERF_RECORD_HEADER_EVENT_TYPE, put_event_type},
	{PERF_RECORD_HEADER_BUILD_ID, put_build_id},
	{PERF_RECORD_HEADER_FEATURE, put_feature},
	{PERF_RECORD_HEADER_TRACING_DATA, put_tracing},
	{PERF_RECORD_EVENT_UPDATE, put_update},
	{PERF_RECORD_COMPRESSED, put_compressed},
	{PERF_RECORD_COMPRESSED2, put_compressed},
	{PERF_RECORD_ID_INDEX, put_id_index},
	{PERF_RECORD_TIME_CONV, put_time_conv},
	{PERF_RECORD_STAT, put_stat},
	{PERF_RECORD_STAT_ROUND, put_stat_round},
};

static void put_body(FILE *out, const struct data_record *rec)
{
	size_t body = rec->hdr->size - sizeof(*rec->hdr);

	if (body)
		put_bytes(out, "body", (const uint8_t *)(rec->hdr + 1), body);
}

static void put_trailer(FILE *out, const struct pd_sample_id *id)
{
	if (id->tid == ~0u && !id->time && !id->id && !id->stream_id && id->cpu == ~0u)
		return;
	fputs(" |", out);
	if (id->tid != ~0u)
		fprintf(out, " pid=%d tid=%d", (int)id->pid, (int)id->tid);
	if (id->time)
		put_u64(out, "time", id->time);
	if (id->cpu != ~0u)
		put_u64(out, "cpu", id->cpu);
	if (id->id)
		put_u64(out, "id", id->id);
	if (id->stream_id)
		put_u64(out, "stream", id->stream_id);
}

/* The dump can decode only records of the snapshot log among HEADER_EVENT_TYPE records. */
static bool is_opaque(const struct pd_record *r)
{
	struct pd_snapshot_log log;

	return r->hdr->type == PERF_RECORD_HEADER_EVENT_TYPE && pd_snapshot_decode(r->hdr, &log);
}

/* Writes a record that is not a sample. */
static bool put_other(FILE *out, const struct data_record *rec)
{
	struct pd_record r;
	int rc = pd_record_decode(rec->hdr, rec->evsel, &r);

	if (rc == -ENOTSUP) {
		put_body(out, rec);
		return true;
	}
	if (rc < 0) {
		fputs(" DAMAGED", out);
		put_body(out, rec);
		return false;
	}
	for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++)
		if (printers[i].type == rec->hdr->type && !is_opaque(&r)) {
			printers[i].put(out, &r);
			put_trailer(out, &r.id);
			return true;
		}
	put_body(out, rec);
	put_trailer(out, &r.id);
	return true;
}

bool dump_record(FILE *out, const char *file, const struct data_record *rec)
{
	const char *name = pd_record_name(rec->hdr->type);
	bool good;

	if (file)
		fprintf(out, "%s:", file);
	fprintf(out, "0x%" PRIx64, rec->offset);
	if (rec->inner)
		fprintf(out, "+0x%" PRIx64, rec->inner);
	if (name)
		fprintf(out, " %s", name);
	else
		fprintf(out, " type %u", rec->hdr->type);
	fprintf(out, " size=%u misc=0x%x", rec->hdr->size, rec->hdr->misc);
	if (rec->hdr->type == PERF_RECORD_SAMPLE)
		good = dump_sample(out, rec);
	else
		good = put_other(out, rec);
	if (rec->payload_size)
		fprintf(out, " payload=%" PRIu64, rec->payload_size);
	putc('\n', out);
	return good;
}
