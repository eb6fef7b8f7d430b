// SPDX-License-Identifier: Apache-2.0
#include "render/dump_sample.h"

#include <inttypes.h>
#include <string.h>

#include "perfdata/sample.h"
#include "render/text.h"

#define RAW_BYTES 256

/* Single words: printed when the sample's type has the bit. */
struct sample_word {
	uint64_t bit;
	const char *name;
	size_t offset; /* in struct pd_sample */
	bool hex;
};

#define WORD(bit, name, field, hex)                                             \
	{                                                                       \
		PERF_SAMPLE_##bit, name, offsetof(struct pd_sample, field), hex \
	}

static const struct sample_word words[] = {
	WORD(TIME, "time", time, false),
	WORD(ADDR, "addr", addr, true),
	WORD(ID, "id", id, false),
	WORD(IDENTIFIER, "id", id, false),
	WORD(STREAM_ID, "stream", stream_id, false),
	WORD(PERIOD, "period", period, false),
	WORD(WEIGHT, "weight", weight, false),
	WORD(WEIGHT_STRUCT, "weight", weight, false),
	WORD(DATA_SRC, "data_src", data_src, true),
	WORD(TRANSACTION, "transaction", transaction, true),
	WORD(PHYS_ADDR, "phys_addr", phys_addr, true),
	WORD(CGROUP, "cgroup", cgroup, false),
	WORD(DATA_PAGE_SIZE, "data_page_size", data_page_size, true),
	WORD(CODE_PAGE_SIZE, "code_page_size", code_page_size, true),
};

static uint64_t load(const uint64_t *p, uint64_t i)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)p + i * sizeof(v), sizeof(v));
	return v;
}

static void put_words(FILE *out, const struct pd_sample *s)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint64_t v;

		if (!(s->type & words[i].bit))
			continue;
		if (words[i].bit == PERF_SAMPLE_ID && (s->type & PERF_SAMPLE_IDENTIFIER))
			continue;
		memcpy(&v, (const char *)s + words[i].offset, sizeof(v));
		fprintf(out, words[i].hex ? " %s=0x%" PRIx64 : " %s=%" PRIu64, words[i].name, v);
	}
	if (s->type & PERF_SAMPLE_WEIGHT_STRUCT)
		fprintf(out, " weight2=%u weight3=%u", s->weight_var2, s->weight_var3);
}

static void put_read(FILE *out, const struct pd_sample *s, const struct pd_evsel *evsel)
{
	uint64_t format = evsel->attr.read_format;

	fprintf(out, "\n    read");
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		fprintf(out, " enabled=%" PRIu64, s->read.time_enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		fprintf(out, " running=%" PRIu64, s->read.time_running);
	for (uint64_t i = 0; i < s->read.nr; i++) {
		struct pd_read_value v = pd_sample_read_value(s, evsel, i);

		fprintf(out, " value=%" PRIu64, v.value);
		if (format & PERF_FORMAT_ID)
			fprintf(out, " id=%" PRIu64, v.id);
		if (format & PERF_FORMAT_LOST)
			fprintf(out, " lost=%" PRIu64, v.lost);
	}
}

static void put_chain(FILE *out, const struct pd_sample *s)
{
	static const struct {
		uint64_t marker;
		const char *name;
	} markers[] = {
		{PERF_CONTEXT_HV, "hypervisor"},
		{PERF_CONTEXT_KERNEL, "kernel"},
		{PERF_CONTEXT_USER, "user"},
		{PERF_CONTEXT_GUEST, "guest"},
		{PERF_CONTEXT_GUEST_KERNEL, "guest kernel"},
		{PERF_CONTEXT_GUEST_USER, "guest user"},
	};

	fprintf(out, "\n    callchain nr=%" PRIu64, s->callchain_nr);
	for (uint64_t i = 0; i < s->callchain_nr; i++) {
		uint64_t ip = load(s->callchain, i);

		fprintf(out, "\n      0x%" PRIx64, ip);
		for (size_t k = 0; k < sizeof(markers) / sizeof(markers[0]); k++)
			if (markers[k].marker == ip)
				fprintf(out, " (%s)", markers[k].name);
	}
}

static void put_branches(FILE *out, const struct pd_sample *s)
{
	fprintf(out, "\n    branches nr=%" PRIu64, s->branch_nr);
	if (s->branch_hw_idx != UINT64_MAX)
		fprintf(out, " hw_idx=%" PRIu64, s->branch_hw_idx);
	for (uint64_t i = 0; i < s->branch_nr; i++) {
		struct pd_branch b;

		memcpy(&b, (const uint8_t *)s->branches + i * sizeof(b), sizeof(b));
		fprintf(out, "\n      0x%" PRIx64 " -> 0x%" PRIx64 " flags=0x%" PRIx64, b.from,
			b.to, b.flags);
		if (s->branch_counters)
			fprintf(out, " counters=0x%" PRIx64, load(s->branch_counters, i));
	}
}

static void put_regs(FILE *out, const char *name, uint64_t abi, uint64_t mask, const uint64_t *regs)
{
	unsigned int n = 0;

	fprintf(out, "\n    %s abi=%" PRIu64, name, abi);
	for (unsigned int bit = 0; regs && bit < 64; bit++)
		if (mask & (1ull << bit))
			fprintf(out, " r%u=0x%" PRIx64, bit, load(regs, n++));
}

static void put_raw(FILE *out, const struct pd_sample *s)
{
	fprintf(out, "\n    raw size=%u ", s->raw_size);
	for (uint32_t i = 0; i < s->raw_size && i < RAW_BYTES; i++)
		fprintf(out, "%02x", s->raw[i]);
	if (s->raw_size > RAW_BYTES)
		fputs("…", out);
}

static void put_long_fields(FILE *out, const struct pd_sample *s, const struct pd_evsel *evsel)
{
	if (s->type & PERF_SAMPLE_READ)
		put_read(out, s, evsel);
	if (s->type & PERF_SAMPLE_CALLCHAIN)
		put_chain(out, s);
	if (s->raw)
		put_raw(out, s);
	if (s->type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(out, s);
	if (s->type & PERF_SAMPLE_REGS_USER)
		put_regs(out, "user regs", s->user_regs_abi, evsel->attr.sample_regs_user,
			 s->user_regs);
	if (s->type & PERF_SAMPLE_STACK_USER)
		fprintf(out, "\n    user stack size=%" PRIu64, s->user_stack_size);
	if (s->type & PERF_SAMPLE_REGS_INTR)
		put_regs(out, "intr regs", s->intr_regs_abi, evsel->attr.sample_regs_intr,
			 s->intr_regs);
	if (s->type & PERF_SAMPLE_AUX)
		fprintf(out, "\n    aux size=%" PRIu64, s->aux_size);
}

bool dump_sample(FILE *out, const struct data_record *rec)
{
	struct pd_sample s;
	size_t at = 0;
	int rc;

	if (!rec->evsel) {
		fputs(" DAMAGED: of an event that the recording does not describe", out);
		return false;
	}
	rc = pd_sample_decode(rec->hdr, rec->evsel, &s, &at);
	fputs(" event='", out);
	text_put(out, rec->evsel->name, 0);
	putc('\'', out);
	if (rc < 0) {
		fprintf(out, " DAMAGED at byte %zu", at);
		return false;
	}
	if (s.type & PERF_SAMPLE_TID)
		fprintf(out, " pid=%d tid=%d", (int)s.pid, (int)s.tid);
	if (s.type & PERF_SAMPLE_CPU)
		fprintf(out, " cpu=%d", (int)s.cpu);
	if (s.type & PERF_SAMPLE_IP)
		fprintf(out, " ip=0x%" PRIx64, s.ip);
	put_words(out, &s);
	put_long_fields(out, &s, rec->evsel);
	return true;
}
