// SPDX-License-Identifier: Apache-2.0
#include "report/script/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

#define BASE (SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_EVENT)
#define CODE (SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO)

/* With AUX data in the file, perf shows these fields on request, even if an event lacks them. */
#define SHOWN_IF_ABSENT \
	(SCRIPT_CPU | SCRIPT_ADDR | SCRIPT_DATA_SRC | SCRIPT_WEIGHT | SCRIPT_PHYS_ADDR)

static const uint64_t defaults[SCRIPT_TYPES] = {
	[SCRIPT_HW] = BASE | CODE | SCRIPT_PERIOD,
	[SCRIPT_SW] = BASE | CODE | SCRIPT_PERIOD,
	[SCRIPT_TRACEPOINT] = BASE | SCRIPT_TRACE,
	[SCRIPT_HW_CACHE] = BASE | CODE | SCRIPT_PERIOD,
	[SCRIPT_RAW] = BASE | CODE | SCRIPT_PERIOD | SCRIPT_ADDR | SCRIPT_DATA_SRC | SCRIPT_WEIGHT |
		       SCRIPT_PHYS_ADDR | SCRIPT_DATA_PAGE_SIZE | SCRIPT_CODE_PAGE_SIZE |
		       SCRIPT_INS_LAT,
	[SCRIPT_BREAKPOINT] = BASE | CODE | SCRIPT_PERIOD,
	[SCRIPT_OTHER] = BASE | CODE | SCRIPT_PERIOD,
};

/* Names of the types in -F, in the order of enum script_type. */
static const char *const type_names[SCRIPT_TYPES] = {
	"hw", "sw", "trace", "hw-cache", "raw", "break", "other",
};

static const struct {
	const char *name;
	uint64_t field;
	uint64_t needs; /* any of these PERF_SAMPLE_* bits; 0: nothing */
} fields_table[] = {
	{"comm", SCRIPT_COMM, 0},
	{"tid", SCRIPT_TID, PERF_SAMPLE_TID},
	{"pid", SCRIPT_PID, PERF_SAMPLE_TID},
	{"time", SCRIPT_TIME, PERF_SAMPLE_TIME},
	{"cpu", SCRIPT_CPU, PERF_SAMPLE_CPU},
	{"event", SCRIPT_EVENT, 0},
	{"trace", SCRIPT_TRACE, PERF_SAMPLE_RAW},
	{"ip", SCRIPT_IP, PERF_SAMPLE_IP},
	{"sym", SCRIPT_SYM, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR},
	{"dso", SCRIPT_DSO, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR},
	{"dsoff", SCRIPT_DSOFF, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR},
	{"addr", SCRIPT_ADDR, PERF_SAMPLE_ADDR},
	{"symoff", SCRIPT_SYMOFF, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR},
	{"srcline", SCRIPT_SRCLINE, PERF_SAMPLE_IP},
	{"period", SCRIPT_PERIOD, 0},
	{"brstack", SCRIPT_BRSTACK, PERF_SAMPLE_BRANCH_STACK},
	{"brstacksym", SCRIPT_BRSTACKSYM, PERF_SAMPLE_BRANCH_STACK},
	{"data_src", SCRIPT_DATA_SRC, PERF_SAMPLE_DATA_SRC},
	{"weight", SCRIPT_WEIGHT, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT},
	{"phys_addr", SCRIPT_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR},
	{"misc", SCRIPT_MISC, 0},
	{"data_page_size", SCRIPT_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE},
	{"code_page_size", SCRIPT_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE},
	{"ins_lat", SCRIPT_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT},
	{"cgroup", SCRIPT_CGROUP, PERF_SAMPLE_CGROUP},
	{"flags", SCRIPT_FLAGS, 0},
	{"insn", SCRIPT_INSN, 0},
	{"insnlen", SCRIPT_INSNLEN, 0},
	{"ipc", SCRIPT_IPC, 0},
	{"callindent", SCRIPT_CALLINDENT, 0},
	{"iregs", SCRIPT_IREGS, PERF_SAMPLE_REGS_INTR},
	{"uregs", SCRIPT_UREGS, PERF_SAMPLE_REGS_USER},
	{"brstackoff", SCRIPT_BRSTACKOFF, PERF_SAMPLE_BRANCH_STACK},
	{"brcntr", SCRIPT_BRCNTR, PERF_SAMPLE_BRANCH_STACK},
	{"tod", SCRIPT_TOD, PERF_SAMPLE_TIME},
	{"bpf-output", SCRIPT_BPF_OUTPUT, PERF_SAMPLE_RAW},
	{"synth", SCRIPT_SYNTH, 0},
	{"metric", SCRIPT_METRIC, 0},
	{"machine_pid", SCRIPT_MACHINE_PID, 0},
	{"vcpu", SCRIPT_VCPU, 0},
	{"retire_lat", SCRIPT_RETIRE_LAT, PERF_SAMPLE_WEIGHT_STRUCT},
	{"brstackinsn", SCRIPT_BRSTACKINSN, PERF_SAMPLE_BRANCH_STACK},
	{"brstackinsnlen", SCRIPT_BRSTACKINSNLEN, PERF_SAMPLE_BRANCH_STACK},
	{"brstackdisasm", SCRIPT_BRSTACKDISASM, PERF_SAMPLE_BRANCH_STACK},
	{"disasm", SCRIPT_DISASM, PERF_SAMPLE_IP},
	{"srccode", SCRIPT_SRCCODE, PERF_SAMPLE_IP},
};

#define NR_FIELDS (sizeof(fields_table) / sizeof(fields_table[0]))

static enum script_type type_of(const struct pd_evsel *evsel)
{
	return evsel->attr.type < SCRIPT_OTHER ? (enum script_type)evsel->attr.type : SCRIPT_OTHER;
}

static bool is_dummy(const struct pd_evsel *evsel)
{
	return evsel->attr.type == PERF_TYPE_SOFTWARE && evsel->attr.config == PERF_COUNT_SW_DUMMY;
}

void script_fields_default(const struct trace *t, bool chains, struct script_fields *ret)
{
	const uint8_t *unused;
	size_t len;

	*ret = (struct script_fields){0};
	memcpy(ret->of, defaults, sizeof(defaults));
	ret->show_absent = data_feature(t->df, HEADER_AUXTRACE, &unused, &len) == 0;
	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++) {
		const struct pd_evsel *e = pd_evlist_at(t->evlist, i);

		if (chains && e->attr.type == PERF_TYPE_TRACEPOINT &&
		    (pd_evsel_fields(e) & PERF_SAMPLE_CALLCHAIN))
			ret->of[SCRIPT_TRACEPOINT] |= CODE;
	}
}

/* Returns the types that a leading "type:" names, all without one; moves @s behind it. */
static int parse_types(const char **s, uint32_t *ret, struct error *err)
{
	size_t len = strcspn(*s, ":");

	*ret = (1u << SCRIPT_TYPES) - 1;
	if (!(*s)[len])
		return 0;
	for (size_t i = 0; i < SCRIPT_TYPES; i++)
		if (strlen(type_names[i]) == len && !memcmp(type_names[i], *s, len)) {
			*ret = 1u << i;
			*s += len + 1;
			return 0;
		}
	return error_set(err, -EINVAL, "-F: unknown kind of events '%.*s'", (int)len, *s);
}

const char *script_field_at(size_t index)
{
	return index < NR_FIELDS ? fields_table[index].name : NULL;
}

static int find_field(const char *name, size_t len, uint64_t *ret, struct error *err)
{
	char all[512] = "", near[256] = "";
	struct nearest nearest;
	size_t n = 0;

	for (size_t i = 0; i < NR_FIELDS; i++)
		if (strlen(fields_table[i].name) == len &&
		    !memcmp(fields_table[i].name, name, len)) {
			*ret = fields_table[i].field;
			return 0;
		}
	if (nearest_init_len(&nearest, name, len)) {
		for (size_t i = 0; i < NR_FIELDS; i++)
			nearest_offer(&nearest, fields_table[i].name);
		nearest_write(&nearest, near, sizeof(near));
	}
	if (*near)
		return error_set(err, -EINVAL,
				 "-F: unknown field '%.*s'%s ringtail-script(1) lists them",
				 (int)len, name, near);
	for (size_t i = 0; i < NR_FIELDS; i++)
		n += snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "",
			      fields_table[i].name);
	return error_set(err, -EINVAL, "-F: unknown field '%.*s'; there are %s", (int)len, name,
			 all);
}

static void set_field(struct script_fields *f, uint32_t types, uint64_t field, char sign)
{
	for (size_t i = 0; i < SCRIPT_TYPES; i++) {
		if (!(types & (1u << i)))
			continue;
		f->touched[i] = true;
		if (sign == '-') {
			f->of[i] &= ~field;
			f->asked[i] &= ~field;
		} else {
			f->of[i] |= field;
			f->asked[i] |= field;
		}
	}
}

int script_fields_parse(const char *s, struct script_fields *fields, struct error *err)
{
	uint64_t field;
	uint32_t types;
	bool replace;
	int rc = parse_types(&s, &types, err);

	if (rc < 0)
		return rc;
	replace = *s != '+' && *s != '-';
	for (size_t i = 0; replace && i < SCRIPT_TYPES; i++)
		if (types & (1u << i))
			fields->of[i] = fields->asked[i] = 0;
	for (;; s++) {
		char sign = *s == '+' || *s == '-' ? *s++ : '+';
		size_t len = strcspn(s, ",");

		if (!len && !*s && replace)
			return 0; /* "type:" alone: no fields for that type */
		rc = find_field(s, len, &field, err);
		if (rc < 0)
			return rc;
		set_field(fields, types, field, sign);
		s += len;
		if (!*s)
			return 0;
	}
}

uint64_t script_fields_of(const struct script_fields *fields, const struct pd_evsel *evsel)
{
	uint64_t wanted = fields->of[type_of(evsel)];
	uint64_t ret = fields->show_absent ? fields->asked[type_of(evsel)] & SHOWN_IF_ABSENT : 0;

	for (size_t i = 0; i < NR_FIELDS; i++)
		if ((wanted & fields_table[i].field) &&
		    (!fields_table[i].needs || (pd_evsel_fields(evsel) & fields_table[i].needs)))
			ret |= fields_table[i].field;
	if (evsel->attr.type != PERF_TYPE_TRACEPOINT)
		ret &= ~SCRIPT_TRACE;
	return ret;
}

int script_fields_check(const struct trace *t, const struct script_fields *fields,
			struct error *err)
{
	uint64_t asked = 0, shown = 0;
	bool any = false;

	for (size_t i = 0; i < pd_evlist_count(t->evlist); i++) {
		const struct pd_evsel *e = pd_evlist_at(t->evlist, i);

		if (is_dummy(e))
			continue;
		any = true;
		asked |= fields->asked[type_of(e)];
		shown |= script_fields_of(fields, e);
		/* Else code between two is no straight line. Decoded trace has all: type 0. */
		if ((script_fields_of(fields, e) & SCRIPT_BRANCH_CODE) &&
		    e->attr.branch_sample_type &&
		    !(e->attr.branch_sample_type & PERF_SAMPLE_BRANCH_ANY))
			return error_set(
				err, -EINVAL,
				"'%s' lacks branches, so code is unknown; record with '-b'",
				e->name);
	}
	asked &= ~SCRIPT_TRACE; /* several kinds of events: only tracepoints need it */
	for (size_t i = 0; any && i < NR_FIELDS; i++)
		if (asked & ~shown & fields_table[i].field)
			return error_set(
				err, -EINVAL,
				"samples of this recording have no %s; cannot show that field",
				fields_table[i].name);
	return 0;
}

bool script_fields_touched(const struct script_fields *fields, const struct pd_evsel *evsel)
{
	return fields->touched[type_of(evsel)];
}
