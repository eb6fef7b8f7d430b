// SPDX-License-Identifier: Apache-2.0
/* Feature sections: encoded and decoded, in the other byte order, and truncated at every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>

#include "perfdata/feature.h"
#include "wire.h"

/* A copy in a block of exactly that size, off by one byte so that nothing is aligned. */
static uint8_t *cut(const void *p, size_t n, uint8_t **block)
{
	*block = malloc(n + 1);
	memcpy(*block + 1, p, n);
	return *block + 1;
}

static void put_string(struct wire *w, const char *s)
{
	char padded[64] = "";

	strcpy(padded, s);
	wire_u32(w, sizeof(padded));
	wire_bytes(w, padded, sizeof(padded));
}

static void start(struct wire *w, bool foreign)
{
	memset(w, 0, sizeof(*w));
	w->foreign = foreign;
}

static void strings(void **state)
{
	static const char long_one[] = "a much longer argument than sixty-four bytes, which takes "
				       "two units of padding";
	const char *argv[] = {"perf", "record", "", "--", long_one};
	struct pd_strings v;
	struct buf b = {0};
	uint8_t *p, *block;

	assert_int_equal(pd_feature_strings_encode(&b, argv, 5), 0);
	assert_int_equal(b.len, 4 + 5 * 4 + 4 * 64 + 128);
	assert_int_equal(pd_feature_strings_decode(b.data, b.len, false, &v), 0);
	assert_int_equal(v.nr, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(v.s[i], argv[i]);
	pd_strings_release(&v);
	for (size_t n = 0; n < b.len; n++) {
		p = cut(b.data, n, &block);
		assert_int_equal(pd_feature_strings_decode(p, n, false, &v), -EBADMSG);
		pd_strings_release(&v);
		free(block);
	}
	buf_release(&b);
}

static void string_in_either_order(void **state)
{
	struct wire w;
	char *s;

	for (int foreign = 0; foreign < 2; foreign++) {
		start(&w, foreign);
		put_string(&w, "host");
		assert_int_equal(pd_feature_string_decode(w.data, w.len, foreign, &s), 0);
		assert_string_equal(s, "host");
		free(s);
		for (size_t n = 0; n < w.len; n++)
			assert_int_equal(pd_feature_string_decode(w.data, n, foreign, &s),
					 -EBADMSG);
	}
	/* without a NUL, and of no length */
	start(&w, false);
	wire_u32(&w, 3);
	wire_bytes(&w, "abcdef", 6);
	assert_int_equal(pd_feature_string_decode(w.data, w.len, false, &s), 0);
	assert_string_equal(s, "abc");
	free(s);
	start(&w, false);
	wire_u32(&w, 0);
	assert_int_equal(pd_feature_string_decode(w.data, w.len, false, &s), 0);
	assert_string_equal(s, "");
	free(s);
}

static void numbers(void **state)
{
	struct pd_nrcpus cpus = {0}, cpus_want = {8, 4};
	struct pd_sample_time time = {0}, time_want = {1ULL << 40, 2ULL << 40};
	struct pd_clock_data clock = {0}, clock_want = {7, 1ULL << 41, 3};
	struct pd_compression comp = {0}, comp_want = {0, 1, 3, 5, 528384};
	struct buf b = {0};
	uint64_t v;

	assert_int_equal(pd_feature_nrcpus_encode(&b, &cpus_want), 0);
	assert_int_equal(pd_feature_nrcpus_decode(b.data, b.len, false, &cpus), 0);
	assert_memory_equal(&cpus, &cpus_want, sizeof(cpus));
	assert_int_equal(pd_feature_nrcpus_decode(b.data, b.len - 1, false, &cpus), -EBADMSG);

	b.len = 0;
	assert_int_equal(pd_feature_u64_encode(&b, 0x0102030405060708), 0);
	assert_int_equal(pd_feature_u64_decode(b.data, b.len, true, &v), 0);
	assert_int_equal(v, 0x0807060504030201);
	assert_int_equal(pd_feature_u64_decode(b.data, b.len - 1, false, &v), -EBADMSG);

	b.len = 0;
	assert_int_equal(pd_feature_sample_time_encode(&b, &time_want), 0);
	assert_int_equal(pd_feature_sample_time_decode(b.data, b.len, false, &time), 0);
	assert_memory_equal(&time, &time_want, sizeof(time));
	assert_int_equal(pd_feature_sample_time_decode(b.data, b.len - 1, false, &time), -EBADMSG);

	b.len = 0;
	assert_int_equal(pd_feature_clock_data_encode(&b, &clock_want), 0);
	assert_int_equal(pd_feature_clock_data_decode(b.data, b.len, false, &clock), 0);
	assert_int_equal(clock.clockid, clock_want.clockid);
	assert_int_equal(clock.wall_clock_ns, clock_want.wall_clock_ns);
	assert_int_equal(clock.clockid_time_ns, clock_want.clockid_time_ns);
	assert_int_equal(pd_feature_clock_data_decode(b.data, b.len - 1, false, &clock), -EBADMSG);

	b.len = 0;
	assert_int_equal(pd_feature_compressed_encode(&b, &comp_want), 0);
	assert_int_equal(pd_feature_compressed_decode(b.data, b.len, false, &comp), 0);
	assert_memory_equal(&comp, &comp_want, sizeof(comp));
	assert_int_equal(pd_feature_compressed_decode(b.data, b.len - 1, false, &comp), -EBADMSG);
	buf_release(&b);
}

/* @stage 0: as files before ids by CPU; 1: before dies; 2: all */
static void put_topology(struct wire *w, bool foreign, int stage)
{
	start(w, foreign);
	wire_u32(w, 1);
	put_string(w, "0-1");
	wire_u32(w, 2);
	put_string(w, "0");
	put_string(w, "1");
	if (stage < 1)
		return;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		wire_u32(w, 10 + cpu);
		wire_u32(w, cpu ? ~0u : 20);
	}
	if (stage < 2)
		return;
	wire_u32(w, 1);
	put_string(w, "0-1");
	wire_u32(w, 30);
	wire_u32(w, 31);
}

static void cpu_topology(void **state)
{
	struct pd_cpu_topology v;
	struct wire w;
	struct buf b = {0};
	uint8_t *p, *block;

	for (int i = 0; i < 6; i++) {
		int stage = i / 2;

		put_topology(&w, i % 2, stage);
		assert_int_equal(pd_feature_cpu_topology_decode(w.data, w.len, i % 2, 2, &v), 0);
		assert_int_equal(v.cores.nr, 1);
		assert_string_equal(v.cores.s[0], "0-1");
		assert_int_equal(v.threads.nr, 2);
		assert_int_equal(v.nr_ids, stage ? 2 : 0);
		assert_int_equal(v.dies.nr, stage == 2);
		for (int cpu = 0; stage && cpu < 2; cpu++) {
			assert_int_equal(v.ids[cpu].core, 10 + cpu);
			assert_int_equal(v.ids[cpu].socket, cpu ? -1 : 20);
			assert_int_equal(v.ids[cpu].die, stage == 2 ? 30 + cpu : -1);
		}
		b.len = 0;
		assert_int_equal(pd_feature_cpu_topology_encode(&b, &v), 0);
		pd_cpu_topology_release(&v);
		put_topology(&w, false, stage);
		assert_int_equal(b.len, w.len);
		assert_memory_equal(b.data, w.data, w.len);
		for (size_t n = 0; n < w.len; n++) {
			p = cut(w.data, n, &block);
			pd_feature_cpu_topology_decode(p, n, false, 2, &v);
			pd_cpu_topology_release(&v);
			free(block);
		}
	}
	/* more CPUs than the section holds ids for */
	put_topology(&w, false, 1);
	assert_int_equal(pd_feature_cpu_topology_decode(w.data, w.len, false, 3, &v), -EBADMSG);
	pd_cpu_topology_release(&v);
	assert_int_equal(pd_feature_cpu_topology_decode(w.data, w.len, false, ~0u, &v), -EBADMSG);
	pd_cpu_topology_release(&v);
	buf_release(&b);
}

static void machine(void **state)
{
	struct pd_numa_node nodes[] = {{0, 1000, 500, (char *)"0-3"},
				       {1, 2000, 700, (char *)"4-7"}};
	struct pd_numa_topology numa_in = {nodes, 2}, numa;
	struct pd_pmu_mapping pmus[] = {{1, (char *)"software"}, {4, (char *)"cpu"}};
	struct pd_pmu_mappings pmu_in = {pmus, 2}, pmu;
	struct pd_cache one = {1, 64, 64, 8, (char *)"Data", (char *)"32K", (char *)"0-1"};
	struct pd_caches caches_in = {&one, 1}, caches;
	struct buf b[3] = {{0}};

	assert_int_equal(pd_feature_numa_topology_encode(&b[0], &numa_in), 0);
	assert_int_equal(pd_feature_numa_topology_decode(b[0].data, b[0].len, false, &numa), 0);
	assert_int_equal(numa.nr, 2);
	assert_int_equal(numa.nodes[1].node, 1);
	assert_int_equal(numa.nodes[1].mem_total, 2000);
	assert_int_equal(numa.nodes[1].mem_free, 700);
	assert_string_equal(numa.nodes[1].cpus, "4-7");
	pd_numa_topology_release(&numa);

	assert_int_equal(pd_feature_pmu_mappings_encode(&b[1], &pmu_in), 0);
	assert_int_equal(pd_feature_pmu_mappings_decode(b[1].data, b[1].len, false, &pmu), 0);
	assert_int_equal(pmu.nr, 2);
	assert_int_equal(pmu.pmus[1].type, 4);
	assert_string_equal(pmu.pmus[1].name, "cpu");
	pd_pmu_mappings_release(&pmu);

	assert_int_equal(pd_feature_caches_encode(&b[2], &caches_in), 0);
	assert_int_equal(pd_feature_caches_decode(b[2].data, b[2].len, false, &caches), 0);
	assert_int_equal(caches.nr, 1);
	assert_int_equal(caches.caches[0].ways, 8);
	assert_string_equal(caches.caches[0].map, "0-1");
	pd_caches_release(&caches);

	for (int i = 0; i < 3; i++) {
		for (size_t n = 0; n < b[i].len; n++) {
			uint8_t *block, *p = cut(b[i].data, n, &block);

			assert_int_equal(
				i == 0	 ? pd_feature_numa_topology_decode(p, n, false, &numa)
				: i == 1 ? pd_feature_pmu_mappings_decode(p, n, false, &pmu)
					 : pd_feature_caches_decode(p, n, false, &caches),
				-EBADMSG);
			if (i == 0)
				pd_numa_topology_release(&numa);
			else if (i == 1)
				pd_pmu_mappings_release(&pmu);
			else
				pd_caches_release(&caches);
			free(block);
		}
		buf_release(&b[i]);
	}
}

/* Features of other recorders: in either order, and truncated at every length. */
static void put_pmus(struct wire *w)
{
	wire_u32(w, 2);
	wire_u32(w, 2);
	put_string(w, "branches");
	put_string(w, "32");
	put_string(w, "max_precise");
	put_string(w, "3");
	put_string(w, "cpu_core");
	wire_u32(w, 0);
	put_string(w, "cpu_atom");
}

static void pmus(void **state)
{
	struct pd_hybrid_topology h;
	struct pd_pmu_caps v;
	struct wire w;

	for (int foreign = 0; foreign < 2; foreign++) {
		start(&w, foreign);
		put_pmus(&w);
		assert_int_equal(pd_feature_pmu_caps_decode(w.data, w.len, foreign, &v), 0);
		assert_int_equal(v.nr, 2);
		assert_string_equal(v.pmus[0].name, "cpu_core");
		assert_int_equal(v.pmus[0].caps.nr, 4);
		assert_string_equal(v.pmus[0].caps.s[2], "max_precise");
		assert_string_equal(v.pmus[0].caps.s[3], "3");
		assert_string_equal(v.pmus[1].name, "cpu_atom");
		assert_int_equal(v.pmus[1].caps.nr, 0);
		pd_pmu_caps_release(&v);
		for (size_t n = 0; n < w.len; n++) {
			uint8_t *block, *p = cut(w.data, n, &block);

			assert_int_equal(pd_feature_pmu_caps_decode(p, n, foreign, &v), -EBADMSG);
			pd_pmu_caps_release(&v);
			free(block);
		}
		/* The first of them is what the other section has; its caps are a pair of strings.
		 */
		assert_int_equal(pd_feature_cpu_pmu_caps_decode(w.data + 4, w.len - 4, foreign, &v),
				 0);
		assert_int_equal(v.nr, 1);
		assert_string_equal(v.pmus[0].name, "cpu");
		assert_string_equal(v.pmus[0].caps.s[1], "32");
		pd_pmu_caps_release(&v);
		assert_int_equal(
			pd_feature_hybrid_topology_decode(w.data + 4, w.len - 4, foreign, &h), 0);
		assert_int_equal(h.nr, 2);
		assert_string_equal(h.pmus[1].name, "max_precise");
		assert_string_equal(h.pmus[1].cpus, "3");
		pd_hybrid_topology_release(&h);
		for (size_t n = 0; n < 4 + 4 * 68; n++) {
			uint8_t *block, *p = cut(w.data + 4, n, &block);

			assert_int_equal(pd_feature_hybrid_topology_decode(p, n, foreign, &h),
					 -EBADMSG);
			pd_hybrid_topology_release(&h);
			assert_int_equal(pd_feature_cpu_pmu_caps_decode(p, n, foreign, &v),
					 -EBADMSG);
			pd_pmu_caps_release(&v);
			free(block);
		}
	}
}

/* A program of @nr functions, as perf puts it: arrays, which struct bpf_prog_info has offsets of.
 */
static void put_program(struct wire *w, uint32_t id, uint32_t nr, uint32_t told)
{
	uint8_t zeroes[sizeof(struct bpf_prog_info)] = {0};
	size_t info = w->len + 16, end;
	uint32_t code = 0;

	for (uint32_t i = 0; i < nr; i++)
		code += 100 + i;
	wire_u32(w, sizeof(zeroes));
	wire_u32(w, 20 * nr + code);
	wire_u64(w, 1 << 0 | 1 << 3 | 1 << 4 | 1 << 8);
	wire_bytes(w, zeroes, sizeof(zeroes));
	for (uint32_t i = 0; i < nr; i++)
		wire_u64(w, 0xffffffffc0000000 + i);
	for (uint32_t i = 0; i < nr; i++)
		wire_bytes(w, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	for (uint32_t i = 0; i < nr; i++)
		wire_u32(w, 100 + i);
	for (uint32_t i = 0; i < nr; i++)
		for (uint32_t n = 0; n < 100 + i; n++)
			wire_bytes(w, i ? "b" : "a", 1);
	end = w->len;
	w->len = info + offsetof(struct bpf_prog_info, jited_prog_len);
	wire_u32(w, code);
	w->len = info + offsetof(struct bpf_prog_info, jited_prog_insns);
	wire_u64(w, 20 * nr);
	w->len = info + offsetof(struct bpf_prog_info, id);
	wire_u32(w, id);
	w->len = info + offsetof(struct bpf_prog_info, name);
	wire_bytes(w, "a_program", 9);
	w->len = info + offsetof(struct bpf_prog_info, nr_jited_ksyms);
	wire_u32(w, told);
	wire_u32(w, told);
	wire_u64(w, 0);
	wire_u64(w, 16 * nr);
	w->len = info + offsetof(struct bpf_prog_info, nr_prog_tags);
	wire_u32(w, told);
	wire_u64(w, 8 * nr);
	w->len = end;
}

static int sum(uint32_t id, void *arg)
{
	*(uint32_t *)arg += id;
	return 0;
}

static void bpf(void **state)
{
	struct pd_bpf_progs v;
	struct wire w;
	uint32_t ids = 0;

	for (int foreign = 0; foreign < 2; foreign++) {
		start(&w, foreign);
		wire_u32(&w, 2);
		put_program(&w, 7, 1, 1);
		put_program(&w, 8, 2, 2);
		assert_int_equal(pd_feature_bpf_progs_decode(w.data, w.len, foreign, &v), 0);
		assert_int_equal(v.nr, 2);
		assert_int_equal(v.progs[0].id, 7);
		assert_int_equal(v.progs[0].nr, 1);
		assert_string_equal(v.progs[1].name, "a_program");
		assert_int_equal(v.progs[1].nr, 2);
		assert_int_equal(v.progs[1].functions[1].addr, 0xffffffffc0000001);
		assert_int_equal(v.progs[1].functions[1].size, 101);
		assert_memory_equal(v.progs[1].functions[1].tag, "\x01\x02\x03\x04\x05\x06\x07\x08",
				    8);
		for (size_t i = 0; i < 2; i++) {
			const struct pd_bpf_function *f = &v.progs[1].functions[i];

			assert_non_null(f->code);
			assert_int_equal(f->code[0], i ? 'b' : 'a');
			assert_int_equal(f->code[f->size - 1], i ? 'b' : 'a');
		}
		pd_bpf_progs_release(&v);
		for (size_t n = 0; n < w.len; n++) {
			uint8_t *block, *p = cut(w.data, n, &block);

			assert_int_equal(pd_feature_bpf_progs_decode(p, n, foreign, &v), -EBADMSG);
			pd_bpf_progs_release(&v);
			free(block);
		}
		/* More functions than there are. */
		start(&w, foreign);
		wire_u32(&w, 1);
		put_program(&w, 7, 1, 0xffffffff);
		assert_int_equal(pd_feature_bpf_progs_decode(w.data, w.len, foreign, &v), -EBADMSG);
		pd_bpf_progs_release(&v);
		start(&w, foreign);
		wire_u32(&w, 2);
		for (uint32_t i = 0; i < 2; i++) {
			wire_u32(&w, 5 + i);
			wire_u32(&w, 4);
			wire_u32(&w, 0);
		}
		ids = 0;
		assert_int_equal(pd_feature_bpf_types_decode(w.data, w.len, foreign, sum, &ids), 0);
		assert_int_equal(ids, 11);
		assert_int_equal(pd_feature_bpf_types_decode(w.data, w.len - 1, foreign, sum, &ids),
				 -EBADMSG);
	}
}

static void put_memory(struct wire *w, uint64_t version, uint64_t nodes, uint64_t bits)
{
	wire_u64(w, version);
	wire_u64(w, 1 << 27);
	wire_u64(w, nodes);
	for (int i = 0; i < 2; i++) {
		wire_u64(w, 10 + (uint64_t)i);
		wire_u64(w, 1); /* read by nobody */
		wire_u64(w, bits);
		wire_u64(w, 5);
		wire_u64(w, 1 + (uint64_t)i);
	}
}

static void memory(void **state)
{
	struct pd_mem_topology v;
	struct wire w;

	for (int foreign = 0; foreign < 2; foreign++) {
		start(&w, foreign);
		put_memory(&w, 1, 2, 66);
		assert_int_equal(pd_feature_mem_topology_decode(w.data, w.len, foreign, &v), 0);
		assert_int_equal(v.block_size, 1 << 27);
		assert_int_equal(v.nr, 2);
		assert_int_equal(v.nodes[1].node, 11);
		assert_int_equal(v.nodes[1].nr_blocks, 66);
		assert_int_equal(v.nodes[1].blocks[0], 5);
		assert_int_equal(v.nodes[1].blocks[1], 2);
		pd_mem_topology_release(&v);
		for (size_t n = 0; n < w.len; n++) {
			uint8_t *block, *p = cut(w.data, n, &block);

			assert_int_equal(pd_feature_mem_topology_decode(p, n, foreign, &v),
					 -EBADMSG);
			pd_mem_topology_release(&v);
			free(block);
		}
	}
	for (int which = 0; which < 4; which++) {
		static const uint64_t wrong[][3] = {
			{2, 2, 66}, {1, UINT64_MAX, 66}, {1, 2, UINT64_MAX}, {1, 3, 66}};

		start(&w, false);
		put_memory(&w, wrong[which][0], wrong[which][1], wrong[which][2]);
		assert_int_equal(pd_feature_mem_topology_decode(w.data, w.len, false, &v),
				 -EBADMSG);
		pd_mem_topology_release(&v);
	}
}

/* A count that nothing stands behind must not be allocated for. */
static void hostile_counts(void **state)
{
	struct pd_strings strs;
	struct pd_numa_topology numa;
	struct pd_pmu_mappings pmu;
	struct pd_caches caches;
	struct wire w;

	start(&w, false);
	wire_u32(&w, ~0u);
	wire_u32(&w, 0);
	assert_int_equal(pd_feature_strings_decode(w.data, w.len, false, &strs), -EBADMSG);
	assert_null(strs.s);
	assert_int_equal(pd_feature_numa_topology_decode(w.data, w.len, false, &numa), -EBADMSG);
	assert_int_equal(pd_feature_pmu_mappings_decode(w.data, w.len, false, &pmu), -EBADMSG);
	start(&w, false);
	wire_u32(&w, 1);
	wire_u32(&w, ~0u);
	assert_int_equal(pd_feature_caches_decode(w.data, w.len, false, &caches), -EBADMSG);
	assert_null(caches.caches);
}

static struct pd_evlist *events(unsigned int nr, bool with_ids)
{
	struct pd_evlist *list = pd_evlist_new();
	struct pd_attr attr = {.type = PERF_TYPE_RAW};

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t ids[] = {100 + i, 200 + i};
		char name[16] = {(char)('a' + i)};

		attr.config3 = i;
		assert_int_equal(pd_evlist_add(list, &attr, name, ids, with_ids ? 2 : 0), 0);
	}
	return list;
}

static void event_desc(void **state)
{
	struct pd_evlist *from = events(3, true), *to = pd_evlist_new(), *no_ids = events(3, false);
	struct pd_attr attr = {.type = PERF_TYPE_RAW};
	struct buf b = {0};

	assert_int_equal(pd_feature_event_desc_encode(&b, from), 0);
	assert_int_equal(b.len, 8 + 3 * (136 + 4 + 4 + 64 + 16));
	/* in another order here than there: ids decide */
	for (uint64_t i = 3; i-- > 0;)
		assert_int_equal(pd_evlist_add(to, &attr, NULL, (uint64_t[]){100 + i, 200 + i}, 2),
				 0);
	assert_int_equal(pd_feature_event_desc_decode(b.data, b.len, false, to), 0);
	assert_string_equal(pd_evlist_at(to, 0)->name, "c");
	assert_string_equal(pd_evlist_at(to, 1)->name, "b");
	assert_string_equal(pd_evlist_at(to, 2)->name, "a");
	for (unsigned int i = 0; i < 3; i++)
		pd_evsel_set_name(pd_evlist_at(no_ids, i), "?");
	assert_int_equal(pd_feature_event_desc_decode(b.data, b.len, false, no_ids), 0);
	assert_string_equal(pd_evlist_at(no_ids, 0)->name, "a");
	assert_string_equal(pd_evlist_at(no_ids, 2)->name, "c");

	for (size_t n = 0; n < b.len; n++) {
		uint8_t *block, *p = cut(b.data, n, &block);

		assert_int_equal(pd_feature_event_desc_decode(p, n, false, to), -EBADMSG);
		free(block);
	}
	buf_release(&b);
	pd_evlist_free(from);
	pd_evlist_free(to);
	pd_evlist_free(no_ids);
}

static int group_desc_of(struct pd_evlist *list, uint32_t leader, uint32_t members,
			 uint32_t leader2, uint32_t members2)
{
	struct wire w;

	start(&w, true);
	wire_u32(&w, 2);
	put_string(&w, "{anon_group}");
	wire_u32(&w, leader);
	wire_u32(&w, members);
	put_string(&w, "g");
	wire_u32(&w, leader2);
	wire_u32(&w, members2);
	return pd_feature_group_desc_decode(w.data, w.len, true, list);
}

static void group_desc(void **state)
{
	struct pd_evlist *list = events(6, false), *copy = events(6, false);
	static const unsigned int leaders[] = {0, 1, 1, 1, 4, 4};
	struct buf b = {0};

	assert_int_equal(group_desc_of(list, 1, 3, 4, 2), 0);
	assert_int_equal(pd_feature_group_desc_encode(&b, list), 0);
	assert_int_equal(pd_feature_group_desc_decode(b.data, b.len, false, copy), 0);
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(pd_evlist_at(copy, i)->leader, leaders[i]);
		assert_int_equal(pd_evlist_at(copy, i)->nr_members, i == 1 ? 3 : i == 4 ? 2 : 1);
	}
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(pd_feature_group_desc_decode(b.data, n, false, copy), -EBADMSG);
	assert_int_equal(group_desc_of(list, 1, 3, 3, 2), -EBADMSG);
	assert_int_equal(group_desc_of(list, 1, 3, 4, 3), -EBADMSG);
	assert_int_equal(group_desc_of(list, 1, 3, 6, 1), -EBADMSG);
	assert_int_equal(group_desc_of(list, 1, 0, 4, 2), -EBADMSG);
	assert_int_equal(group_desc_of(list, 1, ~0u, 4, 2), -EBADMSG);
	buf_release(&b);
	pd_evlist_free(list);
	pd_evlist_free(copy);
}

struct seen {
	struct pd_build_id id[4];
	char name[4][64];
	uint16_t misc[4];
	size_t nr;
};

static int see(const struct pd_build_id *id, uint16_t misc, void *arg)
{
	struct seen *s = arg;

	if (s->nr == 4)
		return -E2BIG;
	s->id[s->nr] = *id;
	s->misc[s->nr] = misc;
	strncpy(s->name[s->nr], id->filename, sizeof(s->name[0]) - 1);
	s->nr++;
	return 0;
}

static void build_ids(void **state)
{
	struct pd_build_id kernel = {.pid = -1, .size = 20, .filename = "[kernel.kallsyms]"};
	struct pd_build_id lib = {.pid = 0, .size = 16, .filename = "/usr/lib/libm.so.6"};
	struct seen s = {.nr = 0};
	struct buf b = {0};

	memcpy(kernel.build_id, "abcdefghijklmnopqrst", 20);
	memcpy(lib.build_id, "ABCDEFGHIJKLMNOP", 16);
	assert_int_equal(pd_feature_build_id_encode(&b, &kernel, PERF_RECORD_MISC_KERNEL), 0);
	assert_int_equal(pd_feature_build_id_encode(&b, &lib, PERF_RECORD_MISC_USER), 0);
	assert_int_equal(b.len, 2 * (36 + 64));
	assert_int_equal(pd_feature_build_ids_decode(b.data, b.len, false, see, &s), 0);
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.id[0].pid, -1);
	assert_int_equal(s.id[0].size, 20);
	assert_memory_equal(s.id[0].build_id, kernel.build_id, 20);
	assert_string_equal(s.name[0], kernel.filename);
	assert_int_equal(s.misc[0] & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(s.id[1].size, 16);
	assert_memory_equal(s.id[1].build_id, lib.build_id, 20);
	assert_string_equal(s.name[1], lib.filename);
	for (size_t n = 1; n < b.len; n++) {
		uint8_t *block, *p = cut(b.data, n, &block);

		s.nr = 0;
		assert_int_equal(pd_feature_build_ids_decode(p, n, false, see, &s),
				 n == 100 ? 0 : -EBADMSG);
		assert_int_equal(s.nr, n / 100);
		free(block);
	}
	s.nr = 4;
	assert_int_equal(pd_feature_build_ids_decode(b.data, b.len, false, see, &s), -E2BIG);
	buf_release(&b);
}

/* Device and inode stand where perf reads only the rest of a name. */
static void build_ids_of_files(void **state)
{
	struct pd_build_id id = {
		.pid = -1,
		.size = 20,
		.filename = "/usr/lib/libm.so.6",
		.maj = 8,
		.min = 0x11,
		.ino = 0x123456789ab,
		.ino_generation = 7,
	};
	struct seen s = {.nr = 0};
	struct buf b = {0};
	char name[4096];

	assert_int_equal(pd_feature_build_id_encode(&b, &id, PERF_RECORD_MISC_USER), 0);
	assert_int_equal(b.len, 36 + 64);
	assert_int_equal(b.data[36 + strlen(id.filename)], 0);
	assert_int_equal(pd_feature_build_ids_decode(b.data, b.len, false, see, &s), 0);
	assert_string_equal(s.name[0], id.filename);
	assert_int_equal(s.id[0].maj, 8);
	assert_int_equal(s.id[0].min, 0x11);
	assert_int_equal(s.id[0].ino, id.ino);
	assert_int_equal(s.id[0].ino_generation, 7);
	/* Every length of a name: it is whole, and so is what stands behind it while there is room.
	 */
	for (size_t n = 1; n < sizeof(name); n++) {
		memset(name, 'x', n);
		name[n] = '\0';
		id.filename = name;
		b.len = 0;
		s.nr = 0;
		assert_int_equal(pd_feature_build_id_encode(&b, &id, 0), 0);
		assert_true(b.len <= 36 + 4096);
		assert_int_equal(pd_feature_build_ids_decode(b.data, b.len, false, see, &s), 0);
		assert_int_equal(s.id[0].ino, n + 1 + 32 <= 4096 ? id.ino : 0);
		assert_int_equal(strlen((char *)b.data + 36), n);
	}
	/* A name that ends with the mark and has nothing behind it. */
	b.len = 0;
	s.nr = 0;
	id.ino = 0;
	id.filename = "/a/name/as/long/as/it/takes/.........../RT-INODE";
	assert_int_equal(pd_feature_build_id_encode(&b, &id, 0), 0);
	assert_int_equal(pd_feature_build_ids_decode(b.data, b.len, false, see, &s), 0);
	assert_int_equal(s.id[0].ino, 0);
	buf_release(&b);
}

/* A name as long as a path may be fits what perf reads it into: PATH_MAX bytes with its padding. */
static void build_id_of_long_name(void **state)
{
	char name[6000];
	struct pd_build_id id = {.size = 20, .filename = name};
	struct buf b = {0};

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(pd_feature_build_id_encode(&b, &id, 0), 0);
	assert_int_equal(b.len, 36 + 4096);
	buf_release(&b);
}

/* The tables of perf before 2.6.35 have no pid. */
static void build_ids_without_pid(void **state)
{
	static const char *const names[] = {"[kernel.kallsyms]", "[guest.kernel.kallsyms]"};
	struct seen s = {.nr = 0};
	struct wire w;

	for (int foreign = 0; foreign < 2; foreign++) {
		start(&w, foreign);
		for (int i = 0; i < 2; i++) {
			wire_u32(&w, 0);
			wire_u16(&w, i ? PERF_RECORD_MISC_GUEST_KERNEL : PERF_RECORD_MISC_KERNEL);
			wire_u16(&w, 8 + 24 + 64);
			wire_bytes(&w, "abcdefghijklmnopqrst\0\0\0\0", 24);
			wire_bytes(&w, names[i], strlen(names[i]));
			wire_bytes(&w, (char[64]){0}, 64 - strlen(names[i]));
		}
		s.nr = 0;
		assert_int_equal(pd_feature_build_ids_decode(w.data, w.len, foreign, see, &s), 0);
		assert_int_equal(s.nr, 2);
		for (int i = 0; i < 2; i++) {
			assert_string_equal(s.name[i], names[i]);
			assert_int_equal(s.id[i].pid, i ? 0 : -1);
			assert_memory_equal(s.id[i].build_id, "abcdefghijklmnopqrst", 20);
		}
	}
}

static void feature_names(void **state)
{
	assert_string_equal(pd_feature_name(HEADER_HOSTNAME), "hostname");
	assert_string_equal(pd_feature_name(HEADER_CPU_TOPOLOGY), "cpu topology");
	assert_null(pd_feature_name(HEADER_RESERVED));
	assert_null(pd_feature_name(HEADER_LAST_KNOWN));
	for (unsigned int i = 1; i < HEADER_LAST_KNOWN; i++)
		assert_non_null(pd_feature_name(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings),
		cmocka_unit_test(string_in_either_order),
		cmocka_unit_test(numbers),
		cmocka_unit_test(cpu_topology),
		cmocka_unit_test(machine),
		cmocka_unit_test(pmus),
		cmocka_unit_test(bpf),
		cmocka_unit_test(memory),
		cmocka_unit_test(hostile_counts),
		cmocka_unit_test(event_desc),
		cmocka_unit_test(group_desc),
		cmocka_unit_test(build_ids),
		cmocka_unit_test(build_id_of_long_name),
		cmocka_unit_test(build_ids_of_files),
		cmocka_unit_test(build_ids_without_pid),
		cmocka_unit_test(feature_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
