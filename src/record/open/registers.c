// SPDX-License-Identifier: Apache-2.0
#include "record/open/registers.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include "perfdata/abi.h"
#include "sys/kernel/perf_event.h"

static bool opens(struct pd_attr attr, uint64_t regs, bool user)
{
	int fd;

	attr.size = PERF_ATTR_SIZE_VER4; /* the first with both masks */
	attr.flags |= PD_ATTR_DISABLED | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV;
	attr.sample_period = 1000000;
	if (regs)
		attr.sample_type = user ? PERF_SAMPLE_REGS_USER : PERF_SAMPLE_REGS_INTR;
	*(user ? &attr.sample_regs_user : &attr.sample_regs_intr) = regs;
	fd = perf_event_open(&attr, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

uint64_t registers_sampled(uint64_t wanted, bool user)
{
	const struct pd_attr clock = {.type = PERF_TYPE_SOFTWARE,
				      .config = PERF_COUNT_SW_TASK_CLOCK};
	const struct pd_attr cycles = {.type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .flags = 1ull << PD_ATTR_PRECISE_IP_SHIFT};
	uint64_t taken = 0;

	if (!opens(clock, 0, user))
		return wanted;
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t one = wanted & 1ull << bit;

		if (one && (opens(clock, one, user) || (!user && opens(cycles, one, user))))
			taken |= one;
	}
	return taken;
}
