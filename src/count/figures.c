// SPDX-License-Identifier: Apache-2.0
#include "count/figures.h"

#define CACHE(level, op, result)                                                              \
	((uint64_t)PERF_COUNT_HW_CACHE_##level | (uint64_t)PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* An event of which another one is a part: the figure is the share, in percent. */
static const struct share {
	uint32_t type;
	uint64_t part, whole;
	const char *unit;
} shares[] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	 "% of all branches"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES,
	 "% of all cache refs"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_HW_CPU_CYCLES,
	 "% frontend cycles idle"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_CPU_CYCLES,
	 "% backend cycles idle"},
	{PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), CACHE(L1D, READ, ACCESS),
	 "% of all L1-dcache accesses"},
	{PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS), CACHE(L1I, READ, ACCESS),
	 "% of all L1-icache accesses"},
	{PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), CACHE(LL, READ, ACCESS),
	 "% of all LL-cache accesses"},
	{PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), CACHE(DTLB, READ, ACCESS),
	 "% of all dTLB cache accesses"},
	{PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), CACHE(ITLB, READ, ACCESS),
	 "% of all iTLB cache accesses"},
};

/* Events of a hybrid machine have the number of their PMU in the upper half. */
static bool is(const struct count_event *event, uint32_t type, uint64_t config)
{
	uint64_t mask = type == PERF_TYPE_SOFTWARE ? UINT64_MAX : UINT32_MAX;

	return event->attr.type == type && (event->attr.config & mask) == config;
}

static bool is_clock(const struct count_event *event)
{
	return is(event, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK) ||
	       is(event, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

static bool counted(const struct count_cell *cell)
{
	return cell->present && cell->running;
}

/*
 * Returns the mean count in the row of the first such event that counts at the same levels as
 * @like; 0: there is none.
 */
static double count_of(const struct count_table *table, size_t row, const struct count_event *like,
		       uint32_t type, uint64_t config)
{
	const uint64_t levels = PD_ATTR_EXCLUDE_USER | PD_ATTR_EXCLUDE_KERNEL;

	for (size_t i = 0; i < table->nr_events; i++) {
		const struct count_cell *cell = count_table_cell(table, row, i);
		const struct count_event *event = &table->events[i];

		if (is(event, type, config) && counted(cell) &&
		    (event->attr.flags & levels) == (like->attr.flags & levels))
			return cell->value.mean;
	}
	return 0;
}

/* Returns the time on CPUs in the row, in ns, or 0. */
static double clock_of(const struct count_table *table, size_t row)
{
	for (size_t i = 0; i < table->nr_events; i++)
		if (is_clock(&table->events[i]) && counted(count_table_cell(table, row, i)))
			return count_table_cell(table, row, i)->value.mean;
	return 0;
}

static struct count_figure share_of(const struct count_table *table, size_t row, size_t index,
				    double value)
{
	const struct count_event *event = &table->events[index];

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double whole;

		if (!is(event, shares[i].type, shares[i].part))
			continue;
		whole = count_of(table, row, event, shares[i].type, shares[i].whole);
		if (whole > 0)
			return (struct count_figure){100 * value / whole, shares[i].unit, 2};
	}
	return (struct count_figure){0};
}

/* Per second on a CPU. */
static struct count_figure rate_of(double value, double clock)
{
	double rate = value / clock * 1e9;

	if (rate >= 1e9)
		return (struct count_figure){rate / 1e9, "G/sec", 3};
	if (rate >= 1e6)
		return (struct count_figure){rate / 1e6, "M/sec", 3};
	if (rate >= 1e3)
		return (struct count_figure){rate / 1e3, "K/sec", 3};
	return (struct count_figure){rate, "/sec", 3};
}

struct count_figure count_figure(const struct count_table *table, size_t row, size_t index)
{
	const struct count_cell *cell = count_table_cell(table, row, index);
	const struct count_event *event = &table->events[index];
	double value = cell->value.mean, clock = clock_of(table, row), cycles;
	struct count_figure share;

	if (!counted(cell))
		return (struct count_figure){0};
	if (is_clock(event))
		return table->elapsed.mean > 0 ? (struct count_figure){value / table->elapsed.mean,
								       "CPUs utilized", 3}
					       : (struct count_figure){0};
	if (is(event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)) {
		cycles = count_of(table, row, event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
		if (cycles > 0)
			return (struct count_figure){value / cycles, "insn per cycle", 2};
	}
	share = share_of(table, row, index, value);
	if (share.unit)
		return share;
	if (clock <= 0)
		return (struct count_figure){0};
	if (is(event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))
		return (struct count_figure){value / clock, "GHz", 3};
	return *event->unit ? (struct count_figure){0} : rate_of(value, clock);
}
