/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoders and encoders of the header's feature sections.
 *
 * A decoder takes a section's bytes (any alignment, @swap for the other byte order) and fills a
 * struct that owns its memory; release it with its _release(), also after failure. It returns 0,
 * -EBADMSG (a length or count does not fit) or -ENOMEM.
 * An encoder appends to a struct buf in native order and returns 0 or -ENOMEM.
 * Source: perf.data-file-format.txt; strings are a u32 length (padded to 64 bytes), then the bytes
 * with their NUL.
 */
#ifndef RINGTAIL_PERFDATA_FEATURE_H
#define RINGTAIL_PERFDATA_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "perfdata/attr.h"
#include "perfdata/record.h"

/* Returns the name of a feature in report --header ("hostname", "cpu topology"); NULL if unknown.
 */
const char *pd_feature_name(unsigned int feature);

/* HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID: a single string. *@ret is for free(). */
int pd_feature_string_decode(const uint8_t *p, size_t len, bool swap, char **ret);
int pd_feature_string_encode(struct buf *b, const char *s);

/*
 * Appends the place of ringtail's own section, for the bytes right behind the table of feature
 * sections; in the other byte order if @swap. Returns 0 or -ENOMEM.
 */
int pd_own_section_put(struct buf *b, struct pd_section section, bool swap);

/* NRCPUS */
struct pd_nrcpus {
	uint32_t configured, online;
};
int pd_feature_nrcpus_decode(const uint8_t *p, size_t len, bool swap, struct pd_nrcpus *ret);
int pd_feature_nrcpus_encode(struct buf *b, const struct pd_nrcpus *v);

/* TOTAL_MEM (KiB): a single u64. */
int pd_feature_u64_decode(const uint8_t *p, size_t len, bool swap, uint64_t *ret);
int pd_feature_u64_encode(struct buf *b, uint64_t v);

/* CMDLINE: argv. PMU_CAPS and CPU_TOPOLOGY hold such lists, too. */
struct pd_strings {
	char **s;
	size_t nr;
};
int pd_feature_strings_decode(const uint8_t *p, size_t len, bool swap, struct pd_strings *ret);
int pd_feature_strings_encode(struct buf *b, const char *const *s, size_t nr);
void pd_strings_release(struct pd_strings *v);

/* EVENT_DESC: names and ids of events. Sets the names of @list by id, else by order. */
int pd_feature_event_desc_decode(const uint8_t *p, size_t len, bool swap, struct pd_evlist *list);
int pd_feature_event_desc_encode(struct buf *b, const struct pd_evlist *list);

/* CPU_TOPOLOGY. core/socket/die ids are by CPU number, nr_ids of them (0 in files before 3.x). */
struct pd_cpu_topology {
	struct pd_strings cores, threads, dies; /* CPU lists of siblings */
	struct pd_cpu_ids {
		int32_t core, socket, die; /* die -1 if absent */
	} * ids;
	size_t nr_ids;
};
int pd_feature_cpu_topology_decode(const uint8_t *p, size_t len, bool swap, uint32_t nr_cpus,
				   struct pd_cpu_topology *ret);
int pd_feature_cpu_topology_encode(struct buf *b, const struct pd_cpu_topology *v);
void pd_cpu_topology_release(struct pd_cpu_topology *v);

/* NUMA_TOPOLOGY. Sizes in KiB. */
struct pd_numa_topology {
	struct pd_numa_node {
		uint32_t node;
		uint64_t mem_total, mem_free;
		char *cpus;
	} * nodes;
	size_t nr;
};
int pd_feature_numa_topology_decode(const uint8_t *p, size_t len, bool swap,
				    struct pd_numa_topology *ret);
int pd_feature_numa_topology_encode(struct buf *b, const struct pd_numa_topology *v);
void pd_numa_topology_release(struct pd_numa_topology *v);

/* PMU_MAPPINGS */
struct pd_pmu_mappings {
	struct pd_pmu_mapping {
		uint32_t type;
		char *name;
	} * pmus;
	size_t nr;
};
int pd_feature_pmu_mappings_decode(const uint8_t *p, size_t len, bool swap,
				   struct pd_pmu_mappings *ret);
int pd_feature_pmu_mappings_encode(struct buf *b, const struct pd_pmu_mappings *v);
void pd_pmu_mappings_release(struct pd_pmu_mappings *v);

/* GROUP_DESC: sets leaders and members in @list. */
int pd_feature_group_desc_decode(const uint8_t *p, size_t len, bool swap, struct pd_evlist *list);
int pd_feature_group_desc_encode(struct buf *b, const struct pd_evlist *list);

/*
 * BUILD_ID: a sequence of records. The decoder calls @next for each; if that returns non-zero, it
 * stops and returns the value.
 */
int pd_feature_build_ids_decode(const uint8_t *p, size_t len, bool swap,
				int (*next)(const struct pd_build_id *id, uint16_t misc, void *arg),
				void *arg);
int pd_feature_build_id_encode(struct buf *b, const struct pd_build_id *id, uint16_t misc);

/* SAMPLE_TIME: times of the first and the last sample, in ns. */
struct pd_sample_time {
	uint64_t first, last;
};
int pd_feature_sample_time_decode(const uint8_t *p, size_t len, bool swap,
				  struct pd_sample_time *ret);
int pd_feature_sample_time_encode(struct buf *b, const struct pd_sample_time *v);

/* CLOCKID is pd_feature_u64 (resolution in ns). CLOCK_DATA: */
struct pd_clock_data {
	uint32_t clockid;
	uint64_t wall_clock_ns, clockid_time_ns;
};
int pd_feature_clock_data_decode(const uint8_t *p, size_t len, bool swap,
				 struct pd_clock_data *ret);
int pd_feature_clock_data_encode(struct buf *b, const struct pd_clock_data *v);

/* DIR_FORMAT is pd_feature_u64 (version 1). COMPRESSED: */
struct pd_compression {
	uint32_t version, type, level, ratio; /* type 1: zstd; ratio 0..: original / compressed */
	uint32_t mmap_len;		      /* bytes: the largest decompressed chunk */
};
int pd_feature_compressed_decode(const uint8_t *p, size_t len, bool swap,
				 struct pd_compression *ret);
int pd_feature_compressed_encode(struct buf *b, const struct pd_compression *v);

/* CACHE */
struct pd_caches {
	struct pd_cache {
		uint32_t level, line_size, sets, ways;
		char *type, *size, *map;
	} * caches;
	size_t nr;
};
int pd_feature_caches_decode(const uint8_t *p, size_t len, bool swap, struct pd_caches *ret);
int pd_feature_caches_encode(struct buf *b, const struct pd_caches *v);
void pd_caches_release(struct pd_caches *v);

/* HYBRID_TOPOLOGY: the CPUs of each core PMU. */
struct pd_hybrid_topology {
	struct pd_hybrid_pmu {
		char *name, *cpus; /* NULL after a failure */
	} * pmus;
	size_t nr;
};
int pd_feature_hybrid_topology_decode(const uint8_t *p, size_t len, bool swap,
				      struct pd_hybrid_topology *ret);
void pd_hybrid_topology_release(struct pd_hybrid_topology *v);

/* PMU_CAPS, and CPU_PMU_CAPS: the same for the PMU "cpu" only. */
struct pd_pmu_caps {
	struct pd_pmu_with_caps {
		char *name;		/* NULL after a failure */
		struct pd_strings caps; /* name, value, name, value … */
	} * pmus;
	size_t nr;
};
int pd_feature_cpu_pmu_caps_decode(const uint8_t *p, size_t len, bool swap,
				   struct pd_pmu_caps *ret);
int pd_feature_pmu_caps_decode(const uint8_t *p, size_t len, bool swap, struct pd_pmu_caps *ret);
void pd_pmu_caps_release(struct pd_pmu_caps *v);

/*
 * AUXTRACE: where the AUXTRACE records are. perf lists those of the file itself. Behind that
 * list we write one of those in the data.N of a directory, which perf does not read.
 */
struct pd_auxtrace_index {
	struct pd_auxtrace_place {
		uint64_t offset; /* of the record in its file */
		uint64_t size;	 /* of the record, without its data */
		uint32_t part;	 /* 0: the file with the header; N: data.(N - 1) */
	} * places;
	size_t nr;
};
int pd_feature_auxtrace_decode(const uint8_t *p, size_t len, bool swap,
			       struct pd_auxtrace_index *ret);
int pd_feature_auxtrace_encode(struct buf *b, const struct pd_auxtrace_index *v);
void pd_auxtrace_index_release(struct pd_auxtrace_index *v);

/* BPF_PROG_INFO: the programs that were loaded. */
struct pd_bpf_progs {
	struct pd_bpf_prog {
		uint32_t id;
		char name[16]; /* truncated by the kernel */
		struct pd_bpf_function {
			uint8_t tag[8];
			uint64_t addr;
			uint32_t size;	     /* bytes */
			const uint8_t *code; /* in the section; NULL: not there */
		} * functions;		     /* the program, and functions that it calls */
		size_t nr;		     /* 0: not compiled, or not in the section */
	} * progs;
	size_t nr;
};
int pd_feature_bpf_progs_decode(const uint8_t *p, size_t len, bool swap, struct pd_bpf_progs *ret);
void pd_bpf_progs_release(struct pd_bpf_progs *v);

/*
 * BPF_BTF: calls @next with the id of each set of types; if that returns non-zero, it stops and
 * returns the value.
 */
int pd_feature_bpf_types_decode(const uint8_t *p, size_t len, bool swap,
				int (*next)(uint32_t id, void *arg), void *arg);

/* MEM_TOPOLOGY: the blocks of physical memory of each node. */
struct pd_mem_topology {
	uint64_t block_size; /* bytes */
	struct pd_mem_node {
		uint64_t node;
		uint64_t *blocks; /* one bit for each block; NULL after a failure */
		uint64_t nr_blocks;
	} * nodes;
	size_t nr;
};
int pd_feature_mem_topology_decode(const uint8_t *p, size_t len, bool swap,
				   struct pd_mem_topology *ret);
void pd_mem_topology_release(struct pd_mem_topology *v);

#endif
