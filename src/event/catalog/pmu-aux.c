// SPDX-License-Identifier: Apache-2.0
#include "event/catalog/pmu-aux.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* s390's cpum_sf writes an AUX area for diagnostic sampling only (SF_CYCLES_BASIC_DIAG). */
#define S390_SF_DIAG 0xbd000

/* The longest interval that all versions of SPE take, for drivers that name no shortest one. */
#define SPE_INTERVAL 4096

/* Bits of CoreSight's ID registers (Arm ETMv4 architecture specification). */
#define TRCIDR0_TSSIZE	 (0x1ful << 24)
#define TRCIDR2_CIDSIZE	 (0x1ful << 5)
#define TRCIDR2_CID_32	 (4ul << 5)
#define TRCIDR2_VMIDSIZE (0x1ful << 10)
#define TRCIDR2_VMID_32	 (4ul << 10)
#define TRCIDR2_VMIDOPT	 (3ul << 29)

#define CS_CONTEXTID_EL1 (1ull << 14)
#define CS_CONTEXTID_EL2 (1ull << 15)

/* --- kinds of PMUs ---------------------------------------------------------------------------- */

static bool begins_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_intel_pt(const struct pmu *pmu)
{
	return strcmp(pmu->name, "intel_pt") == 0;
}

static bool is_coresight(const struct pmu *pmu)
{
	return strcmp(pmu->name, "cs_etm") == 0;
}

static bool is_spe(const struct pmu *pmu)
{
	return begins_with(pmu->name, "arm_spe");
}

/*
 * The drivers of kernel 6.18 that implement pmu.setup_aux; a prefix stands for numbered PMUs.
 * Others are asked for by env->has_aux, except PMUs of cores and of whole packages: those only
 * count.
 */
bool pmu_has_aux(const struct event_env *env, const struct pmu *pmu, uint64_t config)
{
	static const char *const prefixes[] = {"intel_pt", "intel_bts", "cs_etm", "arm_spe",
					       "hisi_ptt"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (begins_with(pmu->name, prefixes[i]))
			return true;
	if (strcmp(pmu->name, "cpum_sf") == 0)
		return config == S390_SF_DIAG;
	if (pmu->type < PERF_TYPE_MAX || pmu->cpus || pmu->core)
		return false;
	return env->has_aux && env->has_aux(pmu->type);
}

bool pmu_aux_has_defaults(const struct pmu *pmu)
{
	return is_intel_pt(pmu) || is_spe(pmu);
}

bool pmu_aux_follows_tasks(const struct pmu *pmu)
{
	return is_spe(pmu);
}

/* --- reading the PMU's files ------------------------------------------------------------------ */

/* Returns the bits of a term in config; 0 without it. */
static uint64_t config_bits(const struct pmu *pmu, const char *name)
{
	const struct pmu_format *format = pmu_format_find(pmu, name);

	return format && !format->word ? format->bits : 0;
}

/* Returns the number in a file of the PMU, read with @base, or @missing. */
static unsigned long read_number(const struct event_env *env, const struct pmu *pmu,
				 const char *file, int base, unsigned long missing)
{
	char text[64], *end;
	unsigned long n;

	if (pmu_read(env, pmu->name, file, text, sizeof(text)) <= 0)
		return missing;
	n = strtoul(text, &end, base);
	return end == text ? missing : n;
}

/* --- Intel PT --------------------------------------------------------------------------------- */

/* The term of a period or threshold, its allowed values as a mask, and what they depend on. */
struct pt_choice {
	const char *term, *values, *needs;
};

static const struct pt_choice pt_cyc = {"cyc_thresh", "caps/cycle_thresholds", "caps/psb_cyc"};
static const struct pt_choice pt_mtc = {"mtc_period", "caps/mtc_periods", "caps/mtc"};
static const struct pt_choice pt_psb = {"psb_period", "caps/psb_periods", "caps/psb_cyc"};

/* Returns a bit for each value that this CPU allows; 0: the CPU lacks it. */
static unsigned long pt_values(const struct event_env *env, const struct pmu *pmu,
			       const struct pt_choice *choice)
{
	if (!read_number(env, pmu, choice->needs, 10, 1))
		return 0;
	return read_number(env, pmu, choice->values, 16, 0);
}

/* perf's choice: the highest allowed value up to 3 (2^3 ticks), else the lowest above. */
static unsigned int pt_pick(unsigned long values)
{
	unsigned long low = values & 0xf;

	return (unsigned int)(low ? 63 - __builtin_clzl(low) : __builtin_ctzl(values));
}

static void pt_set(const struct pmu *pmu, const char *name, uint64_t value, uint64_t *config)
{
	*config |= pmu_bits_spread(config_bits(pmu, name), value);
}

/* With an empty config Intel PT traces nothing useful. */
static void pt_defaults(const struct event_env *env, const struct pmu *pmu, uint64_t *config)
{
	unsigned long mtc = pt_values(env, pmu, &pt_mtc), psb = pt_values(env, pmu, &pt_psb);

	pt_set(pmu, "tsc", 1, config);
	if (mtc) {
		pt_set(pmu, "mtc", 1, config);
		pt_set(pmu, "mtc_period", pt_pick(mtc), config);
	}
	if (mtc && psb)
		pt_set(pmu, "psb_period", pt_pick(psb), config);
	if (pmu_format_find(pmu, "pt") && pmu_format_find(pmu, "branch")) {
		pt_set(pmu, "pt", 1, config);
		pt_set(pmu, "branch", 1, config);
	}
}

static int pt_check(const struct event_env *env, const struct pmu *pmu,
		    const struct pt_choice *choice, uint64_t config, struct error *err)
{
	unsigned long values = pt_values(env, pmu, choice) | 1;
	uint64_t bits = config_bits(pmu, choice->term), value;
	char known[256] = "0"; /* room for all 64 numbers */
	size_t len = 1;

	if (!bits)
		return 0;
	value = (config & bits) / (bits & -bits);
	if (value < 64 && values >> value & 1)
		return 0;
	for (unsigned int i = 1; i < 64 && len < sizeof(known); i++)
		if (values >> i & 1)
			len += (size_t)snprintf(known + len, sizeof(known) - len, ", %u", i);
	return error_set(err, -EINVAL, "PMU '%s': this CPU has no %s of %" PRIu64 ", only %s",
			 pmu->name, choice->term, value, known);
}

/* Whether guests have Intel PT for themselves, so that a trace of the host stops in them. */
static bool pt_guests_trace(const struct event_env *env)
{
	char path[PATH_MAX], text[16];

	snprintf(path, sizeof(path), "%s/module/kvm_intel/parameters/pt_mode",
		 env->sysfs ? env->sysfs : "/sys");
	return read_small_file(path, text, sizeof(text)) > 0 && strcmp(text, "1") == 0;
}

static int pt_finish(const struct event_env *env, const struct pmu *pmu, uint64_t changed,
		     struct event_spec *spec, struct error *err)
{
	static const struct pt_choice *const choices[] = {&pt_cyc, &pt_mtc, &pt_psb};
	int rc = 0;

	/* Without it the kernel refuses the event. */
	if (config_bits(pmu, "pt"))
		spec->attr.config |= config_bits(pmu, "pt");
	for (size_t i = 0; !rc && i < ARRAY_SIZE(choices); i++)
		rc = pt_check(env, pmu, choices[i], spec->attr.config, err);
	/* Samples have little trace, so it needs PSBs as often as can be. */
	spec->aux_unsampled = config_bits(pmu, "psb_period") & ~changed;
	spec->exclude_guest = pt_guests_trace(env);
	return rc;
}

/* --- Arm -------------------------------------------------------------------------------------- */

static void spe_finish(const struct pmu *pmu, uint64_t changed, struct event_spec *spec)
{
	spec->aux_by_cpu = config_bits(pmu, "ts_enable") & ~changed;
	/* perf report looks for samples of memory, and of physical addresses, only with these. */
	spec->attr.sample_type |= PERF_SAMPLE_DATA_SRC;
	if (spec->attr.config & config_bits(pmu, "pa_enable"))
		spec->attr.sample_type |= PERF_SAMPLE_PHYS_ADDR;
}

static bool cs_register(const struct event_env *env, const struct pmu *pmu, const char *cpu,
			const char *name, unsigned long *ret)
{
	char file[64];

	snprintf(file, sizeof(file), "%.16s/trcidr/%s", cpu, name);
	*ret = read_number(env, pmu, file, 16, 0);
	return *ret;
}

/* Returns the bits of @wanted that the trace unit of @cpu can do. */
static uint64_t cs_able(const struct event_env *env, const struct pmu *pmu, const char *cpu,
			uint64_t wanted)
{
	unsigned long idr0, idr2;

	if (!cs_register(env, pmu, cpu, "trcidr0", &idr0) ||
	    !cs_register(env, pmu, cpu, "trcidr2", &idr2))
		return 0; /* older than ETMv4 */
	if (!(idr0 & TRCIDR0_TSSIZE))
		wanted &= ~config_bits(pmu, "timestamp");
	if ((idr2 & TRCIDR2_CIDSIZE) != TRCIDR2_CID_32)
		wanted &= ~CS_CONTEXTID_EL1;
	if (!(idr2 & TRCIDR2_VMIDOPT) || (idr2 & TRCIDR2_VMIDSIZE) < TRCIDR2_VMID_32)
		wanted &= ~CS_CONTEXTID_EL2;
	return wanted;
}

/*
 * Rings by CPU have the trace of several tasks, which decoders separate by context IDs and time
 * stamps. Both are on if all trace units can do it, and no term says otherwise.
 */
static int cs_finish(const struct event_env *env, const struct pmu *pmu, uint64_t changed,
		     struct event_spec *spec, struct error *err)
{
	const uint64_t contexts = CS_CONTEXTID_EL1 | CS_CONTEXTID_EL2;
	uint64_t wanted = config_bits(pmu, "timestamp") & ~changed;
	struct name_list names = {0};
	bool found = false;

	if (!(changed & contexts))
		wanted |= config_bits(pmu, "contextid");
	if (pmu_list(env, pmu->name, "", &names)) {
		name_list_release(&names);
		return error_sys(err, -ENOMEM, "PMU '%s'", pmu->name);
	}
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.names[i];

		if (!begins_with(name, "cpu") || !name[3] ||
		    name[3 + strspn(name + 3, "0123456789")])
			continue;
		wanted = cs_able(env, pmu, name, wanted);
		found = true;
	}
	name_list_release(&names);
	spec->aux_by_cpu = found ? wanted : 0;
	return 0;
}

/* Refuses a sink, with a list of those that exist. */
static int unknown_sink(const struct event_env *env, const struct pmu *pmu, const char *sink,
			struct error *err)
{
	struct name_list names = {0};
	char known[256] = "";
	size_t len = 0;

	if (pmu_list(env, pmu->name, "sinks", &names)) {
		name_list_release(&names);
		return error_sys(err, -ENOMEM, "PMU '%s'", pmu->name);
	}
	for (size_t i = 0; i < names.count && len < sizeof(known); i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
					names.names[i]);
	name_list_release(&names);
	if (!*known)
		return error_set(err, -ENOENT, "PMU '%s' has no sinks, so '@%.64s' names none",
				 pmu->name, sink);
	return error_set(err, -ENOENT, "PMU '%s' has no sink '%.64s' (it has %s)", pmu->name, sink,
			 known);
}

int pmu_aux_sink(const struct event_env *env, const struct pmu *pmu, const struct term *term,
		 struct event_spec *spec, struct error *err)
{
	const struct pmu_format *format = pmu_format_find(pmu, "sinkid");
	const uint64_t bits = format && format->word == 2 ? format->bits : UINT32_MAX;
	const char *sink = term->key + 1;
	char file[300];
	unsigned long id = 0;

	if (!term->value && *sink && *sink != '.' &&
	    snprintf(file, sizeof(file), "sinks/%s", sink) < (int)sizeof(file))
		id = read_number(env, pmu, file, 16, 0);
	if (!id)
		return unknown_sink(env, pmu, sink, err);
	/* As in perf, a sink that is given by its number goes first. */
	if (!(spec->attr.config2 & bits))
		spec->attr.config2 |= pmu_bits_spread(bits, id);
	return 0;
}

/* --- all PMUs --------------------------------------------------------------------------------- */

void pmu_aux_defaults(const struct event_env *env, const struct pmu *pmu, struct event_spec *spec)
{
	if (is_intel_pt(pmu))
		pt_defaults(env, pmu, &spec->attr.config);
	if (is_spe(pmu))
		spec->attr.sample_period =
			read_number(env, pmu, "caps/min_interval", 10, SPE_INTERVAL);
}

/* Returns the bits of config that the user's terms set. */
static uint64_t changed_bits(const struct pmu *pmu, const struct term_list *terms)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < terms->count; i++)
		ret |= strcmp(terms->items[i].key, "config") == 0
			       ? UINT64_MAX
			       : config_bits(pmu, terms->items[i].key);
	return ret;
}

int pmu_aux_finish(const struct event_env *env, const struct pmu *pmu,
		   const struct term_list *terms, struct event_spec *spec, struct error *err)
{
	uint64_t changed = changed_bits(pmu, terms);

	if (spec->attr.flags & PD_ATTR_FREQ)
		return error_set(err, -EINVAL,
				 "PMU '%s' writes a trace, which has no frequency: give a period",
				 pmu->name);
	if (is_intel_pt(pmu))
		return pt_finish(env, pmu, changed, spec, err);
	if (is_coresight(pmu))
		return cs_finish(env, pmu, changed, spec, err);
	if (is_spe(pmu))
		spe_finish(pmu, changed, spec);
	return 0;
}
