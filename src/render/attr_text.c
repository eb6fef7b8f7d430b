// SPDX-License-Identifier: Apache-2.0
#include "render/attr_text.h"

#include <inttypes.h>

struct bit {
	uint64_t bit;
	const char *name;
};

// clang-format off
static const struct bit sample_bits[] = {
	{PERF_SAMPLE_IP, "IP"}, {PERF_SAMPLE_TID, "TID"}, {PERF_SAMPLE_TIME, "TIME"},
	{PERF_SAMPLE_ADDR, "ADDR"}, {PERF_SAMPLE_READ, "READ"},
	{PERF_SAMPLE_CALLCHAIN, "CALLCHAIN"}, {PERF_SAMPLE_ID, "ID"}, {PERF_SAMPLE_CPU, "CPU"},
	{PERF_SAMPLE_PERIOD, "PERIOD"}, {PERF_SAMPLE_STREAM_ID, "STREAM_ID"},
	{PERF_SAMPLE_RAW, "RAW"}, {PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
	{PERF_SAMPLE_REGS_USER, "REGS_USER"}, {PERF_SAMPLE_STACK_USER, "STACK_USER"},
	{PERF_SAMPLE_IDENTIFIER, "IDENTIFIER"}, {PERF_SAMPLE_REGS_INTR, "REGS_INTR"},
	{PERF_SAMPLE_DATA_SRC, "DATA_SRC"}, {PERF_SAMPLE_WEIGHT, "WEIGHT"},
	{PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR"}, {PERF_SAMPLE_AUX, "AUX"},
	{PERF_SAMPLE_CGROUP, "CGROUP"}, {PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"},
	{PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"},
	{PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"}, {PERF_SAMPLE_TRANSACTION, "TRANSACTION"},
	{0, NULL},
};

static const struct bit branch_bits[] = {
	{PERF_SAMPLE_BRANCH_USER, "USER"}, {PERF_SAMPLE_BRANCH_KERNEL, "KERNEL"},
	{PERF_SAMPLE_BRANCH_HV, "HV"}, {PERF_SAMPLE_BRANCH_ANY, "ANY"},
	{PERF_SAMPLE_BRANCH_ANY_CALL, "ANY_CALL"}, {PERF_SAMPLE_BRANCH_ANY_RETURN, "ANY_RETURN"},
	{PERF_SAMPLE_BRANCH_IND_CALL, "IND_CALL"}, {PERF_SAMPLE_BRANCH_ABORT_TX, "ABORT_TX"},
	{PERF_SAMPLE_BRANCH_IN_TX, "IN_TX"}, {PERF_SAMPLE_BRANCH_NO_TX, "NO_TX"},
	{PERF_SAMPLE_BRANCH_COND, "COND"}, {PERF_SAMPLE_BRANCH_CALL_STACK, "CALL_STACK"},
	{PERF_SAMPLE_BRANCH_IND_JUMP, "IND_JUMP"}, {PERF_SAMPLE_BRANCH_CALL, "CALL"},
	{PERF_SAMPLE_BRANCH_NO_FLAGS, "NO_FLAGS"}, {PERF_SAMPLE_BRANCH_NO_CYCLES, "NO_CYCLES"},
	{PERF_SAMPLE_BRANCH_TYPE_SAVE, "TYPE_SAVE"}, {PERF_SAMPLE_BRANCH_HW_INDEX, "HW_INDEX"},
	{PERF_SAMPLE_BRANCH_PRIV_SAVE, "PRIV_SAVE"},
	{1ull << 19, "COUNTERS"}, /* PERF_SAMPLE_BRANCH_COUNTERS of kernel 6.8 */
	{0, NULL},
};

static const struct bit read_bits[] = {
	{PERF_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED"},
	{PERF_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING"}, {PERF_FORMAT_ID, "ID"},
	{PERF_FORMAT_GROUP, "GROUP"}, {PERF_FORMAT_LOST, "LOST"},
	{0, NULL},
};

static const struct bit flag_bits[] = {
	{PD_ATTR_DISABLED, "disabled"}, {PD_ATTR_INHERIT, "inherit"}, {PD_ATTR_PINNED, "pinned"},
	{PD_ATTR_EXCLUSIVE, "exclusive"}, {PD_ATTR_EXCLUDE_USER, "exclude_user"},
	{PD_ATTR_EXCLUDE_KERNEL, "exclude_kernel"}, {PD_ATTR_EXCLUDE_HV, "exclude_hv"},
	{PD_ATTR_EXCLUDE_IDLE, "exclude_idle"}, {PD_ATTR_MMAP, "mmap"}, {PD_ATTR_COMM, "comm"},
	{PD_ATTR_FREQ, "freq"}, {PD_ATTR_INHERIT_STAT, "inherit_stat"},
	{PD_ATTR_ENABLE_ON_EXEC, "enable_on_exec"}, {PD_ATTR_TASK, "task"},
	{PD_ATTR_WATERMARK, "watermark"}, {PD_ATTR_PRECISE_IP, "precise_ip"},
	{PD_ATTR_MMAP_DATA, "mmap_data"}, {PD_ATTR_SAMPLE_ID_ALL, "sample_id_all"},
	{PD_ATTR_EXCLUDE_HOST, "exclude_host"}, {PD_ATTR_EXCLUDE_GUEST, "exclude_guest"},
	{PD_ATTR_EXCLUDE_CALLCHAIN_KERNEL, "exclude_callchain_kernel"},
	{PD_ATTR_EXCLUDE_CALLCHAIN_USER, "exclude_callchain_user"}, {PD_ATTR_MMAP2, "mmap2"},
	{PD_ATTR_COMM_EXEC, "comm_exec"}, {PD_ATTR_USE_CLOCKID, "use_clockid"},
	{PD_ATTR_CONTEXT_SWITCH, "context_switch"}, {PD_ATTR_WRITE_BACKWARD, "write_backward"},
	{PD_ATTR_NAMESPACES, "namespaces"}, {PD_ATTR_KSYMBOL, "ksymbol"},
	{PD_ATTR_BPF_EVENT, "bpf_event"}, {PD_ATTR_AUX_OUTPUT, "aux_output"},
	{PD_ATTR_CGROUP, "cgroup"}, {PD_ATTR_TEXT_POKE, "text_poke"},
	{PD_ATTR_BUILD_ID, "build_id"}, {PD_ATTR_INHERIT_THREAD, "inherit_thread"},
	{PD_ATTR_REMOVE_ON_EXEC, "remove_on_exec"}, {PD_ATTR_SIGTRAP, "sigtrap"},
	{PD_ATTR_DEFER_CALLCHAIN, "defer_callchain"}, {PD_ATTR_DEFER_OUTPUT, "defer_output"},
	{0, NULL},
};
// clang-format on

#define BITS_SIZE 512 /* holds the names of all bits of a field */

static void write_bits(const struct bit *bits, uint64_t value, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (; bits->name && len < size; bits++) {
		if (!(value & bits->bit))
			continue;
		len += (size_t)snprintf(out + len, size - len, "%s%s", len ? "|" : "", bits->name);
		value &= ~bits->bit;
	}
	if (value && len < size)
		snprintf(out + len, size - len, "%s%#" PRIx64, len ? "|" : "", value);
}

void attr_text_sample_type(FILE *out, uint64_t sample_type)
{
	char text[BITS_SIZE];

	write_bits(sample_bits, sample_type, text, sizeof(text));
	fputs(text, out);
}

struct field_taker {
	void (*fn)(void *arg, const struct attr_text_field *f);
	void *arg;
};

static void take_number(const struct field_taker *t, const char *name, bool hex, uint64_t value)
{
	char text[24];

	if (!value)
		return;
	snprintf(text, sizeof(text), hex ? "0x%" PRIx64 : "%" PRIu64, value);
	t->fn(t->arg, &(struct attr_text_field){name, text, value, false});
}

static void take_signed(const struct field_taker *t, const char *name, int32_t value)
{
	char text[24];

	if (!value)
		return;
	snprintf(text, sizeof(text), "%" PRId32, value);
	t->fn(t->arg, &(struct attr_text_field){name, text, (uint64_t)(int64_t)value, false});
}

static void take_bits(const struct field_taker *t, const char *name, const struct bit *bits,
		      uint64_t value)
{
	char text[BITS_SIZE];

	if (!value)
		return;
	write_bits(bits, value, text, sizeof(text));
	t->fn(t->arg, &(struct attr_text_field){name, text, value, true});
}

static void take_flags(const struct field_taker *t, uint64_t flags)
{
	for (const struct bit *b = flag_bits; b->name; b++)
		take_number(t, b->name, false, (flags & b->bit) >> __builtin_ctzll(b->bit));
}

void attr_text_each(const struct pd_attr *a, void (*fn)(void *arg, const struct attr_text_field *f),
		    void *arg)
{
	const struct field_taker t = {fn, arg};

	take_number(&t, "type", false, a->type);
	take_number(&t, "size", false, a->size);
	take_number(&t, "config", true, a->config);
	take_number(&t, "{ sample_period, sample_freq }", false, a->sample_period);
	take_bits(&t, "sample_type", sample_bits, a->sample_type);
	take_bits(&t, "read_format", read_bits, a->read_format);
	take_flags(&t, a->flags);
	take_number(&t, "{ wakeup_events, wakeup_watermark }", false, a->wakeup_events);
	take_number(&t, "bp_type", false, a->bp_type);
	take_number(&t, "{ bp_addr, config1 }", true, a->config1);
	take_number(&t, "{ bp_len, config2 }", true, a->config2);
	take_bits(&t, "branch_sample_type", branch_bits, a->branch_sample_type);
	take_number(&t, "sample_regs_user", true, a->sample_regs_user);
	take_number(&t, "sample_stack_user", false, a->sample_stack_user);
	take_signed(&t, "clockid", a->clockid);
	take_number(&t, "sample_regs_intr", true, a->sample_regs_intr);
	take_number(&t, "aux_watermark", false, a->aux_watermark);
	take_number(&t, "sample_max_stack", false, a->sample_max_stack);
	take_number(&t, "aux_sample_size", false, a->aux_sample_size);
	take_number(&t, "aux_action", true, a->aux_action);
	take_number(&t, "sig_data", false, a->sig_data);
	take_number(&t, "config3", true, a->config3);
	take_number(&t, "config4", true, a->config4);
}

static void put_field(void *arg, const struct attr_text_field *f)
{
	fprintf(arg, ", %s = %s", f->name, f->text);
}

void attr_text(FILE *out, const struct pd_attr *attr)
{
	attr_text_each(attr, put_field, out);
}
