// SPDX-License-Identifier: Apache-2.0
#include "record/open/overwrite_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Software events that count occurrences one by one; the clocks count nanoseconds. */
static const uint64_t happenings[] = {
	PERF_COUNT_SW_PAGE_FAULTS,	PERF_COUNT_SW_PAGE_FAULTS_MIN,
	PERF_COUNT_SW_PAGE_FAULTS_MAJ,	PERF_COUNT_SW_CONTEXT_SWITCHES,
	PERF_COUNT_SW_CPU_MIGRATIONS,	PERF_COUNT_SW_ALIGNMENT_FAULTS,
	PERF_COUNT_SW_EMULATION_FAULTS,
};

/*
 * False for hardware events (the kernel throttles period 1) and for sched_stat_* (they add
 * nanoseconds, __perf_count()).
 */
static bool each_is_a_sample(const struct plan_event *event)
{
	const struct pd_attr *attr = &event->attr;

	if (attr->sample_period != 1 || attr->flags & PD_ATTR_FREQ)
		return false;
	if (event->place)
		return true;
	switch (attr->type) {
	case PERF_TYPE_BREAKPOINT: return true;
	case PERF_TYPE_TRACEPOINT: return strncmp(event->name, "sched:sched_stat_", 17) != 0;
	case PERF_TYPE_SOFTWARE:
		for (size_t i = 0; i < sizeof(happenings) / sizeof(happenings[0]); i++)
			if (attr->config == happenings[i])
				return true;
		return false;
	default: return false;
	}
}

static bool takes_samples(const struct plan_event *event)
{
	return event->attr.sample_period || event->attr.flags & PD_ATTR_FREQ;
}

/* Returns 0 or -ENOTSUP. */
static int count_event(const struct plan *plan, const struct opened *opened, unsigned int index,
		       uint64_t taken, uint64_t *ret)
{
	uint64_t counted = 0, known = taken;
	struct open_count one;

	if (!each_is_a_sample(&plan->events[index]))
		return -ENOTSUP;
	for (size_t i = 0; i < opened->nr_fds; i++) {
		if (opened->fds[i].event != index)
			continue;
		if (opened_count(&opened->fds[i], plan, &one))
			return -ENOTSUP;
		counted += one.value;
		known += one.lost;
	}
	*ret = counted > known ? counted - known : 0;
	return 0;
}

int overwrite_count_read(const struct plan *plan, const struct opened *opened,
			 const uint64_t *taken, struct overwrite_count *ret)
{
	*ret = (struct overwrite_count){.events = calloc(plan->nr, sizeof(*ret->events))};
	if (!ret->events)
		return -ENOMEM;
	for (unsigned int i = 0; i < plan->nr; i++) {
		uint64_t samples;

		if (!plan->events[i].overwrite || !takes_samples(&plan->events[i]))
			continue;
		if (count_event(plan, opened, i, taken[i], &samples)) {
			if (!ret->unknown++)
				ret->first_unknown = i;
		} else if (samples) {
			ret->events[ret->nr++] = (struct overwrite_count_event){i, samples};
		}
	}
	return 0;
}

void overwrite_count_release(struct overwrite_count *o)
{
	free(o->events);
	*o = (struct overwrite_count){0};
}
