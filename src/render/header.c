// SPDX-License-Identifier: Apache-2.0
#include "render/header.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/plural.h"
#include "render/attr_text.h"
#include "render/text.h"

/* One feature's section, input of a printer. */
struct header_section {
	const struct trace *t;
	const uint8_t *p;
	size_t len;
	bool swap, full;
	enum pd_feature feature;
	const char *label; /* of the table's row */
};

static void put_damaged(FILE *out, const struct header_section *s)
{
	fprintf(out, "# %s : unreadable (%zu bytes)\n", s->label, s->len);
}

static void put_string(FILE *out, const struct header_section *s)
{
	char *text = NULL;

	if (pd_feature_string_decode(s->p, s->len, s->swap, &text) < 0) {
		put_damaged(out, s);
		return;
	}
	fprintf(out, "# %s : ", s->label);
	text_put(out, text, 0);
	putc('\n', out);
	free(text);
}

static void put_nrcpus(FILE *out, const struct header_section *s)
{
	struct pd_nrcpus n;

	if (pd_feature_nrcpus_decode(s->p, s->len, s->swap, &n) < 0)
		put_damaged(out, s);
	else
		fprintf(out, "# nrcpus online : %u\n# nrcpus avail : %u\n", n.online, n.configured);
}

static void put_total_mem(FILE *out, const struct header_section *s)
{
	uint64_t v;

	if (pd_feature_u64_decode(s->p, s->len, s->swap, &v) < 0)
		put_damaged(out, s);
	else
		fprintf(out, "# total memory : %" PRIu64 " kB\n", v);
}

static void put_cmdline(FILE *out, const struct header_section *s)
{
	struct pd_strings v = {0};

	if (pd_feature_strings_decode(s->p, s->len, s->swap, &v) < 0) {
		put_damaged(out, s);
	} else {
		fputs("# cmdline : ", out);
		for (size_t i = 0; i < v.nr; i++) {
			text_put(out, v.s[i], 0);
			putc(' ', out);
		}
		putc('\n', out);
	}
	pd_strings_release(&v);
}

static void put_events(FILE *out, const struct header_section *s)
{
	for (size_t i = 0; i < pd_evlist_recorded(s->t->evlist); i++) {
		const struct pd_evsel *e = pd_evlist_at(s->t->evlist, i);

		fputs("# event : name = ", out);
		text_put(out, e->name, 0);
		fputs(", ", out);
		for (size_t k = 0; k < e->nr_ids; k++)
			fprintf(out, "%s %" PRIu64 "%s", k ? "," : ", id = {", e->ids[k],
				k + 1 == e->nr_ids ? " }" : "");
		attr_text(out, &e->attr);
		putc('\n', out);
	}
}

static void put_list(FILE *out, const char *label, const struct pd_strings *v)
{
	for (size_t i = 0; i < v->nr; i++) {
		fprintf(out, "# %s : ", label);
		text_put(out, v->s[i], 0);
		putc('\n', out);
	}
}

static uint32_t recorded_cpus(const struct trace *t)
{
	struct pd_nrcpus n;
	const uint8_t *p;
	size_t len;

	if (data_feature(t->df, HEADER_NRCPUS, &p, &len) < 0 ||
	    pd_feature_nrcpus_decode(p, len, data_swapped(t->df), &n) < 0)
		return 0;
	return n.configured;
}

static void put_cpu_topology(FILE *out, const struct header_section *s)
{
	struct pd_cpu_topology v = {0};

	if (pd_feature_cpu_topology_decode(s->p, s->len, s->swap, recorded_cpus(s->t), &v) < 0) {
		put_damaged(out, s);
	} else {
		put_list(out, "sibling sockets", &v.cores);
		put_list(out, "sibling dies   ", &v.dies);
		put_list(out, "sibling threads", &v.threads);
		for (size_t i = 0; i < v.nr_ids; i++) {
			fprintf(out, "# CPU %zu: Core ID %d, ", i, v.ids[i].core);
			if (v.ids[i].die >= 0)
				fprintf(out, "Die ID %d, ", v.ids[i].die);
			fprintf(out, "Socket ID %d\n", v.ids[i].socket);
		}
		if (!v.nr_ids)
			fputs("# Core ID and Socket ID information is not available\n", out);
	}
	pd_cpu_topology_release(&v);
}

static void put_numa(FILE *out, const struct header_section *s)
{
	struct pd_numa_topology v = {0};

	if (pd_feature_numa_topology_decode(s->p, s->len, s->swap, &v) < 0)
		put_damaged(out, s);
	for (size_t i = 0; i < v.nr; i++) {
		fprintf(out, "# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n",
			v.nodes[i].node, v.nodes[i].mem_total, v.nodes[i].mem_free);
		fprintf(out, "# node%u cpu list : ", v.nodes[i].node);
		text_put(out, v.nodes[i].cpus, 0);
		putc('\n', out);
	}
	pd_numa_topology_release(&v);
}

static void put_branch_stack(FILE *out, const struct header_section *s)
{
	fputs("# contains samples with branch stack\n", out);
}

static void put_auxtrace(FILE *out, const struct header_section *s)
{
	struct pd_auxtrace_index v = {0};

	fputs("# contains AUX area data (e.g. instruction trace)\n", out);
	if (pd_feature_auxtrace_decode(s->p, s->len, s->swap, &v) < 0)
		put_damaged(out, s);
	else
		fprintf(out, "# auxtrace index : %zu record%s\n", v.nr, plural_s(v.nr));
	for (size_t i = 0; s->full && i < v.nr; i++) {
		fputs("#   ", out);
		if (v.places[i].part)
			fprintf(out, "data.%" PRIu32 ":", v.places[i].part - 1);
		fprintf(out, "0x%" PRIx64 " size=%" PRIu64 "\n", v.places[i].offset,
			v.places[i].size);
	}
	pd_auxtrace_index_release(&v);
}

static void put_stat(FILE *out, const struct header_section *s)
{
	fputs("# contains stat data\n", out);
}

static void put_pmus(FILE *out, const struct header_section *s)
{
	struct pd_pmu_mappings v = {0};

	if (pd_feature_pmu_mappings_decode(s->p, s->len, s->swap, &v) < 0) {
		put_damaged(out, s);
	} else {
		fputs("# pmu mappings: ", out);
		for (size_t i = 0; i < v.nr; i++) {
			fputs(i ? ", " : "", out);
			text_put(out, v.pmus[i].name, 0);
			fprintf(out, " = %u", v.pmus[i].type);
		}
		putc('\n', out);
	}
	pd_pmu_mappings_release(&v);
}

static void put_groups(FILE *out, const struct header_section *s)
{
	size_t n = pd_evlist_recorded(s->t->evlist);

	for (size_t i = 0; i < n; i++) {
		const struct pd_evsel *e = pd_evlist_at(s->t->evlist, i);

		if (e->leader != i || e->nr_members < 2)
			continue;
		fputs("# group: {", out);
		text_put(out, e->name, 0);
		for (size_t k = i + 1; k < i + e->nr_members; k++) {
			putc(',', out);
			text_put(out, pd_evlist_at(s->t->evlist, k)->name, 0);
		}
		fputs("}\n", out);
	}
}

static void put_caches(FILE *out, const struct header_section *s)
{
	struct pd_caches v = {0};

	if (pd_feature_caches_decode(s->p, s->len, s->swap, &v) < 0)
		put_damaged(out, s);
	else
		fputs("# CPU cache info:\n", out);
	for (size_t i = 0; i < v.nr; i++) {
		fprintf(out, "#  L%u ", v.caches[i].level);
		text_put(out, v.caches[i].type, -15);
		putc(' ', out);
		text_put(out, v.caches[i].size, 8);
		fputs(" [", out);
		text_put(out, v.caches[i].map, 0);
		fputs("]\n", out);
	}
	pd_caches_release(&v);
}

static void put_sample_time(FILE *out, const struct header_section *s)
{
	struct pd_sample_time v;

	if (pd_feature_sample_time_decode(s->p, s->len, s->swap, &v) < 0) {
		put_damaged(out, s);
		return;
	}
	fprintf(out, "# time of first sample : %" PRIu64 ".%06" PRIu64 "\n", v.first / 1000000000,
		v.first % 1000000000 / 1000);
	fprintf(out, "# time of last sample : %" PRIu64 ".%06" PRIu64 "\n", v.last / 1000000000,
		v.last % 1000000000 / 1000);
	fprintf(out, "# sample duration : %10.3f ms\n",
		(double)(v.last >= v.first ? v.last - v.first : 0) / 1e6);
}

static bool has_block(const struct pd_mem_node *n, uint64_t i)
{
	return i < n->nr_blocks && n->blocks[i / 64] >> i % 64 & 1;
}

/* "0-23,32-199" */
static void put_blocks(FILE *out, const struct pd_mem_node *n)
{
	const char *comma = "";

	for (uint64_t i = 0, first; i < n->nr_blocks; i++) {
		if (!has_block(n, i))
			continue;
		first = i;
		while (has_block(n, i + 1))
			i++;
		fprintf(out, "%s%" PRIu64, comma, first);
		if (i > first)
			fprintf(out, "-%" PRIu64, i);
		comma = ",";
	}
}

static void put_mem_node(FILE *out, const struct pd_mem_node *n, uint64_t block_size)
{
	static const char units[] = "BKMG";
	uint64_t size = 0;
	size_t unit = 0;

	for (uint64_t i = 0; i < n->nr_blocks; i++)
		size += has_block(n, i) ? block_size : 0;
	/* As in perf, exactly 1 of the next unit stays in this unit. */
	for (; size / 1024 > 1 && unit < 3; unit++)
		size /= 1024;
	fprintf(out, "#  %3" PRIu64 " [%" PRIu64 "%c]: ", n->node, size, units[unit]);
	put_blocks(out, n);
	putc('\n', out);
}

static void put_mem_topology(FILE *out, const struct header_section *s)
{
	struct pd_mem_topology v;

	if (pd_feature_mem_topology_decode(s->p, s->len, s->swap, &v) < 0) {
		put_damaged(out, s);
	} else {
		fprintf(out, "# memory nodes (nr %zu, block size 0x%" PRIx64 "):\n", v.nr,
			v.block_size);
		for (size_t i = 0; i < v.nr; i++)
			put_mem_node(out, &v.nodes[i], v.block_size);
	}
	pd_mem_topology_release(&v);
}

static void put_hybrid(FILE *out, const struct header_section *s)
{
	struct pd_hybrid_topology v;

	if (pd_feature_hybrid_topology_decode(s->p, s->len, s->swap, &v) < 0) {
		put_damaged(out, s);
	} else {
		fputs("# hybrid cpu system:\n", out);
		for (size_t i = 0; i < v.nr; i++) {
			fputs("# ", out);
			text_put(out, v.pmus[i].name, 0);
			fputs(" cpu list : ", out);
			text_put(out, v.pmus[i].cpus, 0);
			putc('\n', out);
		}
	}
	pd_hybrid_topology_release(&v);
}

static void put_caps_of(FILE *out, const struct pd_pmu_with_caps *pmu)
{
	fputs("# ", out);
	text_put(out, pmu->name, 0);
	fprintf(out, " pmu capabilities: %s", pmu->caps.nr ? "" : "not available");
	for (size_t i = 0; i + 1 < pmu->caps.nr; i += 2) {
		fputs(i ? ", " : "", out);
		text_put(out, pmu->caps.s[i], 0);
		putc('=', out);
		text_put(out, pmu->caps.s[i + 1], 0);
	}
	putc('\n', out);
}

static void put_caps(FILE *out, const struct header_section *s)
{
	bool cpu = s->feature == HEADER_CPU_PMU_CAPS;
	struct pd_pmu_caps v;
	int rc = cpu ? pd_feature_cpu_pmu_caps_decode(s->p, s->len, s->swap, &v)
		     : pd_feature_pmu_caps_decode(s->p, s->len, s->swap, &v);

	if (rc < 0)
		put_damaged(out, s);
	for (size_t i = 0; !rc && i < v.nr; i++)
		put_caps_of(out, &v.pmus[i]);
	pd_pmu_caps_release(&v);
}

static void put_clockid(FILE *out, const struct header_section *s)
{
	uint64_t v;

	if (pd_feature_u64_decode(s->p, s->len, s->swap, &v) < 0)
		put_damaged(out, s);
	else
		fprintf(out, "# clockid frequency: %" PRIu64 " MHz\n", v * 1000);
}

/* Returns perf's name of a clock. */
static const char *clock_name(uint32_t clockid)
{
	static const char *const names[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};
	const char *name = clockid < sizeof(names) / sizeof(names[0]) ? names[clockid] : NULL;

	return name ? name : "(not found)";
}

static void put_clock_data(FILE *out, const struct header_section *s)
{
	struct pd_clock_data v;
	char text[40];
	time_t sec;
	struct tm tm;

	if (pd_feature_clock_data_decode(s->p, s->len, s->swap, &v) < 0) {
		put_damaged(out, s);
		return;
	}
	sec = (time_t)(v.wall_clock_ns / 1000000000);
	if (!localtime_r(&sec, &tm) || !strftime(text, sizeof(text), "%F %T", &tm))
		text[0] = '\0';
	fprintf(out, "# clockid: %s (%u)\n", clock_name(v.clockid), v.clockid);
	fprintf(out,
		"# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64
		".%09" PRIu64 " (%s)\n",
		text, v.wall_clock_ns % 1000000000 / 1000, v.wall_clock_ns / 1000000000,
		v.wall_clock_ns % 1000000000 / 1000, v.clockid_time_ns / 1000000000,
		v.clockid_time_ns % 1000000000, clock_name(v.clockid));
}

static void put_dir_format(FILE *out, const struct header_section *s)
{
	uint64_t v;

	if (pd_feature_u64_decode(s->p, s->len, s->swap, &v) < 0)
		put_damaged(out, s);
	else
		fprintf(out, "# directory data version : %" PRIu64 "\n", v);
}

/* The name as in the kernel's kallsyms, except that the recorded name may be truncated. */
static void put_bpf_function(FILE *out, const struct pd_bpf_prog *prog, size_t i)
{
	const struct pd_bpf_function *f = &prog->functions[i];

	fputs("bpf_prog_", out);
	for (size_t k = 0; k < sizeof(f->tag); k++)
		fprintf(out, "%02x", f->tag[k]);
	if (i || prog->name[0])
		putc('_', out);
	text_put(out, prog->nr > 1 ? "F" : prog->name, 0);
	fprintf(out, " addr 0x%" PRIx64 " size %u\n", f->addr, f->size);
}

static void put_bpf_progs(FILE *out, const struct header_section *s)
{
	struct pd_bpf_progs v;

	if (pd_feature_bpf_progs_decode(s->p, s->len, s->swap, &v) < 0)
		put_damaged(out, s);
	for (size_t i = 0; i < v.nr; i++) {
		const struct pd_bpf_prog *prog = &v.progs[i];

		if (prog->nr)
			fprintf(out, "# bpf_prog_info %u:%s", prog->id, prog->nr > 1 ? "\n" : " ");
		for (size_t k = 0; k < prog->nr; k++) {
			if (prog->nr > 1)
				fprintf(out, "# \tsub_prog %zu: ", k);
			put_bpf_function(out, prog, k);
		}
	}
	pd_bpf_progs_release(&v);
}

static int put_bpf_type(uint32_t id, void *out)
{
	fprintf(out, "# btf info of id %u\n", id);
	return 0;
}

static void put_bpf_types(FILE *out, const struct header_section *s)
{
	if (pd_feature_bpf_types_decode(s->p, s->len, s->swap, put_bpf_type, out) < 0)
		put_damaged(out, s);
}

static void put_compressed(FILE *out, const struct header_section *s)
{
	struct pd_compression v;

	if (pd_feature_compressed_decode(s->p, s->len, s->swap, &v) < 0)
		put_damaged(out, s);
	else
		fprintf(out, "# compressed : %s, level = %u, ratio = %u\n",
			v.type == 1 ? "Zstd" : "Unknown", v.level, v.ratio);
}

/* In the order of the features; a NULL printer: only known by name. */
static const struct {
	enum pd_feature feature;
	const char *name; /* in perf's list of missing features */
	const char *label;
	void (*put)(FILE *out, const struct header_section *s);
	bool full; /* long: shown only on request */
} features[] = {
	{HEADER_TRACING_DATA, "TRACING_DATA", NULL, NULL, false},
	{HEADER_BUILD_ID, "BUILD_ID", NULL, NULL, false},
	{HEADER_HOSTNAME, "HOSTNAME", "hostname", put_string, false},
	{HEADER_OSRELEASE, "OSRELEASE", "os release", put_string, false},
	{HEADER_VERSION, "VERSION", "perf version", put_string, false},
	{HEADER_ARCH, "ARCH", "arch", put_string, false},
	{HEADER_NRCPUS, "NRCPUS", "nrcpus", put_nrcpus, false},
	{HEADER_CPUDESC, "CPUDESC", "cpudesc", put_string, false},
	{HEADER_CPUID, "CPUID", "cpuid", put_string, false},
	{HEADER_TOTAL_MEM, "TOTAL_MEM", "total memory", put_total_mem, false},
	{HEADER_CMDLINE, "CMDLINE", "cmdline", put_cmdline, false},
	{HEADER_EVENT_DESC, "EVENT_DESC", "event desc", put_events, false},
	{HEADER_CPU_TOPOLOGY, "CPU_TOPOLOGY", "cpu topology", put_cpu_topology, true},
	{HEADER_NUMA_TOPOLOGY, "NUMA_TOPOLOGY", "numa topology", put_numa, true},
	{HEADER_BRANCH_STACK, "BRANCH_STACK", NULL, put_branch_stack, false},
	{HEADER_PMU_MAPPINGS, "PMU_MAPPINGS", "pmu mappings", put_pmus, false},
	{HEADER_GROUP_DESC, "GROUP_DESC", "group", put_groups, false},
	{HEADER_AUXTRACE, "AUXTRACE", "auxtrace index", put_auxtrace, false},
	{HEADER_STAT, "STAT", NULL, put_stat, false},
	{HEADER_CACHE, "CACHE", "cache", put_caches, true},
	{HEADER_SAMPLE_TIME, "SAMPLE_TIME", "sample time", put_sample_time, false},
	{HEADER_MEM_TOPOLOGY, "MEM_TOPOLOGY", "memory topology", put_mem_topology, true},
	{HEADER_CLOCKID, "CLOCKID", "clockid", put_clockid, false},
	{HEADER_DIR_FORMAT, "DIR_FORMAT", "directory", put_dir_format, false},
	{HEADER_BPF_PROG_INFO, "BPF_PROG_INFO", "bpf programs", put_bpf_progs, false},
	{HEADER_BPF_BTF, "BPF_BTF", "bpf types", put_bpf_types, false},
	{HEADER_COMPRESSED, "COMPRESSED", "compressed", put_compressed, false},
	{HEADER_CPU_PMU_CAPS, "CPU_PMU_CAPS", "cpu pmu capabilities", put_caps, false},
	{HEADER_CLOCK_DATA, "CLOCK_DATA", "clock data", put_clock_data, false},
	{HEADER_HYBRID_TOPOLOGY, "HYBRID_TOPOLOGY", "hybrid topology", put_hybrid, true},
	{HEADER_PMU_CAPS, "PMU_CAPS", "pmu capabilities", put_caps, false},
};

#define NR_FEATURES (sizeof(features) / sizeof(features[0]))

static bool has_feature(const struct trace *t, size_t i, struct header_section *ret)
{
	*ret = (struct header_section){
		.t = t,
		.swap = data_swapped(t->df),
		.feature = features[i].feature,
		.label = features[i].label,
	};
	return data_feature(t->df, features[i].feature, &ret->p, &ret->len) == 0;
}

void header_render(FILE *out, const struct trace *t, time_t captured, bool full)
{
	const struct pd_header *h = data_header(t->df);
	struct header_section s;
	char when[32];

	fputs("# ========\n", out);
	if (ctime_r(&captured, when))
		fprintf(out, "# captured on    : %s", when);
	fputs("# header version : 1\n", out);
	fprintf(out, "# data offset    : %" PRIu64 "\n", h->data.offset);
	fprintf(out, "# data size      : %" PRIu64 "\n", h->data.size);
	fprintf(out, "# feat offset    : %" PRIu64 "\n", h->data.offset + h->data.size);
	for (size_t i = 0; i < NR_FEATURES; i++) {
		if (!has_feature(t, i, &s)) {
			if (features[i].feature == HEADER_EVENT_DESC)
				put_events(out, &s);
		} else if (features[i].full && (!full || !features[i].put)) {
			fprintf(out, "# %s info available%s\n", features[i].name,
				features[i].put ? ", use -I to display" : "");
		} else if (features[i].put) {
			s.full = full;
			features[i].put(out, &s);
		}
	}
	fputs("# missing features: ", out);
	for (size_t i = 0; i < NR_FEATURES; i++)
		if (!has_feature(t, i, &s))
			fprintf(out, "%s ", features[i].name);
	putc('\n', out);
	snapshots_render(out, t);
	fputs("# ========\n#\n", out);
}
