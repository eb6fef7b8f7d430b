// SPDX-License-Identifier: Apache-2.0
#include "auxtrace/recording/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/aux_record.h"
#include "perfdata/feature.h"

#define TESTPMU "auxsim"

static int add_info(struct aux_index *x, const struct pd_auxtrace_info *info)
{
	uint64_t *priv;

	if (x->priv) /* of several outputs joined: the first */
		return 0;
	priv = calloc(info->nr_priv + 1, sizeof(*priv));
	if (!priv)
		return -ENOMEM;
	memcpy(priv, info->priv, info->nr_priv * sizeof(*priv));
	x->priv = priv;
	x->setup.type = info->type;
	x->setup.priv = priv;
	x->setup.nr_priv = info->nr_priv;
	return 0;
}

static int add_hw_id(struct aux_index *x, uint32_t cpu, uint64_t value)
{
	struct aux_setup *s = &x->setup;

	if (array_grow(&x->hw_ids, &x->cap_hw_ids, s->nr_hw_ids + 1, sizeof(*x->hw_ids)))
		return -ENOMEM;
	x->hw_ids[s->nr_hw_ids++] = (struct aux_hw_id){.cpu = cpu, .value = value};
	s->hw_ids = x->hw_ids;
	return 0;
}

int aux_setup_add(struct aux_index *x, const struct data_record *rec)
{
	struct pd_record r;

	if (pd_record_decode(rec->hdr, rec->evsel, &r))
		return 0;
	switch (rec->hdr->type) {
	case PERF_RECORD_AUXTRACE_INFO: return add_info(x, &r.auxtrace_info);
	case PERF_RECORD_AUX_OUTPUT_HW_ID: return add_hw_id(x, r.id.cpu, r.aux_hw_id);
	case PERF_RECORD_TIME_CONV:
		if (!x->setup.time_conv)
			x->time_conv = r.time_conv;
		x->setup.time_conv = &x->time_conv;
		return 0;
	default: return 0;
	}
}

/* Returns the PMU that the private words name, or 0. */
static uint32_t pmu_of_info(const struct aux_setup *s)
{
	switch (s->type) {
	case PD_AUXTRACE_INTEL_PT:
	case PD_AUXTRACE_INTEL_BTS:
	case PD_AUXTRACE_ARM_SPE:
	case PD_AUXTRACE_HISI_PTT: return s->nr_priv > 0 ? (uint32_t)s->priv[0] : 0;
	case PD_AUXTRACE_CS_ETM: return s->nr_priv > 1 ? (uint32_t)(s->priv[1] >> 32) : 0;
	default: return 0;
	}
}

/* Returns the number of the PMU @name in *@ret; 0 if there is none. */
static int find_pmu(const struct data_file *df, const char *name, uint32_t *ret)
{
	struct pd_pmu_mappings m = {0};
	const uint8_t *p;
	size_t len;
	int rc;

	*ret = 0;
	if (data_feature(df, HEADER_PMU_MAPPINGS, &p, &len))
		return 0;
	rc = pd_feature_pmu_mappings_decode(p, len, data_swapped(df), &m);
	for (size_t i = 0; !rc && i < m.nr; i++)
		if (!strcmp(m.pmus[i].name, name))
			*ret = m.pmus[i].type;
	pd_pmu_mappings_release(&m);
	return rc == -ENOMEM ? rc : 0;
}

static int read_cpuid(struct aux_index *x)
{
	const uint8_t *p;
	size_t len;
	int rc = data_feature(x->df, HEADER_CPUID, &p, &len);

	if (!rc)
		rc = pd_feature_string_decode(p, len, data_swapped(x->df), &x->cpuid);
	if (!rc)
		x->setup.cpuid = x->cpuid;
	return rc == -ENOMEM ? rc : 0;
}

/* Returns the first event of the PMU, or NULL. */
static const struct pd_evsel *find_event(const struct data_file *df, uint32_t pmu)
{
	const struct pd_evlist *list = data_evlist(df);

	for (size_t i = 0; pmu && i < pd_evlist_count(list); i++)
		if (pd_evlist_at(list, i)->attr.type == pmu)
			return pd_evlist_at(list, i);
	return NULL;
}

int aux_setup_finish(struct aux_index *x)
{
	uint32_t pmu = pmu_of_info(&x->setup);
	const struct pd_evsel *event;
	bool testpmu = x->setup.type == PD_AUXTRACE_UNKNOWN;
	int rc = testpmu ? find_pmu(x->df, TESTPMU, &pmu) : 0;

	if (!rc)
		rc = read_cpuid(x);
	if (rc)
		return rc;
	event = find_event(x->df, pmu);
	if (testpmu && event)
		x->setup.type = AUX_SETUP_TESTPMU;
	x->setup.config = event ? event->attr.config : 0;
	x->setup.user = !event || !(event->attr.flags & PD_ATTR_EXCLUDE_USER);
	x->setup.kernel = !event || !(event->attr.flags & PD_ATTR_EXCLUDE_KERNEL);
	return 0;
}
