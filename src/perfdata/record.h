/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: a header and a body, checked and decoded without copying.
 *
 * pd_record_to_host() swaps a record of the other byte order in place, once; the decoders take
 * native data. They check each length, string and nesting against the record's size. They neither
 * allocate nor write.
 *
 * A decoded record points into the record's bytes and is valid as long as they are. Any thread.
 * Source: kernel/events/core.c and include/uapi/linux/perf_event.h (6.18);
 * perf.data-file-format.txt for types from 64 up.
 */
#ifndef RINGTAIL_PERFDATA_RECORD_H
#define RINGTAIL_PERFDATA_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "perfdata/attr.h"

/*
 * Bits in the misc of a LOST_SAMPLES record that ringtail wrote: the recorder dropped the samples,
 * because the output was too slow (POOL), or accepted no more (OUTPUT). RECORDS: they are no
 * samples, but records of an event that writes a trace. The kernel sets no bits there, and other
 * readers ignore them.
 */
#define PD_MISC_LOST_POOL    (1u << 14)
#define PD_MISC_LOST_OUTPUT  (1u << 13)
#define PD_MISC_LOST_RECORDS (1u << 12)

/* The first word of ringtail's HEADER_EVENT_TYPE records (perfdata/snapshot_log.h). */
#define PD_SNAPSHOT_MAGIC 0x746f687370616e73ull

/* Returns the name of a record type ("MMAP2", "SAMPLE", "AUXTRACE"), or NULL if unknown. */
const char *pd_record_name(uint32_t type);

/*
 * Whether a type is sideband, whose loss would harm symbols, identity or counts: all but SAMPLE
 * (and padding).
 */
bool pd_record_is_sideband(uint32_t type);

/* Returns the header (8 bytes) at @p, any alignment, in native order; swaps its bytes if @swap. */
struct perf_event_header pd_record_header(const uint8_t *p, bool swap);

/*
 * Reads the header of the native record at @p (any alignment). Returns the record's size, or 0 if
 * the @len bytes do not hold the whole record.
 */
static inline size_t pd_record_at(const uint8_t *p, size_t len, struct perf_event_header *ret)
{
	if (len < sizeof(*ret))
		return 0;
	memcpy(ret, p, sizeof(*ret));
	return ret->size < sizeof(*ret) || ret->size > len ? 0 : ret->size;
}

/*
 * Swaps the body of the record at @hdr to native order (header already native, hdr->size bytes
 * writable, 8-byte aligned). @list gives the layouts of samples and trailers. Bodies of unknown
 * types stay as they are. So do bytes whose layout the record does not give: PERF_SAMPLE_RAW,
 * stacks, AUX data, and the data of HEADER_FEATURE, whose decoders take the file's byte order.
 * Returns 0; -EBADMSG if a length inside does not fit (the rest is not swapped); -ENOENT if a
 * sample's event is unknown.
 */
int pd_record_to_host(struct perf_event_header *hdr, const struct pd_evlist *list);

/* The sample_id trailer; absent fields have the values of PD_SAMPLE_ID_NONE. */
struct pd_sample_id {
	uint32_t pid, tid; /* (uint32_t)-1 if absent */
	uint64_t time;	   /* ns of the recording's clock; 0 if absent */
	uint64_t id;	   /* 0 if absent */
	uint64_t stream_id;
	uint32_t cpu; /* (uint32_t)-1 if absent */
};

#define PD_SAMPLE_ID_NONE ((struct pd_sample_id){.pid = ~0u, .tid = ~0u, .cpu = ~0u})

#define PD_BUILD_ID_MAX 20

struct pd_mmap { /* MMAP and MMAP2 */
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation; /* 0 in MMAP, and if a build-id replaces it */
	uint32_t prot, flags;	      /* PROT_*, MAP_*; MMAP: PROT_EXEC unless misc has DATA */
	uint8_t build_id_size;	      /* 0: none */
	uint8_t build_id[PD_BUILD_ID_MAX];
	const char *filename; /* NUL-terminated within the record */
};

/* MMAP2 on the wire: between the header and the name. */
struct pd_mmap2_body {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino, ino_generation;
		};
		struct { /* with PERF_RECORD_MISC_MMAP_BUILD_ID */
			uint8_t build_id_size, reserved[3];
			uint8_t build_id[PD_BUILD_ID_MAX];
		};
	};
	uint32_t prot, flags;
};

_Static_assert(sizeof(struct pd_mmap2_body) == 64, "a name begins 72 bytes behind a MMAP2's start");

/*
 * Fills @ret from @m, with its build-id if it has one. Returns PERF_RECORD_MISC_MMAP_BUILD_ID for
 * the record's misc if @ret holds a build-id, else 0.
 */
uint16_t pd_mmap2_encode(const struct pd_mmap *m, struct pd_mmap2_body *ret);

struct pd_comm {
	uint32_t pid, tid;
	bool exec; /* PERF_RECORD_MISC_COMM_EXEC */
	const char *comm;
};

struct pd_task { /* FORK and EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct pd_lost {
	uint64_t id; /* of the event whose ring was full; 0 in LOST_SAMPLES (see the trailer) */
	uint64_t lost;
};

struct pd_throttle {
	uint64_t time, id, stream_id;
};

struct pd_switch { /* SWITCH and SWITCH_CPU_WIDE */
	bool out, preempt;
	uint32_t next_prev_pid, next_prev_tid; /* (uint32_t)-1 in SWITCH */
};

struct pd_namespaces {
	uint32_t pid, tid;
	uint64_t nr;
	const uint64_t *link; /* nr pairs {dev, inode} */
};

struct pd_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type; /* PERF_RECORD_KSYMBOL_TYPE_* */
	uint16_t flags;	    /* bit 0: unregister */
	const char *name;
};

struct pd_bpf_event {
	uint16_t type, flags;
	uint32_t id;
	uint8_t tag[8];
};

struct pd_cgroup {
	uint64_t id;
	const char *path;
};

struct pd_text_poke {
	uint64_t addr;
	uint16_t old_len, new_len;
	const uint8_t *bytes; /* old_len old bytes, then new_len new bytes */
};

struct pd_aux {
	uint64_t aux_offset, aux_size, flags; /* PERF_AUX_FLAG_* */
};

struct pd_read { /* READ: the counts of an inherited counter at exit */
	uint32_t pid, tid;
	const uint64_t *values; /* in the layout of read_format */
	size_t nr_values;
};

struct pd_callchain_deferred {
	uint64_t cookie, nr;
	const uint64_t *ips;
};

struct pd_auxtrace { /* followed in the stream by @size bytes that are not records */
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu;
};

struct pd_auxtrace_info {
	uint32_t type; /* enum pd_auxtrace_type (perfdata/aux_record.h) */
	const uint64_t *priv;
	size_t nr_priv;
};

struct pd_auxtrace_error {
	uint32_t type, code, cpu, pid, tid;
	uint64_t ip, time;
	const char *msg;
};

struct pd_attr_record { /* HEADER_ATTR: decode with pd_attr_decode() */
	const uint8_t *attr;
	size_t attr_len;
	const uint64_t *ids;
	size_t nr_ids;
};

struct pd_build_id {
	int32_t pid; /* -1 host kernel space; others: virtual machines */
	uint8_t size;
	uint8_t build_id[PD_BUILD_ID_MAX];
	const char *filename;
	/* These tell files of one name apart; ino 0: the id is for all of them. Our own addition,
	 * behind the name's NUL, which perf does not read. */
	uint32_t maj, min;
	uint64_t ino, ino_generation;
};

/* On the wire: the last bytes of the entry. */
#define PD_BUILD_ID_FILE_MAGIC "RT-INODE"
struct pd_build_id_file {
	char magic[8]; /* without a NUL */
	uint32_t maj, min;
	uint64_t ino, ino_generation;
};

struct pd_feature_record { /* HEADER_FEATURE */
	uint64_t feature;
	const uint8_t *data;
	size_t len;
};

struct pd_event_update {
	uint64_t type; /* 0 unit, 1 scale, 2 name, 3 cpus */
	uint64_t id;
	const uint8_t *data;
	size_t len;
};

struct pd_words {	       /* HEADER_EVENT_TYPE with our magic (perfdata/snapshot_log.h) */
	const uint64_t *words; /* NULL: without our magic */
	size_t nr;
	const uint8_t *text;
	size_t text_len;
};

struct pd_compressed {
	const uint8_t *data;
	size_t len;
};

struct pd_id_index {
	uint64_t nr;
	const uint64_t *entries; /* nr × {id, idx, cpu, tid} */
};

struct pd_time_conv { /* names as in struct perf_event_mmap_page */
	uint64_t time_shift, time_mult, time_zero;
	uint64_t time_cycles, time_mask; /* 0 before perf 5.10, as the second flag; */
	bool cap_user_time_zero;	 /* the first is then set */
	bool cap_user_time_short;
};

struct pd_stat {
	uint64_t id;
	uint32_t cpu, thread;
	uint64_t val, ena, run;
};

struct pd_stat_round {
	uint64_t type, time; /* type 0 interval, 1 final */
};

/* A decoded record; hdr->type selects the member of the union. */
struct pd_record {
	const struct perf_event_header *hdr;
	struct pd_sample_id id;
	union {
		struct pd_mmap mmap;
		struct pd_comm comm;
		struct pd_task task;
		struct pd_lost lost;
		struct pd_throttle throttle;
		struct pd_switch cswitch;
		struct pd_namespaces namespaces;
		struct pd_ksymbol ksymbol;
		struct pd_bpf_event bpf;
		struct pd_cgroup cgroup;
		struct pd_text_poke text_poke;
		struct pd_aux aux;
		uint64_t aux_hw_id;
		uint32_t itrace_start[2]; /* pid, tid */
		struct pd_read read;
		struct pd_callchain_deferred deferred;
		struct pd_auxtrace auxtrace;
		struct pd_auxtrace_info auxtrace_info;
		struct pd_auxtrace_error auxtrace_error;
		struct pd_attr_record attr;
		struct pd_build_id build_id;
		struct pd_feature_record feature;
		struct pd_event_update update;
		struct pd_words words;
		struct pd_compressed compressed;
		struct pd_id_index id_index;
		struct pd_time_conv time_conv;
		struct pd_stat stat;
		struct pd_stat_round stat_round;
		uint32_t tracing_data_size; /* that many bytes follow, padded to 8 */
	};
};

/*
 * Decodes a native record of any type but SAMPLE (see sample.h). @evsel describes the trailer;
 * NULL: there is none. Returns 0 (also for known types without a member in the union); -ENOTSUP if
 * the type is unknown (hdr and id are set); -EBADMSG if the size, a string or a count does not fit.
 */
int pd_record_decode(const struct perf_event_header *hdr, const struct pd_evsel *evsel,
		     struct pd_record *ret);

/*
 * Returns the time of a native record, sample or not: the sample's TIME, the trailer's time, or of
 * FORK and EXIT without a trailer their own time. Returns 0 if the record has none.
 */
uint64_t pd_record_time(const struct perf_event_header *hdr, const struct pd_evsel *evsel);

#endif
