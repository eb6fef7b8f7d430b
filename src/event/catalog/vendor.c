// SPDX-License-Identifier: Apache-2.0
#include "event/catalog/vendor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib_perf_event.h>

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

int vendor_find(const char *name, struct pd_attr *attr)
{
	struct perf_event_attr from = {0};
	pfm_perf_encode_arg_t arg = {.attr = &from, .size = sizeof(arg)};

	if (!*name || strlen(name) > 512)
		return -ENOENT;
	if (pfm_initialize() != PFM_SUCCESS)
		return -ENOENT;
	from.size = sizeof(from);
	if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3 | PFM_PLMH, PFM_OS_PERF_EVENT_EXT,
				      &arg) != PFM_SUCCESS)
		return -ENOENT;
	take_attr(&from, name, attr);
	return 0;
}
