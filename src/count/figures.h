/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures that follow from several counts of a row: instructions per cycle, CPUs in use, rates.
 * Pure functions. The set is the one that users know from perf stat.
 */
#ifndef RINGTAIL_COUNT_FIGURES_H
#define RINGTAIL_COUNT_FIGURES_H

#include "count/table.h"

struct count_figure {
	double value;
	const char *unit; /* what it is: "insn per cycle", "K/sec"; NULL: there is no figure */
	int digits;	  /* behind the decimal point */
};

/* Returns the figure of event @index in a row. */
struct count_figure count_figure(const struct count_table *table, size_t row, size_t index);

#endif
