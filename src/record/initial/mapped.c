// SPDX-License-Identifier: Apache-2.0
#include "record/initial/mapped.h"

#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "state/dso.h"

static const char kernel_name[] = "[kernel.kallsyms]";

bool mapped_decode(const struct perf_event_header *hdr, bool own_build_ids, struct mapped *ret)
{
	unsigned int mode = hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	/* The recording's own attribute decides how perfdata/record.c decodes the body. */
	const struct pd_evsel evsel = {.attr.flags = PD_ATTR_MMAP2 |
						     (own_build_ids ? PD_ATTR_BUILD_ID : 0)};
	struct pd_record rec;

	if (pd_record_decode(hdr, &evsel, &rec))
		return false;
	ret->map = rec.mmap;
	ret->kernel = mode == PERF_RECORD_MISC_KERNEL;
	if (ret->kernel) {
		/* "[kernel.kallsyms]_text" names the reference symbol behind the dso. */
		if (!strncmp(rec.mmap.filename, kernel_name, sizeof(kernel_name) - 1))
			ret->map.filename = kernel_name;
		ret->key = buildid_reader_kernel_key(ret->map.filename);
		return true;
	}
	/* Anonymous memory and shared memory have names that look like paths. */
	if (rec.mmap.build_id_size || rec.mmap.filename[0] != '/' || rec.mmap.filename[1] == '/')
		return false;
	ret->key = (struct build_id_key){rec.mmap.maj, rec.mmap.min, rec.mmap.ino,
					 rec.mmap.ino_generation};
	return true;
}

uint32_t mapped_seen(struct mapped_filter *f, const struct mapped *m)
{
	uint64_t hash = hash_bytes(hash_key(), &m->key, sizeof(m->key));
	struct mapped_slot *slot;

	hash = hash_bytes(hash, m->map.filename, strlen(m->map.filename));
	slot = &f->slots[hash % MAPPED_SLOTS];
	if (slot->hash != hash)
		*slot = (struct mapped_slot){.hash = hash};
	if (slot->seen < UINT32_MAX)
		slot->seen++;
	return slot->seen;
}

void mapped_ask(struct buildid_reader *r, const struct mapped *m, uint32_t seen)
{
	if (r && !(seen & (seen - 1)))
		buildid_reader_ask(r, &m->key, &m->map, m->kernel);
}

void mapped_watch_jit(struct buildid_reader *r, const struct perf_event_header *hdr,
		      struct mapped_filter *f)
{
	const struct pd_evsel evsel = {.attr.flags = PD_ATTR_MMAP2};
	struct mapped m = {.map.filename = "//anon"};
	struct pd_record rec;
	uint32_t seen;

	if (!r || (hdr->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    pd_record_decode(hdr, &evsel, &rec) || !(rec.mmap.prot & PROT_EXEC) ||
	    dso_kind_of_user(rec.mmap.filename, rec.mmap.flags) != DSO_ANON)
		return;
	m.key.ino = rec.mmap.pid;
	seen = mapped_seen(f, &m);
	if (!(seen & (seen - 1)))
		buildid_reader_watch_jit(r, rec.mmap.pid);
}

void mapped_clear_build_id_marks(uint8_t *p, size_t len)
{
	struct perf_event_header hdr;
	size_t size;

	for (; (size = pd_record_at(p, len, &hdr)); p += size, len -= size) {
		if (hdr.type == PERF_RECORD_SAMPLE)
			return;
		if (hdr.type != PERF_RECORD_MMAP2 || !(hdr.misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
			continue;
		hdr.misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
		memcpy(p, &hdr, sizeof(hdr));
	}
}
