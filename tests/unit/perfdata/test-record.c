// SPDX-License-Identifier: Apache-2.0
/* Records of every type except samples, in both byte orders and truncated at every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/mman.h>

#include "perfdata/record.h"
#include "wire.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define TRAILER_BITS                                                                   \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static void put_u64s(struct wire *w, uint64_t first, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		wire_u64(w, first + i);
}

static void put_u32s(struct wire *w, uint32_t first, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		wire_u32(w, first + i);
}

static void put_mmap(struct wire *w)
{
	put_u32s(w, 11, 2);
	put_u64s(w, 13, 3);
	wire_string(w, "/bin/true");
}

static void check_mmap(const struct pd_record *r)
{
	assert_int_equal(r->mmap.pid, 11);
	assert_int_equal(r->mmap.tid, 12);
	assert_int_equal(r->mmap.addr, 13);
	assert_int_equal(r->mmap.len, 14);
	assert_int_equal(r->mmap.pgoff, 15);
	assert_int_equal(r->mmap.prot, PROT_EXEC);
	assert_int_equal(r->mmap.build_id_size, 0);
	assert_string_equal(r->mmap.filename, "/bin/true");
}

static void put_mmap2(struct wire *w)
{
	put_u32s(w, 11, 2);
	put_u64s(w, 13, 3);
	put_u32s(w, 16, 2);
	put_u64s(w, 18, 2);
	put_u32s(w, 20, 2);
	wire_string(w, "/lib/libc.so.6");
}

static void check_mmap2(const struct pd_record *r)
{
	assert_int_equal(r->mmap.pgoff, 15);
	assert_int_equal(r->mmap.maj, 16);
	assert_int_equal(r->mmap.min, 17);
	assert_int_equal(r->mmap.ino, 18);
	assert_int_equal(r->mmap.ino_generation, 19);
	assert_int_equal(r->mmap.prot, 20);
	assert_int_equal(r->mmap.flags, 21);
	assert_int_equal(r->mmap.build_id_size, 0);
	assert_string_equal(r->mmap.filename, "/lib/libc.so.6");
}

static void put_mmap2_310(struct wire *w)
{
	put_u32s(w, 11, 2);
	put_u64s(w, 13, 3);
	put_u32s(w, 16, 2);
	put_u64s(w, 18, 2);
	wire_string(w, "/usr/lib64/ld-2.17.so");
}

static void check_mmap2_310(const struct pd_record *r)
{
	assert_int_equal(r->mmap.maj, 16);
	assert_int_equal(r->mmap.ino_generation, 19);
	assert_int_equal(r->mmap.prot, PROT_EXEC);
	assert_int_equal(r->mmap.flags, 0);
	assert_string_equal(r->mmap.filename, "/usr/lib64/ld-2.17.so");
}

/* The name has less room than prot and flags. */
static void put_mmap2_310_short(struct wire *w)
{
	put_u32s(w, 11, 2);
	put_u64s(w, 13, 3);
	put_u32s(w, 0, 2);
	put_u64s(w, 0, 2);
	wire_string(w, "[vdso]");
}

static void check_mmap2_310_short(const struct pd_record *r)
{
	assert_int_equal(r->mmap.prot, 0);
	assert_string_equal(r->mmap.filename, "[vdso]");
}

static void put_mmap2_build_id(struct wire *w)
{
	put_u32s(w, 11, 2);
	put_u64s(w, 13, 3);
	wire_bytes(w, "\x10\0\0\0abcdefghijklmnop\0\0\0\0", 24);
	put_u32s(w, 20, 2);
	wire_string(w, "/lib/libc.so.6");
}

static void check_mmap2_build_id(const struct pd_record *r)
{
	assert_int_equal(r->mmap.maj, 0);
	assert_int_equal(r->mmap.ino, 0);
	assert_int_equal(r->mmap.prot, 20);
	assert_int_equal(r->mmap.build_id_size, 16);
	assert_memory_equal(r->mmap.build_id, "abcdefghijklmnop\0\0\0\0", 20);
	assert_string_equal(r->mmap.filename, "/lib/libc.so.6");
}

static void put_comm(struct wire *w)
{
	put_u32s(w, 11, 2);
	wire_string(w, "bash");
}

static void check_comm(const struct pd_record *r)
{
	assert_int_equal(r->comm.pid, 11);
	assert_int_equal(r->comm.tid, 12);
	assert_true(r->comm.exec);
	assert_string_equal(r->comm.comm, "bash");
}

static void put_task(struct wire *w)
{
	put_u32s(w, 11, 4);
	wire_u64(w, 15);
}

static void check_task(const struct pd_record *r)
{
	assert_int_equal(r->task.pid, 11);
	assert_int_equal(r->task.ppid, 12);
	assert_int_equal(r->task.tid, 13);
	assert_int_equal(r->task.ptid, 14);
	assert_int_equal(r->task.time, 15);
}

static void put_1(struct wire *w)
{
	put_u64s(w, 11, 1);
}

static void put_2(struct wire *w)
{
	put_u64s(w, 11, 2);
}

static void put_3(struct wire *w)
{
	put_u64s(w, 11, 3);
}

static void put_pid_tid(struct wire *w)
{
	put_u32s(w, 11, 2);
}

static void put_nothing(struct wire *w)
{
}

static void check_lost(const struct pd_record *r)
{
	assert_int_equal(r->lost.id, 11);
	assert_int_equal(r->lost.lost, 12);
}

static void check_lost_samples(const struct pd_record *r)
{
	assert_int_equal(r->lost.id, 0);
	assert_int_equal(r->lost.lost, 11);
}

static void check_throttle(const struct pd_record *r)
{
	assert_int_equal(r->throttle.time, 11);
	assert_int_equal(r->throttle.id, 12);
	assert_int_equal(r->throttle.stream_id, 13);
}

static void check_switch(const struct pd_record *r)
{
	assert_true(r->cswitch.out);
	assert_true(r->cswitch.preempt);
	assert_int_equal(r->cswitch.next_prev_pid, ~0u);
}

static void check_switch_wide(const struct pd_record *r)
{
	assert_false(r->cswitch.out);
	assert_int_equal(r->cswitch.next_prev_pid, 11);
	assert_int_equal(r->cswitch.next_prev_tid, 12);
}

static void put_namespaces(struct wire *w)
{
	put_u32s(w, 11, 2);
	wire_u64(w, 2);
	put_u64s(w, 13, 4);
}

static void check_namespaces(const struct pd_record *r)
{
	assert_int_equal(r->namespaces.tid, 12);
	assert_int_equal(r->namespaces.nr, 2);
	assert_int_equal(r->namespaces.link[3], 16);
}

static void put_ksymbol(struct wire *w)
{
	wire_u64(w, 11);
	wire_u32(w, 12);
	wire_u16(w, 1);
	wire_u16(w, 0x100);
	wire_string(w, "bpf_prog_1");
}

static void check_ksymbol(const struct pd_record *r)
{
	assert_int_equal(r->ksymbol.addr, 11);
	assert_int_equal(r->ksymbol.len, 12);
	assert_int_equal(r->ksymbol.ksym_type, 1);
	assert_int_equal(r->ksymbol.flags, 0x100);
	assert_string_equal(r->ksymbol.name, "bpf_prog_1");
}

static void put_bpf(struct wire *w)
{
	wire_u16(w, 1);
	wire_u16(w, 2);
	wire_u32(w, 3);
	wire_bytes(w, "tagtagta", 8);
}

static void check_bpf(const struct pd_record *r)
{
	assert_int_equal(r->bpf.type, 1);
	assert_int_equal(r->bpf.flags, 2);
	assert_int_equal(r->bpf.id, 3);
	assert_memory_equal(r->bpf.tag, "tagtagta", 8);
}

static void put_cgroup(struct wire *w)
{
	wire_u64(w, 11);
	wire_string(w, "/user.slice");
}

static void check_cgroup(const struct pd_record *r)
{
	assert_int_equal(r->cgroup.id, 11);
	assert_string_equal(r->cgroup.path, "/user.slice");
}

static void put_text_poke(struct wire *w)
{
	wire_u64(w, 11);
	wire_u16(w, 5);
	wire_u16(w, 7);
	wire_bytes(w, "oldolnewnew!", 12);
}

static void check_text_poke(const struct pd_record *r)
{
	assert_int_equal(r->text_poke.old_len, 5);
	assert_int_equal(r->text_poke.new_len, 7);
	assert_memory_equal(r->text_poke.bytes, "oldolnewnew!", 12);
}

static void check_aux(const struct pd_record *r)
{
	assert_int_equal(r->aux.aux_offset, 11);
	assert_int_equal(r->aux.aux_size, 12);
	assert_int_equal(r->aux.flags, 13);
}

static void check_itrace(const struct pd_record *r)
{
	assert_int_equal(r->itrace_start[0], 11);
	assert_int_equal(r->itrace_start[1], 12);
}

static void check_hw_id(const struct pd_record *r)
{
	assert_int_equal(r->aux_hw_id, 11);
}

static void put_read(struct wire *w)
{
	put_u32s(w, 11, 2);
	put_u64s(w, 13, 4);
}

static void check_read(const struct pd_record *r)
{
	assert_int_equal(r->read.pid, 11);
	assert_int_equal(r->read.nr_values, 4);
	assert_int_equal(r->read.values[3], 16);
}

static void put_deferred(struct wire *w)
{
	wire_u64(w, 11);
	wire_u64(w, 3);
	put_u64s(w, 13, 3);
}

static void check_deferred(const struct pd_record *r)
{
	assert_int_equal(r->deferred.cookie, 11);
	assert_int_equal(r->deferred.nr, 3);
	assert_int_equal(r->deferred.ips[2], 15);
}

static void put_auxtrace(struct wire *w)
{
	put_u64s(w, 11, 3);
	put_u32s(w, 14, 3);
	wire_u32(w, 0);
}

static void check_auxtrace(const struct pd_record *r)
{
	assert_int_equal(r->auxtrace.size, 11);
	assert_int_equal(r->auxtrace.reference, 13);
	assert_int_equal(r->auxtrace.idx, 14);
	assert_int_equal(r->auxtrace.cpu, 16);
}

static void put_auxtrace_info(struct wire *w)
{
	put_u32s(w, 11, 2);
	put_u64s(w, 13, 5);
}

static void check_auxtrace_info(const struct pd_record *r)
{
	assert_int_equal(r->auxtrace_info.type, 11);
	assert_int_equal(r->auxtrace_info.nr_priv, 5);
	assert_int_equal(r->auxtrace_info.priv[4], 17);
}

static void put_auxtrace_error(struct wire *w)
{
	put_u32s(w, 11, 5);
	wire_u32(w, 1);
	put_u64s(w, 16, 2);
	wire_string(w, "lost trace");
}

static void check_auxtrace_error(const struct pd_record *r)
{
	assert_int_equal(r->auxtrace_error.tid, 15);
	assert_int_equal(r->auxtrace_error.ip, 16);
	assert_int_equal(r->auxtrace_error.time, 17);
	assert_string_equal(r->auxtrace_error.msg, "lost trace");
}

/* format 0: no time; format 2: the message's full space, then machine_pid and vcpu */
static void put_auxtrace_error0(struct wire *w)
{
	put_u32s(w, 11, 5);
	wire_u32(w, 0);
	wire_u64(w, 16);
	wire_string(w, "lost trace");
}

static void check_auxtrace_error0(const struct pd_record *r)
{
	assert_int_equal(r->auxtrace_error.time, 0);
	assert_string_equal(r->auxtrace_error.msg, "lost trace");
}

static void put_auxtrace_error2(struct wire *w)
{
	static const char msg[64] = "lost trace";

	put_u32s(w, 11, 5);
	wire_u32(w, 2);
	put_u64s(w, 16, 2);
	wire_bytes(w, msg, sizeof(msg));
	put_u32s(w, 18, 2);
}

static void put_header_attr(struct wire *w)
{
	wire_u32(w, 1);
	wire_u32(w, 72);
	put_u64s(w, 12, 4);
	/* exclude_kernel: from the bottom, or from the top */
	wire_u64(w, w->foreign ? 1ULL << 58 : PD_ATTR_EXCLUDE_KERNEL);
	put_u32s(w, 16, 2);
	put_u64s(w, 18, 2);
	put_u64s(w, 30, 3);
}

static void check_header_attr(const struct pd_record *r)
{
	struct pd_attr attr;

	assert_int_equal(r->attr.attr_len, 72);
	assert_int_equal(pd_attr_decode(r->attr.attr, r->attr.attr_len, false, &attr, NULL), 0);
	assert_int_equal(attr.config, 12);
	assert_int_equal(attr.flags, PD_ATTR_EXCLUDE_KERNEL);
	assert_int_equal(attr.config2, 19);
	assert_int_equal(r->attr.nr_ids, 3);
	assert_int_equal(r->attr.ids[2], 32);
}

static void put_build_id(struct wire *w)
{
	wire_u32(w, (uint32_t)-1);
	wire_bytes(w, "abcdefghijklmnopqrst\x10\0\0\0", 24);
	wire_string(w, "[kernel.kallsyms]");
	wire_pad(w);
}

static void check_build_id(const struct pd_record *r)
{
	assert_int_equal(r->build_id.pid, -1);
	assert_int_equal(r->build_id.size, 20);
	assert_memory_equal(r->build_id.build_id, "abcdefghijklmnopqrst", 20);
	assert_string_equal(r->build_id.filename, "[kernel.kallsyms]");
}

static void check_build_id_sized(const struct pd_record *r)
{
	assert_int_equal(r->build_id.size, 16);
	assert_memory_equal(r->build_id.build_id, "abcdefghijklmnop\0\0\0\0", 20);
	assert_string_equal(r->build_id.filename, "[kernel.kallsyms]");
}

static void put_tracing_data(struct wire *w)
{
	wire_u32(w, 11);
}

static void check_tracing_data(const struct pd_record *r)
{
	assert_int_equal(r->tracing_data_size, 11);
}

static void put_id_index(struct wire *w)
{
	wire_u64(w, 2);
	put_u64s(w, 12, 8);
}

static void check_id_index(const struct pd_record *r)
{
	assert_int_equal(r->id_index.nr, 2);
	assert_int_equal(r->id_index.entries[7], 19);
}

static void put_thread_map(struct wire *w)
{
	wire_u64(w, 2);
	for (unsigned int i = 0; i < 2; i++) {
		wire_u64(w, 11 + i);
		wire_bytes(w, "0123456789abcde", 16);
	}
}

static void put_cpu_list(struct wire *w)
{
	for (unsigned int i = 0; i < 5; i++)
		wire_u16(w, i == 1 ? 3 : i); /* type 0, 3 CPUs */
}

static void put_cpu_mask64(struct wire *w)
{
	wire_u16(w, 1);
	wire_u16(w, 2);
	wire_u16(w, 8);
	wire_u32(w, 0);
	put_u64s(w, 0x1122334455667788, 2);
}

static void put_cpu_mask32(struct wire *w)
{
	wire_u16(w, 1);
	wire_u16(w, 2);
	wire_u16(w, 4);
	put_u32s(w, 0x11223344, 2);
}

static void put_stat_config(struct wire *w)
{
	wire_u64(w, 2);
	put_u64s(w, 12, 4);
}

static void put_stat(struct wire *w)
{
	wire_u64(w, 11);
	put_u32s(w, 12, 2);
	put_u64s(w, 14, 3);
}

static void check_stat(const struct pd_record *r)
{
	assert_int_equal(r->stat.id, 11);
	assert_int_equal(r->stat.cpu, 12);
	assert_int_equal(r->stat.thread, 13);
	assert_int_equal(r->stat.run, 16);
}

static void check_stat_round(const struct pd_record *r)
{
	assert_int_equal(r->stat_round.type, 11);
	assert_int_equal(r->stat_round.time, 12);
}

static void put_update_name(struct wire *w)
{
	wire_u64(w, 2);
	wire_u64(w, 12);
	wire_string(w, "cycles:u");
}

static void check_update_name(const struct pd_record *r)
{
	assert_int_equal(r->update.type, 2);
	assert_int_equal(r->update.id, 12);
	assert_string_equal((const char *)r->update.data, "cycles:u");
}

static void put_update_scale(struct wire *w)
{
	const double scale = 0.25;
	uint64_t bits;

	memcpy(&bits, &scale, sizeof(bits));
	wire_u64(w, 1);
	wire_u64(w, 12);
	wire_u64(w, bits);
}

static void check_update_scale(const struct pd_record *r)
{
	double scale;

	assert_int_equal(r->update.len, sizeof(scale));
	memcpy(&scale, r->update.data, sizeof(scale));
	assert_true(scale == 0.25);
}

static void check_time_conv(const struct pd_record *r)
{
	assert_int_equal(r->time_conv.time_shift, 11);
	assert_int_equal(r->time_conv.time_zero, 13);
}

static void put_feature(struct wire *w)
{
	wire_u64(w, 3);
	wire_bytes(w, "feature!", 8);
}

static void check_feature(const struct pd_record *r)
{
	assert_int_equal(r->feature.feature, 3);
	assert_int_equal(r->feature.len, 8);
	assert_memory_equal(r->feature.data, "feature!", 8);
}

static void put_compressed2(struct wire *w)
{
	wire_u64(w, 5);
	wire_bytes(w, "zstd!\0\0\0", 8);
}

static void check_compressed2(const struct pd_record *r)
{
	assert_int_equal(r->compressed.len, 5);
	assert_memory_equal(r->compressed.data, "zstd!", 5);
}

/* @slack: bytes at the end that the type can do without (padding, or what fills up a record). */
static const struct record_case {
	uint32_t type;
	uint16_t misc;
	size_t slack;
	void (*put)(struct wire *w);
	void (*check)(const struct pd_record *r);
} cases[] = {
	{PERF_RECORD_MMAP, 0, 6, put_mmap, check_mmap},
	{PERF_RECORD_MMAP2, 0, 1, put_mmap2, check_mmap2},
	{PERF_RECORD_MMAP2, 0, 2, put_mmap2_310, check_mmap2_310},
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_DATA, 1, put_mmap2_310_short,
	 check_mmap2_310_short},
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 1, put_mmap2_build_id,
	 check_mmap2_build_id},
	{PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 3, put_comm, check_comm},
	{PERF_RECORD_FORK, 0, 0, put_task, check_task},
	{PERF_RECORD_EXIT, 0, 0, put_task, check_task},
	{PERF_RECORD_LOST, 0, 0, put_2, check_lost},
	{PERF_RECORD_LOST_SAMPLES, 0, 0, put_1, check_lost_samples},
	{PERF_RECORD_THROTTLE, 0, 0, put_3, check_throttle},
	{PERF_RECORD_UNTHROTTLE, 0, 0, put_3, check_throttle},
	{PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 0,
	 put_nothing, check_switch},
	{PERF_RECORD_SWITCH_CPU_WIDE, 0, 0, put_pid_tid, check_switch_wide},
	{PERF_RECORD_NAMESPACES, 0, 0, put_namespaces, check_namespaces},
	{PERF_RECORD_KSYMBOL, 0, 5, put_ksymbol, check_ksymbol},
	{PERF_RECORD_BPF_EVENT, 0, 0, put_bpf, check_bpf},
	{PERF_RECORD_CGROUP, 0, 4, put_cgroup, check_cgroup},
	{PERF_RECORD_TEXT_POKE, 0, 0, put_text_poke, check_text_poke},
	{PERF_RECORD_AUX, 0, 0, put_3, check_aux},
	{PERF_RECORD_ITRACE_START, 0, 0, put_pid_tid, check_itrace},
	{PERF_RECORD_AUX_OUTPUT_HW_ID, 0, 0, put_1, check_hw_id},
	{PERF_RECORD_READ, 0, 32, put_read, check_read},
	{PERF_RECORD_CALLCHAIN_DEFERRED, 0, 0, put_deferred, check_deferred},
	{PERF_RECORD_AUXTRACE, 0, 4, put_auxtrace, check_auxtrace},
	{PERF_RECORD_AUXTRACE_INFO, 0, 40, put_auxtrace_info, check_auxtrace_info},
	{PERF_RECORD_AUXTRACE_ERROR, 0, 5, put_auxtrace_error, check_auxtrace_error},
	{PERF_RECORD_AUXTRACE_ERROR, 0, 5, put_auxtrace_error0, check_auxtrace_error0},
	{PERF_RECORD_AUXTRACE_ERROR, 0, 61, put_auxtrace_error2, check_auxtrace_error},
	{PERF_RECORD_HEADER_ATTR, 0, 24, put_header_attr, check_header_attr},
	{PERF_RECORD_HEADER_BUILD_ID, 0, 2, put_build_id, check_build_id},
	{PERF_RECORD_HEADER_BUILD_ID, 1 << 15, 2, put_build_id, check_build_id_sized},
	{PERF_RECORD_HEADER_TRACING_DATA, 0, 0, put_tracing_data, check_tracing_data},
	{PERF_RECORD_FINISHED_ROUND, 0, 0, put_nothing, NULL},
	{PERF_RECORD_FINISHED_INIT, 0, 0, put_nothing, NULL},
	{PERF_RECORD_ID_INDEX, 0, 0, put_id_index, check_id_index},
	{PERF_RECORD_THREAD_MAP, 0, 0, put_thread_map, NULL},
	{PERF_RECORD_CPU_MAP, 0, 0, put_cpu_list, NULL},
	{PERF_RECORD_CPU_MAP, 0, 0, put_cpu_mask64, NULL},
	{PERF_RECORD_CPU_MAP, 0, 0, put_cpu_mask32, NULL},
	{PERF_RECORD_STAT_CONFIG, 0, 0, put_stat_config, NULL},
	{PERF_RECORD_STAT, 0, 0, put_stat, check_stat},
	{PERF_RECORD_STAT_ROUND, 0, 0, put_2, check_stat_round},
	{PERF_RECORD_EVENT_UPDATE, 0, 7, put_update_name, check_update_name},
	{PERF_RECORD_EVENT_UPDATE, 0, 0, put_update_scale, check_update_scale},
	{PERF_RECORD_TIME_CONV, 0, 0, put_3, check_time_conv},
	{PERF_RECORD_HEADER_FEATURE, 0, 8, put_feature, check_feature},
	{PERF_RECORD_COMPRESSED2, 0, 3, put_compressed2, check_compressed2},
};

static void put_trailer(struct wire *w, uint64_t type)
{
	if (type & PERF_SAMPLE_TID) {
		wire_u32(w, 901);
		wire_u32(w, 902);
	}
	if (type & PERF_SAMPLE_TIME)
		wire_u64(w, 903);
	if (type & PERF_SAMPLE_ID)
		wire_u64(w, 904);
	if (type & PERF_SAMPLE_STREAM_ID)
		wire_u64(w, 905);
	if (type & PERF_SAMPLE_CPU) {
		wire_u32(w, 906);
		wire_u32(w, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		wire_u64(w, 904);
}

static void check_trailer(const struct pd_sample_id *id, uint64_t type)
{
	assert_int_equal(id->pid, type & PERF_SAMPLE_TID ? 901 : ~0u);
	assert_int_equal(id->tid, type & PERF_SAMPLE_TID ? 902 : ~0u);
	assert_int_equal(id->time, type & PERF_SAMPLE_TIME ? 903 : 0);
	assert_int_equal(id->id, type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? 904 : 0);
	assert_int_equal(id->stream_id, type & PERF_SAMPLE_STREAM_ID ? 905 : 0);
	assert_int_equal(id->cpu, type & PERF_SAMPLE_CPU ? 906 : ~0u);
}

static struct perf_event_header *put_case(struct wire *w, const struct record_case *k, bool foreign,
					  uint64_t trailer)
{
	wire_begin(w, foreign, k->type, k->misc);
	k->put(w);
	if (k->type < 64)
		put_trailer(w, trailer);
	return wire_end(w);
}

static void check_case(const struct record_case *k, uint64_t sample_type)
{
	struct pd_attr attr = {.sample_type = sample_type, .flags = PD_ATTR_SAMPLE_ID_ALL};
	uint64_t trailer = k->type < 64 ? sample_type & TRAILER_BITS : 0;
	struct pd_evlist *list = pd_evlist_new();
	struct perf_event_header *hdr;
	struct wire native, foreign;
	const struct pd_evsel *e;
	struct pd_record r;

	assert_int_equal(pd_evlist_add(list, &attr, NULL, NULL, 0), 0);
	e = pd_evlist_at(list, 0);
	hdr = put_case(&native, k, false, trailer);
	assert_int_equal(pd_record_decode(hdr, e, &r), 0);
	assert_ptr_equal(r.hdr, hdr);
	if (k->check)
		k->check(&r);
	check_trailer(&r.id, trailer);
	if (trailer & PERF_SAMPLE_TIME)
		assert_int_equal(pd_record_time(hdr, e), 903);

	hdr = put_case(&foreign, k, true, trailer);
	assert_int_equal(pd_record_to_host(hdr, list), 0);
	assert_int_equal(foreign.len, native.len);
	assert_memory_equal(foreign.data, native.data, native.len);

	/* Without a trailer all that is cut beyond the slack is missed; with one nothing is read
	 * beyond the end, whatever is taken for the trailer. */
	put_case(&foreign, k, true, trailer);
	for (size_t n = 0; n < native.len; n++) {
		int err;

		hdr = wire_truncated(&native, n);
		err = pd_record_decode(hdr, e, &r);
		if (!trailer)
			assert_int_equal(err, n + k->slack < native.len ? -EBADMSG : 0);
		pd_record_time(hdr, e);
		free(hdr);
		hdr = wire_truncated(&foreign, n);
		err = pd_record_to_host(hdr, list);
		if (!trailer)
			assert_int_equal(err, n + k->slack < native.len ? -EBADMSG : 0);
		free(hdr);
	}
	pd_evlist_free(list);
}

static void every_type(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		check_case(&cases[i], 0);
		check_case(&cases[i], TRAILER_BITS | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
		for (unsigned int bit = 0; bit < 17; bit++)
			check_case(&cases[i], 1ULL << bit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_type)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
