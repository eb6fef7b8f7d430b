// SPDX-License-Identifier: Apache-2.0
#include "event/catalog/vendor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/catalog/pfm.h"

#define LEVELS (PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV)

/* libpfm4 fills its own perf_event_attr, which may be larger; its first fields are all we use. */
static void take_attr(const struct perf_event_attr *from, const char *name, struct pd_attr *to)
{
	to->type = from->type;
	to->config = from->config;
	to->config1 = from->config1;
	to->config2 = from->config2;
	to->bp_type = from->bp_type;
	if (from->sample_period) {
		to->sample_period = from->sample_period;
		to->flags &= ~PD_ATTR_FREQ;
		if (from->freq)
			to->flags |= PD_ATTR_FREQ;
	}
	/* Without a level in the name, libpfm4 excludes some levels; this recorder wants all. */
	if (strchr(name, ':')) {
		to->flags &= ~(LEVELS | PD_ATTR_PRECISE_IP);
		if (from->exclude_user)
			to->flags |= PD_ATTR_EXCLUDE_USER;
		if (from->exclude_kernel)
			to->flags |= PD_ATTR_EXCLUDE_KERNEL;
		if (from->exclude_hv)
			to->flags |= PD_ATTR_EXCLUDE_HV;
		to->flags |= (uint64_t)from->precise_ip << PD_ATTR_PRECISE_IP_SHIFT;
	}
}

int vendor_find(const char *name, struct pd_attr *attr, struct error *err)
{
	struct perf_event_attr from = {0};
	pfm_perf_encode_arg_t arg = {.attr = &from, .size = sizeof(arg)};
	struct pfm pfm;
	int rc;

	if (!*name || strlen(name) > 512)
		return -ENOENT;
	rc = pfm_load(&pfm, err);
	if (rc)
		return rc;
	from.size = sizeof(from);
	if (pfm.pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
					  PFM_OS_PERF_EVENT_EXT, &arg) != PFM_SUCCESS)
		return -ENOENT;
	take_attr(&from, name, attr);
	return 0;
}

/* --- all of them ---------------------------------------------------------------------------------
 */

static void free_masks(struct vendor_event *e)
{
	for (size_t i = 0; i < e->nr_masks; i++)
		free(e->masks[i]);
	free(e->masks);
}

/* Reads the unit masks of event @id, which are some of its @nr attributes. */
static int read_masks(const struct pfm *pfm, int id, int nr, struct vendor_event *e)
{
	pfm_event_attr_info_t info = {.size = sizeof(info)};

	e->masks = calloc((size_t)(nr > 0 ? nr : 1), sizeof(*e->masks));
	if (!e->masks)
		return -ENOMEM;
	for (int i = 0; i < nr; i++) {
		if (pfm->pfm_get_event_attr_info(id, i, PFM_OS_PERF_EVENT_EXT, &info) !=
			    PFM_SUCCESS ||
		    info.type != PFM_ATTR_UMASK)
			continue;
		if (asprintf(&e->masks[e->nr_masks], "%s: %s", info.name,
			     info.desc ? info.desc : "") < 0)
			return -ENOMEM;
		e->nr_masks++;
	}
	return 0;
}

static int take_event(const struct pfm *pfm, int id, const char *pmu,
		      int (*fn)(void *, const struct vendor_event *), void *arg)
{
	pfm_event_info_t info = {.size = sizeof(info)};
	struct vendor_event e = {.pmu = pmu};
	int rc;

	if (pfm->pfm_get_event_info(id, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS)
		return 0;
	e.name = info.name;
	e.what = info.desc;
	rc = read_masks(pfm, id, info.nattrs, &e);
	if (!rc)
		rc = fn(arg, &e);
	free_masks(&e);
	return rc;
}

/* These two are the kernel's generic events and raw codes by other names. */
static bool is_generic(pfm_pmu_t pmu)
{
	return pmu == PFM_PMU_PERF_EVENT || pmu == PFM_PMU_PERF_EVENT_RAW;
}

int vendor_each(int (*fn)(void *arg, const struct vendor_event *event), void *arg,
		struct error *err)
{
	struct pfm pfm;
	int rc = pfm_load(&pfm, err);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	for (int pmu = 0; !rc && pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = {.size = sizeof(info)};

		if (is_generic((pfm_pmu_t)pmu) ||
		    pfm.pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS || !info.is_present)
			continue;
		for (int id = info.first_event; !rc && id != -1; id = pfm.pfm_get_event_next(id))
			rc = take_event(&pfm, id, info.name, fn, arg);
	}
	return rc;
}
