/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary interface between script and a filter, a shared object that the user loads: perf's,
 * so that one file serves both programs.
 *
 * Source: perf-dlfilter(1) of perf 7.2. Names of fields are those of perf; a filter includes
 * perf/perf_dlfilter.h and not this.
 */
#ifndef RINGTAIL_REPORT_SCRIPT_DLFILTER_ABI_H
#define RINGTAIL_REPORT_SCRIPT_DLFILTER_ABI_H

#include <stddef.h>
#include <stdint.h>

struct pd_branch;
struct pd_attr;

/* struct perf_dlfilter_sample */
struct dlfilter_sample {
	uint32_t size; /* of this structure; it says which fields there are */
	uint16_t ins_lat, p_stage_cyc;
	uint64_t ip;
	int32_t pid, tid;
	uint64_t time, addr, id, stream_id, period, weight, transaction;
	uint64_t insn_cnt, cyc_cnt;
	int32_t cpu;
	uint32_t flags; /* AUX_BRANCH, …: perf's bits */
	uint64_t data_src, phys_addr, data_page_size, code_page_size, cgroup;
	uint8_t cpumode;
	uint8_t addr_correlates_sym; /* @addr is an address that a symbol may have */
	uint16_t misc;
	uint32_t raw_size;
	const void *raw_data;
	uint64_t brstack_nr;
	const struct pd_branch *brstack;
	uint64_t raw_callchain_nr;
	const uint64_t *raw_callchain;
	const char *event;
	int32_t machine_pid, vcpu;
};

/* struct perf_dlfilter_al: the place of an address */
struct dlfilter_place {
	uint32_t size; /* of this structure */
	uint32_t symoff;
	const char *sym;
	uint64_t addr; /* in the dso */
	uint64_t sym_start, sym_end;
	const char *dso;
	uint8_t sym_binding; /* STB_* of <elf.h> */
	uint8_t is_64_bit, is_kernel_ip;
	uint32_t buildid_size;
	const uint8_t *buildid;
	/* Of resolve_ip() alone. */
	uint8_t filtered; /* other options leave the sample out */
	const char *comm;
	void *priv; /* whose it is, whoever fills it */
};

/* struct perf_dlfilter_fns: what a filter may call; @ctx is the one that it was called with. */
struct dlfilter_calls {
	const struct dlfilter_place *(*resolve_ip)(void *ctx);
	const struct dlfilter_place *(*resolve_addr)(void *ctx);
	char **(*args)(void *ctx, int *ret_nr);
	int32_t (*resolve_address)(void *ctx, uint64_t address, struct dlfilter_place *ret);
	const uint8_t *(*insn)(void *ctx, uint32_t *ret_len);
	const char *(*srcline)(void *ctx, uint32_t *ret_line);
	struct pd_attr *(*attr)(void *ctx);
	int32_t (*object_code)(void *ctx, uint64_t ip, void *buf, uint32_t len);
	void (*al_cleanup)(void *ctx, struct dlfilter_place *place);
	void *reserved[119];
};

_Static_assert(sizeof(struct dlfilter_calls) == 128 * sizeof(void *), "as in perf, for ever");
#if UINTPTR_MAX > UINT32_MAX
_Static_assert(offsetof(struct dlfilter_sample, brstack) == 168, "struct perf_dlfilter_sample");
_Static_assert(sizeof(struct dlfilter_sample) == 208, "struct perf_dlfilter_sample");
_Static_assert(sizeof(struct dlfilter_place) == 88, "struct perf_dlfilter_al");
#endif

#endif
