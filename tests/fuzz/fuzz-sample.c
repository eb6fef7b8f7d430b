// SPDX-License-Identifier: Apache-2.0
/*
 * Any attribute with any record. Input: one byte of choices, 144 bytes of attribute, then the
 * record with its header. What is decoded is read to its ends, so that the sanitizers see a
 * pointer or count that is wrong; a record turned to host order must decode as well as it turned.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/record.h"
#include "perfdata/sample.h"

#define SWAP	   1
#define TWO_EVENTS 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void use(const void *p, uint64_t n)
{
	const uint8_t *b = p;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += b[i];
	sink = sum;
}

static void use_string(const char *s)
{
	if (s)
		use(s, strlen(s) + 1);
}

static void use_words(const uint64_t *p, uint64_t n)
{
	if ((uintptr_t)p % sizeof(*p))
		abort();
	use(p, n * sizeof(*p));
}

static void use_sample(const struct pd_sample *s, const struct pd_evsel *evsel)
{
	for (uint64_t i = 0; i < s->read.nr; i++) {
		struct pd_read_value v = pd_sample_read_value(s, evsel, i);

		use(&v, sizeof(v));
	}
	use_words(s->callchain, s->callchain_nr);
	use(s->raw, s->raw_size);
	use_words((const uint64_t *)s->branches, 3 * s->branch_nr);
	if (s->branch_counters)
		use_words(s->branch_counters, s->branch_nr);
	if (s->user_regs_abi)
		use_words(s->user_regs,
			  (uint64_t)__builtin_popcountll(evsel->attr.sample_regs_user));
	if (s->intr_regs_abi)
		use_words(s->intr_regs,
			  (uint64_t)__builtin_popcountll(evsel->attr.sample_regs_intr));
	use(s->user_stack, s->user_stack_size);
	use(s->aux, s->aux_size);
}

static void use_record(const struct pd_record *r)
{
	switch (r->hdr->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: use_string(r->mmap.filename); break;
	case PERF_RECORD_COMM: use_string(r->comm.comm); break;
	case PERF_RECORD_NAMESPACES: use_words(r->namespaces.link, 2 * r->namespaces.nr); break;
	case PERF_RECORD_KSYMBOL: use_string(r->ksymbol.name); break;
	case PERF_RECORD_CGROUP: use_string(r->cgroup.path); break;
	case PERF_RECORD_TEXT_POKE:
		use(r->text_poke.bytes, (uint64_t)r->text_poke.old_len + r->text_poke.new_len);
		break;
	case PERF_RECORD_READ: use_words(r->read.values, r->read.nr_values); break;
	case PERF_RECORD_CALLCHAIN_DEFERRED: use_words(r->deferred.ips, r->deferred.nr); break;
	case PERF_RECORD_AUXTRACE_INFO:
		use_words(r->auxtrace_info.priv, r->auxtrace_info.nr_priv);
		break;
	case PERF_RECORD_AUXTRACE_ERROR: use_string(r->auxtrace_error.msg); break;
	case PERF_RECORD_HEADER_ATTR:
		use(r->attr.attr, r->attr.attr_len);
		use_words(r->attr.ids, r->attr.nr_ids);
		break;
	case PERF_RECORD_HEADER_BUILD_ID: use_string(r->build_id.filename); break;
	case PERF_RECORD_HEADER_FEATURE: use(r->feature.data, r->feature.len); break;
	case PERF_RECORD_EVENT_UPDATE: use(r->update.data, r->update.len); break;
	case PERF_RECORD_COMPRESSED:
	case PERF_RECORD_COMPRESSED2: use(r->compressed.data, r->compressed.len); break;
	case PERF_RECORD_ID_INDEX: use_words(r->id_index.entries, 4 * r->id_index.nr); break;
	}
}

static void decode(const struct perf_event_header *hdr, const struct pd_evlist *list, bool turned)
{
	const struct pd_evsel *evsel = pd_evlist_of_record(list, hdr, false);
	struct pd_record r;
	struct pd_sample s;
	size_t at = 0;
	int err;

	sink = pd_record_time(hdr, evsel);
	if (hdr->type != PERF_RECORD_SAMPLE) {
		err = pd_record_decode(hdr, evsel ? evsel : pd_evlist_at(list, 0), &r);
		if (!err)
			use_record(&r);
	} else if (evsel) {
		err = pd_sample_decode(hdr, evsel, &s, &at);
		use_sample(&s, evsel); /* also after a failure: it holds what came before */
		if (err && at > hdr->size)
			abort();
	} else {
		return;
	}
	if (turned && err == -EBADMSG)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_evlist *list = pd_evlist_new();
	struct perf_event_header hdr, *record = NULL;
	struct pd_attr attr;
	char name[64];
	bool swap, turned = false;

	if (size < 1 + sizeof(attr) + sizeof(hdr) || !list)
		goto out;
	swap = data[0] & SWAP;
	if (pd_attr_decode(data + 1, sizeof(attr), swap, &attr, NULL))
		goto out;
	pd_attr_name(&attr, name, sizeof(name));
	for (uint64_t id = 0; id < (data[0] & TWO_EVENTS ? 2 : 1); id++) {
		if (pd_evlist_add(list, &attr, NULL, &id, 1))
			goto out;
	}
	data += 1 + sizeof(attr);
	size -= 1 + sizeof(attr);
	hdr = pd_record_header(data, swap);
	hdr.size = (uint16_t)(size < UINT16_MAX ? size : UINT16_MAX);
	record = malloc(hdr.size);
	if (!record)
		goto out;
	memcpy(record, data, hdr.size);
	*record = hdr;
	if (swap)
		turned = !pd_record_to_host(record, list);
	decode(record, list, turned);
out:
	free(record);
	pd_evlist_free(list);
	return 0;
}
