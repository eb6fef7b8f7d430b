// SPDX-License-Identifier: Apache-2.0
#include "render/record_line.h"

#include <inttypes.h>
#include <string.h>

#include "render/text.h"

#define PROT_READ_BIT  1u
#define PROT_WRITE_BIT 2u
#define PROT_EXEC_BIT  4u
#define MAP_SHARED_BIT 1u

static void put_map(struct outbuf *out, const struct pd_record *r)
{
	const struct pd_mmap *m = &r->mmap;

	outbuf_format(out, " %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ ", (int)m->pid, (int)m->tid,
		      m->addr, m->len);
	outbuf_format(out, m->pgoff ? "%#" PRIx64 : "%" PRIx64, m->pgoff);
	if (r->hdr->type == PERF_RECORD_MMAP) {
		outbuf_format(out, "]: %c ", m->prot & PROT_EXEC_BIT ? 'x' : 'r');
		return;
	}
	if (m->build_id_size) {
		outbuf_text(out, " <");
		for (uint8_t i = 0; i < m->build_id_size; i++)
			outbuf_format(out, "%02x", m->build_id[i]);
		outbuf_char(out, '>');
	} else {
		outbuf_format(out, " %02x:%02x %" PRIu64 " %" PRIu64, m->maj, m->min, m->ino,
			      m->ino_generation);
	}
	outbuf_format(out, "]: %c%c%c%c ", m->prot & PROT_READ_BIT ? 'r' : '-',
		      m->prot & PROT_WRITE_BIT ? 'w' : '-', m->prot & PROT_EXEC_BIT ? 'x' : '-',
		      m->flags & MAP_SHARED_BIT ? 's' : 'p');
}

static void put_switch(struct outbuf *out, const struct pd_record *r)
{
	const struct pd_switch *s = &r->cswitch;

	outbuf_text(out, !s->out ? " IN         " : s->preempt ? " OUT preempt" : " OUT        ");
	if (r->hdr->type == PERF_RECORD_SWITCH_CPU_WIDE)
		outbuf_format(out, "  %s pid/tid: %5d/%-5d", s->out ? "next" : "prev",
			      (int)s->next_prev_pid, (int)s->next_prev_tid);
}

static void put_namespaces(struct outbuf *out, const struct pd_namespaces *n)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};

	outbuf_format(out, " %d/%d - nr_namespaces: %" PRIu64 "\n\t\t[", (int)n->pid, (int)n->tid,
		      n->nr);
	for (uint64_t i = 0; i < n->nr; i++) {
		uint64_t pair[2];

		memcpy(pair, (const uint8_t *)n->link + i * sizeof(pair), sizeof(pair));
		if (i && i % 4 == 0)
			outbuf_text(out, "\n\t\t ");
		outbuf_format(out, "%" PRIu64 "/%s: %" PRIu64 "/%#" PRIx64 "%s", i,
			      i < sizeof(names) / sizeof(names[0]) ? names[i] : "?", pair[0],
			      pair[1], i + 1 < n->nr ? ", " : "");
	}
	outbuf_char(out, ']');
}

static void put_fields(struct outbuf *out, const struct pd_record *r)
{
	switch (r->hdr->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		put_map(out, r);
		text_append(out, r->mmap.filename, 0);
		break;
	case PERF_RECORD_COMM:
		outbuf_text(out, r->comm.exec ? " exec: " : ": ");
		text_append(out, r->comm.comm, 0);
		outbuf_format(out, ":%d/%d", (int)r->comm.pid, (int)r->comm.tid);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		outbuf_format(out, "(%d:%d):(%d:%d)", (int)r->task.pid, (int)r->task.tid,
			      (int)r->task.ppid, (int)r->task.ptid);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: put_switch(out, r); break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: outbuf_format(out, " lost %" PRIu64, r->lost.lost); break;
	case PERF_RECORD_NAMESPACES: put_namespaces(out, &r->namespaces); break;
	case PERF_RECORD_CGROUP:
		outbuf_format(out, " cgroup: %" PRIu64 " ", r->cgroup.id);
		text_append(out, r->cgroup.path, 0);
		break;
	case PERF_RECORD_KSYMBOL:
		outbuf_format(out, " addr %" PRIx64 " len %u type %u flags 0x%x name ",
			      r->ksymbol.addr, r->ksymbol.len, r->ksymbol.ksym_type,
			      r->ksymbol.flags);
		text_append(out, r->ksymbol.name, 0);
		break;
	case PERF_RECORD_BPF_EVENT:
		outbuf_format(out, " type %u, flags %u, id %u", r->bpf.type, r->bpf.flags,
			      r->bpf.id);
		break;
	case PERF_RECORD_TEXT_POKE:
		outbuf_format(out, " addr %#" PRIx64 " old len %u new len %u", r->text_poke.addr,
			      r->text_poke.old_len, r->text_poke.new_len);
		break;
	}
}

void record_line(struct outbuf *out, const struct pd_record *r)
{
	const char *name = pd_record_name(r->hdr->type);

	outbuf_format(out, "PERF_RECORD_%s", name ? name : "UNKNOWN");
	put_fields(out, r);
	outbuf_char(out, '\n');
}
