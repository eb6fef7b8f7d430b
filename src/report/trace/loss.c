// SPDX-License-Identifier: Apache-2.0
#include "report/trace/loss.h"

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void trace_loss_add(struct trace_loss *l, const struct pd_record *rec)
{
	switch (rec->hdr->type) {
	case PERF_RECORD_LOST: l->reported = add_saturated(l->reported, rec->lost.lost); break;
	case PERF_RECORD_LOST_SAMPLES:
		if (rec->hdr->misc & PD_MISC_LOST_RECORDS)
			l->records = add_saturated(l->records, rec->lost.lost);
		else if (rec->hdr->misc & PD_MISC_LOST_POOL)
			l->pool = add_saturated(l->pool, rec->lost.lost);
		else if (rec->hdr->misc & PD_MISC_LOST_OUTPUT)
			l->output = add_saturated(l->output, rec->lost.lost);
		else if (rec->id.time)
			l->pmu = add_saturated(l->pmu, rec->lost.lost);
		else
			l->counted = add_saturated(l->counted, rec->lost.lost);
		break;
	case PERF_RECORD_THROTTLE:
		l->throttled++;
		l->throttle_time -= rec->throttle.time;
		break;
	case PERF_RECORD_UNTHROTTLE:
		l->unthrottled++;
		l->throttle_time += rec->throttle.time;
		break;
	}
}

void trace_loss_merge(struct trace_loss *l, const struct trace_loss *from)
{
	l->reported = add_saturated(l->reported, from->reported);
	l->counted = add_saturated(l->counted, from->counted);
	l->records = add_saturated(l->records, from->records);
	l->pmu = add_saturated(l->pmu, from->pmu);
	l->pool = add_saturated(l->pool, from->pool);
	l->output = add_saturated(l->output, from->output);
	l->throttled += from->throttled;
	l->unthrottled += from->unthrottled;
	l->throttle_time += from->throttle_time;
	l->all_counted |= from->all_counted;
}

uint64_t trace_loss_throttled(const struct trace_loss *l, uint64_t first, uint64_t last)
{
	uint64_t ns = l->throttle_time;

	if (l->throttled > l->unthrottled)
		ns += (l->throttled - l->unthrottled) * last;
	else
		ns -= (l->unthrottled - l->throttled) * first;
	return (int64_t)ns < 0 ? 0 : ns; /* of times that a damaged file made up */
}

uint64_t trace_loss_rings(const struct trace_loss *part, const struct trace_loss *all)
{
	uint64_t reported;

	if (all->all_counted)
		return part->counted;
	if (part != all)
		return all->counted || all->records ? part->counted : part->reported;
	if (part->reported <= part->records)
		return part->counted;
	reported = part->reported - part->records;
	return part->counted > reported ? part->counted : reported;
}

uint64_t trace_loss_total(const struct trace_loss *part, const struct trace_loss *all)
{
	uint64_t kernel = add_saturated(trace_loss_rings(part, all), part->pmu);

	return add_saturated(kernel, add_saturated(part->pool, part->output));
}
