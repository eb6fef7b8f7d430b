/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format: constants and fixed structures of perf.data and of the kernel's perf ABI. They
 * do not depend on the kernel headers of the build machine.
 *
 * Sources: include/uapi/linux/perf_event.h (kernel 6.18) for records, attributes and sample
 * types; tools/perf/Documentation/perf.data-file-format.txt for the file, the features and the
 * record types from 64 up; simpleperf's record_file_format.md for its own types.
 * All data is in the byte order of the recording machine until a reader swaps it.
 */
#ifndef RINGTAIL_PERFDATA_ABI_H
#define RINGTAIL_PERFDATA_ABI_H

#include <linux/perf_event.h>
#include <stdint.h>

/* perf_event_attr as of kernel 6.18. Sizes: 64 (v0) 72 80 96 104 112 120 128 136 144. */
struct pd_attr {
	uint32_t type; /* enum perf_type_id, or a PMU's number */
	uint32_t size; /* as in the file; in our own attributes from pd_attr_wire_size() */
	uint64_t config;
	uint64_t sample_period; /* or frequency in Hz with PD_ATTR_FREQ */
	uint64_t sample_type;	/* PERF_SAMPLE_* */
	uint64_t read_format;	/* PERF_FORMAT_* */
	uint64_t flags;		/* PD_ATTR_*: the kernel's bit fields as one word */
	uint32_t wakeup_events; /* or wakeup_watermark in bytes with PD_ATTR_WATERMARK */
	uint32_t bp_type;
	uint64_t config1; /* bp_addr, kprobe_func, uprobe_path */
	uint64_t config2; /* bp_len, kprobe_addr, probe_offset */
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user; /* bytes */
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark; /* bytes */
	uint16_t sample_max_stack;
	uint16_t reserved_2;
	uint32_t aux_sample_size; /* bytes */
	uint32_t aux_action;	  /* bit 0 start_paused, 1 pause, 2 resume */
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
};

_Static_assert(sizeof(struct pd_attr) == 144, "pd_attr mirrors perf_event_attr of 6.18");

#define PD_ATTR_SIZE_VER0 64 /* the smallest size of any kernel */

/* pd_attr.flags, in the order of the kernel's bit fields on a little-endian machine. */
#define PD_ATTR_DISABLED		 (1ULL << 0)
#define PD_ATTR_INHERIT			 (1ULL << 1)
#define PD_ATTR_PINNED			 (1ULL << 2)
#define PD_ATTR_EXCLUSIVE		 (1ULL << 3)
#define PD_ATTR_EXCLUDE_USER		 (1ULL << 4)
#define PD_ATTR_EXCLUDE_KERNEL		 (1ULL << 5)
#define PD_ATTR_EXCLUDE_HV		 (1ULL << 6)
#define PD_ATTR_EXCLUDE_IDLE		 (1ULL << 7)
#define PD_ATTR_MMAP			 (1ULL << 8)
#define PD_ATTR_COMM			 (1ULL << 9)
#define PD_ATTR_FREQ			 (1ULL << 10)
#define PD_ATTR_INHERIT_STAT		 (1ULL << 11)
#define PD_ATTR_ENABLE_ON_EXEC		 (1ULL << 12)
#define PD_ATTR_TASK			 (1ULL << 13)
#define PD_ATTR_WATERMARK		 (1ULL << 14)
#define PD_ATTR_PRECISE_IP_SHIFT	 15 /* two bits */
#define PD_ATTR_PRECISE_IP		 (3ULL << PD_ATTR_PRECISE_IP_SHIFT)
#define PD_ATTR_MMAP_DATA		 (1ULL << 17)
#define PD_ATTR_SAMPLE_ID_ALL		 (1ULL << 18)
#define PD_ATTR_EXCLUDE_HOST		 (1ULL << 19)
#define PD_ATTR_EXCLUDE_GUEST		 (1ULL << 20)
#define PD_ATTR_EXCLUDE_CALLCHAIN_KERNEL (1ULL << 21)
#define PD_ATTR_EXCLUDE_CALLCHAIN_USER	 (1ULL << 22)
#define PD_ATTR_MMAP2			 (1ULL << 23)
#define PD_ATTR_COMM_EXEC		 (1ULL << 24)
#define PD_ATTR_USE_CLOCKID		 (1ULL << 25)
#define PD_ATTR_CONTEXT_SWITCH		 (1ULL << 26)
#define PD_ATTR_WRITE_BACKWARD		 (1ULL << 27)
#define PD_ATTR_NAMESPACES		 (1ULL << 28)
#define PD_ATTR_KSYMBOL			 (1ULL << 29)
#define PD_ATTR_BPF_EVENT		 (1ULL << 30)
#define PD_ATTR_AUX_OUTPUT		 (1ULL << 31)
#define PD_ATTR_CGROUP			 (1ULL << 32)
#define PD_ATTR_TEXT_POKE		 (1ULL << 33)
#define PD_ATTR_BUILD_ID		 (1ULL << 34)
#define PD_ATTR_INHERIT_THREAD		 (1ULL << 35)
#define PD_ATTR_REMOVE_ON_EXEC		 (1ULL << 36)
#define PD_ATTR_SIGTRAP			 (1ULL << 37)
#define PD_ATTR_DEFER_CALLCHAIN		 (1ULL << 38)
#define PD_ATTR_DEFER_OUTPUT		 (1ULL << 39)

/* Constants newer than the oldest kernel headers that we build against (6.1). */
#define PERF_RECORD_AUX_OUTPUT_HW_ID   21
#define PERF_RECORD_CALLCHAIN_DEFERRED 22

/* Record types from 64 up: written by tools, not by the kernel. */
enum pd_user_record {
	PERF_RECORD_HEADER_ATTR = 64,
	PERF_RECORD_HEADER_EVENT_TYPE = 65, /* deprecated; see PD_PASSED_OVER_MIN */
	PERF_RECORD_HEADER_TRACING_DATA = 66,
	PERF_RECORD_HEADER_BUILD_ID = 67,
	PERF_RECORD_FINISHED_ROUND = 68,
	PERF_RECORD_ID_INDEX = 69,
	PERF_RECORD_AUXTRACE_INFO = 70,
	PERF_RECORD_AUXTRACE = 71,
	PERF_RECORD_AUXTRACE_ERROR = 72,
	PERF_RECORD_THREAD_MAP = 73,
	PERF_RECORD_CPU_MAP = 74,
	PERF_RECORD_STAT_CONFIG = 75,
	PERF_RECORD_STAT = 76,
	PERF_RECORD_STAT_ROUND = 77,
	PERF_RECORD_EVENT_UPDATE = 78,
	PERF_RECORD_TIME_CONV = 79,
	PERF_RECORD_HEADER_FEATURE = 80,
	PERF_RECORD_COMPRESSED = 81,
	PERF_RECORD_FINISHED_INIT = 82,
	PERF_RECORD_COMPRESSED2 = 83,
	PERF_RECORD_BPF_METADATA = 84,
	PERF_RECORD_SCHEDSTAT_CPU = 85,
	PERF_RECORD_SCHEDSTAT_DOMAIN = 86,

	/* simpleperf's own, skipped unless noted */
	SIMPLEPERF_RECORD_TYPE_START = 32768,
};

/*
 * perf skips HEADER_EVENT_TYPE records since 3.10, but perf 7.2 warns of each that is smaller than
 * this: the body once was a u64 and a name of 64 bytes. Source: perf_event__min_size in
 * tools/perf/util/session.c.
 */
#define PD_PASSED_OVER_MIN 80

/* Header features: bit numbers in pd_header.features. */
enum pd_feature {
	HEADER_RESERVED = 0,
	HEADER_TRACING_DATA = 1,
	HEADER_BUILD_ID,
	HEADER_HOSTNAME,
	HEADER_OSRELEASE,
	HEADER_VERSION,
	HEADER_ARCH,
	HEADER_NRCPUS,
	HEADER_CPUDESC,
	HEADER_CPUID,
	HEADER_TOTAL_MEM,
	HEADER_CMDLINE,
	HEADER_EVENT_DESC,
	HEADER_CPU_TOPOLOGY,
	HEADER_NUMA_TOPOLOGY,
	HEADER_BRANCH_STACK,
	HEADER_PMU_MAPPINGS,
	HEADER_GROUP_DESC,
	HEADER_AUXTRACE,
	HEADER_STAT,
	HEADER_CACHE,
	HEADER_SAMPLE_TIME,
	HEADER_MEM_TOPOLOGY,
	HEADER_CLOCKID,
	HEADER_DIR_FORMAT,
	HEADER_BPF_PROG_INFO,
	HEADER_BPF_BTF,
	HEADER_COMPRESSED,
	HEADER_CPU_PMU_CAPS,
	HEADER_CLOCK_DATA,
	HEADER_HYBRID_TOPOLOGY,
	HEADER_PMU_CAPS,
	HEADER_CPU_DOMAIN_INFO,
	HEADER_E_MACHINE,
	HEADER_LAST_KNOWN,
	HEADER_RINGTAIL_SYMBOLS = 200, /* ringtail's own, without a bit: struct pd_own_section */
	HEADER_FEAT_BITS = 256,
};

#define PD_MAGIC  0x32454c4946524550ULL /* "PERFILE2" read little-endian */
#define PD_MAGIC1 0x454c494646524550ULL /* "PERFFILE": version 1, always our byte order */

struct pd_section {
	uint64_t offset; /* bytes from the start of the file */
	uint64_t size;	 /* bytes */
};

/*
 * Says where the section of HEADER_RINGTAIL_SYMBOLS is (perfdata/symbols/symbols.h). It stands
 * right behind the table of feature sections, where perf reads nothing. The header has no bit for
 * it, because perf inject (6.1 to 7.2) dies of a set bit that it does not know. Readers accept the
 * bit, too: it was once set.
 */
struct pd_own_section {
	uint64_t magic; /* PD_OWN_MAGIC */
	struct pd_section section;
};

#define PD_OWN_MAGIC 0x4c4f424d59535452ULL /* "RTSYMBOL" read little-endian */

/* The header of a file: 104 bytes. The header of a pipe is its first 16. */
struct pd_header {
	uint64_t magic;
	uint64_t size;	    /* of this header: 104 in a file, 16 in a pipe */
	uint64_t attr_size; /* of an entry of @attrs: the attribute and its section of ids */
	struct pd_section attrs;
	struct pd_section data;
	struct pd_section event_types; /* of version 1 and very old files; else zero */
	uint64_t features[4]; /* bit n: feature n has a section in the table behind the data */
};

_Static_assert(sizeof(struct pd_header) == 104, "perf.data header is 104 bytes");

#define PD_PIPE_HEADER_SIZE 16

#endif
