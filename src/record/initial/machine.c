// SPDX-License-Identifier: Apache-2.0
#include "record/initial/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "record/initial/buildid.h"
#include "record/initial/machine_parts.h"

int feature_set_add(struct feature_set *set, unsigned int feature, struct buf *content)
{
	if (array_grow(&set->features, &set->capacity, set->count + 1, sizeof(*set->features)))
		return -ENOMEM;
	set->features[set->count++] = (struct writer_feature){feature, content->data, content->len};
	*content = (struct buf){0};
	return 0;
}

void feature_set_release(struct feature_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free((void *)set->features[i].data);
	free(set->features);
	*set = (struct feature_set){0};
}

/* The inputs of the features. */
struct source {
	struct machine_roots roots;
	struct utsname uts;
	const struct pd_evlist *list;
	int argc;
	const char *const *argv;
	int clockid;
};

static int put_hostname(const struct source *src, struct buf *b)
{
	return pd_feature_string_encode(b, src->uts.nodename);
}

static int put_osrelease(const struct source *src, struct buf *b)
{
	return pd_feature_string_encode(b, src->uts.release);
}

static int put_version(const struct source *src, struct buf *b)
{
	return pd_feature_string_encode(b, "ringtail " RINGTAIL_VERSION);
}

static int put_arch(const struct source *src, struct buf *b)
{
	return pd_feature_string_encode(b, src->uts.machine);
}

static int put_nrcpus(const struct source *src, struct buf *b)
{
	return machine_nrcpus(&src->roots, b);
}

static int put_cpudesc(const struct source *src, struct buf *b)
{
	return machine_cpudesc(&src->roots, b);
}

static int put_cpuid(const struct source *src, struct buf *b)
{
	return machine_cpuid(&src->roots, b);
}

static int put_total_mem(const struct source *src, struct buf *b)
{
	return machine_total_mem(&src->roots, b);
}

/* The program's own path stands for argv[0], as in perf's files. */
static int put_cmdline(const struct source *src, struct buf *b)
{
	char exe[PATH_MAX];
	const char **argv;
	ssize_t n;
	int rc;

	if (src->argc <= 0)
		return -ENODATA;
	argv = calloc((size_t)src->argc, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	memcpy(argv, src->argv, (size_t)src->argc * sizeof(*argv));
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		argv[0] = exe;
	}
	rc = pd_feature_strings_encode(b, argv, (size_t)src->argc);
	free(argv);
	return rc;
}

static int put_event_desc(const struct source *src, struct buf *b)
{
	return pd_feature_event_desc_encode(b, src->list);
}

static int put_cpu_topology(const struct source *src, struct buf *b)
{
	return machine_cpu_topology(&src->roots, b);
}

static int put_numa_topology(const struct source *src, struct buf *b)
{
	return machine_numa_topology(&src->roots, b);
}

static int put_pmu_mappings(const struct source *src, struct buf *b)
{
	return machine_pmu_mappings(&src->roots, b);
}

static int put_group_desc(const struct source *src, struct buf *b)
{
	for (size_t i = 0; i < pd_evlist_count(src->list); i++) {
		if (pd_evlist_at(src->list, i)->nr_members > 1)
			return pd_feature_group_desc_encode(b, src->list);
	}
	return -ENODATA;
}

static int put_cache(const struct source *src, struct buf *b)
{
	return machine_cache(&src->roots, b);
}

static int put_mem_topology(const struct source *src, struct buf *b)
{
	return machine_mem_topology(&src->roots, b);
}

static int put_clockid(const struct source *src, struct buf *b)
{
	struct timespec res;

	if (src->clockid < 0)
		return -ENODATA;
	if (clock_getres(src->clockid, &res))
		return -errno;
	return pd_feature_u64_encode(b, timespec_to_ns(&res));
}

/* Reads clock, wall clock, clock several times; uses the try whose two clock values are closest. */
static int put_clock_data(const struct source *src, struct buf *b)
{
	struct pd_clock_data data = {.clockid = (uint32_t)src->clockid};
	uint64_t best = UINT64_MAX;

	if (src->clockid < 0)
		return -ENODATA;
	if (!now_ns(src->clockid))
		return -errno;
	for (int i = 0; i < 5; i++) {
		uint64_t before = now_ns(src->clockid), wall = now_ns(CLOCK_REALTIME);
		uint64_t gap = now_ns(src->clockid) - before;

		if (gap >= best)
			continue;
		best = gap;
		data.wall_clock_ns = wall;
		data.clockid_time_ns = before + gap / 2;
	}
	return pd_feature_clock_data_encode(b, &data);
}

static const struct {
	unsigned int feature;
	int (*put)(const struct source *src, struct buf *b);
} puts_by_feature[] = {
	{HEADER_HOSTNAME, put_hostname},
	{HEADER_OSRELEASE, put_osrelease},
	{HEADER_VERSION, put_version},
	{HEADER_ARCH, put_arch},
	{HEADER_NRCPUS, put_nrcpus},
	{HEADER_CPUDESC, put_cpudesc},
	{HEADER_CPUID, put_cpuid},
	{HEADER_TOTAL_MEM, put_total_mem},
	{HEADER_CMDLINE, put_cmdline},
	{HEADER_EVENT_DESC, put_event_desc},
	{HEADER_CPU_TOPOLOGY, put_cpu_topology},
	{HEADER_NUMA_TOPOLOGY, put_numa_topology},
	{HEADER_PMU_MAPPINGS, put_pmu_mappings},
	{HEADER_GROUP_DESC, put_group_desc},
	{HEADER_CACHE, put_cache},
	{HEADER_MEM_TOPOLOGY, put_mem_topology},
	{HEADER_CLOCKID, put_clockid},
	{HEADER_CLOCK_DATA, put_clock_data},
};

int machine_features(struct feature_set *set, const struct pd_evlist *list, int argc,
		     const char *const *argv, int clockid)
{
	struct source src = {.roots = {"/sys", "/proc"},
			     .list = list,
			     .argc = argc,
			     .argv = argv,
			     .clockid = clockid};
	struct buf b = {0};
	int rc = 0;

	uname(&src.uts);
	for (size_t i = 0; i < sizeof(puts_by_feature) / sizeof(puts_by_feature[0]); i++) {
		rc = puts_by_feature[i].put(&src, &b);
		if (!rc)
			rc = feature_set_add(set, puts_by_feature[i].feature, &b);
		buf_release(&b);
		if (rc == -ENOMEM)
			return rc;
	}
	return 0;
}

size_t machine_kernel_build_id(uint8_t ret[PD_BUILD_ID_MAX])
{
	struct build_id id;

	build_id_of_kernel(&id);
	memcpy(ret, id.id, id.size);
	return id.size;
}

size_t machine_file_build_id(const char *path, uint8_t ret[PD_BUILD_ID_MAX])
{
	struct build_id id = {0};

	if (build_id_of_path(AT_FDCWD, path, &id))
		return 0;
	memcpy(ret, id.id, id.size);
	return id.size;
}
