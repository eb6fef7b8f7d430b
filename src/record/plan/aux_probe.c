// SPDX-License-Identifier: Apache-2.0
#include "record/plan/aux_probe.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfdata/abi.h"
#include "sys/kernel/perf_event.h"

#define NEVER_RUNS (PD_ATTR_DISABLED | PD_ATTR_EXCLUDE_KERNEL | PD_ATTR_EXCLUDE_HV)

bool aux_probe_pmu(uint32_t type)
{
	struct pd_attr attr = {
		.type = type, .size = PERF_ATTR_SIZE_VER5, .sample_period = 1, .flags = NEVER_RUNS};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *header;
	int fd = perf_event_open(&attr, 0, -1, -1);
	void *map, *aux = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!perf_event_map(fd, page, PERF_EVENT_CONSUME, &map)) {
		header = map;
		header->aux_offset = 2 * page;
		header->aux_size = page;
		aux = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(2 * page));
		if (aux != MAP_FAILED)
			munmap(aux, page);
		perf_event_unmap(map, page);
	}
	close(fd);
	return aux != MAP_FAILED;
}

static int open_paused(struct pd_attr attr)
{
	int fd;

	attr.size = 120; /* to aux_action, its last field */
	attr.aux_action = 1;
	attr.sample_period = 1;
	attr.flags = NEVER_RUNS;
	fd = perf_event_open(&attr, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int aux_probe_action(const struct pd_attr *event)
{
	struct pd_attr dummy = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
	struct pd_attr paused = {.type = event->type,
				 .config = event->config,
				 .config1 = event->config1,
				 .config2 = event->config2};

	/* The dummy has no AUX area: a kernel that knows the action refuses with EOPNOTSUPP. */
	if (open_paused(dummy) == -EINVAL)
		return -ENOSYS;
	/* Other errors have other reasons, which opening the event will show. */
	return open_paused(paused) == -EOPNOTSUPP ? -EOPNOTSUPP : 0;
}
