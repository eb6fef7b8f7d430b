// SPDX-License-Identifier: Apache-2.0
#include "event/listing/kinds.h"

#include <stdio.h>

#include "event/catalog/vendor.h"
#include "perfdata/abi.h"

static int take_vendor(void *arg, const struct vendor_event *v)
{
	struct listing_run *l = arg;
	char name[256];

	snprintf(name, sizeof(name), "%s::%s", v->pmu, v->name);
	return listing_give(l, &(struct listed_event){
				       .kind = LISTING_VENDOR,
				       .name = name,
				       .what = v->what,
				       .terms = (const char *const *)v->masks,
				       .nr_terms = v->nr_masks,
			       });
}

/* A virtual machine may have a CPU that libpfm4 knows, and no counters. */
static bool has_counters(const struct listing_run *l)
{
	return !l->choice->counts ||
	       l->choice->counts(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
}

int listing_vendor(struct listing_run *l, struct error *err)
{
	return has_counters(l) ? vendor_each(take_vendor, l, err) : 0;
}

int listing_raw(struct listing_run *l)
{
	if (!has_counters(l))
		return 0;
	return listing_give(l, &(struct listed_event){
				       .kind = LISTING_RAW,
				       .name = "rNNN",
				       .what = "A code of the CPU's own PMU, in hexadecimal",
				       .pattern = true,
			       });
}

int listing_breakpoints(struct listing_run *l)
{
	static const char *const terms[] = {
		"ADDRESS: a number, a name of the kernel, or FILE:NAME",
		"LENGTH: 1 to 8 bytes",
		"ACCESS: any of r, w and x",
	};

	return listing_give(l, &(struct listed_event){
				       .kind = LISTING_BREAKPOINT,
				       .name = "mem:ADDRESS[/LENGTH][:ACCESS]",
				       .what = "Each access to an address",
				       .terms = terms,
				       .nr_terms = sizeof(terms) / sizeof(*terms),
				       .pattern = true,
			       });
}
